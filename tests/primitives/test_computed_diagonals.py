"""Diagonals whose numbers a run computes: they are those whose numbers are known before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.random.default_rng(0).normal(size=(2, 3, 4))
BANDS = [0, -2, [1], (1, 1), (-1, 2), (-2, -1)]


def as_when_known(k: Any, align: str, engine: str = "numpy") -> None:
    """Values and two derivatives along computed diagonals are those along known ones, lengths known or not."""
    with pb.Graph().as_default():
        shape = pb.linalg.diag_part(X, k=k, align=align).shape.known
        part = np.random.default_rng(1).normal(size=shape)
        fed, size = pb.placeholder(pb.int64, np.shape(k)), pb.placeholder(pb.int32, [])
        x, d = pb.placeholder(pb.float64, [None, None, None]), pb.placeholder(pb.float64, [None] * len(shape))
        fetches = []
        for band, count in ((fed, size), (k, 4)):
            ys = [
                (pb.linalg.diag_part(x, k=band, align=align, padding_value=5.0), x),
                (pb.linalg.diag(d, k=band, align=align), d),
                (pb.linalg.diag(d, k=band, align=align, num_rows=3, num_cols=count, padding_value=7.0), d),
                (pb.linalg.set_diag(x, d, k=band, align=align), x),
                (pb.linalg.set_diag(x, d, k=band, align=align), d),
            ]
            slopes = [pb.gradients(y * y * y, by)[0] for y, by in ys]
            curves = [pb.gradients(dy, by)[0] for dy, (_, by) in zip(slopes, ys, strict=True)]
            fetches.append([*[y for y, _ in ys], *slopes, *curves])
        found, wanted = pb.Session(engine=engine).run(fetches, {x: X, d: part, fed: k, size: 4})
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("k", BANDS, ids=str)
@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_LEFT"])
def test_computed_diagonals_are_the_known_ones(k: Any, align: str) -> None:
    as_when_known(k, align)


def test_computed_diagonals_on_xla() -> None:
    as_when_known((-1, 2), "LEFT_RIGHT", "xla")


def test_a_number_among_a_pair_may_be_computed() -> None:
    high = pb.placeholder(pb.int32, [])
    y = pb.linalg.diag_part(X, k=(-1, high))
    wanted = pb.linalg.diag_part(X, k=(-1, 1))
    np.testing.assert_array_equal(*pb.Session().run([y, wanted], {high: 1}))


def test_a_constant_tensor_of_diagonals_gives_static_shapes() -> None:
    assert pb.linalg.diag_part(X, k=pb.constant([-1, 2])).shape == [2, 4, 3]
    assert pb.linalg.diag(X[0, 0], k=pb.constant(1) + 0).shape == [5, 5]
    assert pb.linalg.set_diag(X, pb.placeholder(pb.float64, [2, None]), k=pb.constant(-1)).shape == [2, 3, 4]


@pytest.mark.parametrize("k", [4, -3])
def test_no_such_diagonal(k: int) -> None:
    fed = pb.placeholder(pb.int32, [])
    said = f"diag_part: no ascending range of diagonals, and the size of the matrices: {k} {k} 3 4"
    with pytest.raises(pb.errors.InvalidArgumentError, match=said):
        pb.Session(engine="numpy").run(pb.linalg.diag_part(X, k=fed), {fed: k})


def test_diagonals_that_do_not_fill_the_band() -> None:
    fed = pb.placeholder(pb.int32, [])
    said = "set_diag: the diagonals have a length, and need one, of 3 2"
    with pytest.raises(pb.errors.InvalidArgumentError, match=said):
        pb.Session(engine="numpy").run(pb.linalg.set_diag(X, X[:, :, 0], k=fed), {fed: -1})


@pytest.mark.parametrize(("dtype", "shape"), [(pb.float32, []), (pb.int32, [3]), (pb.int32, None)])
def test_what_is_no_number_of_diagonals(dtype: Any, shape: Any) -> None:
    said = "^diag_part: k must be (integers|an integer or two, of known number), not .*"
    with pytest.raises((TypeError, ValueError), match=said):
        pb.linalg.diag_part(X, k=pb.placeholder(dtype, shape))
