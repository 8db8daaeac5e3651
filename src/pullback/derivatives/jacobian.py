"""Jacobians: one row of derivatives for each element of the result, many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autodiff.cotangent import dense
from ..autodiff.paths import operations_between
from ..autodiff.reverse import gradients
from ..core import nest
from ..core.graph import Operation, Tensor
from ..core.typing import TensorLike
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.debugging.assertions import assert_equal
from ..primitives.reduction.reduce import reduce_sum
from ..primitives.shape.reshape import reshape
from ..primitives.shape.size import shape
from ..primitives.shape.stacking import concat
from ..primitives.shape.transpose import transpose
from .jacobian_chains import chain_of
from .jacobian_modes import MODES, chained, cheapest, coloured, forward, pattern_of, reverse
from .products import as_sources, is_complex, source_tensor
from .rows import rows_of


def jacobian(
    output: TensorLike,
    inputs: TensorLike,
    use_pfor: bool = True,
    parallel_iterations: int | None = None,
    *,
    mode: str = "reverse",
    batch_size: int | None = None,
    name: str = "jacobian",
) -> Any:
    """The derivatives of every element of `output` by every element of `inputs`: of shape output.shape + input.shape.

    Each row is what `gradients` gives for one element of `output`: of the input's dtype, of complex numbers conjugated.
    `inputs` is a tensor, a variable, or a nested structure of them, and so is the result; None where `output` does
    not depend on an input. Row-sparse derivatives are made dense. `batch_size` rows are computed at once (None: as the
    engine likes); with `use_pfor=False` one at a time, which changes memory and speed only. `parallel_iterations` is
    not used.

    Args:
        mode: "reverse", a product for each element of `output`; "forward", one for each element of an input;
            "coloured", one for several rows or columns that share no entry; "chained", the matrix product of the
            Jacobians before and behind narrow tensors through which all depends; or "auto", the mode that takes the
            fewest operations, for each input. The name scope of what is added in such a mode says which one it is.

    Raises:
        ValueError: another mode; "coloured" where a run decides shapes or places; "forward" or "chained" of complex
            numbers.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0])
    >>> pb.Session().run(pb.jacobian(x * x, x)).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    >>> pb.jacobian(pb.concat([x, x * x], 0), x, mode="auto").name
    'jacobian_1/forward/Reshape:0'
    """
    del parallel_iterations
    if mode not in MODES:
        raise ValueError(f"jacobian: mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}")
    y = convert_to_tensor(output)
    sources = nest.flatten(inputs)
    graph = y.graph.acting
    with graph.transaction(), graph.name_scope(name):
        at_once = batch_size if use_pfor else 1
        if mode == "reverse":
            found = reverse(y, sources, at_once)
        else:
            found = [_in_mode(mode, y, x, at_once) for x in as_sources(sources)]
    return nest.pack_sequence_as(inputs, found)


def _in_mode(mode: str, y: Tensor, x: Any, batch_size: int | None) -> Tensor | None:
    """The Jacobian by one input."""
    if not operations_between([y], [source_tensor(x)]):
        return None
    chosen, plan = cheapest(y, x) if mode == "auto" else (mode, None)
    if mode in ("forward", "chained") and is_complex(y, x):
        raise ValueError(
            f"jacobian: {y} by {x} is complex, and rows are conjugates there, which columns and products of them are "
            'not; use mode="reverse" or "auto"'
        )
    if mode == "coloured":
        plan = pattern_of(y, x)
        if plan is None:
            raise ValueError(
                f"jacobian: the shapes and places of {y} by {x} are not known while the graph is built; "
                'use mode="auto", or pb.sparse_jacobian with a feed_dict'
            )
    with y.graph.acting.within(chosen):
        if chosen == "forward":
            return forward(y, x, batch_size)
        if chosen == "reverse":
            return reverse(y, [x], batch_size)[0]
        if chosen == "chained":
            return chained(y, x, plan or chain_of(y, x), batch_size)
        return coloured(y, x, plan)


def batch_jacobian(
    output: TensorLike,
    inp: TensorLike,
    use_pfor: bool = True,
    parallel_iterations: int | None = None,
    *,
    batch_size: int | None = None,
    name: str = "batch_jacobian",
) -> Any:
    """For each example the derivatives of its output by its input: [b, y..., x...] for [b, y...] and [b, x...].

    Example i of `output` must depend on example i of `inp` only. None where it does not depend on `inp`, which is a
    tensor, a variable, or a nested structure of them, and so is the result: one walk through the graph then serves all
    of them. `parallel_iterations` is not used.

    Raises:
        ValueError: the first lengths differ. InvalidArgumentError, in a run: they differ there.

    >>> import pullback as pb
    >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> pb.Session().run(pb.batch_jacobian(x * x, x)).tolist()
    [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
    """
    del parallel_iterations
    y = convert_to_tensor(output)
    with y.graph.acting.transaction(), y.graph.acting.within(name):
        found = batch_rows(y, as_sources(nest.flatten(inp)), batch_size if use_pfor else 1)
    return nest.pack_sequence_as(inp, found)


def batch_rows(
    y: Tensor, sources: Sequence[Any], batch_size: int | None, constants: Sequence[Tensor] = ()
) -> list[Tensor | None]:
    """The Jacobians of the examples of `y` by those of `sources`; `constants` are held constant."""
    xs = [convert_to_tensor(source) for source in sources]
    for x in xs:
        if y.shape.rank == 0 or x.shape.rank == 0 or not y.shape[:1].is_compatible_with(x.shape[:1]):
            raise ValueError(
                f"Need first dimension of output shape {y.shape} and inp shape {x.shape} to match: one example each."
            )
    # Examples do not mix: the sum over them has the same derivatives by each example's input.
    total = reduce_sum(y, axis=0)

    def pull(unit: Tensor) -> list[Tensor | None]:
        dxs = gradients(total, sources, grad_ys=unit, stop_gradients=constants)
        return [None if dx is None else dense(dx) for dx in dxs]

    found = zip(rows_of(total, pull, batch_size), xs, strict=True)
    return [None if rows is None else _of_examples(rows, y, x, total) for rows, x in found]


def _of_examples(rows: Tensor, y: Tensor, x: Tensor, total: Tensor) -> Tensor:
    """The Jacobians [b, y..., x...] of examples, of `rows` [m, b, x...]."""
    moved = _examples_first(rows)
    with y.graph.acting.control_dependencies(_as_many_examples(y, x)):
        lengths = [shape(x)[:1], shape(total), shape(x)[1:]]
    return reshape(moved, concat(lengths, 0))


def _as_many_examples(y: Tensor, x: Tensor) -> list[Operation]:
    """A check that both have as many examples, where that is not known."""
    if y.shape[:1].is_fully_defined() and x.shape[:1].is_fully_defined():
        return []
    message = "batch_jacobian: `output` and `inp` need as many examples"
    return [assert_equal(shape(y)[:1], shape(x)[:1], message)]


def _examples_first(rows: Tensor) -> Tensor:
    """`rows` [m, b, ...] as [b, m, ...]."""
    rank = rows.shape.rank
    if rank is None:
        flat = reshape(rows, concat([shape(rows)[:2], [-1]], 0))
        return transpose(flat, [1, 0, 2])
    return transpose(rows, [1, 0, *range(2, rank)])
