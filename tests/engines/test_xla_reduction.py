"""Reductions on XLA: as additions, as products, apart from what they read; what is told of programs of few numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

import jax

from pullback.engines.engine import EngineOptions
from pullback.engines.plan import make_plan
from pullback.engines.xla.array_namespace import NAMESPACE
from pullback.engines.xla.compiler_options import HAS_OLD_EMITTERS, compiler_options
from pullback.engines.xla.platform import compiling_for
from pullback.passes.run_lengths import Lengths

TALL = np.random.default_rng(0).standard_normal((5000, 3, 2)).astype(np.float32)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", [pb.float32, pb.float64, pb.bfloat16, pb.int32])
def test_a_short_axis_is_summed_as_on_numpy(axis: int, keepdims: bool, dtype: pb.DType) -> None:
    x = pb.placeholder(dtype, TALL.shape)
    y = pb.reduce_sum(x, axis, keepdims)
    given = (8 * TALL).round().astype(dtype)
    found, expected = (pb.Session(engine=engine).run(y, {x: given}) for engine in ("xla", "numpy"))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("add", [pb.reduce_sum, pb.cumsum])
def test_where_the_result_is_large_no_reduction_is_left(add: Callable[..., pb.Tensor]) -> None:
    def reductions(rows: int | None) -> int:
        x = pb.placeholder(pb.float32, [rows, 3])
        return pb.xla.to_stablehlo(add(x, 1), [x]).mlir_module().count("stablehlo.reduce")

    assert [reductions(rows) for rows in (5000, 50, None)] == [0, 1, 1]


@pytest.mark.parametrize("options", [{}, {"exclusive": True}, {"reverse": True}])
def test_running_sums_along_a_short_axis_are_those_on_numpy(options: dict[str, bool]) -> None:
    x = pb.placeholder(pb.float32, TALL.shape)
    y = pb.cumsum(x, 1, **options)
    given = np.where(TALL > 3, np.inf, TALL)
    found, expected = (pb.Session(engine=engine).run(y, {x: given}) for engine in ("xla", "numpy"))
    np.testing.assert_array_equal(found, expected)


def calls(build: Callable[[pb.Tensor], Any], shape: Sequence[int | None]) -> int:
    """How many reductions are calls, whose arguments are made before, in the program of what `build` makes."""
    x = pb.placeholder(pb.float32, shape)
    return pb.xla.to_stablehlo(build(x), [x]).mlir_module().count('inlineable = "false"')


IMAGES = [2, 32, 32, 16]
SHIFTED = {
    "depthwise": lambda x: pb.nn.depthwise_conv2d(x, np.ones([3, 3, 16, 1], np.float32), [1] * 4, "SAME"),
    "average": lambda x: pb.nn.avg_pool2d(x, 3, 1, "SAME"),
    "largest": lambda x: pb.nn.max_pool2d(x, 3, 1, "SAME"),
    "slices": lambda x: x[:, 1:] - x[:, :-1],
    "pads": lambda x: pb.pad(x, [[0, 0], [0, 1], [0, 0], [0, 0]]) + pb.pad(x, [[0, 0], [1, 0], [0, 0], [0, 0]]),
}


@pytest.mark.parametrize("shifted", SHIFTED)
def test_reductions_of_shifted_arrays_are_apart(shifted: str) -> None:
    def loss(x: pb.Tensor) -> pb.Tensor:
        return pb.reduce_max(pb.nn.relu(SHIFTED[shifted](x) * 0.5 + 1.0))

    assert calls(loss, IMAGES) == 1
    assert calls(loss, [None, *IMAGES[1:]]) == calls(loss, [1, 4, 4, 16]) == 0


def test_reductions_of_what_lies_in_memory_or_in_place_are_where_they_were() -> None:
    assert calls(pb.reduce_max, IMAGES) == 0
    assert calls(lambda x: pb.reduce_sum(pb.sin(pb.transpose(x, [0, 2, 1, 3])) * pb.reshape(x, IMAGES)), IMAGES) == 0
    assert calls(lambda x: pb.matmul(pb.nn.avg_pool2d(x, 3, 1, "SAME"), pb.ones([2, 16, 16])[0]), IMAGES) == 0


def test_shifted_arrays_that_are_read_again_are_made_once() -> None:
    def again(x: pb.Tensor) -> Any:
        y = pb.nn.relu(SHIFTED["largest"](x) * 0.5 + 1.0)
        return pb.sin(y), pb.cos(y)

    assert calls(again, IMAGES) == 1
    assert calls(lambda x: pb.sin(pb.nn.relu(SHIFTED["largest"](x) * 0.5)), IMAGES) == 0
    assert calls(lambda x: pb.reduce_max(again(x)[0] + again(x)[1]), IMAGES) == 1
    assert calls(again, [None, *IMAGES[1:]]) == calls(again, [1, 4, 4, 16]) == 0


@pytest.mark.parametrize("shifted", ["depthwise", "average"])
def test_what_is_soon_computed_is_computed_again(shifted: str) -> None:
    def again(x: pb.Tensor, convolution: Callable[[pb.Tensor], pb.Tensor]) -> Any:
        y = pb.nn.relu(convolution(x))
        return pb.sin(y), pb.cos(y)

    assert calls(lambda x: again(x, SHIFTED[shifted]), IMAGES) == 0
    assert calls(lambda x: again(x, lambda x: dense_convolution(x, 1)), [32, 32, 32, 1]) == 1


def test_convolutions_of_one_channel_made_once_have_the_derivatives_of_numpy() -> None:
    random = np.random.default_rng(0)
    x, f, g = [
        pb.constant(random.normal(size=s).astype(np.float32)) for s in ([20, 32, 32, 1], [5, 5, 1, 4], [3, 3, 4, 2])
    ]
    h = pb.nn.relu(pb.nn.conv2d(x, f, 2, "SAME"))
    loss = pb.reduce_sum(pb.nn.conv2d(pb.nn.max_pool2d(h, 3, 1, "SAME"), g, 1, "SAME") ** 2)
    dx, df = pb.gradients(loss, [x, f])
    fetches = [loss, dx, df, *pb.gradients(pb.reduce_sum(dx**2), [f, g])]
    for xla, numpy in zip(pb.Session(engine="xla").run(fetches), pb.Session(engine="numpy").run(fetches), strict=True):
        np.testing.assert_allclose(xla, numpy, rtol=1e-3, atol=1e-5 * abs(numpy).max())


def dense_convolution(x: pb.Tensor, channels: int) -> pb.Tensor:
    """A convolution of so many channels."""
    return pb.nn.conv2d(x[..., :channels], np.ones([3, 3, channels, 8], np.float32), 1, "SAME")


def test_convolutions_are_shifted_arrays_where_they_have_one_channel() -> None:
    assert calls(lambda x: pb.reduce_max(dense_convolution(x, 16)), IMAGES) == 0
    assert calls(lambda x: pb.reduce_max(dense_convolution(x, 1)), IMAGES) == 1


@pytest.mark.parametrize("shape", [IMAGES, [2, 16, 32, 32]])
def test_what_brings_no_elements_together_is_not_apart_but_what_reads_it_is(shape: list[int]) -> None:
    def biased(x: pb.Tensor) -> pb.Tensor:
        y = SHIFTED["slices"](x)
        form = "NHWC" if shape == IMAGES else "NCHW"
        return pb.nn.bias_add(y, np.ones(y.shape.known[1 if form == "NCHW" else -1], np.float32), form)

    assert calls(lambda x: pb.nn.relu(biased(x)), shape) == 0
    assert calls(lambda x: pb.reduce_max(biased(x)), shape) == 1


def test_sums_that_are_additions_are_no_reductions_but_what_reads_them_is() -> None:
    def lengths(x: pb.Tensor) -> pb.Tensor:
        return pb.reduce_sum(pb.square(x), -1)

    few, many = [64, 32, 32, 3], [64, 32, 32, 16]
    assert [calls(lambda x: lengths(SHIFTED["slices"](x)), shape) for shape in (few, many)] == [0, 1]
    assert calls(lambda x: pb.reduce_max(lengths(SHIFTED["slices"](x))), few) == 1
    assert calls(lambda x: pb.reduce_max(lengths(x)), few) == 0


def test_shapes_of_shifted_arrays_decide_other_shapes() -> None:
    x = pb.placeholder(pb.float32, [None, *IMAGES[1:]])
    y = SHIFTED["slices"](x)
    rows = pb.reshape(pb.zeros(pb.stack([pb.size(y)])), pb.shape(y))
    session = pb.Session(engine="xla", mesh={"x": 1})
    assert session.run(rows, {x: np.ones(IMAGES, np.float32)}).shape == (2, 31, 32, 16)


@pytest.mark.parametrize("reduce", [pb.reduce_sum, pb.reduce_mean, pb.reduce_max, pb.nn.softmax])
def test_reductions_apart_give_what_they_give_on_numpy(reduce: Callable[..., pb.Tensor]) -> None:
    x = pb.placeholder(pb.float32, IMAGES)
    y = reduce(pb.square(SHIFTED["depthwise"](x)), -1)
    fed = {x: np.random.default_rng(0).standard_normal(IMAGES).astype(np.float32)}
    found, expected = (pb.Session(engine=engine).run(y, fed) for engine in ("xla", "numpy"))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-30)


def test_reductions_apart_are_so_in_maps_of_maps() -> None:
    def largest(x: pb.Tensor) -> pb.Tensor:
        return pb.reduce_max(pb.nn.relu(SHIFTED["slices"](x)))

    def largest_of_each(x: pb.Tensor) -> pb.Tensor:
        return pb.vectorized_map(lambda row: pb.vectorized_map(largest, row), x)

    shape = [2, 2, *IMAGES]
    assert calls(largest_of_each, shape) == 1
    x = pb.placeholder(pb.float32, shape)
    fed = {x: np.random.default_rng(0).standard_normal(shape).astype(np.float32)}
    found, expected = (pb.Session(engine=engine).run(largest_of_each(x), fed) for engine in ("xla", "numpy"))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("axis", "keepdims"), [([0], True), ([1], False), ([0, 1], True), ([-2, -3], False)])
def test_sums_and_means_of_few_far_elements_are_products(axis: list[int], keepdims: bool) -> None:
    dtype = pb.float64 if keepdims else pb.float32
    x = pb.placeholder(dtype, [9, 10, 1 << 15])
    ys = [pb.reduce_sum(x, axis, keepdims), pb.reduce_mean(x, axis, keepdims)]
    text = pb.xla.to_stablehlo(ys, [x]).mlir_module()
    assert (text.count("stablehlo.reduce("), text.count("stablehlo.dot_general")) == (0, 2)
    fed = {x: np.random.default_rng(0).integers(-9, 9, x.shape.known).astype(dtype)}
    found, expected = (pb.Session(engine=engine).run(ys, fed) for engine in ("xla", "numpy"))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


SUMS = {
    "log-sum-exp": lambda x: pb.reduce_logsumexp(x, 0),
    "softmax": lambda x: pb.nn.softmax(x, 0),
    "log-softmax": lambda x: pb.nn.log_softmax(x, 0),
    "moments": lambda x: pb.nn.moments(x, [0])[1],
    "cross entropy": lambda x: pb.nn.softmax_cross_entropy_with_logits(labels=x, logits=x, axis=0),
}


@pytest.mark.parametrize("what", SUMS)
def test_sums_inside_of_kernels_are_products_too(what: str) -> None:
    x = pb.placeholder(pb.float32, [9, 1 << 15])
    y = SUMS[what](x)
    text = pb.xla.to_stablehlo([y, *pb.gradients(y, x)], [x]).mlir_module()
    assert "stablehlo.add across" not in text
    assert "stablehlo.dot_general" in text


def test_other_reductions_of_few_far_elements_that_are_computed_are_apart() -> None:
    assert calls(lambda x: pb.reduce_max(pb.square(x), 0), [8, 64, 128]) == 1
    assert calls(lambda x: pb.reduce_max(x, 0), [8, 64, 128]) == 0
    assert calls(lambda x: pb.reduce_max(pb.square(x), 0), [800, 64, 128]) == 0


@pytest.mark.parametrize(("shape", "platform", "few"), [([8], "cpu", True), ([800], "cpu", False), ([8], "gpu", False)])
def test_programs_of_few_numbers_are_compiled_the_short_way(shape: list[int], platform: str, few: bool) -> None:
    x = pb.placeholder(pb.float32, shape)
    (y,) = pb.map_fn(lambda z: (pb.sin(z),), (x,))
    options = compiler_options(EngineOptions(), make_plan([y], [], [x]), platform, Lengths())
    assert ("xla_cpu_use_fusion_emitters" in options) == (few and HAS_OLD_EMITTERS)


@pytest.mark.parametrize(
    ("shape", "product", "few"),
    [([8], False, True), ([800], False, False), ([4, 4], False, True), ([4, 4], True, False)],
)
def test_loops_of_few_numbers_without_products_are_compiled_the_short_way(
    shape: list[int], product: bool, few: bool
) -> None:
    x, n = pb.placeholder(pb.float32, shape), pb.placeholder(pb.int32, [])
    step = pb.matmul if product else pb.multiply
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, pb.sin(step(y, x))], [0, x])[1]
    (dx,) = pb.gradients(y, x)
    options = compiler_options(EngineOptions(), make_plan([dx], [], [x, n]), "cpu", Lengths())
    assert ("xla_cpu_use_fusion_emitters" in options) == (few and HAS_OLD_EMITTERS)


@pytest.mark.skipif(not HAS_OLD_EMITTERS, reason="jax 0.11 has no others")
def test_fast_compilation_is_the_short_way_for_all_programs() -> None:
    x = pb.placeholder(pb.float32, [800])
    plan = make_plan([pb.sin(x)], [], [x])
    options = compiler_options(EngineOptions(compile_effort="fast"), plan, "cpu", Lengths())
    assert options["xla_cpu_use_fusion_emitters"] is False


@pytest.mark.skipif(not HAS_OLD_EMITTERS, reason="jax 0.11 has no others")
@pytest.mark.parametrize("length", [10, 200])
def test_programs_of_few_steps_are_compiled_in_one_part(length: int) -> None:
    x = pb.placeholder(pb.float32, [800])
    y = functools.reduce(lambda y, _: pb.sin(y), range(length), x)
    options = compiler_options(EngineOptions(compile_effort="fast"), make_plan([y], [], [x]), "cpu", Lengths())
    assert ("xla_cpu_parallel_codegen_split_count" in options) == (length < 100)


@pytest.mark.parametrize("dtype", [pb.float32, pb.float64, pb.bfloat16, pb.int32, pb.complex64])
@pytest.mark.parametrize(("m", "k", "n"), [(2, 2, 2), (4, 3, 1), (1, 8, 5)])
def test_large_stacks_of_small_matrices_are_multiplied_as_on_numpy(m: int, k: int, n: int, dtype: pb.DType) -> None:
    numbers = np.random.default_rng(1).integers(-4, 5, (2, 600, k * (m + n)))
    a, b = (pb.placeholder(dtype, shape) for shape in ([2, 600, m, k], [600, n, k]))
    fed = {a: numbers[..., : m * k].reshape(a.shape.known), b: numbers[0, :, m * k :].reshape(b.shape.known)}
    y = [pb.matmul(a, b, adjoint_b=True), pb.einsum("bsmk,snk->bmsn", a, b)]
    found, expected = (pb.Session(engine=engine).run(y, fed) for engine in ("xla", "numpy"))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_stacks_of_small_matrices_take_no_product_of_matrices() -> None:
    def products(stack: int | None, n: int) -> int:
        x = pb.placeholder(pb.float32, [stack, n, n])
        return pb.xla.to_stablehlo(x @ x, [x]).mlir_module().count("stablehlo.dot_general")

    assert [products(*given) for given in ((8, 4), (2000, 9), (7, 4), (None, 4))] == [0, 1, 1, 1]


def test_sums_of_few_elements_are_reductions_in_programs_that_are_to_be_compiled_soon() -> None:
    def reductions(effort: str) -> int:
        with compiling_for("cpu", effort):
            return str(jax.make_jaxpr(lambda x: NAMESPACE.sum(x, axis=1))(TALL[..., 0])).count("reduce_sum")

    assert [reductions(effort) for effort in ("full", "fast")] == [0, 1]
