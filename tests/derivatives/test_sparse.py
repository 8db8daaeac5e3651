"""Sparse Jacobians and Hessians: patterns, colours, values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import pullback as pb
from pullback.derivatives.colouring import colour_columns, colour_symmetric
from pullback.derivatives.pattern import jacobian_pattern

N = 6
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "by element": lambda x: pb.sin(x) * x,
    "differences": lambda x: x[1:] - x[:-1],
    "strides": lambda x: pb.square(x[::2]) * x[1::2],
    "sum": pb.reduce_sum,
    "mean of rows": lambda x: pb.reduce_mean(pb.reshape(x, [2, 3]), axis=1),
    "transposed": lambda x: pb.transpose(pb.reshape(x, [2, 3])) * 2.0,
    "gathered": lambda x: pb.gather(x, [5, 0, 0]),
    "concatenated": lambda x: pb.concat([x[3:], x[:1] * 2.0], 0),
    "stacked": lambda x: pb.stack([x, pb.exp(x)], axis=1),
    "broadcast": lambda x: pb.reshape(x, [2, 3]) * pb.reshape(x[:2], [2, 1]),
    "segments": lambda x: pb.math.unsorted_segment_sum(x * x, [0, 2, 2, 0, 1, 1], 4),
    "product of matrices": lambda x: pb.matmul(pb.reshape(x, [3, 2]), np.ones((2, 2))),
    "both sides": lambda x: pb.matmul(pb.reshape(x, [2, 3]), pb.reshape(x, [2, 3]), transpose_b=True),
    "padded": lambda x: pb.pad(x, [[1, 2]]),
    "selected": lambda x: pb.where([True, False] * 3, x, pb.reverse(x, [0])),
    "mixed": lambda x: pb.nn.softmax(x),
    "nothing": lambda x: pb.zeros([2], pb.float64),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_pattern_holds_wherever_the_jacobian_is_not_zero(name: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    y = FUNCTIONS[name](x)
    point = np.linspace(0.5, 1.5, N)
    found = jacobian_pattern(y, x).toarray()
    full = pb.jacobian(y, x)
    value = np.zeros(found.shape) if full is None else pb.Session(engine="numpy").run(full, {x: point})
    actual = value.reshape(found.shape) != 0
    assert not (actual & ~found).any()
    if name not in ("mixed", "selected"):
        np.testing.assert_array_equal(found, actual)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "nothing"])
def test_a_sparse_jacobian_is_the_jacobian(name: str, engine: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    y = FUNCTIONS[name](x)
    session = pb.Session(engine=engine)
    feeds = {x: np.linspace(0.5, 1.5, N)}
    matrix = pb.sparse_jacobian(y, x)
    expected = session.run(pb.jacobian(y, x), feeds).reshape(matrix.shape)
    np.testing.assert_allclose(matrix.eval(feeds, session).toarray(), expected, atol=1e-12)


def test_a_sparse_hessian_is_the_hessian() -> None:
    x = pb.placeholder(pb.float64, [N])
    y = pb.reduce_sum(pb.sin(x[1:] * x[:-1])) + x[0] * pb.reduce_sum(pb.square(x))
    matrix = pb.sparse_hessian(y, x)
    feeds = {x: np.linspace(0.5, 1.5, N)}
    session = pb.Session(engine="numpy")
    np.testing.assert_allclose(matrix.eval(feeds, session).toarray(), session.run(pb.hessians(y, x)[0], feeds))


def test_a_chain_needs_three_colours_whatever_its_length() -> None:
    x = pb.placeholder(pb.float64, [1000])
    y = pb.reduce_sum(100.0 * pb.square(x[1:] - pb.square(x[:-1])) + pb.square(1.0 - x[:-1]))
    assert pb.sparse_hessian(y, x).colours == 3


def test_an_arrow_needs_two_colours() -> None:
    arrow = np.eye(20, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert colour_symmetric(sp.csr_array(arrow)).max() + 1 == 2


@pytest.mark.parametrize("seed", range(20))
def test_every_entry_of_a_symmetric_matrix_stands_alone_in_a_product(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 25))
    matrix = random.random((n, n)) < random.random() * 0.5
    matrix |= matrix.T
    colours = colour_symmetric(sp.csr_array(matrix))
    for i, j in np.argwhere(matrix):
        alone = [(matrix[a] & (colours == colours[b])).sum() == 1 for a, b in ((i, j), (j, i))]
        assert any(alone)


@pytest.mark.parametrize("seed", range(10))
def test_columns_of_one_colour_share_no_row(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((12, 17)) < 0.2
    colours = colour_columns(sp.csr_array(matrix))
    for colour in range(colours.max() + 1):
        assert matrix[:, colours == colour].sum(axis=1).max() <= 1


def test_a_pattern_of_another_shape_is_refused() -> None:
    x = pb.placeholder(pb.float64, [3])
    with pytest.raises(ValueError, match=r"sparse_jacobian: the pattern is \(2, 2\), but .* is \(3, 3\)"):
        pb.sparse_jacobian(x * x, x, pattern=np.eye(2))


def test_positions_that_are_fed_are_looked_at() -> None:
    x, rows = pb.placeholder(pb.float64, [4]), pb.placeholder(pb.int32, [2])
    y = pb.gather(x, rows)
    pattern = jacobian_pattern(y, x, {rows: [3, 1]})
    np.testing.assert_array_equal(pattern.toarray(), np.eye(4, dtype=bool)[[3, 1]])
