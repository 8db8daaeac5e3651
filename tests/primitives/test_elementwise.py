"""What all elementwise functions share: numbers beside tensors, names, broadcasting undone, messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def types_of(graph: pb.Graph, start: int = 0) -> list[str]:
    return [op.type for op in graph.operations[start:]]


def test_a_number_adopts_the_dtype_of_the_tensor() -> None:
    for dtype in (pb.float16, pb.bfloat16, pb.float64, pb.complex64, pb.int8):
        assert pb.add(pb.placeholder(dtype, [2]), 1).dtype == dtype


def test_an_array_adopts_the_dtype_of_the_tensor_if_it_fits() -> None:
    x = pb.placeholder(pb.float32, [2])
    assert (x * np.array([1.0, 2.0])).dtype == pb.float32
    assert (x * [1, 2]).dtype == pb.float32


def test_a_fraction_does_not_become_an_integer() -> None:
    x = pb.placeholder(pb.int32, [2])
    with pytest.raises(TypeError) as error:
        pb.multiply(x, 0.5)
    assert str(error.value) == "multiply: dtypes differ: int32[2] and float32[]; convert one with pb.cast"


def test_true_does_not_become_a_number() -> None:
    with pytest.raises(TypeError) as error:
        pb.add(pb.placeholder(pb.float32, [2]), True)
    assert str(error.value) == "add: dtypes differ: float32[2] and bool[]; convert one with pb.cast"


def test_minus_zero_stays_minus_zero() -> None:
    x = pb.constant([1.0])
    zeros = pb.Session().run([x * 0.0, x * -0.0])
    assert [float(np.signbit(z[0])) for z in zeros] == [0.0, 1.0]


def test_the_constant_of_a_number_is_named_below_the_operation() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    made = [x * 2.0, 2.0 * x, pb.multiply(x, 3.0), pb.add(1.0, x, name="sum")]
    assert [y.op.name for y in made] == ["mul", "mul_1", "Mul_2", "sum"]
    numbers = [y.op.inputs[i].op.name for y, i in zip(made, (1, 0, 1, 0), strict=True)]
    assert numbers == ["mul/y", "mul_1/x", "Mul_2/y", "sum/x"]


def test_tensors_of_two_dtypes_are_refused() -> None:
    with pytest.raises(TypeError) as error:
        pb.add(pb.placeholder(pb.float32, [2, None]), pb.placeholder(pb.float64))
    assert str(error.value) == "add: dtypes differ: float32[2,?] and float64[...]; convert one with pb.cast"


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(
        ValueError, match=re.escape("subtract: shapes do not broadcast together: float32[2,3] and float32[2]")
    ):
        pb.subtract(pb.placeholder(pb.float32, [2, 3]), pb.placeholder(pb.float32, [2]))


def test_a_dtype_that_a_function_does_not_take_is_refused() -> None:
    with pytest.raises(TypeError) as error:
        pb.sqrt(pb.placeholder(pb.int32, [2]))
    wanted = "bfloat16, complex128, complex64, float16, float32, float64"
    assert str(error.value) == f"sqrt: 'x' has DataType int32 not in list of allowed values: {wanted}; found int32[2]"


def test_equal_static_shapes_add_no_reduction() -> None:
    graph = pb.get_default_graph()
    x, y = pb.placeholder(pb.float32, [2, 3]), pb.placeholder(pb.float32, [2, 3])
    z = x * y
    start = len(graph.operations)
    pb.gradients(z, [x, y])
    assert types_of(graph, start) == ["Const", "Mul", "Mul"]


def test_broadcasting_is_undone_with_one_sum() -> None:
    graph = pb.get_default_graph()
    x, y = pb.placeholder(pb.float32, [2, 3]), pb.placeholder(pb.float32, [3])
    z = x + y
    start = len(graph.operations)
    pb.gradients(z, [x, y])
    assert types_of(graph, start) == ["Const", "Sum"]


def test_a_scalar_beside_an_unknown_shape_sums_over_what_a_run_shows() -> None:
    x, y = pb.placeholder(pb.float32), pb.placeholder(pb.float32)
    dxs = pb.gradients(x * y, [x, y])
    small, large = pb.Session().run(dxs, {x: 2.0, y: [1.0, 3.0]})
    assert small == 4.0
    assert large.tolist() == [2.0, 2.0]


LEAN = {
    "tanh": (pb.tanh, ["TanhGrad"]),
    "sigmoid": (pb.sigmoid, ["SigmoidGrad"]),
    "relu": (pb.nn.relu, ["ReluGrad"]),
    "relu6": (pb.nn.relu6, ["Relu6Grad"]),
    "leaky_relu": (pb.nn.leaky_relu, ["LeakyReluGrad"]),
    "elu": (pb.nn.elu, ["EluGrad"]),
    "selu": (pb.nn.selu, ["SeluGrad"]),
    "softplus": (pb.math.softplus, ["SoftplusGrad"]),
    "softsign": (pb.nn.softsign, ["SoftsignGrad"]),
    "gelu": (pb.nn.gelu, ["GeluGrad"]),
    "silu": (pb.nn.silu, ["SiluGrad"]),
    "sqrt": (pb.sqrt, ["SqrtGrad"]),
    "rsqrt": (pb.math.rsqrt, ["RsqrtGrad"]),
    "reciprocal": (pb.math.reciprocal, ["ReciprocalGrad"]),
    "exp": (pb.exp, ["MulNoNan"]),
    "log": (pb.math.log, ["MaskedDiv"]),
    "sin": (pb.sin, ["Cos", "MulNoNan"]),
    "abs": (pb.abs, ["Sign", "Mul"]),
    "power": (lambda x: x**2, ["PowGradX"]),
    "negative": (pb.negative, ["Neg"]),
    "maximum": (lambda x: pb.maximum(x, 0.0), ["GreaterEqual", "Mask"]),
    "where": (lambda x: pb.where([True, False, True], x, 0.0), ["Mask"]),
    "clip": (lambda x: pb.clip_by_value(x, 0.0, 1.0), ["Equal", "Mask"]),
    "quotient": (lambda x: 1 / x, ["QuotientGrad"]),
    "cast": (lambda x: pb.cast(x, pb.float64), ["Cast"]),
}


@pytest.mark.parametrize("name", LEAN)
def test_gradients_have_no_operation_too_many(name: str) -> None:
    function, expected = LEAN[name]
    graph = pb.get_default_graph()
    x = pb.placeholder(pb.float32, [3])
    y = function(x)
    start = len(graph.operations)
    pb.gradients(y, x)
    assert types_of(graph, start) == ["Const", *expected]


def test_both_sides_of_a_maximum_share_the_comparison() -> None:
    graph = pb.get_default_graph()
    x, y = pb.placeholder(pb.float32, [3]), pb.placeholder(pb.float32, [3])
    z = pb.maximum(x, y)
    start = len(graph.operations)
    pb.gradients(z, [x, y])
    assert types_of(graph, start) == ["Const", "GreaterEqual", "Mask", "Mask"]


HALVES: list[Callable[..., Any]] = [
    pb.exp, pb.sqrt, pb.math.rsqrt, pb.tanh, pb.sigmoid, pb.math.softplus, pb.math.log, pb.math.log1p, pb.math.expm1,
    pb.math.reciprocal, pb.math.erf, pb.math.erfc, pb.sin, pb.cos, pb.tan, pb.atan, pb.sinh, pb.cosh, pb.asinh, pb.abs,
    pb.sign, pb.floor, pb.round, pb.square, pb.negative, pb.nn.gelu, pb.nn.elu, pb.nn.selu, pb.nn.relu, pb.nn.relu6,
    pb.nn.leaky_relu, pb.nn.silu, pb.nn.softsign,
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
def test_functions_of_16_bit_floats_keep_their_dtype_and_precision(dtype: Any, engine: str) -> None:
    xs = np.array([0.25, 1.5, 2.75])
    x = pb.constant(xs, dtype)
    exact = pb.constant(xs, pb.float64)
    fetches = []
    for function in HALVES:
        ys = [function(z) for z in (x, exact)]
        dxs = [pb.gradients(y, z, unconnected_gradients="zero")[0] for y, z in zip(ys, (x, exact), strict=True)]
        fetches += list(zip(ys, dxs, strict=True))
    values = pb.Session(engine=engine).run(fetches)
    tolerance = 2.0**-9 if dtype == pb.float16 else 2.0**-6
    for half, wide in zip(values[::2], values[1::2], strict=True):
        for a, b in zip(half, wide, strict=True):
            assert a.dtype == dtype
            np.testing.assert_allclose(a.astype(np.float64), b, rtol=tolerance, atol=tolerance)


def test_a_name_that_ends_in_a_slash_is_taken_as_it_is() -> None:
    x = pb.placeholder(pb.float32, [2])
    y = pb.add(x, 1.0, name="total/")
    assert [y.op.name, y.op.inputs[1].op.name] == ["total", "total/y"]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_second_slopes_far_out_are_not_lost_in_a_difference(engine: str) -> None:
    x = pb.constant([-40.0, 40.0], pb.float64)
    (dx,) = pb.gradients(pb.nn.silu(x), x)
    far = np.exp(-40.0) * np.array([-38.0, -38.0])
    np.testing.assert_allclose(pb.Session(engine=engine).run(pb.gradients(dx, x)[0]), far, rtol=1e-9)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_slope_at_what_is_no_number_is_none(engine: str) -> None:
    x = pb.constant([np.nan, 1.0])
    for f in (pb.nn.selu, pb.nn.elu, pb.nn.silu, pb.nn.softsign, pb.nn.gelu):
        (dx,) = pb.Session(engine=engine).run(pb.gradients(f(x), x))
        assert np.isnan(dx).tolist() == [True, False], f
