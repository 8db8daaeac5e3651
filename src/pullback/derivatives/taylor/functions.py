"""Jets of functions inside operations: calls, branches and loops carry the coefficients of all that they carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from ...autodiff.choices import Around, choices_key, surrounded
from ...autodiff.masked_zeros import guard_for
from ...autodiff.paths import operations_between
from ...control_flow.branch import Case, If
from ...control_flow.call import AbstractCall, call
from ...control_flow.loop import Loop
from ...core.dtypes import TRAINABLE, TokenType
from ...core.function import Function, inline, like_parameter, trace
from ...core.graph import Operation, Tensor
from ...primitives.creation.fill import zeros_like
from .series import Coefficient, Curve

if TYPE_CHECKING:
    from .propagation import Propagation

Jets = list[tuple[Coefficient, ...]]
"""For each output of an operation its coefficients from 1 on."""


def functional(propagation: Propagation, op: Operation, xs: Sequence[Curve]) -> Iterator[Any]:
    """The coefficients of the outputs of `op`, which holds functions.

    Raises:
        LookupError: there is no jet of such an operation.
    """
    found: Jets = []
    for k in count(1):
        if not found or len(found[0]) < k:
            order = propagation.order if all(not x.varies or len(x) > propagation.order for x in xs) else k
            found = _jets(op, xs, order)
        yield tuple([coefficients[k - 1] for coefficients in found])


def _jets(op: Operation, xs: Sequence[Curve], order: int) -> Jets:
    primitive = op.primitive
    if any(f.stateful for f in primitive.functions):
        raise LookupError(
            f"jet: '{op.name}' ({op.type}) reads or changes state, or draws random numbers, in a function; "
            "call gradients of gradients, or put stop_gradient() on its inputs."
        )
    if isinstance(primitive, AbstractCall):
        return _call(op, xs, order)
    if isinstance(primitive, If | Case):
        return _branches(op, xs, order)
    if isinstance(primitive, Loop):
        return _loop(op, xs, order)
    raise LookupError(f"jet: no jet is defined for '{op.name}' ({op.type}). Register one with pb.RegisterJet.")


def carries(x: Tensor) -> bool:
    """Whether `x` has coefficients of its dtype."""
    return x.dtype in TRAINABLE and not isinstance(x.dtype, TokenType)


def jet_of(function: Function, varying: tuple[bool, ...], order: int, *, values: bool = False) -> Function:
    """The function of the parameters and coefficients 1 ... `order` of those that vary, to those of each float result.

    Made once. Its parameters are those of `function`, then the coefficients, parameter by parameter; its results the
    coefficients, result by result, with `values` behind the results of `function`.
    """
    key = ("jet", varying, order, values, choices_key())
    known: Function | None = function.memo.get(key)
    if known is None:
        known = function.memo[key] = _traced(function, varying, order, values)
    return known


def _traced(function: Function, varying: tuple[bool, ...], order: int, values: bool) -> Function:
    from .propagation import Propagation

    width = len(function.parameters)
    moving = [x for x, vary in zip(function.parameters, varying, strict=True) if vary]

    def build(*args: Tensor) -> list[Tensor]:
        xs, rest = args[:width], iter(args[width:])
        ys = inline(function, xs, effects=False)
        curves = {x: _curve(x, rest, order) for x, vary in zip(xs, varying, strict=True) if vary}
        starts = {x.op for x in curves}
        propagation, graph = Propagation(order, curves), args[0].graph
        between = [op for op in reversed(operations_between(ys, list(curves))) if op not in starts]
        with surrounded(Around(zeros=True)), graph.entered(graph.scope._replace(guard=guard_for(graph, forward=True))):
            propagation.run(between)
        found = [_or_zeros(propagation.curve(y)[k], y) for y in ys if carries(y) for k in range(1, order + 1)]
        return [*ys, *found] if values else found

    types = [like_parameter(x) for x in (*function.parameters, *[x for x in moving for _ in range(order)])]
    names = [x.op.name for x in function.parameters]
    return trace(build, types, f"{function.name}_jet", names, inherit=False).function


def _curve(x: Tensor, coefficients: Iterator[Tensor], order: int) -> Curve:
    curve = Curve(x)
    for _ in range(order):
        curve.append(next(coefficients))
    return curve


def _or_zeros(coefficient: Coefficient, like: Tensor) -> Tensor:
    return zeros_like(like) if coefficient is None else coefficient


def _coefficients(inputs: Sequence[Tensor], xs: Sequence[Curve], order: int) -> list[Tensor]:
    """Coefficients 1 ... `order` of those of `inputs` that vary, one after the other."""
    pairs = [(x, curve) for x, curve in zip(inputs, xs, strict=True) if curve.varies]
    return [_or_zeros(curve[k], x) for x, curve in pairs for k in range(1, order + 1)]


def _spread(results: Sequence[Tensor], outputs: Sequence[Tensor], order: int) -> Jets:
    """The coefficients of each of `outputs`, from those of the ones that have any."""
    rest = iter(results)
    return [tuple([next(rest) for _ in range(order)]) if carries(y) else (None,) * order for y in outputs]


def _call(op: Operation, xs: Sequence[Curve], order: int) -> Jets:
    function = jet_of(op.primitive.functions[0], tuple([x.varies for x in xs]), order)
    results = call(function, [*op.inputs, *_coefficients(op.inputs, xs, order)]).outputs
    return _spread(results, op.outputs, order)


def _branches(op: Operation, xs: Sequence[Curve], order: int) -> Jets:
    choice, *args = op.inputs
    varying = tuple([x.varies for x in xs[1:]])
    functions = [jet_of(f, varying, order) for f in op.primitive.functions]
    primitive: Any = If(functions[0], functions[1]) if isinstance(op.primitive, If) else Case(tuple(functions))
    results = primitive.operation(choice, *args, *_coefficients(args, xs[1:], order)).outputs
    return _spread(results, op.outputs, order)


def _loop(op: Operation, xs: Sequence[Curve], order: int) -> Jets:
    """A loop that carries the coefficients of all floats that it carries: zeros at first where they do not vary yet."""
    loop: Any = op.primitive
    c, s = loop.carried, loop.scanned
    limit, *inputs = op.inputs
    curves = [*map(_moving, inputs[:c], xs[1 : 1 + c], [order] * c), *xs[1 + c :]]
    varying = tuple([curve.varies for curve in curves])
    ends = [(0, c), (c, c + s), (c + s, len(inputs))]
    carried, scanned, constants = [[*inputs[a:b], *_coefficients(inputs[a:b], curves[a:b], order)] for a, b in ends]
    body = _loop_body(loop, varying, order)
    condition = None if loop.condition is None else _loop_condition(loop, len(carried), len(constants), body)
    stacked = len(body.results) - len(carried)
    made = replace(loop, body=body, condition=condition, carried=len(carried), scanned=len(scanned), stacked=stacked)
    results = made.operation(limit, *carried, *scanned, *constants).outputs
    places, old = made.places, loop.places
    rows = op.outputs[old.stacked.start : old.stacked.stop] + op.outputs[old.kept.start : old.kept.stop]
    final = _spread([results[i] for i in places.final[c:]], op.outputs[1 : 1 + c], order)
    written = _spread([results[i] for i in places.stacked[len(rows) :]], rows, order)
    history = _spread([results[i] for i in places.history[c:]], op.outputs[1 : 1 + c], order)
    return [(None,) * order, *final, *written[: loop.stacked], *history, *written[loop.stacked :]]


def _moving(x: Tensor, curve: Curve, order: int) -> Curve:
    """The curve of something that is carried: if it is a float it may vary from the second step on."""
    if curve.varies or not carries(x):
        return curve
    made = Curve(x)
    for _ in range(order):
        made.append(None)
    return made


def _loop_body(loop: Any, varying: tuple[bool, ...], order: int) -> Function:
    """A step with coefficients: (carried, scanned rows, constants), each followed by its coefficients."""
    function = jet_of(loop.body, varying, order, values=True)
    width, c, s = len(loop.body.parameters), loop.carried, loop.scanned
    coefficients: list[list[Tensor]] = []
    rest = iter(function.parameters[width:])
    for vary in varying:
        coefficients.append([next(rest) for _ in range(order)] if vary else [])
    parameters: list[Tensor] = []
    for a, b in ((0, c), (c, c + s), (c + s, width)):
        parameters += [*function.parameters[a:b], *[x for own in coefficients[a:b] for x in own]]
    ys, found = function.results[: len(loop.body.results)], iter(function.results[len(loop.body.results) :])
    parts = [[next(found) for _ in range(order)] if carries(y) else [] for y in loop.body.results]
    carried = [x for own in parts[:c] for x in own]
    return function.with_results([*ys[:c], *carried, *ys[c:], *[x for own in parts[c:] for x in own]], parameters)


def _loop_condition(loop: Any, carried: int, constants: int, body: Function) -> Function:
    """The condition, which reads no coefficients."""
    old: Function = loop.condition
    c = loop.carried
    types = [*body.parameters[:carried], *body.parameters[len(body.parameters) - constants :]]

    def build(*args: Tensor) -> list[Tensor]:
        return inline(old, [*args[:c], *args[carried : carried + len(old.parameters) - c]])

    return trace(build, [like_parameter(x) for x in types], old.name, inherit=False).function
