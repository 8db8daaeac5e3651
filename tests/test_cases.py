"""The generic checks of the case table: every row, both engines, first and second order, erased static shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import pullback as pb
from pullback.core.dtypes import TokenType
from pullback.core.lengths import Length

from .cases.case import Case
from .cases.table import (
    Built,
    build_here,
    building,
    differentiable,
    differentiate,
    each,
    erased_lengths,
    erased_rank,
    families,
    named_lengths,
    rows,
    runs,
    together,
    weights_like,
)

Arrays = list[np.ndarray[Any, Any]]
RUNS = 4
"""From the third run on a compiled program takes a shorter way, its constants lie elsewhere from the second on."""


def assert_close(actual: Any, expected: Any, tolerance: float, what: str) -> None:
    """Equal but for `tolerance`, relative to the largest element; NaN and infinities in the same places."""
    a, b = np.asarray(actual), np.asarray(expected)
    assert a.shape == b.shape, f"{what}: shape {a.shape}, expected {b.shape}"
    if a.dtype.kind in "biu":
        np.testing.assert_array_equal(a, b, err_msg=what)
        return
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = b[np.isfinite(b)]
    scale = float(np.abs(finite).max()) if finite.size else 1.0
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, 1e-3), err_msg=what)


@each(rows("not_on_numpy"))
def test_computed_types_are_the_inferred_ones(case: Case) -> None:
    with building(case) as built:
        values = built.run(built.ys)
        for y, value in zip(built.ys, values, strict=True):
            array = np.asarray(value)
            assert array.dtype == y.dtype
            assert y.shape.is_compatible_with(array.shape), f"inferred {y}, computed {array.shape}"


@each([p for p in rows("not_on_numpy", "not_exact") if p.values[0].expected is not None])
def test_values_are_those_of_the_closed_form(case: Case) -> None:
    with building(case) as built:
        expected = case.expected(*built.arrays) if callable(case.expected) else case.expected
        expected = expected if isinstance(expected, list | tuple) else [expected]
        for actual, wanted in zip(built.run(built.ys), expected, strict=True):
            assert_close(actual, wanted, 1e-12, "value")


@pytest.mark.parametrize("cases", together(rows("not_on_numpy", "not_float32", "not_exact")))
def test_xla_agrees_with_numpy_in_float32(cases: list[Case], matmul_precision: str) -> None:
    for row in _compiled_together(cases, _with_gradients, np.float32, matmul_precision=matmul_precision):
        row.check(row.built.float32_tolerance(matmul_precision))


@each([p for p in rows("not_differentiable", "not_on_numpy") if p.values[0].differentiated()])
def test_first_derivatives_are_differences(case: Case) -> None:
    with building(case) as built:
        ys = differentiable(built.ys)
        _compare_with_differences(built, ys, differentiate(built, ys, seed=1), seed=1)


@each([p for p in rows("not_differentiable", "not_second_order", "not_on_numpy") if p.values[0].differentiated()])
def test_second_derivatives_are_differences(case: Case) -> None:
    with building(case) as built:
        first = differentiate(built, differentiable(built.ys), seed=1)
        _compare_with_differences(built, first, differentiate(built, first, seed=2), seed=2)


@each([p for p in rows("not_on_numpy") if p.values[0].third_order])
def test_third_derivatives_are_differences(case: Case) -> None:
    with building(case) as built:
        second = differentiate(built, differentiate(built, differentiable(built.ys), seed=1), seed=2)
        _compare_with_differences(built, second, differentiate(built, second, seed=3), seed=3)


@pytest.mark.parametrize(
    "cases",
    together([p for p in rows("not_on_numpy", mark_slow=True) if p.values[0].third_order]),
)
def test_third_derivatives_on_xla_are_those_of_numpy(cases: list[Case]) -> None:
    for row in _compiled_together(cases, _three_derivatives, np.float64, compile_effort="fast"):
        row.check(1e-9)


def _three_derivatives(built: Built) -> list[Any]:
    first = differentiate(built, differentiable(built.ys), seed=1)
    second = differentiate(built, first, seed=2)
    return [*first, *second, *differentiate(built, second, seed=3)]


class Compiled(NamedTuple):
    """A row, what was fetched of it, and what XLA gave."""

    built: Built
    fetches: list[Any]
    values: Arrays
    settled: Arrays

    def check(self, tolerance: float) -> None:
        """That NumPy gives the same, and the last run what the first gave."""
        if not self.built.changes_from_run_to_run():
            for y, a, b in zip(self.fetches, self.values, self.settled, strict=True):
                assert_close(b, a, 0.0, f"{self.built.case}: {y} of the last run, beside the first")
        for y, a, b in zip(self.fetches, self.values, self.built.run(self.fetches), strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype == y.dtype
            assert_close(a, b, tolerance, f"{self.built.case}: {y}")


def _compiled_together(
    cases: list[Case], fetches_of: Callable[[Built], list[Any]], dtype: Any, **options: Any
) -> list[Compiled]:
    """Rows in the default graph, each with what XLA gives for it in a program of them all."""
    builts, fetches = [], []
    for i, case in enumerate(cases):
        with pb.variable_scope(f"row{i}"):
            builts.append(build_here(case, dtype=dtype))
            fetches.append(fetches_of(builts[-1]))
    feeds = {x: array for built in builts for x, array in zip(built.xs, built.arrays, strict=True)}
    first, *_, last = runs(pb.get_default_graph(), fetches, feeds, "xla", RUNS, **options)
    return [Compiled(*row) for row in zip(builts, fetches, first, last, strict=True)]


def _compare_with_differences(built: Built, ys: list[Any], dxs: list[Any], seed: int) -> None:
    """`dxs` along a random direction against extrapolated central differences of the weighted sum of `ys`."""
    weights = weights_like(built.run(ys), seed)
    moved = built.case.differentiated()
    directions = weights_like([built.arrays[i] for i in moved], seed + 10)

    def loss(t: float) -> float:
        arrays = list(built.arrays)
        for i, v in zip(moved, directions, strict=True):
            arrays[i] = np.asarray(arrays[i] + t * v).astype(arrays[i].dtype)
        values = built.run(ys, arrays=arrays)
        return sum(float(np.real(np.sum(np.conj(w) * v))) for w, v in zip(weights, values, strict=True))

    slopes = [float(np.real(np.sum(np.conj(g) * v))) for g, v in zip(built.run(dxs), directions, strict=True)]
    scale = sum(float(np.abs(np.conj(g) * v).sum()) for g, v in zip(built.run(dxs), directions, strict=True))
    numeric = _derivative(loss)
    assert abs(sum(slopes) - numeric) <= built.case.tolerance * max(scale, abs(numeric), 1e-2), (
        f"derivative {sum(slopes)}, differences {numeric}"
    )


def _derivative(f: Callable[[float], float], h: float = 1e-3) -> float:
    """f'(0) by two central differences, extrapolated (Richardson 1911)."""
    wide, narrow = (f(h) - f(-h)) / (2 * h), (f(h / 2) - f(-h / 2)) / h
    return (4 * narrow - wide) / 3


