"""Scans and folds: `scan`, `foldl`, `foldr`, a function of what has come so far and of one row, row after row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.contexts import in_graph_of_inputs
from ..core.function import carried_parameter
from ..core.graph import Tensor, get_default_graph
from ..primitives.identity.identity import stop_gradient
from ..primitives.shape.squeeze import expand_dims
from ..primitives.shape.stacking import concat
from .loop import Loop
from .maps import NUMBER, common_length, note_rows, row_parameter, steps_of, with_numbers
from .state import values_for_handles, with_step_results
from .steady_lengths import with_steady_lengths
from .tracing import Part, put_together, take_apart, trace_together
from .while_loop import check_next


@in_graph_of_inputs
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All values of a[i] = fn(a[i-1], elems[i]), stacked, from a[-1] = `initializer` on.

    `elems` is a tensor or a nested structure of tensors of one first length, `initializer` and what `fn` returns are
    nested structures alike; `fn` is called once. Without `initializer` the first row is a[0]. With `reverse` it goes
    from the last row to the first. `parallel_iterations`, `swap_memory` and `infer_shape` change nothing.

    Derivative: a loop in the other direction: da[i-1] and delems[i] = that of fn at step i for da[i].

    Raises:
        TypeError: `fn` is not callable, or returns other dtypes. ValueError: other shapes, structures or lengths.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0, 3.0])
    >>> y = pb.scan(lambda a, b: a * b, x)
    >>> pb.Session().run([y, *pb.gradients(y, x)])
    [array([1., 2., 6.], dtype=float32), array([9., 4., 2.], dtype=float32)]
    """
    del parallel_iterations, swap_memory, infer_shape
    return _folded("scan", fn, elems, initializer, reverse, True, back_prop, name)


@in_graph_of_inputs
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of a = fn(a, elems[i]), from the first row to the last; the arguments are those of `scan`.

    Derivative: a loop in the other direction: da[i-1] and delems[i] = that of fn at step i for da[i].

    >>> import pullback as pb
    >>> float(pb.Session().run(pb.foldl(lambda a, x: a / 2.0 + x, pb.constant([1.0, 2.0, 3.0]))))
    4.25
    """
    del parallel_iterations, swap_memory
    return _folded("foldl", fn, elems, initializer, False, False, back_prop, name)


@in_graph_of_inputs
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last value of a = fn(a, elems[i]), from the last row to the first; the arguments are those of `scan`.

    Derivative: a loop in the other direction: da[i-1] and delems[i] = that of fn at step i for da[i].

    >>> import pullback as pb
    >>> float(pb.Session().run(pb.foldr(lambda a, x: a / 2.0 + x, pb.constant([1.0, 2.0, 3.0]))))
    2.75
    """
    del parallel_iterations, swap_memory
    return _folded("foldr", fn, elems, initializer, True, False, back_prop, name)


def _folded(
    what: str, fn: Any, elems: Any, initializer: Any, reverse: bool, stacked: bool, back_prop: bool, name: str | None
) -> Any:
    if not callable(fn):
        raise TypeError(f"{what}: fn must be callable, not {fn!r}")
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope(name or what):
        template, rows = take_apart(elems)
        length = common_length(what, rows)
        first: list[Tensor] = []
        if initializer is None:
            if length == 0:
                raise ValueError(f"{what}: elems has no rows; pass an initializer")
            first = [x[-1] if reverse else x[0] for x in rows]
            rows = [x[:-1] if reverse else x[1:] for x in rows]
            length = None if length is None else length - 1
        kind, start = (template, first) if initializer is None else take_apart(initializer)
        finals, all_values = _loop(what, fn, template, rows, kind, start, length, reverse, stacked)
        if stacked and first:
            finals = [_joined(x, y, reverse) for x, y in zip(first, all_values, strict=True)]
        elif stacked:
            finals = all_values
        return put_together(kind, finals if back_prop else [stop_gradient(y) for y in finals])


def _joined(first: Tensor, rest: Tensor, reverse: bool) -> Tensor:
    row = expand_dims(first, 0)
    return concat([rest, row] if reverse else [row, rest], 0)


def _loop(
    what: str,
    fn: Any,
    template: Any,
    rows: Sequence[Tensor],
    kind: Any,
    start: Sequence[Tensor],
    length: int | None,
    reverse: bool,
    stacked: bool,
) -> tuple[list[Tensor], list[Tensor]]:
    """What is carried at the end, and, where `stacked`, all values of it."""
    count = len(start)

    def step(*given: Tensor) -> Sequence[Tensor]:
        note_rows(rows, given[count:-1], given[-1])
        returned = fn(put_together(kind, given[:count]), put_together(template, given[count:-1]))
        made, tensors = take_apart(returned)
        check_next(what, kind, made, given[:count], tensors, [x.type for x in start])
        return [*tensors, *tensors] if stacked else tensors

    parameters = [*[carried_parameter(x) for x in start], *[row_parameter(x) for x in rows], NUMBER]
    names = [*["a"] * count, *["row"] * len(rows), "number"]
    together = trace_together([Part("step", step, parameters, names)])
    (traced,), captured = values_for_handles(together.functions, together.captured)
    steps = steps_of(rows[0], length)
    traced, scanned = with_numbers(traced, rows, steps, count)
    body = with_steady_lengths(traced, [x.type for x in start])
    made = count if stacked else 0
    loop = Loop(
        with_step_results(body, count), None, count, scanned=len(scanned), stacked=made, length=length, reverse=reverse
    )
    with rows[0].op.graph.acting.control_dependencies(together.controls):
        outputs = loop.operation(steps, *start, *scanned, *captured).outputs
    return list(outputs[1 : 1 + count]), list(outputs[1 + count : 1 + count + made])
