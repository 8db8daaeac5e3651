"""Readers of network layers: what onnxruntime computes, and derivatives that are those of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import pullback as pb
import pullback.onnx

Array = np.ndarray[Any, Any]


@dataclass
class Layer:
    """One node, arrays for its inputs (None: left out), and what is known of it."""

    op: str
    inputs: Sequence[Array | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    frozen: Sequence[int] = ()
    """Inputs that are initializers."""
    shaped: Sequence[int] = ()
    """Inputs of which the lengths must be known."""
    fixed: Sequence[int] = ()
    """Inputs by which there is no derivative."""
    without_runtime: str = ""
    """Why onnxruntime does not judge it."""
    opset: int = 21
    domain: str = ""
    smooth: Sequence[int] | None = None
    """The outputs that have a derivative; None for all floats."""


def rand(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def model_of(layer: Layer, floats: int, erased: bool) -> onnx.ModelProto:
    """The node as a model; with `erased` no length of its inputs is known."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(layer.inputs)]
    node = helper.make_node(
        layer.op, names, [f"y{i}" for i in range(layer.outputs)], "node", domain=layer.domain, **layer.attributes
    )
    inputs, initializers = [], []
    for i, x in enumerate(layer.inputs):
        if x is None:
            continue
        kind = floats if x.dtype == np.float64 else helper.np_dtype_to_tensor_dtype(x.dtype)
        if i in layer.frozen:
            initializers.append(helper.make_tensor(names[i], kind, x.shape, x.reshape(-1).tolist()))
        else:
            dims = [f"n{i}_{k}" for k in range(x.ndim)] if erased and i not in layer.shaped else x.shape
            inputs.append(helper.make_tensor_value_info(names[i], kind, dims))
    outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(layer.outputs)]
    graph = helper.make_graph([node], "model", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", layer.opset)]
    if layer.domain:
        opsets.append(helper.make_opsetid(layer.domain, 1))
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets, ir_version=10))
    for entry in model.graph.output:
        # What the inference cannot tell is like the first input.
        if not entry.type.tensor_type.HasField("shape"):
            like = helper.make_tensor_value_info(entry.name, floats, [None] * np.ndim(layer.inputs[0]))
            entry.CopyFrom(like)
    return model


def feeds_of(layer: Layer, dtype: Any) -> list[Array]:
    given = [x for i, x in enumerate(layer.inputs) if x is not None and i not in layer.frozen]
    return [x.astype(dtype) if x.dtype == np.float64 else x for x in given]


def numbers_of(layer: Layer) -> list[int]:
    return [i for i, x in enumerate(layer.inputs) if x is not None and i not in layer.frozen]


SEQUENCE = np.array([3, 1, 4], np.int32)
WAVES = {
    "activations": ["HardSigmoid", "ScaledTanh", "Affine"],
    "activation_alpha": [0.3, 0.9, 0.8],
    "activation_beta": [0.4, 0.7, 0.1],
}
SEEN = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]]) > 0
"""Of three queries the second sees no key."""
WORDS = np.array([[1, -1, 0], [2, 1, -1]], np.int64)

