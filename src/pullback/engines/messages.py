"""Run-time error messages: what was asked, what was found, where it was made, what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import TokenType, dtype_name
from ..core.errors import (
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InaccessibleTensorError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PullbackError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
    WrongKindError,
)
from ..core.graph import Graph, Operation, Tensor, site_of
from ..core.lengths import Length
from .data_dependent_shapes import DataDependentShapeError

if TYPE_CHECKING:
    from ..primitives.ragged.ragged_tensor import RaggedTensor

WANTED = {
    "fetch": "Fetch tensors, operations, variables, IndexedSlices, names, or lists, tuples and dictionaries of these",
    "feed": "The keys of feed_dict are tensors, IndexedSlices, or names of tensors",
}
"""What may be fetched, what may be fed."""


def wrong_kind(verb: str, found: Any) -> WrongKindError:
    """What cannot be fetched or fed at all."""
    if found is None:
        hint = " (gradients() gives None for an x that no y depends on; unconnected_gradients='zero' gives zeros)"
        return WrongKindError(f"cannot {verb} None{hint if verb == 'fetch' else ''}. {WANTED[verb]}.")
    return WrongKindError(f"cannot {verb} {found!r} (of type {type(found).__name__}). {WANTED[verb]}.")


def feeds_kind(found: Any) -> WrongKindError:
    """A feed_dict that is none."""
    return WrongKindError(
        f"feed_dict must be a dictionary from tensors to values, not {found!r} (of type {type(found).__name__})."
    )


def feed_of_operation(op: Operation) -> InvalidArgumentError:
    """An operation among the keys of feed_dict."""
    outputs = ", ".join(f"'{y.name}'" for y in op.outputs) or "it has none"
    return InvalidArgumentError(
        f"cannot feed the operation '{op.name}' (made at {site_of(op)}). Feed one of its outputs: {outputs}."
    )


def no_such_name(verb: str, name: str, graph: Graph) -> InvalidArgumentError:
    """A name that names nothing."""
    op_name, colon, _ = name.partition(":")
    known = {op.name: op for op in graph.operations}
    if op_name in known:
        return InvalidArgumentError(f"cannot {verb} '{name}': {_outputs_text(known[op_name])}.")
    close = get_close_matches(op_name, known, n=3)
    listed = " or ".join(f"'{c}{colon and ':0'}'" for c in close)
    hint = f"Did you mean {listed}?" if close else f"It has {len(known)} operations; print(graph) lists them."
    return InvalidArgumentError(f"cannot {verb} '{name}': the session's graph has no operation '{op_name}'. {hint}")


def _outputs_text(op: Operation) -> str:
    count = len(op.outputs)
    names = f"'{op.name}:0' to '{op.name}:{count - 1}'" if count > 1 else f"'{op.name}:0'"
    found = f"{count} output{'s' * (count != 1)}" + (f", {names}" if count else "")
    return f"operation '{op.name}' ({op.type}) has {found}"


def other_graph(verb: str, element: Tensor | Operation) -> InaccessibleTensorError:
    """A tensor or operation of a graph that the session does not run."""
    if element.graph.outer is not None:
        return InaccessibleTensorError(
            f"cannot {verb} {element_text(element)} (made at {site_of(element)}): it is inside the body "
            f"'{element.graph.name}', whose values only that body sees. Return it from the body instead."
        )
    return InaccessibleTensorError(
        f"cannot {verb} {element_text(element)} (made at {site_of(element)}): it belongs to another graph than the "
        "session's. Make the session for its graph: Session(graph=x.graph)."
    )


def prevented(verb: str, element: Tensor | Operation) -> InvalidArgumentError:
    """What the graph lets no run fetch, or feed."""
    return InvalidArgumentError(
        f"cannot {verb} {element_text(element)} (made at {site_of(element)}): it may not be "
        f"{'fed' if verb == 'feed' else 'fetched'}, as Graph.prevent_{verb}ing was called for it."
    )


def handle(verb: str, tensor: Tensor) -> InvalidArgumentError:
    """A handle, which has no value."""
    return InvalidArgumentError(
        f"cannot {verb} {tensor} (made at {site_of(tensor)}): it has no value, it names a variable. "
        f"{'Fetch the variable itself' if verb == 'fetch' else 'Assign to the variable, or feed what reads it'}."
    )


def element_text(element: Any) -> str:
    """A tensor, an operation or what else is fetched, for a message."""
    if not isinstance(element, Operation):
        return str(element)
    return f"operation '{element.name}' ({element.type})"


def not_fed(placeholders: Sequence[Operation]) -> InvalidArgumentError:
    """Placeholders are needed and were not fed."""
    lines = [f"  '{op.name}:0': {op.outputs[0].type}, made at {site_of(op)}" for op in placeholders]
    first = placeholders[0].name
    count = "a placeholder that was" if len(lines) == 1 else f"{len(lines)} placeholders that were"
    return InvalidArgumentError(
        f"what is fetched needs {count} not fed:\n"
        + "\n".join(lines)
        + f"\nPass values: feed_dict={{'{first}:0': ...}}."
    )


def feed_shape(tensor: Tensor, value: Any) -> InvalidArgumentError:
    """A value of another shape."""
    hint = f"Give an array of shape {tensor.shape}, or make the placeholder with None for lengths that vary."
    return InvalidArgumentError(f"cannot feed {array_text(value)} to {tensor} (made at {site_of(tensor)}). {hint}")


def unequal_lengths(length: Length, places: Sequence[tuple[Tensor, Any, int]]) -> InvalidArgumentError:
    """Feeds that disagree about the length that is one symbol; for each the tensor, its value and the axis."""
    said = " and ".join(
        f"{x} (made at {site_of(x)}) was given {array_text(value)}, whose axis {axis} has length {value.shape[axis]}"
        for x, value, axis in places
    )
    return InvalidArgumentError(
        f"the length '{length}' stands for one number in a run, but {said}. Feed arrays that agree, or give the "
        "lengths two names."
    )


def feed_value(tensor: Tensor, reason: Exception) -> InvalidArgumentError:
    """A value that does not become an array of the tensor's dtype."""
    error = WrongKindError if isinstance(reason, TypeError) else InvalidArgumentError
    return error(f"cannot feed {tensor} (made at {site_of(tensor)}): {reason}")


