"""Functions that onnxruntime has for float32 only are exact to float64 in an exported model of float64."""

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("onnxruntime")

LINE = np.concatenate(
    [s * np.array([1e-300, 1e-20, 1e-9, 1e-4, 0.1, 0.5, 0.9, 1.0, 1.5, 3.0, 20.0, 136.0]) for s in (1, -1)]
)
EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
UNIT = np.concatenate(
    [s * np.array([1e-300, 1e-9, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53, 1.0, 1.5]) for s in (1, -1)]
)
FAR = np.array([1e8, 1e9, 1e160, -1e9, -1e160])
ABOVE = np.array([-3.0, 0.5, 1.0, 1 + 2**-52, 1 + 1e-9, 1.1, 2.0, 50.0, 1e8, 1e9, 1e160])

AT = {
    "tan": (pb.tan, LINE),
    "sinh": (pb.sinh, np.append(LINE, [710.2, -710.2, 711.0])),
    "cosh": (pb.cosh, np.append(LINE, [710.2, -710.2, 711.0])),
    "asin": (pb.asin, UNIT),
    "acos": (pb.acos, UNIT),
    "atan": (pb.atan, np.append(LINE, FAR)),
    "asinh": (pb.asinh, np.append(LINE, FAR)),
    "acosh": (pb.acosh, ABOVE),
    "atanh": (pb.atanh, UNIT),
}


@pytest.mark.parametrize("name", AT)
def test_functions_of_float64_are_exact_in_onnxruntime(name: str) -> None:
    f, numbers = AT[name]
    x = pb.placeholder(pb.float64, [None])
    ys = [f(x), *pb.gradients(f(x), x)]
    given = {x: np.concatenate([numbers, EDGES])}
    found, expected = [pb.Session(engine=engine).run(ys, given) for engine in ("onnxruntime", "numpy")]
    np.testing.assert_allclose(found[0], expected[0], rtol=2e-15, atol=0)
    signs = [np.copysign(1.0, y)[~np.isnan(y)] for y in (found[0], expected[0])]
    np.testing.assert_array_equal(*signs)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13, atol=0)


def test_modified_bessel_functions_keep_their_digits_near_zero() -> None:
    x = pb.placeholder(pb.float64, [None])
    y = pb.math.bessel_i1(x)
    given = {x: np.append(LINE[np.abs(LINE) < 20], [1e-308, 1e-16])}
    found, expected = [pb.Session(engine=e).run([y, *pb.gradients(y, x)], given) for e in ("onnxruntime", "numpy")]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0)


def test_digamma_has_a_pole_of_either_sign_at_zero() -> None:
    x = pb.placeholder(pb.float64, [2])
    assert pb.Session(engine="onnxruntime").run(pb.digamma(x), {x: [0.0, -0.0]}).tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("name", ["asin", "atan", "asinh", "atanh", "sinh", "tan", "tanh", "sin"])
def test_a_loaded_function_has_its_derivative_at_zero(name: str) -> None:
    x = pb.placeholder(pb.float64, [2], name="x")
    graph = pb.onnx.load(pb.onnx.export({"y": getattr(pb, name)(x)}, {"x": x}))
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"], graph["x"])
    assert pb.Session(graph=graph, engine="numpy").run(dx, {graph["x"]: [0.0, -0.0]}).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_loaded_angle_has_its_derivatives_on_the_axes(dtype: str) -> None:
    y, x = pb.placeholder(dtype, [4], name="y"), pb.placeholder(dtype, [4], name="x")
    graph = pb.onnx.load(pb.onnx.export({"angle": pb.atan2(y, x)}, {"y": y, "x": x}))
    with graph.as_default():
        slopes = pb.gradients(graph["angle"], [graph["y"], graph["x"]])
    feeds = {graph["y"]: [1.0, 0.0, -2.0, 0.0], graph["x"]: [0.0, 2.0, 0.0, -1.0]}
    by_y, by_x = pb.Session(graph=graph, engine="numpy").run(slopes, feeds)
    assert (by_y.tolist(), by_x.tolist()) == ([0.0, 0.5, 0.0, -1.0], [-1.0, 0.0, 0.5, 0.0])
