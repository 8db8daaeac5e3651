"""Vectorized maps: `map_fn` and `vectorized_map`, a function of each row, one after the other or many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..core import nest
from ..core.composite import AbstractComposite
from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import as_dtype, int32
from ..core.function import Function, Parameter
from ..core.graph import Tensor, get_default_graph
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..core.typing import DTypeLike
from ..primitives.creation.constant import constant
from ..primitives.creation.ranges import range_
from ..primitives.identity.identity import stop_gradient
from ..primitives.ragged.ragged_tensor import RaggedTensor
from ..primitives.shape.size import shape
from .loop import Loop
from .state import values_for_handles, with_step_results
from .tensor_array import TensorArray
from .tracing import Part, kinds, put_together, take_apart, trace_together

NUMBER = Parameter(TensorType(int32, TensorShape([])))
"""What stands for the number of the row."""


@in_graph_of_inputs
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """What `fn` returns for each row of `elems`, stacked; one row after the other.

    `elems` is a tensor or a nested structure of tensors of one first length, which need not be known, or of
    TensorArrays, whose elements are the rows, or of ragged tensors; `fn` is called
    once, with one row of each, to build the loop, and returns a nested structure of tensors. `dtype`, or its later name
    `fn_output_signature`, says which dtypes it returns, and is checked. `vectorized_map` computes many rows at once.
    `parallel_iterations`, `swap_memory` and `infer_shape` are taken for TensorFlow's sake; they change nothing.

    Derivative: dx_i = that of fn at row i; what fn reads from outside gets the sum over the rows.

    Raises:
        TypeError: `fn` is not callable, or returns other dtypes than said, or lists where tuples were said.
        ValueError: the first lengths differ.

    >>> import pullback as pb
    >>> rows = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> pb.Session().run(pb.map_fn(lambda row: row * pb.reduce_sum(row), rows)).tolist()
    [[3.0, 6.0], [21.0, 28.0]]
    """
    del parallel_iterations, swap_memory, infer_shape
    dtypes = dtype if fn_output_signature is None else fn_output_signature
    found = _mapped("map_fn", *by_number(fn, elems), None, name or "map", dtypes)
    return found if back_prop else nest.map_structure(stop_gradient, found)


@in_graph_of_inputs
def vectorized_map(
    fn: Callable[..., Any],
    elems: Any,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
    *,
    batch_size: int | None = None,
    name: str | None = None,
) -> Any:
    """What `fn` returns for each row of `elems`, stacked; many rows at once, where the engine can.

    The arguments are those of `map_fn`. `batch_size` rows are computed at once; None leaves that to the engine. The XLA
    engine vectorizes all that it can compile; NumPy goes row by row. Where `fn` draws random numbers or assigns to
    variables, rows follow each other. `fallback_to_while_loop` and `warn` change nothing: there is always a way.

    Derivative: dx_i = that of fn at row i; what fn reads from outside gets the sum over the rows.

    >>> import pullback as pb
    >>> w = pb.constant([1.0, 2.0])
    >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> by_example = pb.vectorized_map(lambda row: pb.gradients(pb.square(pb.reduce_sum(row * w)), w)[0], x)
    >>> pb.Session().run(by_example).tolist()
    [[10.0, 20.0], [66.0, 88.0]]
    """
    del fallback_to_while_loop, warn
    return _mapped("vectorized_map", fn, elems, batch_size or 0, name or "vectorized_map", None)


def _mapped(what: str, fn: Any, elems: Any, at_once: int | None, name: str, dtypes: Any) -> Any:
    if not callable(fn):
        raise TypeError(f"{what}: fn must be callable, not {fn!r}")
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope(name):
        template, rows = take_apart(nest.map_structure(partial(_rows_of, what), elems))
        length = common_length(what, rows)
        returned: list[Any] = []

        def step(*given: Tensor) -> Sequence[Tensor]:
            note_rows(rows, given[:-1], given[-1])
            made, tensors = take_apart(fn(put_together(template, given[:-1])))
            returned.append(made)
            return tensors

        parameters = [*[row_parameter(x) for x in rows], NUMBER]
        together = trace_together([Part("row", step, parameters, [*["row"] * len(rows), "number"])])
        (body,), captured = values_for_handles(together.functions, together.captured)
        _check_dtypes(what, returned[0], body.results, dtypes)
        count, steps = len(body.results), steps_of(rows[0], length)
        body, scanned = with_numbers(body, rows, steps)
        loop = Loop(
            with_step_results(body, 0), None, 0, scanned=len(scanned), stacked=count, length=length, at_once=at_once
        )
        with graph.control_dependencies(together.controls):
            outputs = loop.operation(steps, *scanned, *captured).outputs
        return put_together(returned[0], outputs[1 : 1 + count])


def by_number(fn: Callable[..., Any], elems: Any) -> tuple[Callable[..., Any], Any]:
    """`fn` and `elems` with the numbers of the rows of ragged tensors in their place."""
    if not callable(fn) or not any(isinstance(x, RaggedTensor) for x in nest.flatten(elems)):
        return fn, elems
    numbered = nest.map_structure(lambda x: range_(x.nrows()) if isinstance(x, RaggedTensor) else x, elems)

    def of_numbers(given: Any) -> Any:
        return fn(nest.map_structure(lambda x, row: x[row] if isinstance(x, RaggedTensor) else row, elems, given))

    return of_numbers, numbered


def _rows_of(what: str, x: Any) -> Any:
    if isinstance(x, TensorArray):
        return x.stack()
    if isinstance(x, AbstractComposite):
        raise ValueError(
            f"{what}: elems must be Tensors or TensorArrays, whose rows have one shape, not {x!r}; map its values "
            "(ragged.map_flat_values), or what to_tensor or sparse.to_dense makes of it"
        )
    return x


def common_length(what: str, rows: Sequence[Tensor]) -> int | None:
    """The number of rows that all of `rows` have; None where it is not known. Raises where they differ."""
    if not rows:
        raise ValueError(f"{what}: elems must be a Tensor or a structure of Tensors; there is none in it")
    known: dict[int, Tensor] = {}
    for x in rows:
        if x.shape.rank == 0:
            raise ValueError(f"{what}: elems must be structures of Tensors that have rows, not scalars; found {x}")
        n = x.shape.size(0) if x.shape.rank else None
        if n is not None:
            known.setdefault(n, x)
    if len(known) > 1:
        a, b, *_ = known.values()
        raise ValueError(f"{what}: all elems must have one number of rows: {a} and {b} differ")
    return next(iter(known), None)


def row_parameter(x: Tensor) -> Parameter:
    """What stands for one row of `x`."""
    return Parameter(TensorType(x.type.dtype, x.shape[1:]))


def note_rows(rows: Sequence[Tensor], given: Sequence[Tensor], number: Tensor) -> None:
    """Note in the open body that its parameters `given` are row `number` of `rows`: derivatives go on to these."""
    number.op.graph.rows.update((inner, (x, number)) for inner, x in zip(given, rows, strict=True))


def with_numbers(
    body: Function, rows: Sequence[Tensor], steps: Tensor, before: int = 0
) -> tuple[Function, list[Tensor]]:
    """The body without the parameter for the number of the row, unless it reads that; what it is given row by row.

    `before` parameters stand before those for rows.
    """
    place = before + len(rows)
    number = body.parameters[place]
    if any(number in op.inputs for op in body.operations):
        return body, [*rows, range_(steps)]
    others = [x for x in body.parameters if x is not number]
    return body.with_results(body.results, others), list(rows)


def steps_of(x: Tensor, length: int | None) -> Tensor:
    """The number of rows of `x`, as a scalar of int32."""
    return shape(x)[0] if length is None else constant(length, name="steps")


def _check_dtypes(what: str, template: Any, results: Sequence[Tensor], dtypes: Any) -> None:
    if dtypes is None:
        return
    wanted = [as_dtype(getattr(d, "dtype", d)) for d in nest.flatten(dtypes)]
    if len(wanted) != len(results):
        raise ValueError(f"{what}: fn returns {len(results)} tensors, but dtype says {len(wanted)}")
    if nest.is_nested(dtypes):
        try:
            nest.assert_same_structure(nest.map_structure(lambda _: "dtype", dtypes), kinds(template))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{what}: fn returns another structure than dtype says. {error}") from None
    for y, dtype in zip(results, wanted, strict=True):
        if y.dtype != dtype:
            raise TypeError(f"{what}: fn returns {y}, but dtype says {dtype.name}; convert it with pb.cast")