NO_THIRD_ORDER = {
    "bitwise": "its results are integers",
    "quantization": "its derivatives look through the rounding, which differences do not",
    "sets": "its results are elements as they are, and places",
}


def test_every_family_is_checked_to_the_third_order() -> None:
    without = {name for name, cases in families().items() if not any(case.third_order for case in cases)}
    assert without == NO_THIRD_ORDER.keys()


@each(rows("not_erased", "not_on_numpy", "not_exact"))
def test_lengths_and_ranks_that_only_a_run_knows_change_nothing(case: Case) -> None:
    with building(case) as built:
        expected = built.run(_with_gradients(built))
    for erase in [erased_lengths, named_lengths, *([] if case.not_erased_rank else [erased_rank])]:
        with building(case, erase) as built:
            actual = built.run(_with_gradients(built))
        for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
            assert_close(a, b, 1e-9, f"{erase.__name__}, fetch {i}")


@each(rows("not_erased", "not_on_numpy"))
def test_symbolic_lengths_are_those_of_a_run(case: Case) -> None:
    with building(case, erased_lengths) as built:
        _with_gradients(built)
        tensors = [y for op in built.graph.operations for y in op.outputs if is_array(y)]
        values = built.run(tensors)
        shapes = [(y, value.shape) for y, value in zip(tensors, values, strict=True) if is_whole(y, value)]
    found: dict[Any, int] = {}
    for y, shape in shapes:
        found.update({d: n for d, n in zip(y.shape.lengths, shape, strict=True) if isinstance(d, Length)})
    for y, shape in shapes:
        for length, n in zip(y.shape.lengths, shape, strict=True):
            assert found.get(length, length) == n, f"{y} made at {y.op}: {length} is {found.get(length)}, not {n}"
            if isinstance(length, Length):
                parts = {s: found[s] for s in length.symbols if s in found}
                assert length.substitute(parts) in (n, None), f"{y}: {length.terms} of {parts} is not {n}"


def is_array(y: pb.Tensor) -> bool:
    """Whether a run gives an array for a tensor."""
    return not isinstance(y.dtype, TokenType)


def is_whole(y: pb.Tensor, value: Any) -> bool:
    """Whether a value is one array of a known rank, and no list of the rows of a loop, which may differ in shape."""
    return y.shape.rank is not None and not isinstance(value, list)


def _with_gradients(built: Built) -> list[Any]:
    fetches = list(built.ys)
    if not built.case.not_differentiable and built.case.differentiated():
        fetches += differentiate(built, differentiable(built.ys), seed=1)
    return fetches


@each(rows())
def test_a_graph_survives_its_dict_form(case: Case) -> None:
    with building(case) as built:
        copy = pb.Graph.from_dict(built.graph.to_dict())
    assert str(copy) == str(built.graph)
