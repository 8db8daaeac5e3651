"""ONNX model differentiation: `differentiate` adds derivatives to a loaded model, by the names of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..autodiff.choices import choosing
from ..autodiff.explain import explain_gradient
from ..autodiff.optimizing import lean_targets, lean_terms
from ..autodiff.reverse import gradients
from ..control_flow.history import history
from ..core.dtypes import FLOATING, TRAINABLE
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..core.limits import limited
from ..core.slices import IndexedSlices
from ..derivatives.hessian import hessians
from ..derivatives.products import jvp
from ..primitives.base.densify import densify, densify_policy
from ..primitives.creation.fill import zeros_like
from ..primitives.creation.placeholders import placeholder
from ..primitives.shape.squeeze import expand_dims
from ..primitives.shape.stacking import concat
from .model import OnnxGraph
from .reading import valid_name

STRAIGHT_THROUGH = (
    "QuantizeLinear rounds, and has no derivative of its own. To hand cotangents on as they are, as in training for "
    "quantization: rules={'QuantizeLinear': ...}, or --rule QuantizeLinear=identity."
)
KINDS = ("gradient", "vjp", "jvp", "hvp", "hessian")


@dataclass
class Derivative:
    """What `differentiate` made: tensors by the names that they have in a model, ready for `export`."""

    ys: dict[str, Tensor]
    """What was differentiated, optimised where that was asked: a model of it and the derivatives computes it once."""
    inputs: dict[str, Tensor] = field(default_factory=dict)
    """The inputs that were added: seeds, tangents, vectors."""
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """The derivatives."""
    unconnected: dict[str, str] = field(default_factory=dict)
    """For each x that no y depends on the reason."""


def differentiate(
    graph: OnnxGraph,
    of: Sequence[str] | None = None,
    wrt: Sequence[str] | None = None,
    kind: str = "gradient",
    *,
    stop: Sequence[str] = (),
    rules: Mapping[Any, Callable[..., Any] | None] | None = None,
    unconnected: str = "none",
    sparse: bool = False,
    optimize: Any = None,
) -> Derivative:
    """The derivatives of the values `of` of a loaded model by the values `wrt`, added to its graph.

    Args:
        graph: what `load` returned.
        of: names of values; the only output of floats unless given. Several are added up, but for "jvp".
        wrt: names of any values: inputs, initializers, intermediate ones, or values inside loops that `load` was asked
            to watch: then there is a derivative for each step. The inputs of floats unless given.
        kind: what is added, for each y and x:
            "gradient": the output `gradients/<x>`;
            "vjp": the same, for cotangents that are inputs `seeds/<y>`;
            "jvp": outputs `jvp/<y>` for inputs `tangents/<x>`;
            "hvp": outputs `hvp/<x>`, the Hessian times the inputs `vectors/<x>`;
            "hessian": outputs `hessian/<x>`, of the shape of x twice.
        stop: names of values that are held constant.
        rules: as for `gradients`; the names of nodes, and of operators such as "Round", stand for operations as well.
        unconnected: "none" leaves out an x that no y depends on, "zero" gives zeros ("gradient", "vjp", "hvp").
        sparse: gradients of which only some rows are not zero are two outputs, `gradients/<x>/indices` and
            `gradients/<x>/values`.
        optimize: "exact", "safe" or "fast", or `pb.Rules`: what is differentiated is optimised before, and the
            derivatives afterwards, as by `gradients`. Export `ys` beside `outputs`: the model's own values would be
            computed a second time.

    Raises:
        InvalidArgumentError: a name that the model does not have, a value that is no tensor of floats, no only output,
            or no y depends on any x.
        LookupError: an operation between has no gradient.
        ResourceExhaustedError: the memory is not enough, or functions are nested deeper than Python's stack.

    >>> import onnx, pullback as pb
    >>> text = '''<ir_version: 10, opset_import: ["" : 21]>
    ... half (float[n] x) => (float y) { s = Mul(x, x)  y = ReduceSum<keepdims = 0>(s) }'''
    >>> graph = pb.onnx.load(onnx.parser.parse_model(text))
    >>> pb.onnx.differentiate(graph, wrt=["x", "s"]).outputs
    {'gradients/x': <Tensor 'gradients/...' float32[n]>, 'gradients/s': <Tensor 'gradients/...' float32[n]>}
    """
    if kind not in KINDS:
        raise InvalidArgumentError(f"onnx.differentiate: kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if unconnected not in ("none", "zero"):
        raise InvalidArgumentError(f"onnx.differentiate: unconnected must be 'none' or 'zero', not {unconnected!r}")
    ys = chosen_values(graph, of, "of") if of else only_output(graph)
    xs = chosen_values(graph, wrt, "wrt") if wrt else _float_inputs(graph)
    made = Derivative(ys)
    stopped = list(chosen_values(graph, stop, "stop").values())
    inside = [name for name in xs if name in graph.moves]
    if inside and kind not in ("gradient", "vjp"):
        raise InvalidArgumentError(
            f"onnx.differentiate: '{inside[0]}' is inside a loop; kind must be 'gradient' or 'vjp', not {kind!r}"
        )
    if stopped and kind in ("jvp", "hessian"):
        raise InvalidArgumentError(f"onnx.differentiate: stop cannot be used with kind='{kind}'")
    chosen = choosing(by_operation(graph, rules or {}), None)
    with limited("onnx.differentiate"), graph.transaction(), chosen, densify_policy("allow"):
        seeds = _added(graph, made, "seeds", ys) if kind == "vjp" else None
        sources = [graph.moves.get(name, x) for name, x in xs.items()]
        kept = frozenset([*sources, *stopped])
        if optimize is not None:
            made.ys = dict(zip(ys, lean_targets(list(ys.values()), optimize, kept), strict=True))
        dxs = gradients(list(made.ys.values()), sources, seeds, stop_gradients=stopped)
        dxs = [_at_each_step(dx) if name in graph.moves else dx for name, dx in zip(xs, dxs, strict=True)]
        connected = _connected(made, xs, dxs, f"\n{STRAIGHT_THROUGH}" if graph.rounded else "")
        if kind in ("gradient", "vjp"):
            for name, dx in zip(xs, dxs, strict=True):
                _add_gradient(made.outputs, f"gradients/{name}", dx, sparse)
        else:
            made.outputs = _second(graph, kind, made, connected, [dx for dx in dxs if dx is not None], stopped)
        if unconnected == "zero":
            _add_zeros(made, kind, xs)
        if optimize is not None:
            lean: list[Any] = lean_terms([*made.outputs.values(), *made.ys.values()], [], optimize, kept)
            found = dict(zip([*made.outputs, *made.ys], lean, strict=True))
            made.outputs, made.ys = ({name: found[name] for name in names} for names in (made.outputs, made.ys))
    return made


def _at_each_step(dx: Tensor | None) -> Tensor | None:
    """The derivatives by what was added at each step, of which `dx` is that at the first one."""
    if dx is None:
        return None
    return concat([expand_dims(dx, 0), history(dx)], 0)[:-1]


def _second(
    graph: OnnxGraph,
    kind: str,
    made: Derivative,
    xs: Mapping[str, Tensor],
    dxs: Sequence[Any],
    stopped: Sequence[Tensor],
) -> dict[str, Tensor]:
    """The outputs of the kinds that need more than the gradients `dxs` by the `xs`."""
    sources = list(xs.values())
    if kind == "jvp":
        pushed = jvp(list(made.ys.values()), sources, _added(graph, made, "tangents", xs))
        return {f"jvp/{name}": dy for name, dy in zip(made.ys, pushed, strict=True)}
    if kind == "hvp":
        vectors = _added(graph, made, "vectors", xs)
        found = gradients(
            list(map(_dense, dxs)), sources, vectors, "hvp", stop_gradients=stopped, unconnected_gradients="zero"
        )
    else:
        found = hessians(list(made.ys.values()), sources)
    return {f"{kind}/{name}": _dense(d) for name, d in zip(xs, found, strict=True)}


def by_operation(
    graph: OnnxGraph, rules: Mapping[Any, Callable[..., Any] | None]
) -> dict[Any, Callable[..., Any] | None]:
    """`rules` with operations' names in place of the names of nodes, and of the operators of the model's nodes.

    Raises:
        InvalidArgumentError: a node is several operations here, none of which the rule can stand for.
    """
    found: dict[Any, Callable[..., Any] | None] = {}
    for key, rule in rules.items():
        nodes = {node: x for x, node in graph.origin.items() if key and key in (node.name, node.op_type)}
        rounded = [graph.rounded[x][1] for x in nodes.values() if x in graph.rounded]
        if rounded:
            found.update(dict.fromkeys(_scaled_back(key, rounded), rule))
        else:
            found.update({_only_operation(graph, key, x): rule for x in nodes.values()} if nodes else {key: rule})
    return found


def _scaled_back(key: str, rounded: Sequence[Sequence[Tensor]]) -> list[str]:
    """The names of the operations that stand for nodes of QuantizeLinear in derivatives."""
    names = [y.op.name for ys in rounded for y in ys]
    if not names:
        raise InvalidArgumentError(
            f"onnx.differentiate: rules: no DequantizeLinear reads what {key} gives, and integers have no derivative"
        )
    return names


def _only_operation(graph: OnnxGraph, key: str, x: Tensor) -> str:
    """The name of the one operation that the node of `x` is."""
    scope = x.op.name.rpartition("/")[0]
    names = [op.name for op in graph.operations if op.inputs and op.name.rpartition("/")[0] == scope]
    if names != [x.op.name]:
        listed = ", ".join(f"'{name}'" for name in names)
        raise InvalidArgumentError(
            f"onnx.differentiate: rules: {key} is several operations here ({listed}); give a rule for one of these"
        )
    return x.op.name


def chosen_values(graph: OnnxGraph, names: Iterable[str], what: str) -> dict[str, Tensor]:
    """The values of these names; InvalidArgumentError where one is not there, or no tensor of floats."""
    found = {}
    for name in names:
        try:
            value = graph.only_tensor(name)
        except KeyError as error:
            raise InvalidArgumentError(f"onnx: {what}: {error.args[0]}") from None
        if value is None or (what != "stop" and value.dtype not in TRAINABLE):
            shown = "not a tensor" if value is None else value.type
            raise InvalidArgumentError(f"onnx: {what}: '{name}' is {shown}; only tensors of floats have derivatives")
        found[name] = value
    return found


def only_output(graph: OnnxGraph) -> dict[str, Tensor]:
    """The only output of floats; InvalidArgumentError where there are more, or none."""
    floats = _floats(graph.output_tensors)
    if len(floats) != 1:
        names = ", ".join(map(repr, floats)) or "none"
        raise InvalidArgumentError(f"onnx: the model has {len(floats)} outputs of floats ({names}); say which is meant")
    return floats


def _float_inputs(graph: OnnxGraph) -> dict[str, Tensor]:
    floats = _floats(graph.input_tensors)
    if not floats:
        raise InvalidArgumentError(
            "onnx.differentiate: the model has no inputs of floats; say by which of its values to differentiate"
        )
    return floats


def _floats(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: x for name, x in tensors.items() if x.dtype in FLOATING}


def _connected(made: Derivative, xs: Mapping[str, Tensor], dxs: Sequence[Any], hint: str) -> dict[str, Tensor]:
    """Those of `xs` that the ys depend on; notes for the others the reasons, and a hint."""
    pairs = dict(zip(xs, dxs, strict=True))
    for name, x in xs.items():
        if pairs[name] is None:
            made.unconnected[name] = "\n".join(str(explain_gradient(y, x)) for y in made.ys.values()) + hint
    if len(made.unconnected) == len(xs):
        reasons = "\n".join(made.unconnected.values())
        of, by = (", ".join(f"'{name}'" for name in names) for names in (made.ys, xs))
        raise InvalidArgumentError(f"onnx.differentiate: {of} has no derivative by {by}\n{reasons}")
    return {name: x for name, x in xs.items() if pairs[name] is not None}


def _added(graph: OnnxGraph, made: Derivative, what: str, like: Mapping[str, Tensor]) -> list[Tensor]:
    """A new input for each tensor, of its shape, and so of the same lengths."""
    added = {f"{what}/{name}": placeholder(x.dtype, x.shape, valid_name(f"{what}/{name}")) for name, x in like.items()}
    made.inputs |= added
    graph.dims = {**graph.dims, **{f"{what}/{name}": graph.dims[name] for name in like if name in graph.dims}}
    return list(added.values())


def _add_gradient(outputs: dict[str, Tensor], name: str, dx: Any, sparse: bool) -> None:
    if isinstance(dx, IndexedSlices) and sparse:
        outputs[f"{name}/indices"], outputs[f"{name}/values"] = dx.indices, dx.values
    elif dx is not None:
        outputs[name] = _dense(dx)


def _add_zeros(made: Derivative, kind: str, xs: Mapping[str, Tensor]) -> None:
    """Outputs for what nothing depends on; forward derivatives have one for each y as it is."""
    what = {"gradient": "gradients", "vjp": "gradients", "hvp": "hvp"}.get(kind)
    if what is not None:
        made.outputs |= {f"{what}/{name}": zeros_like(xs[name]) for name in made.unconnected}


def _dense(value: Any) -> Tensor:
    return densify(value, silent=True) if isinstance(value, IndexedSlices) else value
