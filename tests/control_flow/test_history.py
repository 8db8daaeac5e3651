"""`history`: the values of each step."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_values_and_derivatives_of_each_step(engine: str, steps: int) -> None:
    n, x = pb.placeholder(pb.int32, []), pb.placeholder(pb.float64, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, pb.sin(y)), (0, x), maximum_iterations=9)[1]
    (dx,) = pb.gradients(y, x)
    values, slopes = pb.Session(engine=engine).run([pb.history(y), pb.history(dx)], {n: steps, x: 0.5})
    expected = [0.5]
    for _ in range(steps):
        expected.append(np.sin(expected[-1]))
    np.testing.assert_allclose(values, expected[:-1])
    np.testing.assert_allclose(slopes, [np.prod(np.cos(expected[t + 1 : steps])) for t in range(steps)])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_is_made_of_the_rows_does_not_see_the_room_behind_them(engine: str) -> None:
    n, x = pb.placeholder(pb.int32, []), pb.placeholder(pb.float64, [2])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, 0.5 * y), (0, x), maximum_iterations=9)[1]
    cosines = pb.cos(pb.history(y))
    total = pb.reduce_sum(pb.where(cosines > 0.9, cosines, 2.0 * cosines + 1.0))
    fetches = [cosines, pb.reduce_mean(cosines, 1), total, pb.gradients(total, x)[0]]
    found, means, sum_, slope = pb.Session(engine=engine).run(fetches, {n: 3, x: [1.0, 2.0]})
    rows = np.array([[1.0, 2.0], [0.5, 1.0], [0.25, 0.5]])
    np.testing.assert_allclose(found, np.cos(rows))
    np.testing.assert_allclose(means, np.cos(rows).mean(1))
    high = np.cos(rows) > 0.9
    np.testing.assert_allclose(sum_, np.where(high, np.cos(rows), 2 * np.cos(rows) + 1).sum())
    np.testing.assert_allclose(slope, -(np.sin(rows) * np.where(high, 1, 2) * [[1.0], [0.5], [0.25]]).sum(0))


def test_xla_counts_no_rows_over_a_mesh() -> None:
    n, x = pb.placeholder(pb.int32, []), pb.placeholder(pb.float32, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, 0.5 * y), (0, x), maximum_iterations=9)[1]
    mean = pb.reduce_mean(pb.history(y), name="mean")
    assert pb.Session(engine="numpy").run(mean, {n: 2, x: 1.0}) == 0.75
    text = (
        "Mean: how many rows the loop 'while/Loop' makes is known when it ends, and XLA keeps zeros behind them "
        "(operation 'mean')"
    )
    with pytest.raises(pb.errors.InvalidArgumentError, match=re.escape(text)):
        pb.Session(engine="xla", mesh={"x": 1}).run(mean, {n: 2, x: 1.0})
    assert pb.Session(engine="xla").run(mean, {n: 2, x: 1.0}) == 0.75


_BY_ROWS: dict[str, Callable[[Any], Any]] = {
    "last": lambda h: h[-1],
    "but_the_first": lambda h: h[1:],
    "but_the_last": lambda h: h[:-1, 1],
    "first_two": lambda h: pb.cos(h[:2]),
    "first_nine": lambda h: pb.cos(h[:9]),
    "column": lambda h: pb.cos(h[:, 0]),
    "all_numbers": lambda h: pb.cos(pb.reshape(h, [-1])),
    "columns": lambda h: pb.cos(pb.reshape(h, [-1, 2, 1])),
    "turned": lambda h: pb.cos(pb.reverse(h, [1])),
    "one_after_the_other": lambda h: pb.cos(pb.concat([h, pb.ones([1, 2], pb.float64), 2.0 * h], 0)),
    "side_by_side": lambda h: pb.concat([h, pb.cos(h)], 1),
    "pairs": lambda h: pb.reduce_sum(pb.exp(pb.stack([h, h], 2)), 2),
    "linear": lambda h: pb.sigmoid(pb.nn.bias_add(h @ pb.ones([2, 3], pb.float64), pb.ones([3], pb.float64))),
    "gram": lambda h: pb.exp(pb.matmul(h, h, transpose_a=True)),
    "einsum": lambda h: pb.exp(pb.einsum("ti,ij->tj", h, pb.ones([2, 2], pb.float64))),
    "einsum_of_all": lambda h: pb.exp(pb.einsum("ti,tj->ij", h, h)),
    "softmax": lambda h: pb.nn.softmax(h),
    "logsumexp": lambda h: pb.reduce_logsumexp(h, 1),
    "largest": lambda h: pb.argmax(h, 1),
    "cumsum": lambda h: pb.cumsum(h, 0),
    "split": lambda h: pb.cos(pb.split(h, 2, 1)[1]),
    "unstack": lambda h: pb.cos(pb.unstack(h, axis=1)[1]),
    "one_hot": lambda h: pb.one_hot(pb.cast(h[:, 0] * 2.0, pb.int32), 3),
    "gathered": lambda h: pb.gather(pb.constant([1.0, 2.0, 4.0]), pb.cast(h[:, 0] * 2.0, pb.int32)),
    "transposed": lambda h: 2.0 * pb.transpose(h),
    "columns_gathered": lambda h: pb.cos(pb.gather(h, [1, 1, 0], axis=1)),
}


@pytest.mark.parametrize("what", _BY_ROWS)
def test_what_works_row_by_row_does_so_on_xla(what: str) -> None:
    n, x = pb.placeholder(pb.int32, []), pb.placeholder(pb.float64, [2])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, 0.5 * y), (0, x), maximum_iterations=9)[1]
    z = _BY_ROWS[what](pb.history(y))
    found, expected = [pb.Session(engine=e).run(z, {n: 3, x: [1.0, 2.0]}) for e in ("xla", "numpy")]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "count",
    [
        lambda h: h[::-1],
        lambda h: pb.nn.softmax(h, 0),
        lambda h: pb.reduce_prod(h, 0),
        lambda h: pb.sort(h, 0),
        lambda h: pb.matmul(h, h, transpose_b=True),
        lambda h: pb.reshape(h, [1, -1]),
        lambda h: pb.foldl(lambda a, row: a + pb.cos(row), h),
        lambda h: pb.numpy_function(lambda a: a.sum(), [h], pb.float64),
    ],
)
def test_what_zeros_behind_the_rows_would_change_does_not_see_them_on_xla(count: Any) -> None:
    n, x = pb.placeholder(pb.int32, []), pb.placeholder(pb.float64, [2])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, 0.5 * y), (0, x), maximum_iterations=9)[1]
    z = count(pb.history(y))
    found, expected = [pb.Session(engine=e).run(z, {n: 3, x: [1.0, 2.0]}) for e in ("xla", "numpy")]
    np.testing.assert_allclose(found, expected)


def test_only_what_a_loop_returned_has_a_history() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.while_loop(lambda y: y < 10.0, lambda y: y * 2.0, x)
    for tensor in (x, y + 1.0, y.op.outputs[0]):
        with pytest.raises(ValueError, match=re.escape(f"history: {tensor} (made at ")):
            pb.history(tensor)
