"""Recurrent neural networks: a cell step after step, over sequences of one or several lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...control_flow.loop import Loop
from ...control_flow.maps import row_parameter, steps_of
from ...control_flow.state import values_for_handles, with_step_results
from ...control_flow.steady_lengths import with_steady_lengths
from ...control_flow.tensor_array import TensorArray
from ...control_flow.tracing import Part, lasting_types, put_together, take_apart, trace_together
from ...control_flow.while_loop import check_next
from ...core import nest
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, int32
from ...core.function import carried_parameter
from ...core.operation import Tensor
from ...core.typing import DTypeLike, TensorLike
from ...primitives.casting.cast import cast
from ...primitives.creation.constant import convert_to_tensor
from ...primitives.creation.ranges import range_
from ...primitives.elementwise.masking import mask
from ...primitives.identity.identity import ensure_shape
from ...primitives.indexing.where import where
from ...primitives.shape.reverse import reverse
from ...primitives.shape.reverse_sequence import reverse_sequence
from ...primitives.shape.size import shape
from ...primitives.shape.squeeze import expand_dims
from ...primitives.shape.transpose import transpose
from ..variables.scope import VariableScope, variable_scope
from .cells import RNNCell, as_cell


@in_graph_of_inputs
def dynamic_rnn(
    cell: RNNCell,
    inputs: Any,
    sequence_length: TensorLike | None = None,
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[Any, Any]:
    """All outputs of a cell that goes through `inputs`, and its last state. One loop, of any number of steps.

    Beyond `sequence_length` the inputs are not read, the state stays as it is, and the outputs are 0, as are their
    derivatives. Without `initial_state` it begins with zeros of `dtype`, that of the inputs unless given. Variables are
    made in the variable scope `scope` or "rnn". `parallel_iterations` and `swap_memory` change nothing.

    Shapes: `inputs` [batch, steps, ...], or [steps, batch, ...] with `time_major`; so are the outputs. Both may be
    nested structures of tensors, where the cell takes and makes them.

    Derivative: a loop in the other direction.

    Raises:
        TypeError: `cell` is no RNNCell, nor like one.
        ValueError: inputs are of a rank below 3; the state changes its shape.

    >>> import pullback as pb
    >>> cell = pb.nn.rnn_cell.GRUCell(4)
    >>> outputs, state = pb.nn.dynamic_rnn(cell, pb.ones([2, 3, 5]), [3, 1])
    >>> outputs.shape, state.shape
    (TensorShape([2, 3, 4]), TensorShape([2, 4]))
    """
    del parallel_iterations, swap_memory
    cell = as_cell("dynamic_rnn", cell)
    xs = nest.map_structure(convert_to_tensor, inputs)
    for x in nest.flatten(xs):
        if x.shape.rank is None or x.shape.rank < 3:
            raise ValueError(f"dynamic_rnn: inputs must be of rank 3 at least, [batch, steps, ...], not {x.type}")
    with variable_scope(scope or "rnn"):
        rows = xs if time_major else nest.map_structure(axes_exchanged, xs)
        if isinstance(rows, Tensor) and rows.shape.rank == 3:
            cell.prepare(rows.shape.size(2), dtype or rows.dtype)
        state = _first_state(cell, initial_state, nest.flatten(rows)[0], 1, dtype)
        outputs, end = _unrolled(cell, rows, state, _lengths("dynamic_rnn", sequence_length))
        return outputs if time_major else nest.map_structure(axes_exchanged, outputs), end


def _unrolled(cell: RNNCell, inputs: Any, state: Any, lengths: Tensor | None) -> tuple[Any, Any]:
    structure, rows = take_apart(inputs)
    kind, start = take_apart(state)
    types = lasting_types(kind, start)
    count, length = len(start), rows[0].shape.size(0)
    scanned = rows if lengths is None else [*rows, range_(shape(rows[0])[0])]
    made_outputs: Any = None

    def step(*given: Tensor) -> Sequence[Tensor]:
        nonlocal made_outputs
        before, x = given[:count], put_together(structure, given[count : count + len(rows)])
        alive = None if lengths is None else given[-1] < lengths
        output, following = _step(cell, x, put_together(kind, before), alive)
        made, after = take_apart(following)
        check_next("dynamic_rnn", kind, made, before, after, types)
        made_outputs, written = take_apart(output)
        return [*after, *written]

    parameters = [*map(carried_parameter, start, types), *map(row_parameter, scanned)]
    together = trace_together([Part("step", step, parameters, [*["state"] * count, *["row"] * len(scanned)])])
    (traced,), captured = values_for_handles(together.functions, together.captured)
    body = with_steady_lengths(traced, [s.type for s in start])
    stacked = len(traced.results) - count
    loop = Loop(with_step_results(body, count), None, count, scanned=len(scanned), stacked=stacked, length=length)
    with rows[0].op.graph.acting.control_dependencies(together.controls):
        results = loop.operation(steps_of(rows[0], length), *start, *scanned, *captured).outputs
    outputs = results[1 + count : 1 + count + stacked]
    return put_together(made_outputs, outputs), put_together(kind, results[1 : 1 + count])


def _step(cell: RNNCell, x: Any, state: Any, alive: Tensor | None) -> tuple[Any, Any]:
    """What the cell makes of `x`; where a sequence is not `alive`, the state before and no output."""
    if alive is None:
        return cell(x, state)
    output, after = cell(masked(alive, x), state)
    return masked(alive, output), nest.map_structure(lambda new, old: kept_unless(alive, new, old), after, state)


def masked(alive: Tensor, x: Any) -> Any:
    """`x`, a structure of tensors, with zeros for the sequences that are not `alive`."""
    return nest.map_structure(lambda y: mask(along(alive, y), y), x)


def kept_unless(alive: Tensor, new: Any, old: Any) -> Any:
    """`new` for the sequences that are `alive`, `old` for the others; arrays and scalars are new for all."""
    if isinstance(new, TensorArray) or new.shape.rank == 0:
        return new
    return where(along(alive, new), new, old)


def along(alive: Tensor, y: Tensor) -> Tensor:
    """A truth value for each sequence, with axes of one element up to the rank of `y`."""
    for _ in range((y.shape.rank or 0) - (alive.shape.rank or 0)):
        alive = expand_dims(alive, -1)
    return alive


def axes_exchanged(x: Tensor) -> Tensor:
    """`x` with its first two axes in the other order."""
    return transpose(x, [1, 0, *range(2, x.shape.rank or 2)])


def _first_state(cell: RNNCell, given: Any, x: Tensor, axis: int, dtype: Any) -> Any:
    if given is not None:
        return given
    batch = x.shape.size(axis)
    return cell.get_initial_state(None, shape(x)[axis] if batch is None else batch, dtype or x.dtype)


def _lengths(what: str, sequence_length: Any) -> Tensor | None:
    if sequence_length is None:
        return None
    lengths = convert_to_tensor(sequence_length)
    if lengths.dtype not in INTEGER | FLOATING or lengths.shape.rank not in (1, None):
        raise ValueError(f"{what}: sequence_length must be a vector of integers, not {lengths.type}")
    lengths = lengths if lengths.shape.rank else ensure_shape(lengths, [None])
    return lengths if lengths.dtype == int32 else cast(lengths, int32)


@in_graph_of_inputs
def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Any,
    sequence_length: TensorLike | None = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The outputs of two cells, the first going from front to end, the second from end to front; and their last states.

    The second begins at the end of each sequence. The arguments are those of `dynamic_rnn`; variables are made in
    "bidirectional_rnn/fw" and "bidirectional_rnn/bw".

    Derivative: loops in the other directions.

    >>> import pullback as pb
    >>> cells = [pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.GRUCell(4)]
    >>> (forward, backward), states = pb.nn.bidirectional_dynamic_rnn(*cells, pb.ones([2, 3, 5]), [3, 1])
    >>> forward.shape, backward.shape
    (TensorShape([2, 3, 4]), TensorShape([2, 3, 4]))
    """
    del parallel_iterations, swap_memory
    x = nest.map_structure(convert_to_tensor, inputs)
    lengths = _lengths("bidirectional_dynamic_rnn", sequence_length)
    axis = 0 if time_major else 1

    def turned(y: Tensor) -> Tensor:
        return reverse(y, [axis]) if lengths is None else reverse_sequence(y, lengths, axis, 1 - axis)

    with variable_scope(scope or "bidirectional_rnn"):
        forward, end_fw = dynamic_rnn(cell_fw, x, lengths, initial_state_fw, dtype, time_major=time_major, scope="fw")
        backward, end_bw = dynamic_rnn(
            cell_bw,
            nest.map_structure(turned, x),
            lengths,
            initial_state_bw,
            dtype,
            time_major=time_major,
            scope="bw",
        )
        return (forward, nest.map_structure(turned, backward)), (end_fw, end_bw)


