"""Rows: maps and folds over rows, of known and unknown number, one after the other and many at once."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..case import Case, normal, positive

NO_RANK = "rows need a rank"


def _cell(a: Any, row: Any) -> Any:
    return pb.tanh(a * row) + 0.5 * a


def _nested(x: Any, w: Any) -> Any:
    """A map whose function scans."""
    return pb.map_fn(lambda row: pb.foldl(lambda a, b: a * w + b, row), x)


def _structured(x: Any, y: Any) -> Any:
    found = pb.map_fn(lambda e: {"sum": e["a"] + e["b"], "pair": (e["a"] * 2.0, e["b"])}, {"a": x, "b": y})
    return [found["sum"], *found["pair"]]


def _by_example(w: Any, x: Any) -> Any:
    """Derivatives of each example."""
    return pb.vectorized_map(lambda row: pb.gradients(pb.sin(pb.reduce_sum(row * w)), w)[0], x)


def _matrices(x: Any, w: Any) -> Any:
    return pb.vectorized_map(lambda m: pb.nn.softmax(pb.matmul(m, w)), x, batch_size=2)


CASES = [
    Case("map_fn", lambda x: pb.map_fn(lambda r: pb.sin(r) * pb.reduce_sum(r), x), [normal(3, 2)], third_order=True),
    Case("map_fn_no_rows", lambda x: pb.map_fn(pb.sin, x), [normal(0, 2)], np.sin, not_erased_rank=NO_RANK),
    Case("map_fn_structure", _structured, [normal(3), normal(3, seed=1)], lambda x, y: [x + y, 2 * x, y]),
    Case("map_fn_of_folds", _nested, [normal(2, 3), positive()], third_order=True, not_erased_rank=NO_RANK),
    Case(
        "vectorized_map",
        lambda x: pb.vectorized_map(lambda r: pb.exp(r) * r[0], x),
        [normal(5, 2)],
        third_order=True,
        not_erased_rank=NO_RANK,
    ),
    Case("vectorized_map_matrices", _matrices, [normal(5, 2, 3), normal(3, 2, seed=1)], not_erased_rank=NO_RANK),
    Case("gradients_by_example", _by_example, [normal(2), normal(4, 2, seed=1)], third_order=True),
    Case("scan", lambda x: pb.scan(_cell, x), [normal(4, 2)], third_order=True, not_erased_rank=NO_RANK),
    Case("scan_one_row", lambda x: pb.scan(_cell, x), [normal(1, 2)], lambda x: x, not_erased_rank=NO_RANK),
    Case(
        "scan_from",
        lambda x, a: pb.scan(_cell, x, a, reverse=True),
        [normal(3, 2), normal(2, seed=1)],
        third_order=True,
    ),
    Case("scan_no_rows", lambda x, a: pb.scan(_cell, x, a), [normal(0, 2), normal(2)], np.zeros((0, 2))),
    Case("foldl", lambda x, a: pb.foldl(_cell, x, a), [normal(3, 2), normal(2, seed=1)], third_order=True),
    Case("foldr", lambda x: pb.foldr(_cell, x), [normal(3, 2)], not_erased_rank=NO_RANK),
]
