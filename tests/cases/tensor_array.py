"""Rows: arrays that are written and read one by one, in and out of loops."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .case import Case, normal, positive

NO_RANK = "rows need a rank"


def _written_in_a_loop(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=4)
    _, _, array = pb.while_loop(
        lambda i, y, a: i < 4, lambda i, y, a: (i + 1, pb.sin(y) * y, a.write(i, y * y)), (0, x, array)
    )
    return array.stack()


def _recurrence(x: Any) -> Any:
    """Each element from the two before it: written and read in one loop."""
    array = pb.TensorArray(x.dtype, size=5, element_shape=[2]).write(0, x).write(1, 2.0 * x)

    def body(i: Any, a: Any) -> Any:
        return i + 1, a.write(i, pb.tanh(a.read(i - 1) * a.read(i - 2)) + a.read(i - 1))

    return pb.while_loop(lambda i, a: i < 5, body, (2, array))[1].stack()


def _read_twice(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=3, element_shape=[2]).unstack(x)
    return array.gather([0, 2, 0]) * array.read(1)


def _over_rows(x: Any) -> Any:
    """An array that a loop only reads."""
    array = pb.TensorArray(x.dtype).unstack(x)
    return pb.while_loop(
        lambda i, y: i < array.size(), lambda i, y: (i + 1, pb.sin(y) + array.read(i)), (0, pb.zeros_like(x[0]))
    )[1]


def _unwritten(x: Any) -> Any:
    return pb.TensorArray(x.dtype, size=3, element_shape=[2]).write(1, x).stack()


def _scattered(x: Any) -> Any:
    return pb.TensorArray(x.dtype, size=4, element_shape=[2]).scatter([3, 1], x).stack()


def _in_a_branch(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=2, element_shape=[2]).write(0, x)
    chosen = pb.cond(pb.reduce_sum(x) > 0.0, lambda: array.write(1, pb.sin(x)), lambda: array.write(1, pb.cos(x)))
    return chosen.stack()


def _read_in_a_branch(x: Any) -> Any:
    """A recurrence whose branches read what was written, one of them twice."""
    array = pb.TensorArray(x.dtype, size=4, element_shape=x.shape).write(0, x)

    def body(i: Any, a: Any) -> Any:
        last = i - 1
        y = pb.cond(
            pb.equal(i % 2, 0), lambda: pb.sin(a.read(last)) * a.read(0), lambda: pb.square(a.read(last)) + a.read(last)
        )
        return i + 1, a.write(i, y)

    return pb.while_loop(lambda i, a: i < 4, body, (1, array))[1].stack()


def _growing(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=0, dynamic_size=True)
    _, array = pb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * x)), (0, array))
    return array.stack()


def _growing_recurrence(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=1, dynamic_size=True, clear_after_read=False).write(0, x)
    _, array = pb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, a.read(i - 1) * x)), (1, array))
    return array.stack()


def _growing_by_two(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=0, dynamic_size=True, element_shape=x.shape)
    _, array = pb.while_loop(
        lambda i, a: pb.less(i, 3), lambda i, a: (i + 1, a.write(2 * i + 1, pb.sin(x)).write(i * 2, x * x)), (0, array)
    )
    return array.stack()


def _appended(x: Any) -> Any:
    """Rows behind rows, as many as `maximum_iterations` says."""
    array = pb.TensorArray(x.dtype, dynamic_size=True)
    _, array = pb.while_loop(
        lambda y, a: True, lambda y, a: (y * x, a.write(a.size(), y)), (x, array), maximum_iterations=4
    )
    return array.stack()


def _bounded(x: Any) -> Any:
    """An array of which only a run says how long it gets: three of at most six elements."""
    array = pb.TensorArray(x.dtype, dynamic_size=True)
    _, _, array = pb.while_loop(
        lambda i, y, a: pb.reduce_sum(y) < 12.0 * pb.reduce_sum(pb.stop_gradient(x)),
        lambda i, y, a: (i + 1, y * 2.5, a.write(i, pb.sin(y) * x)),
        (0, x, array),
        maximum_iterations=6,
    )
    return array.stack()


def _bounded_recurrence(x: Any) -> Any:
    """Four elements, of at most eight."""
    array = pb.TensorArray(x.dtype, dynamic_size=True, clear_after_read=False).write(0, x)
    _, array = pb.while_loop(
        lambda i, a: (i < 8) & (i * i < pb.cast(pb.reduce_sum(0.0 * x), pb.int32) + 16),
        lambda i, a: (i + 1, a.write(i, a.read(i - 1) * x + pb.sin(a.read(0)))),
        (1, array),
    )
    return array.stack()


def _growing_behind_its_rows(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, dynamic_size=True).unstack(pb.stack([x, x * x]))
    _, array = pb.while_loop(lambda i, a: i > 1, lambda i, a: (i - 1, a.write(i, pb.exp(x))), (5, array))
    return array.stack()


def _scanned(x: Any) -> Any:
    """An array whose element shape only a step says."""
    array = pb.TensorArray(x.dtype, size=3)
    _, array = pb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * x)), (0, array))
    return pb.scan(lambda y, row: pb.sin(y) * row, array.stack())


def _mapped(x: Any) -> Any:
    array = pb.TensorArray(x.dtype, size=3).unstack(x)
    return pb.map_fn(lambda row: pb.sin(row) * row[0], array)


CASES = [
    Case("written_in_a_loop", _written_in_a_loop, [positive(2)], third_order=True),
    Case("recurrence", _recurrence, [positive(2)], third_order=True, slow=True),
    Case("read_twice", _read_twice, [normal(3, 2)], lambda x: x[[0, 2, 0]] * x[1], third_order=True),
    Case("read_in_a_loop", _over_rows, [normal(3, 2)], third_order=True, not_erased_rank=NO_RANK),
    Case(
        "mapped",
        _mapped,
        [positive(3, 2)],
        lambda x: np.sin(x) * x[:, :1],
        not_erased_rank=NO_RANK,
    ),
    Case("unwritten_elements", _unwritten, [normal(2)], lambda x: np.stack([0 * x, x, 0 * x])),
    Case("scattered", _scattered, [normal(2, 2)], lambda x: np.stack([0 * x[0], x[1], 0 * x[0], x[0]])),
    Case(
        "concatenated",
        lambda x: pb.TensorArray(x.dtype).unstack(pb.square(x)).concat(),
        [normal(3, 2)],
        lambda x: (x**2).reshape(-1),
        not_erased_rank=NO_RANK,
    ),
    Case(
        "split",
        lambda x: pb.TensorArray(x.dtype).split(x, [2, 2]).read(1),
        [normal(4, 2)],
        lambda x: x[2:],
    ),
    Case("read_in_a_branch_in_a_loop", _read_in_a_branch, [positive(2)], third_order=True, slow=True),
    Case("in_a_branch", _in_a_branch, [positive(2)], lambda x: np.stack([x, np.sin(x)]), third_order=True),
    Case("growing", _growing, [normal(2)], lambda x: np.stack([x * x] * 3), third_order=True),
    Case(
        "growing_recurrence",
        _growing_recurrence,
        [positive(2)],
        lambda x: np.stack([x, x**2, x**3]),
        third_order=True,
        slow=True,
    ),
    Case("growing_by_two", _growing_by_two, [positive(2)], lambda x: np.stack([x * x, np.sin(x)] * 3)),
    Case("appended", _appended, [positive(2)], lambda x: np.stack([x, x**2, x**3, x**4])),
    Case("bounded", _bounded, [positive(2)], third_order=True, slow=True),
    Case("bounded_recurrence", _bounded_recurrence, [positive(2)], third_order=True, slow=True),
    Case("growing_behind_its_rows", _growing_behind_its_rows, [positive(2)]),
    Case("scanned", _scanned, [positive(2)], third_order=True, slow=True),
]