@in_graph_of_inputs
def static_rnn(
    cell: RNNCell,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[list[Any], Any]:
    """The outputs of a cell for each of a list of `inputs`, and its last state, without a loop.

    Beyond `sequence_length` the state stays as it is, and the outputs are 0. Inputs, outputs and states may be nested.

    Shapes: each of `inputs` [batch, n], each output [batch, units].

    Derivative: that of each step, from the last to the first.

    Raises:
        ValueError: there are no inputs. TypeError: they are no list.

    >>> import pullback as pb
    >>> outputs, state = pb.nn.static_rnn(pb.nn.rnn_cell.BasicRNNCell(4), [pb.ones([2, 5])] * 3)
    >>> [y.shape for y in outputs] == [[2, 4]] * 3
    True
    """
    if not isinstance(inputs, list | tuple):
        raise TypeError(f"static_rnn: inputs must be a list of tensors, not {inputs!r}")
    if not inputs:
        raise ValueError("static_rnn: there are no inputs")
    cell, xs = as_cell("static_rnn", cell), [nest.map_structure(convert_to_tensor, x) for x in inputs]
    lengths = _lengths("static_rnn", sequence_length)
    outputs = []
    with variable_scope(scope or "rnn"):
        state = _first_state(cell, initial_state, nest.flatten(xs[0])[0], 0, dtype)
        for t, x in enumerate(xs):
            output, state = _step(cell, x, state, None if lengths is None else lengths > t)
            outputs.append(output)
    return outputs, state
