"""Rows: variables, assignments, scatter updates, rows of variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb
from pullback.primitives.sparse.unique_rows import SumEqualRows

from .case import Case, cubed, normal

STATE = "assignments are not differentiated"
TABLE = normal(4, 3, seed=5)
IDS = np.array([2, 0, 2])


def variable(x: Any, value: Any = TABLE, **arguments: Any) -> pb.Variable:
    """A variable that holds `value` in the dtype of `x`."""
    return pb.Variable(np.asarray(value).astype(x.dtype), **arguments)


def unknown(x: Any) -> pb.Variable:
    """A variable of unknown static shape."""
    return variable(x, validate_shape=False)


def gradient_by_rows(x: Any, v: pb.Variable, ids: Any) -> Any:
    """The dense derivative by a table of which rows are read, each times a number of `x`."""
    with pb.densify_policy("allow"):
        (dv,) = pb.gradients(pb.square(v.sparse_read(ids)) * x, v)
        return pb.convert_to_tensor(dv)


def rows_gradient(x: np.ndarray[Any, Any], ids: Any) -> np.ndarray[Any, Any]:
    """What `gradient_by_rows` should be."""
    total = np.zeros_like(TABLE)
    np.add.at(total, ids, 2 * TABLE[ids] * x)
    return total


def scattered(name: str) -> Callable[[Any], Any]:
    """A scatter update of rows, of which one comes twice."""

    def build(x: Any) -> Any:
        slices = pb.IndexedSlices(x, pb.constant(IDS))
        return getattr(variable(x), name)(slices)

    return build


def at(ufunc: Any) -> Callable[[Any], Any]:
    """What a scatter update should be."""

    def expected(x: np.ndarray[Any, Any]) -> Any:
        total = TABLE.copy()
        ufunc.at(total, IDS, x)
        return total

    return expected


def replaced(x: np.ndarray[Any, Any]) -> Any:
    """Rows replaced; of two the last."""
    total = TABLE.copy()
    total[IDS] = x
    return total


def scattered_nd(name: str) -> Callable[[Any], Any]:
    """A scatter update of single elements."""

    def build(x: Any) -> Any:
        return getattr(variable(x), name)([[0, 1], [3, 2], [0, 1]], x)

    return build


def at_nd(ufunc: Any) -> Callable[[Any], Any]:
    """What a scatter update of single elements should be."""

    def expected(x: np.ndarray[Any, Any]) -> Any:
        total = TABLE.copy()
        ufunc.at(total, (np.array([0, 3, 0]), np.array([1, 2, 1])), x)
        return total

    return expected


def replaced_nd(x: np.ndarray[Any, Any]) -> Any:
    """Elements replaced at distinct places."""
    total = TABLE.copy()
    total[[0, 3], [1, 2]] = x
    return total


ROWS = normal(3, 3, seed=6)
ADDED = normal(4, 3, seed=7)

CASES = [
    Case("read", lambda x: variable(x) * x, [normal(4, 3)], lambda x: TABLE * x),
    Case("read_twice", lambda x: (lambda v: v * x + v)(variable(x)), [normal(3)], lambda x: TABLE * x + TABLE),
    Case("read_unknown_shape", lambda x: unknown(x) * x, [normal(4, 3)], lambda x: TABLE * x),
    Case("read_scalar", lambda x: variable(x, 3.0) * x, [normal()], lambda x: 3 * x),
    Case("operators", lambda x: 2.0 - abs(-variable(x)) / x[:3], [normal(3) + 3], lambda x: 2 - abs(TABLE) / x),
    Case("initialized", lambda: pb.is_variable_initialized(pb.Variable(0.0)), expected=np.array(True)),
    Case("initialized_value", lambda x: variable(x).initialized_value() * x, [normal(4, 3)], lambda x: TABLE * x),
    Case("assign", lambda x: variable(x).assign(x), [normal(4, 3)], lambda x: x, not_differentiable=STATE),
    Case(
        "assign_add", lambda x: variable(x).assign_add(x), [normal(4, 3)], lambda x: TABLE + x, not_differentiable=STATE
    ),
    Case(
        "assign_sub", lambda x: variable(x).assign_sub(x), [normal(4, 3)], lambda x: TABLE - x, not_differentiable=STATE
    ),
    Case("assign_int", lambda: pb.Variable([1, 2]).assign_add([3, 4]), expected=np.array([4, 6])),
    Case("rows", lambda x: variable(x).sparse_read(IDS) * x, [ROWS], lambda x: TABLE[IDS] * x),
    Case("rows_none", lambda x: variable(x).sparse_read(np.zeros(0, int)) * x, [normal(0, 3)], np.zeros((0, 3))),
    Case("rows_gradient", lambda x: gradient_by_rows(x, variable(x), IDS), [ROWS], lambda x: rows_gradient(x, IDS)),
    Case(
        "rows_gradient_of_matrix_indices",
        lambda x: gradient_by_rows(x, variable(x), [[2, 0], [2, 1]]),
        [normal(2, 2, 3)],
        lambda x: rows_gradient(x, np.array([[2, 0], [2, 1]])),
    ),
    Case(
        "rows_gradient_unknown_shape",
        lambda x: gradient_by_rows(x, unknown(x), [[2, 0], [2, 1]]),
        [normal(2, 2, 3)],
        lambda x: rows_gradient(x, np.array([[2, 0], [2, 1]])),
    ),
    Case("scatter_add", scattered("scatter_add"), [ROWS], at(np.add), not_differentiable=STATE),
    Case("scatter_sub", scattered("scatter_sub"), [ROWS], at(np.subtract), not_differentiable=STATE),
    Case("scatter_mul", scattered("scatter_mul"), [ROWS], at(np.multiply), not_differentiable=STATE),
    Case("scatter_div", scattered("scatter_div"), [ROWS + 3], at(np.divide), not_differentiable=STATE),
    Case("scatter_max", scattered("scatter_max"), [ROWS], at(np.maximum), not_differentiable=STATE),
    Case("scatter_min", scattered("scatter_min"), [ROWS], at(np.minimum), not_differentiable=STATE),
    Case("scatter_update", scattered("scatter_update"), [ROWS], replaced, not_differentiable=STATE),
    Case("scatter_nd_add", scattered_nd("scatter_nd_add"), [normal(3)], at_nd(np.add), not_differentiable=STATE),
    Case("scatter_nd_sub", scattered_nd("scatter_nd_sub"), [normal(3)], at_nd(np.subtract), not_differentiable=STATE),
    Case(
        "scatter_nd_update",
        lambda x: variable(x).scatter_nd_update([[0, 1], [3, 2]], x),
        [normal(2)],
        replaced_nd,
        not_differentiable=STATE,
    ),
    Case(
        "sum_equal_rows",
        lambda x: pb.reduce_sum(pb.square(SumEqualRows()(pb.constant([2, -1, 2, 7]), x)[1])),
        [normal(4, 2)],
        lambda x: np.square(x[[1, 3]]).sum() + np.square(x[0] + x[2]).sum(),
    ),
    Case(
        "sum_equal_rows_none",
        lambda x: pb.reduce_sum(SumEqualRows()(pb.constant(np.zeros(0, int)), x)[1]),
        [normal(0, 2)],
        np.zeros(()),
    ),
    Case(
        "cube_of_read", cubed(lambda x: variable(x) * x), [normal(4, 3)], lambda x: (TABLE * x) ** 3, third_order=True
    ),
]