def unequal_rows(rows: list[Any]) -> ValueError:
    """Results of the steps of a loop that do not stack up; the run says which loop it is."""
    shapes = [np.shape(row) for row in rows]
    other = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
    return ValueError(
        f"the results of the rows are stacked, and must have one shape: row 0 has {shapes[0]}, row {other} has "
        f"{shapes[other]}. Pad them, or keep numbers of all rows in one vector, as a ragged tensor has them"
    )


def feed_slices(key: Any, value: Any) -> InvalidArgumentError:
    """Something else than three arrays for IndexedSlices."""
    return InvalidArgumentError(
        f"cannot feed {type(value).__name__} to {key!r}. "
        "Give IndexedSlicesValue(values, indices, dense_shape), or a tuple of the three (dense_shape may be None)."
    )


def feed_sparse(key: Any, value: Any) -> InvalidArgumentError:
    """Something else than two or three arrays for a SparseTensor."""
    return InvalidArgumentError(
        f"cannot feed {type(value).__name__} to {key!r}. "
        "Give SparseTensorValue(indices, values, dense_shape), or a tuple of the three."
    )


def feed_sparse_lengths(key: Any, lengths: list[int]) -> InvalidArgumentError:
    """Other lengths than a SparseTensor was declared with."""
    return InvalidArgumentError(
        f"cannot feed {key!r} with the dense shape {lengths}: its placeholder was declared with shape {key.shape}. "
        "Declare None for lengths that differ from run to run."
    )


def feed_tuple(key: tuple[Any, ...], value: Any) -> InvalidArgumentError:
    """More or fewer values than a tuple has parts."""
    count = len(value) if isinstance(value, Collection) else "one"
    return InvalidArgumentError(f"cannot feed {count} to the {len(key)} parts of {key!r}. Give a value for each.")


