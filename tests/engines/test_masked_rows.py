"""What a mask keeps, on XLA: sums over it are compiled, and need no host, which is not there beside a mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

Example = Callable[[pb.Tensor, pb.Tensor], pb.Tensor]
"""From float64[6,3] and a mask of its rows to a tensor."""
NUMBERS = np.array([4, 0, 9, 1, 1, -7])


def kept_rows(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(pb.square(pb.boolean_mask(x, mask)), 0)


def logarithms_of_what_is_positive(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    flat = pb.reshape(x, [-1])
    return pb.reduce_sum(pb.log(pb.boolean_mask(flat, flat > 0.0)))


def columns(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    rows = pb.boolean_mask(x, mask)
    return pb.reduce_sum(rows[:, 1] * rows[:, 2])


def rows_of_kept_numbers(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    """Those that are not kept are out of range."""
    numbers = pb.constant(NUMBERS) + pb.cast(0.0 * x[:, 0], pb.int64)
    inside = pb.logical_and(numbers >= 0, numbers < 6)
    return pb.reduce_sum(pb.exp(pb.gather(x, pb.boolean_mask(numbers, inside))))


def segments(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.unsorted_segment_sum(pb.sin(pb.boolean_mask(x, mask)), pb.boolean_mask([0, 1, 1, 0, 2, 2], mask), 3)


def running_sums(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(pb.square(pb.cumsum(pb.exp(pb.boolean_mask(x, mask)))))


def sparse_product(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    matrix = pb.SparseTensor([[0, 1], [0, 4], [1, 0], [2, 2], [3, 5], [3, 0]], x[:, 0], [4, 6])
    return pb.sparse.sparse_dense_matmul(2.0 * pb.sparse.retain(matrix, mask), x)


EXAMPLES: list[Example] = [
    *(kept_rows, logarithms_of_what_is_positive, columns, rows_of_kept_numbers, segments, running_sums, sparse_product)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_sums_and_their_derivatives_need_no_host(graph: pb.Graph, example: Example) -> None:
    x = pb.placeholder(pb.float64, [6, 3])
    y = example(pb.sin(x), x[:, 0] > 0.0)
    (dx,) = pb.gradients(y, x)
    fetches = [y, dx, *pb.gradients(dx, x)]
    sessions = [pb.Session(engine="xla", mesh={"x": 1}), pb.Session(engine="numpy")]
    for values in (np.random.default_rng(0).normal(size=(6, 3)), -np.ones((6, 3))):
        found, expected = [session.run(fetches, {x: values}) for session in sessions]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def mean(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.reduce_mean(pb.boolean_mask(x, mask))


def two_masks(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(pb.boolean_mask(x, mask) * pb.boolean_mask(x, pb.roll(mask, 1, 0)))


def fed_rows(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(pb.boolean_mask(x, mask) * pb.placeholder_with_default(np.ones((3, 1)), [None, 1]))


def products_of_matrices(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    return pb.reduce_sum(pb.matmul(pb.boolean_mask(x, mask), x, transpose_b=True))


def masked_again(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    rows = pb.boolean_mask(x, mask)
    return pb.reduce_sum(pb.boolean_mask(rows, rows[:, 1] > 0.0))


def branch(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    rows = pb.boolean_mask(x, mask)
    return pb.cond(x[0, 0] > 0.0, lambda: pb.reduce_sum(pb.exp(rows)), lambda: pb.reduce_max(rows))


def loop(x: pb.Tensor, mask: pb.Tensor) -> pb.Tensor:
    rows = pb.boolean_mask(x, mask)
    return pb.reduce_sum(pb.map_fn(pb.sin, rows)) + pb.foldl(lambda a, b: a * b, rows[:, 0])


HOSTED: list[Example] = [mean, two_masks, fed_rows, products_of_matrices, masked_again, branch, loop]


@pytest.mark.parametrize("example", HOSTED)
def test_what_needs_their_number_is_left_to_the_host(graph: pb.Graph, example: Example) -> None:
    x = pb.placeholder(pb.float64, [6, 3])
    y = example(pb.sin(x), x[:, 0] > 0.0)
    fetches = [y, *pb.gradients(y, x)]
    values = np.array(
        [[1.0, -1.0, 0.5], [2.0, 0.3, 0.1], [-1.0, 0.0, 2.0], [0.3, 0.2, 0.1], [-3.0, 1.0, 1.0], [-1, 0, 0]]
    )
    found, expected = [pb.Session(engine=engine).run(fetches, {x: values}) for engine in ("xla", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
