"""Sparsity patterns of the rows of the case table: no entry is missing, and for each false one there is a reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.autodiff.paths import operations_between
from pullback.core.errors import PullbackError
from pullback.derivatives.pattern import jacobian_pattern

from ..cases.case import Case
from ..cases.table import Built, building, each, rows

POINTS = 13
LARGEST = 20_000
SMALL = 400
ROWS = [p for p in rows("not_differentiable", "not_on_numpy") if p.values[0].differentiated()]
VALUES_DECIDE = {
    "one of several is taken": ("ClipByValue", "Maximum", "Minimum", "If", "Case", "Sign"),
    "one of several is the largest": (
        *("Max", "Min", "MaxLike", "MinLike", "MaxPool", "MaxPoolWithArgmax", "FractionalMaxPool", "Dilation2D"),
        *("UnsortedSegmentMax", "UnsortedSegmentMin", "NthElement", "IsotonicRegression"),
    ),
    "where it reads is computed": (
        *("ReadImages", "CropPlaces", "PixelGrid", "FoldPlaces", "SpanWeights", "PoolingSequence", "CtcAlignments"),
        *("Range", "Take", "Neighbours"),
    ),
    "some numbers of its matrix are zero": ("RFFTND", "IRFFTND", "Dct", "Resize"),
    "matrices have zeros, or are symmetric, or of one rank": (
        *("Qr", "Lu", "Cholesky", "MatrixLogarithm", "MatrixExponential", "MatrixTriangularSolve", "TridiagonalSolve"),
        *("MatrixSolve", "PseudoInverse", "MatrixDeterminant", "LogMatrixDeterminant", "SelfAdjointEigV2", "Eig"),
    ),
    "the slope is a whole number": ("TruncateMod",),
    "real numbers say nothing of imaginary ones": ("Complex",),
    "two results have other axes": ("SoftmaxCrossEntropyWithLogits",),
    "nobody looks inside": ("EagerPyFunc", "StatefulPartitionedCall"),
}
"""What patterns do not see, as it depends on numbers; the types of the operations that have false entries by it."""
ROWS_WHERE_VALUES_DECIDE = {
    "both are the same": (
        *("subtract_with_itself", "divide_with_itself", "divide_no_nan_with_itself", "squared_difference_with_itself"),
        *("variance_[]_gone", "variance_[]_kept", "moments_scalar", "mean_squared_error_weighted"),
    ),
    "floats decide where elements go": (
        *("sort", "cube_of_sort", "top_k_fed", "unique_apart", "setdiff1d_floats", "from_dense", "shuffle"),
        *("random_crop", "random_crop_drawn", "count_of_data", "newton"),
    ),
    "what it is divided by is 0": ("divide_no_nan_by_zero", "lookup"),
    "more than one factor is 0": ("prod_with_two_zeros_all", "prod_third_order"),
    "some factors are drawn, or 0 at an end": (
        *(
            "dropout",
            "dropout_rows",
            "dropout_same",
            "dropout_rate_tensor",
            "random_flip_left_right_drawn",
            "random_flip_up_down_drawn",
            "cube_of_dropout",
            "range",
            "linspace_vectors",
            "linspace_fed",
        ),
        *("kaiser_window", "kaiser_bessel_derived_window"),
    ),
    "rows end sooner or later": (
        *(
            "static_rnn",
            "dynamic_rnn",
            "bidirectional_dynamic_rnn",
            "bounded",
            "bounded_recurrence",
            "fused_batch_norm",
        ),
        *("fused_batch_norm_running",),
    ),
}
FLOATS_DECIDE = ("sort", "sort_descending_axis_0", "cube_of_sort", "top_k_fed", "unique_apart", "from_dense", "shuffle")
"""Rows where floats, or numbers drawn, decide which elements are taken."""
HAVE_TIES = (
    *("max_None_gone", "max_None_kept", "max_[1,0]_gone", "max_[1,0]_kept", "max_[0,1,2]_gone", "max_[0,1,2]_kept"),
    *("cube_of_max", "max_like"),
)
"""Rows at points where several elements are the largest: a slope jumps there, and has no derivative."""
HAVE_NO_SECOND = ("py-function", "py-function-in-call")
HAVE_FALSE_ENTRIES = {type_ for types in VALUES_DECIDE.values() for type_ in types}
EXACT = [p for p in ROWS if not any(p.values[0].name in names for names in ROWS_WHERE_VALUES_DECIDE.values())]


def _pairs(built: Built, largest: int) -> Iterator[tuple[Any, Any]]:
    """What can be differentiated, and by what, in arrays that are not large."""
    sizes = {x: array.size for x, array in zip(built.xs, built.arrays, strict=True)}
    ys = [(y, np.size(value)) for y, value in zip(built.ys, built.run(built.ys), strict=True) if y.dtype.kind in "fc"]
    for y, size in ys:
        for i in built.case.differentiated():
            if 0 < size * sizes[built.xs[i]] <= largest:
                yield y, built.xs[i]


def _pattern(built: Built, y: Any, x: Any) -> Any:
    with pb.Session(graph=built.graph, engine="numpy") as session:
        session.run(pb.variables_initializer(built.graph.get_collection("variables")))
        return jacobian_pattern(y, x, dict(zip(built.xs, built.arrays, strict=True))).toarray()


def _entries(built: Built, y: Any, x: Any, points: list[Any]) -> Any:
    """Where the Jacobian differs from zero at one of `points`."""
    full = pb.jacobian(y, x)
    if full is None:
        return False
    size = np.size(built.arrays[built.xs.index(x)])
    values = []
    for arrays in points:
        with suppress(PullbackError, ValueError):  # Not every matrix has a factor.
            values.append(np.asarray(built.run(full, arrays=arrays)).reshape(-1, size))
    return np.any([np.abs(value) > 1e-13 for value in values if value.shape == values[0].shape], axis=0)


@each(ROWS)
def test_no_entry_is_missing(case: Case) -> None:
    with building(case) as built, pb.densify_policy("allow"):
        for y, x in _pairs(built, SMALL):
            _check_that_none_is_missing(built, y, x, [built.arrays])


@each([p for p in ROWS if p.values[0].name in FLOATS_DECIDE])
def test_no_entry_is_missing_at_other_points(case: Case) -> None:
    with building(case) as built, pb.densify_policy("allow"):
        for y, x in _pairs(built, SMALL):
            _check_that_none_is_missing(built, y, x, _points(built))


@pytest.mark.slow
@each([p for p in ROWS if p.values[0].name not in FLOATS_DECIDE])
def test_no_entry_of_any_row_is_missing_at_other_points(case: Case) -> None:
    with building(case) as built, pb.densify_policy("allow"):
        for y, x in _pairs(built, SMALL):
            _check_that_none_is_missing(built, y, x, _points(built))


def _check_that_none_is_missing(built: Built, y: Any, x: Any, points: list[Any]) -> None:
    """With a pattern that was found for the arrays of the row."""
    assert not (_entries(built, y, x, points) & ~_pattern(built, y, x)).any(), f"{y} by {x}"


@pytest.mark.slow
@each([p for p in ROWS if p.values[0].name not in HAVE_TIES + HAVE_NO_SECOND])
def test_no_entry_of_the_slope_of_any_row_is_missing(case: Case) -> None:
    with building(case) as built, pb.densify_policy("allow"):
        for y, x in _pairs(built, SMALL):
            slope = None if y.dtype.kind == "c" else pb.gradients(pb.reduce_sum(y * y), x)[0]
            if slope is not None:
                _check_that_none_is_missing(built, pb.convert_to_tensor(slope), x, _points(built)[:5])


@pytest.mark.slow
@each(EXACT)
def test_false_entries_have_a_reason(case: Case) -> None:
    with building(case) as built, pb.densify_policy("allow"):
        for y, x in _pairs(built, LARGEST):
            types = {op.type for op in operations_between([y], [x])}
            if types & HAVE_FALSE_ENTRIES:
                continue
            pattern, entries = _pattern(built, y, x), _entries(built, y, x, _points(built))
            assert not (pattern & ~entries).any(), f"{y} by {x}: {types}"


def _points(built: Built) -> list[Any]:
    """The arrays of the row, and such with other numbers in the place of those that are differentiated by."""
    random = np.random.default_rng(0)
    moved = built.case.differentiated()
    return [
        built.arrays,
        *[[_moved(a, random) if i in moved else a for i, a in enumerate(built.arrays)] for _ in range(POINTS)],
    ]


def _moved(x: Any, random: np.random.Generator) -> Any:
    turned = random.permutation(x.reshape(-1)).reshape(x.shape)
    return (turned * random.choice([-1.1, 0.9, 1.0, 1.1], x.shape)).astype(x.dtype)