def feed_ragged(key: RaggedTensor, value: Any) -> InvalidArgumentError:
    """Something else than a RaggedTensorValue as deep for a RaggedTensor."""
    return InvalidArgumentError(
        f"cannot feed {value!r} (of type {type(value).__name__}) to {key}. Give RaggedTensorValue(values, row_splits), "
        f"nested {key.ragged_rank} deep."
    )


def wrong_count(names: Iterable[str], found: int, what: str = "this callable") -> InvalidArgumentError:
    """A callable, or a batch, got another number of values than it has feeds."""
    wanted = list(names)
    return InvalidArgumentError(
        f"{what} takes {len(wanted)} values, for {', '.join(wanted) or 'nothing'}; {found} were given."
    )


def batch_kind(batch: Mapping[Any, Any]) -> InvalidArgumentError:
    """A feed dictionary where the values of a feed list are taken."""
    return InvalidArgumentError(
        f"prefetch: with feed_list, a batch is a sequence of values, not a {type(batch).__name__}. "
        "To prefetch feed dictionaries leave feed_list out."
    )


def feed_list_kind(feed_list: Any) -> WrongKindError:
    """One thing to feed, where a list is taken."""
    return WrongKindError(f"feed_list must be a list of what is fed, not {feed_list!r}. Write [...] around it.")


def uninitialized(key: Operation) -> FailedPreconditionError:
    """A variable was read before it had a value."""
    return FailedPreconditionError(
        f"Attempting to use uninitialized value '{key.name}', a variable without a value in this session (made at "
        f"{site_of(key)}). Run its initializer first: session.run(pb.global_variables_initializer())."
    )


def lost(key: Operation) -> FailedPreconditionError:
    """A run failed after it had given up the memory of a variable."""
    return FailedPreconditionError(
        f"the value of variable '{key.name}' (made at {site_of(key)}) was lost when a run that assigns to it failed on "
        "the device. Restore it from a checkpoint, or run its initializer again."
    )


def failed_step(op: Operation, arrays: Sequence[Any], error: Exception) -> PullbackError:
    """A kernel raised; what it did not find, or found torn, says so by its class."""
    found = ", ".join(array_text(x) for x in arrays) or "no inputs"
    reason = str(error) or type(error).__name__
    telling = NotFoundError | DataLossError | DeadlineExceededError | OutOfRangeError
    kind = type(error) if isinstance(error, telling) else InvalidArgumentError
    return kind(f"operation '{op.name}' ({op.type}) failed on {found}: {reason}\n  made at {site_of(op)}")


def no_room(op: Operation, arrays: Sequence[Any], error: MemoryError) -> ResourceExhaustedError:
    """A kernel found too little memory."""
    return ResourceExhaustedError(str(failed_step(op, arrays, error)))


def lost_process(error: Exception) -> UnavailableError:
    """What a process sees when another one of those that run together is gone."""
    return UnavailableError(
        f"another process that runs this program too was lost: {str(error).splitlines()[0]}\n"
        "Start all processes again, from the last checkpoint; `pullback launch --restarts` does."
    )


def silent_processes(lost: Sequence[int], count: int, seconds: int) -> UnavailableError:
    """Processes that are not there any more, though nobody's connection to them may have broken."""
    which = ", ".join(map(str, lost))
    verb = "is" if len(lost) == 1 else "are"
    return UnavailableError(
        f"of {count} processes that run this program {which} {verb} lost: not heard of for {seconds} seconds, or gone\n"
        "Start all processes again, from the last checkpoint; `pullback launch --restarts` does."
    )


def variable_of_another_process(key: Operation, op: Operation, process: int) -> UnimplementedError:
    """A branch or loop in one process uses a variable of another."""
    return UnimplementedError(
        f"operation '{op.name}' (made at {site_of(op)}) runs in process {process}, and uses the variable '{key.name}', "
        f"which lives in another one ('{key.device}'). Read the variable outside of branches and loops, or give both "
        "one device."
    )


