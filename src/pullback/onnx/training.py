"""ONNX training steps: `training_step` adds loss, derivatives and new parameters to a loaded model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..autodiff.reverse import gradients
from ..core.dtypes import FLOATING, int64
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..core.slices import IndexedSlices
from ..primitives.base.broadcasting import AbstractElementwise
from ..primitives.base.densify import densify, densify_policy
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import constant_in
from ..primitives.creation.placeholders import placeholder
from ..primitives.elementwise.powers import pow, sqrt
from ..primitives.identity.identity import identity
from ..primitives.losses.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ..primitives.reduction.reduce import reduce_mean
from .derive import chosen_values, only_output
from .model import OnnxGraph
from .reading import valid_name

OPTIMIZERS = {"sgd": 0.01, "adam": 0.001}
"""The optimizers and their learning rates."""
LOSSES = ("cross-entropy", "mean-squared-error")
_FOLDED = re.compile(r"_?val_\d+")
"""What torch's exporter calls a constant of its decompositions, and what it has computed of weights."""
_NUMBER = re.compile(
    rf"{_FOLDED.pattern}|.*(::|_output_\d+$|:\d+$|(^|[^a-z])(const(ant)?|scalar|lifted)([^a-z]|$)).*", re.I
)
"""What exporters call single numbers that are no parameters."""
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


@dataclass
class TrainingStep:
    """What `training_step` made: tensors by the names that they have in a model, ready for `export`."""

    loss: Tensor
    parameters: dict[str, Tensor]
    """What is learned: inputs of the exported model, whose values are used where none is given."""
    constants: tuple[str, ...] = ()
    """The initializers of floats that are not learned, because they look like constants of the exporter."""
    inputs: dict[str, Tensor] = field(default_factory=dict)
    """Other inputs that were added: targets, the learning rate, the optimizer's state."""
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """`loss`, and `new/<name>` for each parameter and each part of the state, to be given to the next step."""


def training_step(
    graph: OnnxGraph,
    loss: str | None = None,
    *,
    criterion: str | None = None,
    optimizer: str = "sgd",
    learning_rate: float | None = None,
    parameters: Sequence[str] | None = None,
    stop: Sequence[str] = (),
) -> TrainingStep:
    """One step of training a model, added to its graph, which `load(..., training=True)` returned.

    Parameters are inputs of the step that have their present values unless others are given; `new/<parameter>` is
    what the step makes of them. So are the learning rate, and the state of Adam: `adam/step`, `adam/m/<parameter>`,
    `adam/v/<parameter>`. The running means of batch normalisations are among the parameters.

    Args:
        loss: the name of the value to make smaller, or, with a criterion, of the predictions; the only output of
            floats unless given.
        criterion: "cross-entropy" of predictions that are logits [batch, ..., classes], for the input `targets`, whole
            numbers; "mean-squared-error" to the input `targets`, like the predictions; None: the value is the loss.
        optimizer: "sgd", or "adam" (Kingma and Ba, 2015).
        learning_rate: its first value; 0.01 for "sgd" and 0.001 for "adam" unless given.
        parameters: names of initializers. Unless given, all of floats that the loss depends on but for what looks like
            a constant of the exporter, as the 0.5 of a Gelu does: single numbers with names such as `val_0`,
            `onnx::Mul_7` or `Constant_3`, and tables called `val_0` that are only added to or multiplied with elements.
        stop: names of values that are held constant.

    Raises:
        InvalidArgumentError: an argument that cannot be, or nothing to learn. LookupError: an operation between the
            loss and a parameter has no gradient.

    >>> import onnx, pullback as pb
    >>> text = '''<ir_version: 10, opset_import: ["" : 21]>
    ... line (float[n] x) => (float[n] y) <float w = {2.0}> { y = Mul(x, w) }'''
    >>> graph = pb.onnx.load(onnx.parser.parse_model(text), training=True)
    >>> step = pb.onnx.training_step(graph, criterion="mean-squared-error")
    >>> list(step.inputs), list(step.outputs)
    (['targets', 'learning_rate'], ['loss', 'new/w'])
    >>> feeds = {graph["x"]: [1.0, 2.0], step.inputs["targets"]: [3.0, 6.0]}
    >>> pb.Session(graph=graph).run(step.outputs, feeds)
    {'loss': np.float32(2.5), 'new/w': np.float32(2.05)}
    """
    if optimizer not in OPTIMIZERS:
        names = " or ".join(map(repr, OPTIMIZERS))
        raise InvalidArgumentError(f"onnx.training_step: optimizer must be {names}, not {optimizer!r}")
    (y,) = (chosen_values(graph, [loss], "loss") if loss else only_output(graph)).values()
    with graph.transaction(), densify_policy("allow"):
        inputs: dict[str, Tensor] = {}
        total = _loss(y, criterion, inputs)
        constants = [] if parameters else _constants(graph)
        xs = _chosen_parameters(graph, parameters) if parameters else _float_initializers(graph, constants)
        stopped = list(chosen_values(graph, stop, "stop").values())
        found = gradients(total, list(xs.values()), stop_gradients=stopped)
        dxs = {name: dx for name, dx in zip(xs, found, strict=True) if dx is not None}
        unused = [name for name in parameters or () if name not in dxs]
        if unused or not dxs:
            what = f"not on {', '.join(unused)}" if unused else "on no initializer of floats"
            hint = f" (constants of the exporter: {', '.join(constants)})" if constants else ""
            raise InvalidArgumentError(f"onnx.training_step: the loss depends {what}: there is nothing to learn{hint}")
        learned = {name: xs[name] for name in dxs}
        step = TrainingStep(total, learned, tuple(constants), inputs, {"loss": identity(total, name="loss")})
        _add_changes(graph, step, dxs, optimizer, learning_rate)
        for name, now in graph.updates.items():
            step.parameters[name] = graph[name]
            step.outputs[f"new/{name}"] = now
    return step


