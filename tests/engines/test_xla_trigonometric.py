"""Trigonometric functions of many floats on XLA: the numbers nearest to the exact ones, over all of their range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")
MANY = 40_000
LEAST = float(np.finfo(np.float32).tiny)
FUNCTIONS: dict[str, tuple[Callable[[Any], pb.Tensor], Callable[[Any], Any]]] = {
    "sin": (pb.sin, np.sin),
    "cos": (pb.cos, np.cos),
    "tan": (pb.tan, np.tan),
    "asin": (pb.asin, np.arcsin),
    "acos": (pb.acos, np.arccos),
    "atan": (pb.atan, np.arctan),
}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 16367173.0 * 2.0**72, 2.0**-100]


def floats(of_units: bool) -> Any:
    """Float32 of all sizes, or such of [-1, 1], the awkward ones first."""
    random = np.random.default_rng(0)
    sizes = 2.0 ** random.uniform(-60, 0 if of_units else 127.9, MANY - len(EDGES) - 1000)
    others = np.concatenate([sizes * random.choice([-1, 1], sizes.size), random.uniform(-1, 1, 1000)])
    return np.concatenate([EDGES, others]).astype(np.float32)


def computed(ys: Any, feeds: dict[pb.Tensor, Any]) -> Any:
    return pb.Session(engine="xla").run(ys, feeds)


def assert_nearest(found: Any, wanted: Any) -> None:
    """`found` is what the float64 `wanted` is rounded to, or as near but for a thousandth; XLA's least is 1.2e-38."""
    exact = wanted.astype(found.dtype)
    assert np.array_equal(np.isnan(found), np.isnan(exact))
    known = np.isfinite(exact)
    assert np.array_equal(found[~known], exact[~known], equal_nan=True)
    off = np.abs(found[known].astype(np.float64) - wanted[known])
    assert (off <= 0.501 * np.spacing(np.abs(exact[known])).astype(np.float64) + LEAST).all()
    assert np.array_equal(np.signbit(found[exact == 0]), np.signbit(exact[exact == 0]))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [pb.float32, pb.float16, pb.bfloat16], ids=str)
def test_functions_of_many_floats_are_rounded_to_the_nearest(name: str, dtype: pb.DType) -> None:
    function, exactly = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        at = floats(name in ("asin", "acos")).astype(dtype)
        wanted = exactly(at.astype(np.float64))
        x = pb.placeholder(dtype, [MANY])
        assert_nearest(computed(function(x), {x: at}), wanted)


def test_angles_of_points_are_rounded_to_the_nearest_in_all_quadrants() -> None:
    edges = np.float32(EDGES)
    first, second = (part.ravel() for part in np.meshgrid(edges, edges))
    random = np.random.default_rng(0)
    ys, xs = (np.concatenate([part, random.normal(size=MANY).astype(np.float32)]) for part in (first, second))
    y, x = (pb.placeholder(pb.float32, [None]) for _ in range(2))
    assert_nearest(computed(pb.atan2(y, x), {y: ys, x: xs}), np.arctan2(ys.astype(np.float64), xs.astype(np.float64)))


def test_angles_of_points_broadcast() -> None:
    random = np.random.default_rng(0)
    ys, xs = random.normal(size=[500, 1]).astype(np.float32), random.normal(size=[80]).astype(np.float32)
    y, x = pb.placeholder(pb.float32, [500, 1]), pb.placeholder(pb.float32, [80])
    found = computed(pb.atan2(y, x), {y: ys, x: xs})
    assert_nearest(found, np.arctan2(ys.astype(np.float64), xs.astype(np.float64)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_agree_with_numpy(name: str) -> None:
    x = pb.placeholder(pb.float32, [MANY])
    dx = pb.gradients(FUNCTIONS[name][0](x), x)[0]
    results = [dx, pb.gradients(dx, x)[0]]
    at = np.random.default_rng(0).uniform(-0.9, 0.9, MANY).astype(np.float32)
    for found, wanted in zip(
        *(pb.Session(engine=engine).run(results, {x: at}) for engine in ("xla", "numpy")), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)


def test_programs_for_others_have_the_operation_itself() -> None:
    x = pb.placeholder(pb.float32, [MANY])
    text = pb.xla.to_stablehlo(pb.sin(x), [x]).mlir_module()
    assert "stablehlo.sine" in text
    assert "f64" not in text


def test_programs_of_many_functions_have_the_operation_itself() -> None:
    """What they are replaced by takes longer to compile."""
    x = pb.placeholder(pb.float32, [MANY])
    y, z = pb.sin(x), x
    for _ in range(30):
        z = pb.sin(z)
    at = floats(of_units=False)
    alone, among = computed(y, {x: at}), computed([y, z], {x: at})[0]
    assert not np.array_equal(alone, among, equal_nan=True)
    np.testing.assert_allclose(alone, among, rtol=2e-7)


@pytest.mark.parametrize("way", ["scan", "map_fn", "vectorized_map"])
def test_what_is_done_in_many_steps_of_a_loop_is_rounded_to_the_nearest_too(way: str) -> None:
    rows = floats(of_units=False).reshape(100, 400)
    x = pb.placeholder(pb.float32, rows.shape)
    if way == "scan":
        y = pb.scan(lambda before, row: pb.sin(row) + 0.0 * before, x, pb.zeros([400]))
    else:
        y = getattr(pb, way)(pb.sin, x)
    with np.errstate(invalid="ignore"):
        wanted = np.sin(rows.astype(np.float64))
    assert_nearest(computed(y, {x: rows})[:, 13:], wanted[:, 13:])


def test_what_is_the_same_in_all_steps_at_once_has_the_operation_itself() -> None:
    row, factors = floats(of_units=False)[13:413], np.ones(100, np.float32)
    x, y = pb.placeholder(pb.float32, row.shape), pb.placeholder(pb.float32, factors.shape)
    same, once = pb.vectorized_map(lambda factor: factor * pb.sin(x), y), pb.sin(x)
    np.testing.assert_array_equal(*computed([same[7], once], {x: row, y: factors}))


def test_loops_of_few_steps_have_the_operation_itself() -> None:
    values = floats(of_units=False).reshape(100, 400)[:3]
    x = pb.placeholder(pb.float32, values.shape)
    few, many = pb.map_fn(pb.sin, x), pb.map_fn(pb.sin, pb.tile(x, [40, 1]))[:3]
    found, nearest = (computed(y, {x: values}) for y in (few, many))
    assert not np.array_equal(found, nearest, equal_nan=True)
    np.testing.assert_allclose(found, nearest, rtol=2e-7)