def rows_of_another_process(op: Operation) -> UnimplementedError:
    """How many rows a process computes is not known to the others."""
    return UnimplementedError(
        f"operation '{op.name}' (made at {site_of(op)}) gives as many rows as its values say, which other processes do "
        "not know. Bound them, or fetch what is computed from them on the same device."
    )


def shape_by_another_process(op: Operation) -> UnimplementedError:
    """A shape in one process depends on values that another one computes."""
    return UnimplementedError(
        f"operation '{op.name}' (made at {site_of(op)}) gives a shape that another process needs before it runs. "
        "Compute both on one device, or feed what the shape depends on."
    )


def no_coordination(port: str) -> UnavailableError:
    """jax's coordination service ended when it was started."""
    return UnavailableError(
        f"distributed.initialize: jax's coordination service cannot listen at {port}. "
        "Is the port taken? Say another one: `pullback launch --coordinator HOST:PORT`."
    )


def no_room_for_results(error: MemoryError) -> ResourceExhaustedError:
    """What is fetched, copied for the caller, does not fit into memory."""
    return ResourceExhaustedError(f"a run found too little memory for what is fetched: {error}\nFetch less at a time.")


def no_room_for_program(reason: str) -> ResourceExhaustedError:
    """A compiled program found too little memory."""
    return ResourceExhaustedError(
        f"a compiled run failed: {reason}\nFeed fewer rows at a time; Session.compiled_memory says what a run needs."
    )


def undivided(reason: str) -> InvalidArgumentError:
    """XLA spreads a result over a mesh in parts of different sizes, which jax cannot say."""
    count = reason.rpartition("axis_size=")[2].rstrip(".")
    return InvalidArgumentError(
        f"a length is spread over {count} devices of the mesh that do not divide it, and so is a result of the run. "
        f"Feed batches of a multiple of {count}."
    )


def no_kernel(op: Operation, error: Exception) -> NotImplementedError:
    """An engine cannot compute a primitive."""
    return NotImplementedError(f"operation '{op.name}' ({op.type}): {error}\n  made at {site_of(op)}")


def no_device(op: Operation, devices: Iterable[str]) -> InvalidArgumentError:
    """An operation asks for a device that there is not, in a session that takes no other."""
    known = ", ".join(f"'{name}'" for name in devices)
    return InvalidArgumentError(
        f"operation '{op.name}' ({op.type}) asks for the device '{op.device}', which is not here.\n"
        f"  made at {site_of(op)}\n"
        f"There are {known}. Ask for one of them, or use Session(soft_placement=True)."
    )


def needs_value(op: Operation, arrays: Sequence[Any]) -> DataDependentShapeError:
    """XLA compiles for fixed shapes, and a shape depends on what is only known when it runs."""
    found = ", ".join(array_text(x) for x in arrays)
    return DataDependentShapeError(
        f"operation '{op.name}' ({op.type}) on {found} gives a shape that depends on values computed by the run, "
        f"and XLA compiles for fixed shapes.\n  made at {site_of(op)}\n"
        "Feed the values that decide the shape, or use Session(engine='numpy').",
        op,
    )


def needs_lengths(op: Operation, arrays: Sequence[Any]) -> InvalidArgumentError:
    """A program for lengths that only a call knows, and an operation that cannot be compiled without them."""
    found = ", ".join(array_text(x) for x in arrays)
    return InvalidArgumentError(
        f"operation '{op.name}' ({op.type}) on {found} cannot be compiled for lengths that only a call knows.\n"
        f"  made at {site_of(op)}\nGive the placeholders that are fed static shapes."
    )