def _chosen_parameters(graph: OnnxGraph, names: Sequence[str]) -> dict[str, Tensor]:
    found = chosen_values(graph, names, "parameters")
    for name in found:
        if name not in graph.initializers:
            raise InvalidArgumentError(f"onnx.training_step: {name} is not an initializer, and has no value")
    return found


def _constants(graph: OnnxGraph) -> list[str]:
    """The initializers of floats that are constants of the exporter, to judge by name, size and use."""
    floats = {name: x for name, x in graph.initializers.items() if x.dtype in FLOATING}
    mixed = {x for op in graph.operations if not isinstance(op.primitive, AbstractElementwise) for x in op.inputs}
    return [
        name
        for name, x in floats.items()
        if (x.shape.num_elements() == 1 and _NUMBER.fullmatch(name)) or (_FOLDED.fullmatch(name) and x not in mixed)
    ]


def _float_initializers(graph: OnnxGraph, but: Sequence[str]) -> dict[str, Tensor]:
    held = {*graph.updates, *but}
    return {name: x for name, x in graph.initializers.items() if x.dtype in FLOATING and name not in held}


def _loss(y: Tensor, criterion: str | None, inputs: dict[str, Tensor]) -> Tensor:
    if criterion is None:
        return y if y.shape.rank == 0 else reduce_mean(y)
    if criterion == "cross-entropy":
        targets = inputs["targets"] = placeholder(int64, y.shape[:-1], "targets")
        return reduce_mean(sparse_softmax_cross_entropy_with_logits(targets, y))
    if criterion == "mean-squared-error":
        targets = inputs["targets"] = placeholder(y.dtype, y.shape, "targets")
        return reduce_mean((y - targets) * (y - targets))
    names = " or ".join(map(repr, LOSSES))
    raise InvalidArgumentError(f"onnx.training_step: criterion must be None, {names}, not {criterion!r}")


def _add_changes(
    graph: OnnxGraph, step: TrainingStep, dxs: Mapping[str, Any], optimizer: str, learning_rate: float | None
) -> None:
    rate = OPTIMIZERS[optimizer] if learning_rate is None else learning_rate
    factor = step.inputs["learning_rate"] = _state(graph, "learning_rate", np.float32(rate))
    if optimizer == "adam":
        count = step.inputs["adam/step"] = _state(graph, "adam/step", np.float32(0))
        now = step.outputs["new/adam/step"] = count + 1.0
        factor = factor * sqrt(1.0 - pow(_BETA2, now)) / (1.0 - pow(_BETA1, now))
    for name, dx in dxs.items():
        x, dense = step.parameters[name], densify(dx, silent=True) if isinstance(dx, IndexedSlices) else dx
        moved = _moment_step(graph, step, name, x, dense) if optimizer == "adam" else dense
        step.outputs[f"new/{name}"] = x - moved * cast(factor, x.dtype)


def _moment_step(graph: OnnxGraph, step: TrainingStep, name: str, x: Tensor, dx: Tensor) -> Tensor:
    nothing = np.zeros(x.shape.known, x.dtype.name)
    m = step.inputs[f"adam/m/{name}"] = _state(graph, f"adam/m/{name}", nothing)
    v = step.inputs[f"adam/v/{name}"] = _state(graph, f"adam/v/{name}", nothing)
    now_m = step.outputs[f"new/adam/m/{name}"] = m * _BETA1 + dx * (1 - _BETA1)
    now_v = step.outputs[f"new/adam/v/{name}"] = v * _BETA2 + dx * dx * (1 - _BETA2)
    return now_m / (sqrt(now_v) + _EPSILON)


def _state(graph: OnnxGraph, name: str, value: Any) -> Tensor:
    """A constant that a run may give another value."""
    return constant_in(graph, np.asarray(value), valid_name(name))
