"""Custom derivative rules: `custom_gradient`, `recompute_grad` (rematerialisation), `grad_pass_through`.

The function that computes cotangents is traced when the operation is made. So the rule is part of the graph: it is
copied into functions and loops, differentiated again, saved and loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial, update_wrapper
from typing import Any

from ..autodiff.pullbacks import components, slices_of
from ..autodiff.registry import rule_of
from ..core import nest
from ..core.dtypes import TRAINABLE, resource
from ..core.errors import InvalidArgumentError
from ..core.function import Function, Traced, inline, origin_of, trace
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.opened import outside_all
from ..core.primitive import Primitive
from ..core.scopes import Scope
from ..core.slices import IndexedSlices
from ..core.traits import SURROGATE
from ..core.types import TensorType
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.variables.operations import handle_primitive
from ..primitives.variables.variable import Variable
from .concrete_function import ConcreteFunction


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """`f`, which returns `(y, grad_fn)`, as a function that returns y and whose derivative is what `grad_fn` says.

    `grad_fn` is called with one cotangent for each tensor of y (None for one of integers or truth values), and returns
    one for each argument: a tensor, IndexedSlices, or None. Arguments and y may be nested; Python numbers among the
    arguments become tensors, and variables are read. Derivatives of the derivative are those of what `grad_fn` does.

    Where y depends on trainable variables that are no arguments, `grad_fn` is also passed `variables`, a list of them
    in the order of their names, and returns a pair: cotangents of the arguments, and a list of those of the variables.

    `grad_fn` is called once, when y is made, outside of the scopes of variables, names, devices and gradient overrides
    around y. What it raises is raised when the derivative is asked for.

    Raises:
        TypeError: `f` does not return a pair, or `grad_fn` takes no `variables` where there are any.
        ValueError: there are keyword arguments.

    >>> import pullback as pb
    >>> @pb.custom_gradient
    ... def clipped(x):
    ...     return pb.identity(x), lambda dy: pb.clip_by_value(dy, -1.0, 1.0)
    >>> x = pb.constant([1.0, 2.0])
    >>> pb.Session().run(pb.gradients(clipped(x) * [0.5, 3.0], x))
    [array([0.5, 1. ], dtype=float32)]
    """
    return custom_gradient if f is None else _Decorated(f, _with_custom_gradient)


class CustomGradient(Primitive):
    """Inputs: results, arguments, handles of variables, and what the derivative reads. Outputs: the results.

    `backward` takes a cotangent for each trainable result, and what it reads. `places` says for each argument and
    variable where its cotangent is among the results of `backward`: nowhere, at one place, or, for slices, at two.
    """

    traits = (SURROGATE,)

    results: int
    backward: Function | None
    places: tuple[tuple[int, ...], ...] = ()
    error: Exception | None = None
    """What the gradient function raised, in place of `backward`."""

    @property
    def functions(self) -> tuple[Function, ...]:  # type: ignore[override]
        return () if self.backward is None else (self.backward,)

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        return xs[: self.results]

    def run_inputs(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return inputs[: self.results]

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        return xs[0] if self.results == 1 else xs[: self.results]

    def gradient(self, op: Operation, *dys: Any) -> Sequence[Any]:
        if self.error is not None:
            raise self.error
        assert self.backward is not None
        seeds = [dy for dy, y in zip(dys, op.outputs, strict=True) if y.dtype in TRAINABLE]
        count = len(op.inputs) - (len(self.backward.parameters) - len(seeds))
        if len(self.places) != count - self.results:
            raise InvalidArgumentError(
                f"Num gradients {len(self.places)} generated for op '{op.name}' (op type: {op.type}) "
                f"do not match num inputs {count - self.results}"
            )
        found = inline(self.backward, [*seeds, *op.inputs[count:]])
        pairs = zip(self.places, op.inputs[self.results : count], strict=True)
        terms = [_term(found, place, x) for place, x in pairs]
        return [*[None] * self.results, *terms, *[None] * (len(op.inputs) - count)]


def _term(found: Sequence[Tensor], place: Sequence[int], x: Tensor) -> Any:
    if not place:
        return None
    return found[place[0]] if len(place) == 1 else slices_of(x, found[place[0]], found[place[1]])


class _Decorated:
    """A function with another meaning, of an object too where it is a method."""

    def __init__(self, f: Callable[..., Any], apply: Callable[..., Any]) -> None:
        self._f = f
        self._apply = apply
        update_wrapper(self, f, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._apply(self._f, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Decorated(partial(self._f, instance), self._apply)


def _with_custom_gradient(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    what = _name(f)
    if kwargs:
        raise ValueError(
            f"custom_gradient: '{what}' was given the keyword arguments {sorted(kwargs)}; pass them by position, "
            "for a cotangent belongs to each argument"
        )
    leaves = nest.flatten(list(args))
    graph = _graph_of(leaves)
    with graph.transaction():
        xs = [convert_to_tensor(leaf) for leaf in leaves]
        returned = f(*nest.pack_sequence_as(list(args), xs))
        if not isinstance(returned, tuple | list) or len(returned) != 2 or not callable(returned[1]):
            raise TypeError(f"custom_gradient: '{what}' must return a pair (y, grad_fn), not {returned!r}")
        y, grad_fn = returned
        ys = [convert_to_tensor(leaf) for leaf in nest.flatten(y)]
        given = {leaf.handle for leaf in leaves if isinstance(leaf, Variable)}
        variables = [v for v in variables_behind(ys, xs) if v.handle not in given]
        if variables and not _takes_variables(grad_fn):
            raise TypeError(
                f"custom_gradient: '{what}' depends on the variables {[v.name for v in variables]}, so its "
                "grad_fn must accept keyword argument 'variables' and return a pair: cotangents of the arguments, and "
                "a list of those of the variables"
            )
        op = _operation(grad_fn, ys, [*xs, *[v.handle for v in variables]], variables, what)
    return nest.pack_sequence_as(y, op.outputs)


def _graph_of(leaves: Sequence[Any]) -> Graph:
    """The graph in which operations on `leaves` are made."""
    tensors = [x for x in leaves if isinstance(x, Tensor | IndexedSlices | Variable)]
    return tensors[0].graph.acting if tensors else get_default_graph()


def _operation(
    grad_fn: Callable[..., Any], ys: Sequence[Tensor], xs: Sequence[Tensor], variables: Sequence[Variable], what: str
) -> Operation:
    """The operation that hands on `ys`, and whose derivative by `xs` is what `grad_fn` says."""
    places: list[tuple[int, ...]] = []

    def build(*seeds: Tensor) -> list[Tensor]:
        rest = iter(seeds)
        dys = [next(rest) if y.dtype in TRAINABLE else None for y in ys]
        if variables:
            dxs, dvs = _pair(grad_fn(*dys, variables=list(variables)))
            if len(dvs) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            dxs, dvs = nest.flatten(grad_fn(*dys)), []
        results: list[Tensor] = []
        for i, dx in enumerate([*dxs, *dvs]):
            term = dx if dx is None or isinstance(dx, IndexedSlices) else convert_to_tensor(dx, _dtype(xs, i))
            parts = components(term)
            places.append(tuple(range(len(results), len(results) + len(parts))))
            results += parts
        return results

    types = [y.type for y in ys if y.dtype in TRAINABLE]
    graph = get_default_graph()
    error, traced = None, Traced(None, ())  # type: ignore[arg-type]
    try:
        # The precision of products is the derivative's too; all other scopes end before the derivative is asked for.
        with outside_all(), graph.entered(Scope(attrs=graph.scope.attrs)):
            traced = trace(build, types, f"{what}_grad", [f"d_{i}" for i in range(len(types))])
    except Exception as found:
        error = found
    primitive = CustomGradient(len(ys), traced.function, tuple(places) if error is None else (), error)
    return graph.add(primitive, [*ys, *xs, *traced.captured])


def _pair(returned: Any) -> tuple[list[Any], list[Any]]:
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    dxs, dvs = returned
    return nest.flatten(dxs), nest.flatten(dvs)


def _dtype(xs: Sequence[Tensor], i: int) -> Any:
    return None if i >= len(xs) or xs[i].dtype == resource else xs[i].dtype


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def variables_behind(ys: Sequence[Tensor], xs: Sequence[Tensor]) -> list[Variable]:
    """The trainable variables that `ys` depend on by a way that can be differentiated and does not pass an x.

    In the order of their names.
    """
    found: dict[Tensor, Variable] = {}
    seen: set[Tensor] = set(xs)
    pending = [y for y in ys if y not in seen]
    for y in pending:
        if y.dtype == resource:
            handle = origin_of(y)
            if handle_primitive(handle).trainable:
                found[handle] = Variable.from_handle(handle)
        elif _is_differentiable(y.op):
            new = [x for x in y.op.inputs if x.dtype in TRAINABLE and x not in seen]
            seen.update(new)
            pending.extend(new)
    return sorted(found.values(), key=lambda v: v.name)


def _is_differentiable(op: Operation) -> bool:
    try:
        return rule_of(op) is not None
    except LookupError:
        return True


def recompute_grad(f: Callable[..., Any]) -> Any:
    """`f` with the same values and derivatives, for which nothing inside f is kept: it is computed again instead.

    f is computed again once the cotangents of its results are there (Griewank and Walther, Evaluating Derivatives,
    2nd ed., chapter 12): the memory of its inputs in place of that of all intermediate results, for one more forward
    pass. That holds on both engines: XLA is kept from merging the two.

    Raises:
        TypeError: `f` returns what is no tensor.

    >>> import pullback as pb
    >>> layer = pb.recompute_grad(lambda x: pb.square(x) * x)
    >>> x = pb.constant(2.0)
    >>> pb.Session().run(pb.gradients(layer(x), x))
    [np.float32(12.0)]
    """
    return _Decorated(f, _recomputed)


def _recomputed(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    inputs = (list(args), dict(kwargs))
    leaves = [leaf.as_tensor() if isinstance(leaf, Variable) else leaf for leaf in nest.flatten(inputs)]
    graph = _graph_of(leaves)
    with graph.transaction():
        names = [f"args_{i}" for i in range(len(leaves))]
        concrete = ConcreteFunction(f, _name(f), nest.pack_sequence_as(inputs, leaves), names, {})
        return concrete.call_with(leaves, recompute=True)


def grad_pass_through(f: Callable[..., Any]) -> Any:
    """`f` whose derivative is taken to be that of the identity, of each argument; variables inside get None.

    f returns as many tensors as it takes, of their shapes (Bengio et al., "Estimating or propagating gradients through
    stochastic neurons", 2013, straight-through estimators).

    >>> import pullback as pb
    >>> x = pb.constant([0.4, 1.6])
    >>> pb.Session().run(pb.gradients(pb.grad_pass_through(pb.round)(x) * [2.0, 3.0], x))
    [array([2., 3.], dtype=float32)]
    """

    def passing(*args: Any) -> Any:
        def grad_fn(*dys: Any, variables: Sequence[Variable] = ()) -> Any:
            return (dys, [None] * len(variables)) if variables else dys

        return f(*args), grad_fn

    update_wrapper(passing, f, updated=())
    return _Decorated(passing, _with_custom_gradient)


def _name(f: Callable[..., Any]) -> str:
    inner: Any = f.func if isinstance(f, partial) else f
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return "lambda" if name == "<lambda>" else name
