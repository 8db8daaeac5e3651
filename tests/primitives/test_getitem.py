"""Indexing of tensors against NumPy's: a seeded sweep, and what is refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pullback as pb


def _item(rng: random.Random, n: int) -> Any:
    if rng.random() < 0.35:
        return rng.randrange(-n, n)
    bounds = [rng.choice([None, rng.randint(-n - 1, n + 1)]) for _ in range(2)]
    return slice(*bounds, rng.choice([None, 1, 2, -1, -2, 3]))


def _key(rng: random.Random, dims: list[int]) -> tuple[Any, ...]:
    """Integers, slices, new axes, an ellipsis, and often one array of integers or bools."""
    count = rng.randint(0, len(dims))
    key = [_item(rng, n) for n in dims[:count]]
    kind = rng.random()
    if count and kind < 0.6:
        i = rng.randrange(count)
        if kind < 0.4:
            numbers = [rng.randrange(-dims[i], dims[i]) for _ in range(rng.randint(1, 3))]
            key[i] = np.array([numbers]) if rng.random() < 0.3 else numbers
        else:
            key[i] = np.array([rng.random() < 0.5 for _ in range(dims[i])])
    elif rng.random() < 0.6:
        place = rng.randint(0, count)
        rest = dims[len(dims) - (count - place) :]
        key = [*key[:place], Ellipsis, *[_item(rng, n) for n in rest]]
    if Ellipsis not in [k for k in key if isinstance(k, type(Ellipsis))] and rng.random() < 0.3:
        key.append(Ellipsis)
    for _ in range(rng.choice([0, 0, 1, 2])):
        key.insert(rng.randint(0, len(key)), None)
    return tuple(key)


@pytest.mark.parametrize("seed", range(120))
def test_any_key_picks_what_numpy_picks(seed: int) -> None:
    rng = random.Random(seed)
    dims = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    x = np.arange(float(np.prod(dims))).reshape(dims)
    key = _key(rng, dims)
    wanted, counts = x[key], np.zeros_like(x)
    np.add.at(counts, key, 1.0)
    with pb.Session(engine="numpy") as session:
        for shape in (dims, [None] * len(dims)):
            t = pb.placeholder(pb.float64, shape)
            y = t[key]
            assert y.shape.is_compatible_with(wanted.shape)
            values = session.run([y, *pb.gradients(y, t)], {t: x})
            np.testing.assert_array_equal(values[0], wanted)
            np.testing.assert_array_equal(values[1], counts)


def test_static_keys_have_static_shapes() -> None:
    x = pb.zeros([4, 5, 6])
    assert x[1:, None, ..., ::-2].shape == [3, 1, 5, 3]
    assert x[-1, 2:100].shape == [3, 6]


def test_a_row_of_a_table_has_a_dense_gradient() -> None:
    x = pb.zeros([4, 5])
    (dx,) = pb.gradients(x[pb.placeholder(pb.int32, [])], x)
    assert isinstance(dx, pb.Tensor)


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (2, ValueError, "strided_slice: index 2 is out of bounds for axis 0 of float32[2,3]"),
        (-3, ValueError, "strided_slice: index -3 is out of bounds for axis 0 of float32[2,3]"),
        ((0, 0, 0), ValueError, "too many indices for float32[2,3] 'x:0': it has rank 2, but 3 axes are indexed"),
        (
            1.5,
            TypeError,
            "an index must be an integer, a slice, None, ..., or an integer or bool array, not 1.5",
        ),
        (
            True,
            TypeError,
            "an index must be an integer, a slice, None, ..., or an integer or bool array, not True",
        ),
        (np.s_[::0], ValueError, "strided_slice: a step of 0 leads nowhere; steps are positive or negative"),
        (
            ([0], [1]),
            NotImplementedError,
            "two arrays cannot index at once; use pb.gather_nd with their elements side by side",
        ),
        ((..., ...), ValueError, "an index can only have a single ellipsis ('...')"),
    ],
)
def test_a_wrong_key_is_refused(key: Any, error: type[Exception], text: str) -> None:
    x = pb.placeholder(pb.float32, [2, 3], name="x")
    with pytest.raises(error) as caught:
        x[key]
    assert str(caught.value) == text


def test_a_strided_slice_has_one_ellipsis() -> None:
    with pytest.raises(ValueError, match="an index can only have a single ellipsis, not those of the mask 3"):
        pb.strided_slice(pb.zeros([3, 4]), [0, 0], [1, 1], [1, 1], ellipsis_mask=3)