def branches_differ(
    op: Operation, dtypes: Sequence[Any], first: Sequence[Any], other: Sequence[Any]
) -> DataDependentShapeError:
    """Branches whose results have different shapes, where XLA must have both."""
    pairs = [
        f"{array_shape_text(dtype, a)} and {array_shape_text(dtype, b)}"
        for dtype, a, b in zip(dtypes, first, other, strict=True)
        if a != b
    ]
    return DataDependentShapeError(
        f"operation '{op.name}' ({op.type}): the branches give {', '.join(pairs)}, "
        f"and XLA compiles for fixed shapes.\n  made at {site_of(op)}\n"
        "Give results of one shape, or use Session(engine='numpy').",
        op,
    )


def state_grows(op: Operation, number: int, before: Any, after: Any) -> DataDependentShapeError:
    """What a loop carries changes its shape from step to step."""
    return DataDependentShapeError(
        f"loop: loop variable {number} is {array_text(before)} before a step and {array_text(after)} after it, "
        f"and XLA compiles for fixed shapes.\n  made at {site_of(op)}\n"
        "Use an array of the final shape, a TensorArray, or Session(engine='numpy').",
        op,
    )


def needs_bound(op: Operation) -> DataDependentShapeError:
    """A row for each step is asked for, and nothing says how many there may be."""
    return DataDependentShapeError(
        f"loop: to keep one row per step, XLA needs a bound on the steps; pass maximum_iterations= "
        f"(operation '{op.name}')\n  made at {site_of(op)}",
        op,
    )


def needs_count(op: Operation, loop: Operation) -> DataDependentShapeError:
    """The rows of a loop's steps are counted, and only a run knows how many there are."""
    return DataDependentShapeError(
        f"{op.type}: how many rows the loop '{loop.name}' makes is known when it ends, and XLA keeps zeros behind them "
        f"(operation '{op.name}')\n  made at {site_of(op)}\n"
        "Use sums and the loop's own counter, a number of steps that is known, or Session(engine='numpy').",
        op,
    )


def rows_unknown_to_jax(y: Tensor, loop: Operation) -> DataDependentShapeError:
    """A result of a function for jax has as many rows as a loop makes steps."""
    return DataDependentShapeError(
        f"to_jax: how many rows {y} has is known when the loop '{loop.name}' ends, and what jax traces has fixed "
        f"shapes.\n  made at {site_of(y.op)}\n"
        "Call the function outside of jax.jit and jax.vmap, or give the loop a number of steps that is known.",
        y.op,
    )


def not_finite(op: Operation, kind: str, y: Tensor) -> InvalidArgumentError:
    """The first operation that gave NaN or infinity, in a session that checks."""
    return InvalidArgumentError(
        f"check_numerics: operation '{op.name}' ({op.type}) is the first to give {kind}, in {y.type} '{y.name}'.\n"
        f"  made at {site_of(op)}\n{_inputs_text(op)}"
    )


def _inputs_text(op: Operation) -> str:
    names = list(dict.fromkeys(f"'{x.name}'" for x in op.inputs if not isinstance(x.dtype, TokenType)))
    if not names:
        return "It has no inputs."
    if len(names) == 1:
        return f"It reads {names[0]}, which is finite. Fetch it to see the values."
    return f"It reads {', '.join(names)}, which are finite. Fetch them to see the values."


def array_text(x: Any) -> str:
    """The type of an array as types print."""
    if isinstance(x, list) and any(hasattr(row, "shape") for row in x):
        return f"rows {', '.join([array_text(row) for row in x[:3]])}{', ...' if len(x) > 3 else ''}"
    if isinstance(x, int | float | complex | list | tuple):
        x = np.asarray(x)
    dtype, shape = getattr(x, "dtype", None), getattr(x, "shape", None)
    if dtype is None or shape is None:
        return type(x).__name__
    return f"{dtype_name(dtype)}[{','.join(map(str, shape))}]"


def array_shape_text(dtype: Any, shape: Sequence[int]) -> str:
    """The type of an array of that dtype and shape, as types print."""
    return f"{dtype_name(dtype)}[{','.join(map(str, shape))}]"


MANY_PROGRAMS = (
    "XLA has compiled %d programs for one set of fetches, because the values of the feeds %s decide shapes. "
    "Pad to few different shapes, or use Session(engine='numpy')."
)
"""A warning."""