LAYERS = {
    "gemm": Layer("Gemm", [rand(4, 3), rand(5, 4), rand(5)], {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}),
    "matmul_vector_matrices": Layer("MatMul", [rand(3), rand(2, 3, 4)]),
    "matmul_vectors": Layer("MatMul", [rand(3), rand(3, seed=1)]),
    "einsum_diagonal": Layer("Einsum", [rand(3, 3), rand(2, 3)], {"equation": "ii, ji -> j"}),
    "conv_grouped": Layer(
        "Conv",
        [rand(2, 4, 7, 6), rand(6, 2, 3, 2), rand(6)],
        {"group": 2, "strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 2, 1]},
        shaped=[1],
    ),
    "conv_depthwise": Layer(
        "Conv", [rand(2, 3, 6, 5), rand(6, 1, 2, 3)], {"group": 3, "pads": [0, 1, 1, 1]}, shaped=[1]
    ),
    "conv_1d_same_lower": Layer(
        "Conv", [rand(1, 2, 8), rand(3, 2, 4)], {"auto_pad": "SAME_LOWER", "strides": [3]}, shaped=[1]
    ),
    "conv_3d": Layer(
        "Conv", [rand(1, 2, 4, 3, 4), rand(2, 1, 2, 2, 3)], {"group": 2, "strides": [2, 1, 1]}, shaped=[1]
    ),
    "conv_transpose_grouped": Layer(
        "ConvTranspose",
        [rand(2, 4, 3, 3), rand(4, 3, 3, 2), rand(6)],
        {"group": 2, "strides": [2, 3], "dilations": [2, 1], "pads": [1, 0, 0, 1], "output_padding": [1, 2]},
        shaped=[1],
    ),
    "conv_transpose_of_shape": Layer(
        "ConvTranspose",
        [rand(1, 2, 3, 4), rand(2, 3, 3, 3)],
        {"strides": [3, 2], "output_shape": [10, 8]},
        shaped=[0, 1],
    ),
    "conv_transpose_same_lower": Layer(
        "ConvTranspose", [rand(1, 2, 5), rand(2, 2, 4)], {"strides": [3], "auto_pad": "SAME_LOWER"}, shaped=[1]
    ),
    "average_pool_ceil": Layer(
        "AveragePool",
        [rand(1, 2, 6, 7)],
        {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1, "pads": [1, 0, 0, 1], "dilations": [1, 2]},
        without_runtime="it divides by another count where the last window is not full",
    ),
    "average_pool_with_pads": Layer(
        "AveragePool",
        [rand(1, 2, 6, 5)],
        {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "average_pool_same": Layer(
        "AveragePool",
        [rand(1, 2, 6)],
        {"kernel_shape": [3], "auto_pad": "SAME_UPPER", "count_include_pad": 1},
    ),
    "max_pool": Layer(
        "MaxPool",
        [rand(2, 2, 6, 7)],
        {"kernel_shape": [2, 3], "strides": [3, 2], "ceil_mode": 1, "pads": [1, 1, 0, 1], "dilations": [2, 1]},
        outputs=2,
    ),
    "max_pool_by_column": Layer(
        "MaxPool", [rand(2, 2, 4, 6)], {"kernel_shape": [2, 2], "strides": [2, 2], "storage_order": 1}, outputs=2
    ),
    "max_pool_same_lower": Layer(
        "MaxPool",
        [rand(2, 2, 5, 7)],
        {"kernel_shape": [2, 2], "strides": [3, 2], "auto_pad": "SAME_LOWER", "storage_order": 1},
        outputs=2,
    ),
    "average_pool_same_lower": Layer(
        "AveragePool", [rand(2, 2, 5, 7)], {"kernel_shape": [2, 3], "strides": [3, 2], "auto_pad": "SAME_LOWER"}
    ),
    "lp_pool": Layer("LpPool", [rand(1, 2, 7)], {"kernel_shape": [3], "strides": [2], "p": 3, "pads": [1, 1]}),
    "batch_normalization": Layer(
        "BatchNormalization", [rand(3, 2, 4), rand(2), rand(2, seed=1), rand(2, seed=2), np.array([0.5, 1.5])]
    ),
    "batch_normalization_training": Layer(
        "BatchNormalization",
        [rand(3, 2, 4), rand(2), rand(2, seed=1), rand(2, seed=2), np.array([0.5, 1.5])],
        {"training_mode": 1, "momentum": 0.7},
        outputs=3,
        without_runtime="it divides the running variance by one less",
    ),
    "layer_normalization": Layer(
        "LayerNormalization", [rand(2, 3, 4), rand(3, 4), rand(3, 4, seed=1)], {"axis": 1}, outputs=3
    ),
    "instance_normalization": Layer("InstanceNormalization", [rand(2, 3, 5), rand(3), rand(3, seed=1)]),
    "group_normalization": Layer("GroupNormalization", [rand(2, 4, 3, 2), rand(4), rand(4, seed=1)], {"num_groups": 2}),
    "lp_normalization": Layer("LpNormalization", [rand(3, 4)], {"p": 1, "axis": 0}),
    "lrn": Layer(
        "LRN",
        [rand(2, 5, 2, 2)],
        {"size": 4, "alpha": 0.5, "beta": 0.6, "bias": 1.5},
        without_runtime="sizes are odd there",
    ),
    "mean_variance": Layer("MeanVarianceNormalization", [rand(3, 2, 2, 2)]),
    "elu": Layer("Elu", [rand(3, 4)], {"alpha": 1.7}),
    "celu": Layer("Celu", [rand(3, 4)], {"alpha": 0.6}),
    "selu": Layer("Selu", [rand(3, 4)], {"alpha": 1.2, "gamma": 0.7}),
    "shrink": Layer("Shrink", [rand(3, 4)], {"bias": 0.2, "lambd": 0.4}),
    "prelu": Layer("PRelu", [rand(2, 3, 4), rand(3, 1)]),
    "hard_sigmoid": Layer("HardSigmoid", [rand(3, 4)], {"alpha": 0.4, "beta": 0.3}),
    "hardmax": Layer("Hardmax", [rand(2, 3, 4)], {"axis": 1}),
    "rnn": Layer(
        "RNN",
        [rand(4, 3, 2), rand(2, 3, 2), rand(2, 3, 3), rand(2, 6), SEQUENCE, rand(2, 3, 3, seed=1)],
        {"hidden_size": 3, "direction": "bidirectional", "clip": 0.5},
        outputs=2,
    ),
    "gru": Layer(
        "GRU",
        [rand(4, 3, 2), rand(1, 9, 2), rand(1, 9, 3), rand(1, 18), SEQUENCE],
        {"hidden_size": 3, "direction": "reverse", "linear_before_reset": 1},
        outputs=2,
    ),
    "gru_default": Layer(
        "GRU",
        [rand(4, 3, 2), rand(2, 9, 2), rand(2, 9, 3), rand(2, 18), None, rand(2, 3, 3, seed=2)],
        {"hidden_size": 3, "direction": "bidirectional"},
        outputs=2,
    ),
    "lstm": Layer(
        "LSTM",
        [
            *(rand(4, 3, 2), rand(2, 12, 2), rand(2, 12, 3), rand(2, 24), SEQUENCE),
            *(rand(2, 3, 3, seed=1), rand(2, 3, 3, seed=2), rand(2, 9)),
        ],
        {"hidden_size": 3, "direction": "bidirectional", "clip": 0.7},
        outputs=3,
    ),
    "lstm_activations": Layer(
        "LSTM", [rand(2, 3, 2), rand(1, 12, 2), rand(1, 12, 3)], {"hidden_size": 3, **WAVES}, outputs=3
    ),
    "lstm_batch_first": Layer(
        "LSTM",
        [rand(3, 2, 2), rand(1, 12, 2), rand(1, 12, 3)],
        {"hidden_size": 3, "layout": 1, "input_forget": 1},
        outputs=3,
        without_runtime="it has no layout 1",
    ),
    "resize_linear": Layer(
        "Resize",
        [rand(1, 2, 4, 5), None, np.array([1, 1, 1.6, 0.7], np.float32)],
        {"mode": "linear"},
        frozen=[2],
    ),
    "resize_linear_long": Layer(
        "Resize",
        [rand(1, 1, 2, 150), None, np.array([1, 1, 1, 0.5], np.float32)],
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
        frozen=[2],
    ),
    "resize_by_the_corners_of_no_whole_lengths": Layer(
        "Resize",
        [rand(1, 1, 4, 5), None, np.array([1, 1, 0.6, 1.7], np.float32)],
        {"mode": "cubic", "coordinate_transformation_mode": "align_corners"},
        shaped=[2],
    ),
    "resize_cubic_antialias": Layer(
        "Resize",
        [rand(1, 1, 7, 6), None, None, np.array([4, 9], np.int64)],
        {"mode": "cubic", "antialias": 1, "axes": [2, 3], "cubic_coeff_a": -0.5},
    ),
    "resize_nearest": Layer(
        "Resize", [rand(1, 2, 3, 4), None, np.array([1, 1, 2, 3], np.float32)], {"nearest_mode": "floor"}, frozen=[2]
    ),
    "grid_sample_cubic": Layer(
        "GridSample", [rand(2, 2, 4, 5), rand(2, 3, 2, 2) * 0.7], {"mode": "cubic", "padding_mode": "border"}, opset=20
    ),
    "grid_sample_reflected": Layer(
        "GridSample", [rand(1, 2, 3, 4, 3), rand(1, 2, 2, 2, 3) * 1.5], {"padding_mode": "reflection"}, opset=20
    ),
    "affine_grid": Layer(
        "AffineGrid", [rand(2, 2, 3), np.array([2, 3, 4, 5])], {"align_corners": 1}, shaped=[1], opset=20
    ),
    "deform_conv": Layer(
        "DeformConv",
        [rand(1, 4, 5, 5), rand(2, 2, 2, 2), rand(1, 16, 4, 4) * 0.7, rand(2), rand(1, 8, 4, 4)],
        {"group": 2, "offset_group": 2, "kernel_shape": [2, 2]},
        without_runtime="its last releases have no kernel for it",
        opset=19,
    ),
    "roi_align": Layer(
        "RoiAlign",
        [
            *(rand(2, 2, 6, 7), np.array([[0.3, 0.6, 4.1, 3.3], [1.2, 0.4, 8.9, 4.7], [2.1, 1.3, 3.4, 2.2]])),
            np.array([1, 0, 1]),
        ],
        {"output_height": 2, "output_width": 3, "spatial_scale": 0.9},
        opset=16,
    ),
    "max_roi_pool": Layer(
        "MaxRoiPool",
        [rand(2, 2, 6, 7), np.array([[1, 0.0, 0, 4, 5], [0, 2, 1, 6, 3]], np.float32)],
        {"pooled_shape": [2, 3], "spatial_scale": 1.0},
        opset=1,
    ),
    "dft": Layer("DFT", [rand(2, 5, 3, 2), np.array(6), np.array(1)], frozen=[1, 2], opset=20),
    "dft_of_reals_one_sided": Layer("DFT", [rand(2, 5, 1), np.array(4)], {"onesided": 1}, frozen=[1], opset=20),
    "dft_to_odd_reals": Layer(
        "DFT",
        [rand(2, 3, 2), np.array(5)],
        {"onesided": 1, "inverse": 1},
        without_runtime="it knows even lengths only",
        opset=20,
    ),
    "stft": Layer("STFT", [rand(2, 10, 1), np.array(3), rand(4)], {"onesided": 1}, frozen=[1]),
    "dequantize": Layer(
        "DequantizeLinear",
        [np.arange(12, dtype=np.int8).reshape(3, 4), rand(3, 2), np.ones((3, 2), np.int8)],
        {"axis": 1, "block_size": 2},
    ),
    "loss": Layer(
        "SoftmaxCrossEntropyLoss", [rand(2, 3, 3), WORDS, np.array([0.5, 1.0, 2.0])], {"ignore_index": -1}, outputs=2
    ),
    "attention_rows_hidden": Layer(
        "Attention",
        [rand(1, 4, 3, 2), rand(1, 2, 4, 2), rand(1, 2, 4, 3), SEEN],
        {"softcap": 2.0},
        opset=23,
    ),
    "attention_cached": Layer(
        "Attention",
        [
            *(rand(2, 2, 8), rand(2, 2, 4), rand(2, 2, 6), rand(2, 1, 2, 5)),
            *(rand(2, 2, 3, 2), rand(2, 2, 3, 3)),
        ],
        {"q_num_heads": 4, "kv_num_heads": 2, "is_causal": 1},
        outputs=3,
        opset=23,
    ),
    "adam": Layer(
        "Adam",
        [np.array(0.1), np.array(3), *(rand(2, seed=i) for i in range(6)), *(rand(2, seed=i) ** 2 for i in range(2))],
        {"norm_coefficient": 0.2, "norm_coefficient_post": 0.1},
        outputs=6,
        fixed=[1],
        without_runtime="it has no kernel",
        domain="ai.onnx.preview.training",
    ),
    "det": Layer("Det", [rand(2, 3, 3)]),
}


@pytest.mark.parametrize("layer", [pytest.param(x, id=k) for k, x in LAYERS.items() if not x.without_runtime])
def test_results_are_those_of_onnxruntime(layer: Layer) -> None:
    model = model_of(layer, TensorProto.FLOAT, erased=False)
    feeds = feeds_of(layer, np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {f"x{i}": x for i, x in zip(numbers_of(layer), feeds, strict=True)})
    for read in (model, model_of(layer, TensorProto.FLOAT, erased=True)):
        graph = pullback.onnx.load(read)
        found = pb.Session(graph=graph, engine="numpy").run(
            list(graph.outputs), dict(zip(graph.inputs, feeds, strict=True))
        )
        for a, b in zip(found, expected, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("erased", [False, True], ids=["known", "erased"])
@pytest.mark.parametrize("layer", [pytest.param(x, id=k) for k, x in LAYERS.items()])
def test_derivatives_are_those_of_differences(layer: Layer, erased: bool) -> None:
    """In float64, along a random direction of all inputs together, first and second."""
    graph = pullback.onnx.load(model_of(layer, TensorProto.DOUBLE, erased))
    feeds = feeds_of(layer, np.float64)
    places = [i for i, x in enumerate(feeds) if x.dtype == np.float64 and numbers_of(layer)[i] not in layer.fixed]
    session = pb.Session(graph=graph, engine="numpy")
    with graph.as_default(), pb.densify_policy("allow"):
        ys = [y for y in graph.outputs if y.dtype == pb.float64]
        weights = [rand(*np.shape(y), seed=7) for y in session.run(ys, dict(zip(graph.inputs, feeds, strict=True)))]
        total = pb.add_n([pb.reduce_sum(y * w) for y, w in zip(ys, weights, strict=True)])
        directions = [rand(*feeds[i].shape, seed=8) for i in places]
        slope, slopes = total, []
        for _ in range(2):
            by = pb.gradients([slope], [graph.inputs[i] for i in places])
            dense = [None if g is None else pb.convert_to_tensor(g) for g in by]
            terms = [pb.reduce_sum(g * d) for g, d in zip(dense, directions, strict=True) if g is not None]
            slope = pb.add_n(terms) if terms else pb.constant(0.0, pb.float64)
            slopes.append(slope)

    def at(h: float) -> Array:
        moved = list(feeds)
        for i, d in zip(places, directions, strict=True):
            moved[i] = feeds[i] + h * d
        return np.array(session.run([total, slopes[0]], dict(zip(graph.inputs, moved, strict=True))))

    found = np.array(session.run(slopes, dict(zip(graph.inputs, feeds, strict=True))))
    one, two = [(at(h) - at(-h)) / (2 * h) for h in (1e-4, 5e-5)]
    expected = (4 * two - one) / 3
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_derivative_in_the_model_is_one_of_the_graph() -> None:
    """At other values than those that the names have: the nodes between are built once more."""
    text = """<ir_version: 8, opset_import: ["" : 12, "ai.onnx.preview.training" : 1]>
    model (float[2] a, float[2] b, float[2] c) => (float[2] da, float[2] db, float[2] at_c) {
        t = Mul(a, b)  y = Mul(t, a)
        da, db = ai.onnx.preview.training.Gradient <xs = ["a", "b"], y = "y"> (a, b)
        at_c = ai.onnx.preview.training.Gradient <xs = ["a"], zs = ["b"], y = "y"> (c, b)
    }"""
    graph = pullback.onnx.load(onnx.parser.parse_model(text))
    a, b, c = [np.array(v, np.float32) for v in ([1, 2], [3, 4], [5, 6])]
    da, db, at_c = pb.Session(graph=graph, engine="numpy").run(
        [graph["da"], graph["db"], graph["at_c"]], {graph["a"]: a, graph["b"]: b, graph["c"]: c}
    )
    np.testing.assert_array_equal(da, 2 * a * b)
    np.testing.assert_array_equal(db, a * a)
    np.testing.assert_array_equal(at_c, 2 * c * b)


def test_what_dropout_leaves_is_scaled_and_its_derivative_has_the_same_mask() -> None:
    layer = Layer("Dropout", [rand(40, 5), np.array(0.25), np.array(True)], outputs=2)
    graph = pullback.onnx.load(model_of(layer, TensorProto.FLOAT, erased=False))
    x = np.ones((40, 5), np.float32)
    with graph.as_default():
        (dx,) = pb.gradients(graph.outputs[0], graph.inputs[0])
    y, mask, dx = pb.Session(graph=graph).run(
        [*graph.outputs, dx], dict(zip(graph.inputs, [x, np.float32(0.25), np.array(True)], strict=True))
    )
    assert 0 < mask.sum() < mask.size
    np.testing.assert_allclose(y, mask / 0.75, rtol=1e-6)
    np.testing.assert_allclose(dx, y, rtol=1e-6)


def _drawn(op: str, inputs: Sequence[Array], element_type: int, **attributes: Any) -> Array:
    layer = Layer(op, inputs, attributes)
    model = model_of(layer, TensorProto.FLOAT, erased=False)
    model.graph.output[0].type.tensor_type.elem_type = element_type
    graph = pullback.onnx.load(model)
    session = pb.Session(graph=graph, engine="numpy")
    y = session.run(graph.outputs[0], dict(zip(graph.inputs, feeds_of(layer, np.float32), strict=True)))
    assert isinstance(y, np.ndarray)
    return y


def test_random_numbers_have_their_dtype_and_their_mean() -> None:
    normal = _drawn("RandomNormal", [], TensorProto.DOUBLE, shape=[2000], mean=3.0, scale=2.0, dtype=11, seed=0.5)
    assert normal.dtype == np.float64
    np.testing.assert_allclose([normal.mean(), normal.std()], [3, 2], atol=0.2)
    uniform = _drawn("RandomUniformLike", [rand(2000)], TensorProto.FLOAT, low=-1.0, high=3.0, seed=2.0)
    assert uniform.dtype == np.float32
    assert -1 <= uniform.min() < -0.9 < 2.9 < uniform.max() < 3
    classes = _drawn("Multinomial", [np.log([[1.0, 3.0]])], TensorProto.INT64, sample_size=2000, dtype=7, seed=1.0)
    assert (classes.dtype, classes.shape) == (np.int64, (1, 2000))
    np.testing.assert_allclose(classes.mean(), 0.75, atol=0.05)
    drawn = _drawn("Bernoulli", [np.full(2000, 0.3)], TensorProto.INT8, dtype=3)
    np.testing.assert_allclose(drawn.mean(), 0.3, atol=0.05)
    assert drawn.dtype == np.int8


def test_only_what_changes_its_length_is_resized() -> None:
    """The sizes are what exporters write: the batch's and the channels' taken from the shape of another value."""
    text = """<ir_version: 8, opset_import: ["" : 18]>
    model (float["n", 3, 8, "w"] x) => (float["n", 3, 16, "v"] y)
    <int64[1] zero = {0}, int64[1] two = {2}, int64[1] three = {3}, int64[1] four = {4}, int64[1] high = {16},
     float[0] none = {}> {
        before = Relu(x)
        lengths = Shape(x)
        outer = Slice(lengths, zero, two, zero)
        w = Slice(lengths, three, four, zero)
        v = Mul(w, two)
        sizes = Concat <axis = 0> (outer, high, v)
        y = Resize <mode = "linear"> (before, none, none, sizes)
    }"""
    graph = pullback.onnx.load(onnx.parser.parse_model(text))
    types = [op.type for op in graph.operations]
    assert types.count("GatherV2") == 2, "only the last axis is picked from at run time"
    assert types.count("BatchMatMulV2") == 1, "the rows are multiplied by a matrix"
    x = np.abs(rand(2, 3, 8, 5)).astype(np.float32)
    y = pb.Session(graph=graph, engine="numpy").run(graph.outputs[0], {graph["x"]: x})
    np.testing.assert_allclose(y[:, :, 1::2, 1::2][:, :, :-1, :-1], _between(x), rtol=1e-5)


def _between(x: Array) -> Array:
    """Of images of twice the size the pixels a quarter of the way from each pixel to the next, in both directions."""
    rows = x[:, :, :-1] * 0.75 + x[:, :, 1:] * 0.25
    return rows[..., :-1] * 0.75 + rows[..., 1:] * 0.25
