"""While loops: the number of steps is decided in a run; one operation, differentiable to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from ..core import nest
from ..core.composite import AbstractComposite
from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import INTEGER, int32, resource
from ..core.dtypes import bool as bool_
from ..core.function import carried_parameter, short_name
from ..core.graph import Operation, Tensor, get_default_graph
from ..core.seen import seen
from ..core.shape import TensorShape, as_shape
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..core.typing import TensorLike
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import constant, constant_value, convert_to_tensor
from ..primitives.elementwise.maximum import minimum
from ..primitives.identity.identity import stop_gradient
from ..primitives.shape.reshape import reshape
from .array_loops import ArrayLoop, with_arrays_settled
from .loop import Loop
from .signature import TensorSpec
from .state import values_for_handles, with_step_results
from .steady_lengths import with_steady_lengths
from .tracing import Part, kinds, lasting_types, put_together, take_apart, trace_together

UNBOUNDED = np.iinfo(np.int32).max


@in_graph_of_inputs
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: TensorLike | None = None,
    name: str | None = None,
    return_same_structure: bool = True,
) -> Any:
    """What `loop_vars` are when `cond` of them is false: `body` maps them to the next ones, step by step.

    `loop_vars` is a list or tuple, nested as you like, of tensors, IndexedSlices, TensorArrays, variables (which are
    read) and numbers; `cond` and `body` are each called once, with them as arguments, to build the loop. `body` returns
    the same structure, of the same dtypes and shapes; `shape_invariants`, shapes or `TensorSpec`s in the structure of
    `loop_vars`, says which shapes may change from step to step. What else they read is the same in each step.

    The number of steps need not be known, on either engine. `maximum_iterations`, a scalar integer, ends the loop in
    any case; known when the graph is built, it lets XLA keep one row a step in memory of known size, as a counter does
    that `cond` compares with a number. Derivatives take the memory that the policy says (`pb.Memory`). With
    `back_prop=False` they do not cross the loop. With `return_same_structure=False` a list of one is unpacked.
    `parallel_iterations` and `swap_memory` are taken for TensorFlow's sake; they change nothing.

    Derivative: a loop in the other direction over the steps that were made: the cotangent of the state before a step =
    that of body there.

    Raises:
        TypeError: `cond` or `body` is not callable, `cond` gives no truth value, a dtype changes.
        ValueError: there are no loop variables; a structure or shape changes; `maximum_iterations` is no scalar.

    >>> import pullback as pb
    >>> x = pb.constant(3.0)
    >>> i, y = pb.while_loop(lambda i, y: y < 100.0, lambda i, y: (i + 1, y * x), (0, 1.0))
    >>> dy, = pb.gradients(y, x)
    >>> pb.Session().run([i, y, dy])
    [np.int32(5), np.float32(243.0), np.float32(405.0)]
    """
    del swap_memory
    _check_arguments(cond, body, loop_vars, parallel_iterations)
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope(name or "while"):
        variables = list(loop_vars) if isinstance(loop_vars, list | tuple) else [loop_vars]
        template, start = take_apart(variables)
        invariants = _invariants(template, start, shape_invariants)
        limit, bound = _limit(maximum_iterations)
        traced = _Traced(cond, body, template, start, invariants)
        ends = traced.loop(limit, bound)
        ends = ends if back_prop else [stop_gradient(y) if y.dtype != resource else y for y in ends]
        found = put_together(template, ends)
    if not isinstance(loop_vars, list | tuple) or (not return_same_structure and len(found) == 1):
        return found[0]
    return nest.pack_sequence_as(loop_vars, nest.flatten(found))


def while_rows(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], maximum_iterations: Any = None
) -> tuple[list[Any], Any]:
    """A `while_loop` each of whose steps gives a row: its variables in the end, and the rows of all steps, stacked.

    `body` returns the next variables and the row, a nested structure of tensors of the same shapes in each step.

    >>> import pullback as pb
    >>> ends, rows = while_rows(lambda x: x < 20, lambda x: ([2 * x], {"before": x}), [3])
    >>> pb.Session(engine="numpy").run([ends, rows])
    [[np.int32(24)], {'before': array([ 3,  6, 12], dtype=int32)}]
    """
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope("while"):
        template, start = take_apart(list(loop_vars))
        limit, bound = _limit(maximum_iterations)
        traced = _Traced(cond, body, template, start, _invariants(template, start, None), with_rows=True)
        ends = traced.loop(limit, bound)
        return put_together(template, ends), put_together(traced.row, traced.rows)


def _check_arguments(cond: Any, body: Any, loop_vars: Any, parallel_iterations: Any) -> None:
    for function, what in ((cond, "cond"), (body, "body")):
        if not callable(function):
            raise TypeError(f"while_loop: {what} must be callable, not {function!r}")
    if loop_vars is None or (isinstance(loop_vars, list | tuple) and not loop_vars):
        raise ValueError("while_loop: there are no loop variables; pass at least one in loop_vars")
    if isinstance(parallel_iterations, bool) or not isinstance(parallel_iterations, Integral):
        raise ValueError(f"while_loop: parallel_iterations must be a positive integer, not {parallel_iterations!r}")
    if parallel_iterations < 1:
        raise TypeError(f"while_loop: parallel_iterations must be a positive integer, not {parallel_iterations}")


def _limit(maximum_iterations: Any) -> tuple[Tensor, int | None]:
    """The limit as a scalar of int32, and its value where it is known."""
    if maximum_iterations is None:
        return constant(UNBOUNDED, int32, name="limit"), None
    limit = convert_to_tensor(maximum_iterations)
    if limit.dtype not in INTEGER or limit.shape.rank not in (0, None):
        raise ValueError(f"while_loop: maximum_iterations must be a scalar integer, not {limit}")
    known = constant_value(limit)
    if known is not None:
        bound = max(0, min(int(known), UNBOUNDED))
        return constant(bound, int32, name="limit"), bound
    return limit if limit.dtype == int32 else cast(minimum(limit, UNBOUNDED), int32), None


def _invariants(template: Any, start: Sequence[Tensor], shape_invariants: Any) -> list[TensorType]:
    """The type that each loop variable keeps."""
    types = lasting_types(template, start)
    if shape_invariants is None:
        return types
    given = list(shape_invariants) if isinstance(shape_invariants, list | tuple) else [shape_invariants]
    found = []
    for x, kept, invariant in zip(start, types, _flat_invariants(template, start, given), strict=True):
        if invariant is None:
            found.append(kept)
            continue
        if isinstance(invariant, TensorSpec) and invariant.dtype != x.dtype:
            raise TypeError(
                f"while_loop: the invariant {invariant} is not compatible with '{x.op.name}', which enters the loop "
                f"as {x.type}"
            )
        shape = invariant.shape if isinstance(invariant, TensorSpec) else as_shape(invariant)
        if not shape.is_compatible_with(x.shape) or shape.most_specific_compatible_shape(x.shape) != shape:
            raise ValueError(
                f"while_loop: the shape invariant {shape} is not compatible with '{x.op.name}', which enters the loop "
                f"as {x.type}"
            )
        found.append(TensorType(x.type.dtype, shape))
    return found


def _flat_invariants(template: Any, start: Sequence[Tensor], given: Any) -> list[Any]:
    """A shape or TensorSpec for each tensor, None where nothing is said."""
    flat: list[Any] = []
    rest = iter(start)

    def visit(part: Any, shapes: Any) -> None:
        if nest.is_nested(part):
            variables, invariants = nest.children(part), nest.children(shapes) if nest.is_nested(shapes) else [shapes]
            if len(variables) != len(invariants):
                raise ValueError(
                    f"while_loop: {len(invariants)} shape_invariants for {len(variables)} loop variables; "
                    "one for each is needed"
                )
            for child, inner in zip(variables, invariants, strict=True):
                visit(child, inner)
            return
        if isinstance(shapes, TensorSpec) and part.kind != "Tensor":
            raise TypeError(f"while_loop: the invariant {shapes} is one of a tensor, not of a {part.kind}")
        value = part.rebuild([next(rest) for _ in range(part.count)])
        if isinstance(value, AbstractComposite) and shapes is not None:
            kept = [t.shape for t in value.types_within(as_shape(shapes))]
            if not all(a.is_compatible_with(x.shape) for a, x in zip(kept, value.tensors, strict=True)):
                raise ValueError(f"while_loop: the shape invariant {as_shape(shapes)} is not compatible with {value}")
            flat.extend(kept)
            return
        flat.extend([shapes] if part.kind == "Tensor" else [None] * part.count)

    visit(template, given)
    return flat


class _Traced:
    """Condition and body of a loop, traced, and what they found out about its variables."""

    row: Any = None
    """The structure of what the body gives in each step."""
    rows: Sequence[Tensor] = ()
    """That of all steps, once the loop is made."""

    def __init__(
        self,
        cond: Any,
        body: Any,
        template: Any,
        start: Sequence[Tensor],
        types: Sequence[TensorType],
        *,
        with_rows: bool = False,
    ) -> None:
        self._with_rows = with_rows
        self._template = template
        self._start = start
        self._types = types
        parameters = [carried_parameter(x, t) for x, t in zip(start, types, strict=True)]
        names = [short_name(x) for x in start]
        together = trace_together(
            [
                Part("body", lambda *given: self._next(body, given), parameters, names),
                Part("cond", lambda *given: [self._holds(cond, given)], parameters, names),
            ]
        )
        (self._body, self._condition), self._captured = values_for_handles(together.functions, together.captured)
        self._controls = together.controls

    def _next(self, body: Any, given: Sequence[Tensor]) -> list[Tensor]:
        """The tensors of what `body` returns, held to the structure, dtypes and shapes of the loop variables."""
        returned = body(*put_together(self._template, given))
        written: list[Tensor] = []
        if self._with_rows:
            returned, row = returned
            self.row, written = take_apart(row)
        returned = list(returned) if isinstance(returned, list | tuple) else [returned]
        template, tensors = take_apart(_adopting(returned, self._template, given))
        check_next("while_loop", self._template, template, given, tensors, self._types)
        return [*tensors, *written]

    def _holds(self, cond: Any, given: Sequence[Tensor]) -> Tensor:
        y = convert_to_tensor(cond(*put_together(self._template, given)))
        if y.dtype != bool_:
            raise TypeError(f"while_loop: cond must return a truth value, not {y}")
        if y.shape.rank and y.shape.num_elements() == 1:
            return reshape(y, [])
        if not y.shape.is_compatible_with(TensorShape.SCALAR):
            raise ValueError(f"while_loop: cond must return a scalar, not {y}")
        return y

    def loop(self, limit: Tensor, bound: int | None) -> list[Tensor]:
        """The final loop variables. Those that the body returns as they came are constants of the loop."""
        settled = with_arrays_settled(ArrayLoop(self._start, self._body, self._condition, self._captured, limit))
        loop = settled.loop
        loop = replace(loop, body=with_steady_lengths(loop.body, [x.type for x in loop.start]))
        count = len(loop.start)
        fixed = [y is x for x, y in zip(loop.body.parameters, loop.body.results, strict=False)]
        moving = [i for i in range(count) if not fixed[i]]
        still = [i for i in range(count) if fixed[i]]
        order = [*moving, *still, *range(count, len(loop.body.parameters))]
        written = loop.body.results[count:]
        results = [*[loop.body.results[i] for i in moving], *written]
        body = loop.body.with_results(results, [loop.body.parameters[i] for i in order])
        condition = loop.condition.with_results(loop.condition.results, [loop.condition.parameters[i] for i in order])
        body = with_step_results(body, len(moving))
        primitive = Loop(body, condition, len(moving), stacked=len(written), bound=bound)
        inputs = [*loop.start, *self._captured]
        with limit.op.graph.acting.control_dependencies(self._controls):
            outputs = primitive.operation(limit, *[inputs[i] for i in order]).outputs
        ends = dict(zip(moving, outputs[1:], strict=False))
        self.rows = [outputs[n] for n in primitive.places.stacked]
        return settled.ends([ends.get(i, loop.start[i]) for i in range(count)])


def _adopting(returned: list[Any], template: Any, given: Sequence[Tensor]) -> list[Any]:
    """Python numbers among what `body` returned as tensors of the dtype of the loop variable in their place."""
    flat, leaves = nest.flatten(returned), nest.flatten(template)
    if len(flat) != len(leaves):
        return returned
    start = 0
    for i, leaf in enumerate(leaves):
        if leaf.kind == "Tensor" and not isinstance(flat[i], Tensor | IndexedSlices | Operation | None):
            flat[i] = convert_to_tensor(flat[i], dtype_hint=given[start].dtype)
        start += leaf.count
    adopted: list[Any] = nest.pack_sequence_as(returned, flat)
    return adopted


def check_next(
    what: str, template: Any, made: Any, given: Sequence[Tensor], tensors: Sequence[Tensor], types: Sequence[TensorType]
) -> None:
    """TypeError or ValueError unless what a step made has the structure and the types of what it was given."""
    try:
        nest.assert_same_structure(kinds(template), kinds(made))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: a step returned another structure than it was given. {error}") from None
    for a, b in zip(nest.flatten(template), nest.flatten(made), strict=True):
        if (a.kind, a.count) != (b.kind, b.count):
            wrong: type[Exception] = ValueError if b.kind == "None" else TypeError
            raise wrong(f"{what}: a step returned {b.kind} where it was given {a.kind}")
    for x, y, of in zip(given, tensors, types, strict=True):
        _check_type(what, x, y, of)


def _check_type(what: str, x: Tensor, y: Tensor, of: TensorType) -> None:
    if x.dtype == resource and y is not x:
        raise TypeError(f"{what}: loop variable '{x.op.name}' is a handle, which a step cannot change")
    if y.dtype != of.dtype:
        raise TypeError(
            f"{what}: Loop var {x.name} enters the loop with type {seen.dtype(x.dtype)} but has type "
            f"{seen.dtype(y.dtype)} after 1 iteration. Convert it with {seen.package}.cast"
        )
    if y.dtype != resource and of.shape.most_specific_compatible_shape(y.shape) != of.shape:
        more = " To let the shape change from step to step, say so in shape_invariants." if what == "while_loop" else ""
        raise ValueError(
            f"{what}: loop variable '{x.op.name}' enters the loop with shape {of.shape}, but has shape {y.shape} "
            f"after one iteration.{more}"
        )
