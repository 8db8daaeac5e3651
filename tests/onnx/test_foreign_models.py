"""What models of other exporters do that ours do not: each row was met in a model that people use."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import pullback as pb

ort = pytest.importorskip("onnxruntime")


def model(text: str, opset: int = 18) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> agraph {text}')


def gradient_on_both(proto: onnx.ModelProto, of: str, wrt: str, **feeds: Any) -> np.ndarray[Any, Any]:
    """The gradient that onnxruntime gives, after it was compared with NumPy's."""
    graph = pb.onnx.load(proto)
    made = pb.onnx.differentiate(graph, [of], [wrt])
    written = pb.onnx.export(made.outputs, dict(zip(graph.input_names, graph.inputs, strict=True)))
    session = ort.InferenceSession(written.SerializeToString())
    read = {x.name for x in session.get_inputs()}
    (found,) = session.run(None, {name: array for name, array in feeds.items() if name in read})
    session = pb.Session(graph=graph, engine="numpy")
    (expected,) = session.run(list(made.outputs.values()), {graph[name]: array for name, array in feeds.items()})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    return np.asarray(found)


def test_a_length_of_minus_one_is_open() -> None:
    # Paddle's exporter.
    proto = model("(float[N, 3] x) => (float[N, 3] y) { y = Tanh (x) }")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    assert pb.onnx.load(proto).inputs[0].shape.as_list() == [None, 3]


def test_a_transposition_that_says_no_order_turns_all_axes_around() -> None:
    # Attention of Paddle's exporter: the derivative's transposition meets the model's own.
    proto = model(
        "(float[4, 2, 3] x) => (float[4, 2, 3] y)"
        "{ t = Transpose (x) e = Exp (t) s = Transpose <perm = [2, 1, 0]> (t) m = Mul (s, x) y = Add (m, x) }"
    )
    x = np.random.default_rng(0).standard_normal((4, 2, 3)).astype(np.float32)
    np.testing.assert_allclose(gradient_on_both(proto, "y", "x", x=x), 2 * x + 1, rtol=1e-5)


def test_a_part_of_a_shape_is_not_the_whole() -> None:
    proto = model(
        "(float[N, M] x) => (float[?, ?] y)"
        "{ k = Shape <start = 1> (x) one = Constant <value_ints = [1]> () s = Concat <axis = 0> (one, k)"
        " r = ReduceSum <keepdims = 1> (x) w = Expand (r, s) y = Mul (w, w) }"
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(gradient_on_both(proto, "y", "x", x=x), np.full((2, 3), 2 * 15 * 3.0), rtol=1e-5)


def test_filters_say_the_rank_of_what_a_branch_gives() -> None:
    # Silero's voice detector: onnx does not infer the shapes of branches whose ranks differ.
    proto = model(
        "(float[2, 1, 8] x, bool c, float[3, 1, 2] w) => (float[?, ?, ?] y) {"
        " h = If (c) <then_branch = a () => (float[?, ?, ?] t) { t = Tanh (x) },"
        " else_branch = b () => (float[?, ?] u) { d = Constant <value_ints = [2, 8]> () u = Reshape (x, d) }>"
        " y = Conv (h, w) }"
    )
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((2, 1, 8)).astype(np.float32), rng.standard_normal((3, 1, 2)).astype(np.float32)
    gradient_on_both(proto, "y", "x", x=x, w=w, c=np.array(True))
    gradient_on_both(proto, "y", "w", x=x, w=w, c=np.array(True))


def test_a_real_signal_needs_no_last_axis_of_one() -> None:
    proto = model(
        "(float[2, 32] x) => (float[?, ?, ?, 2] y)"
        "<int64 step = {8}, float[8] window = {1., 1., 1., 1., 1., 1., 1., 1.}>"
        "{ y = STFT (x, step, window) }"
    )
    x = np.random.default_rng(2).standard_normal((2, 32)).astype(np.float32)
    graph = pb.onnx.load(proto)
    found = pb.Session(graph=graph, engine="numpy").run(graph["y"], {graph["x"]: x})
    expected = np.fft.rfft(x.reshape(2, 4, 8))
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, rtol=1e-5, atol=1e-5)


def test_sizes_may_be_made_of_lengths_picked_one_by_one() -> None:
    # torch's interpolate(size=x.shape[2:]).
    proto = model(
        "(float[1, 1, H, W] x, float[1, 1, K, L] like) => (float[?, ?, ?, ?] y)"
        "<int64 two = {2}, int64 three = {3}, int64[1] first = {0}, int64[2] kept = {1, 1}> {"
        " s = Shape (like) h = Gather <axis = 0> (s, two) w = Gather <axis = 0> (s, three)"
        " hs = Unsqueeze (h, first) ws = Unsqueeze (w, first) n = Concat <axis = 0> (kept, hs, ws)"
        ' r = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (x, , , n) y = Mul (r, like) }'
    )
    rng = np.random.default_rng(3)
    x, like = rng.standard_normal((1, 1, 2, 3)).astype(np.float32), rng.standard_normal((1, 1, 5, 4)).astype(np.float32)
    gradient_on_both(proto, "y", "x", x=x, like=like)
    gradient_on_both(proto, "y", "like", x=x, like=like)


@pytest.mark.filterwarnings("error")
def test_rows_that_are_made_dense_inside_a_model_are_no_news_to_its_user() -> None:
    proto = model("(float[N, 3] x, int64[K] i) => (float[K, 3] y) { e = Exp (x) y = Gather (e, i) }")
    x, i = np.eye(4, 3, dtype=np.float32), np.array([2, 0, 2])
    found = gradient_on_both(proto, "y", "x", x=x, i=i)
    np.testing.assert_allclose(found, np.exp(x) * np.array([1, 0, 2, 0], np.float32)[:, None], rtol=1e-5)


def test_models_of_tables_are_read() -> None:
    # scikit-learn's, by skl2onnx.
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 1]>'
        "agraph (float[N, 2] x) => (int64[N] label, float[N, 2] y, float[N, 1] z) {"
        " s = ai.onnx.ml.Scaler <offset = [0.5, -1.0], scale = [2.0, 0.25]> (x)"
        " label, y = ai.onnx.ml.LinearClassifier <coefficients = [1.0, 2.0, -1.0, 0.5], intercepts = [0.25, -0.5],"
        '  classlabels_ints = [3, 7], post_transform = "SOFTMAX"> (s)'
        " z = ai.onnx.ml.SVMRegressor <n_supports = 2, support_vectors = [0.1, 0.2, -0.3, 0.4], rho = [0.5],"
        '  coefficients = [1.5, -2.0], kernel_type = "RBF", kernel_params = [0.7, 0.0, 3.0]> (s) }'
    )
    x = np.array([[0.3, -1.1], [0.9, 0.4], [-0.2, 2.0]], np.float32)
    expected = ort.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    graph = pb.onnx.load(proto)
    found = pb.Session(graph=graph, engine="numpy").run(list(graph.outputs), {graph["x"]: x})
    for y, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, wanted, rtol=1e-5)
    gradient_on_both(proto, "z", "x", x=x)
    gradient_on_both(proto, "y", "s", x=x)


SHORT = model(
    "(float[2] x, int64[1] n) => (float[2] y) { z = Constant <value_int = 0> () o = Constant <value_int = 1> ()"
    " r = Range (z, n, o) f = Cast <to = 1> (r) s = ReduceSum <keepdims = 0> (f) y = Mul (s, x) }"
)


def test_a_vector_in_place_of_a_scalar_is_not_written_again() -> None:
    """As in the expanded AffineGrid: onnxruntime takes a Range of vectors where it cannot tell that they are."""
    graph = pb.onnx.load(SHORT)
    written = pb.onnx.export(pb.onnx.differentiate(graph, wrt=["x"]).outputs)
    session = ort.InferenceSession(written.SerializeToString())
    (found,) = session.run(None, {"n": np.array([4])})
    assert found.tolist() == [6.0, 6.0]
