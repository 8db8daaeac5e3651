"""Exported graphs beside what a careful hand would write: as many nodes, and no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.onnx
from pullback.onnx.reading import all_nodes


def _weights(*shape: int) -> Any:
    return pb.constant(np.random.default_rng(shape).normal(size=shape).astype(np.float32))


def kinds(*outputs: Any) -> Counter[str]:
    """How many nodes of each operator the model of these outputs has."""
    return Counter(node.op_type for node in pb.onnx.export(list(outputs)).graph.node)


ONE_NODE: dict[str, Callable[[Any], Any]] = {
    "Clip": pb.nn.relu6,
    "Elu": pb.nn.elu,
    "Erf": pb.math.erf,
    "LeakyRelu": pb.nn.leaky_relu,
    "LogSoftmax": pb.nn.log_softmax,
    "ReduceL2": lambda x: pb.norm(x, axis=1),
    "ReduceLogSumExp": lambda x: pb.reduce_logsumexp(x, 1),
    "ReduceMean": lambda x: pb.reduce_mean(x, 1),
    "Relu": pb.nn.relu,
    "Selu": pb.nn.selu,
    "Sigmoid": pb.sigmoid,
    "Softmax": pb.nn.softmax,
    "Softplus": pb.nn.softplus,
    "Tanh": pb.tanh,
}


@pytest.mark.parametrize("op_type", ONE_NODE)
def test_what_is_an_operator_of_the_standard_is_one_node(op_type: str) -> None:
    x = pb.placeholder(pb.float32, [4, 5])
    assert kinds(ONE_NODE[op_type](x)) == {op_type: 1}


def test_doubles_are_computed_without_rounding_to_floats() -> None:
    x = pb.placeholder(pb.float64, [4])
    assert "Cast" not in kinds(pb.math.erf(x), pb.nn.softplus(x), pb.nn.elu(x))


def test_products_of_numbers_are_numbers() -> None:
    x = pb.placeholder(pb.float32, [4, 5])
    assert kinds(pb.gradients(pb.reduce_mean(pb.square(x)), x)[0]) == {"Mul": 1}


def test_a_classifier() -> None:
    """Forward 5; the loss 9, of which three say that a label which is no class gives NaN; backward 13."""
    x, labels = pb.placeholder(pb.float32, [8, 20]), pb.placeholder(pb.int32, [8])
    w, b, v, c = _weights(20, 32), _weights(32), _weights(32, 10), _weights(10)
    logits = pb.matmul(pb.nn.relu(pb.matmul(x, w) + b), v) + c
    losses = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = pb.reduce_mean(losses)
    forward = {"MatMul": 2, "Add": 2, "Relu": 1}
    label = {"Unsqueeze": 1, "Clip": 1, "Equal": 1, "Where": 1}
    value = {"LogSoftmax": 1, "GatherElements": 1, "Squeeze": 1, "Neg": 1, "ReduceMean": 1}
    by_logits = {"Exp": 1, "Equal": 1, "Cast": 1, "Sub": 1, "Mul": 1}
    by_layers = {"ReduceSum": 2, "Gemm": 4, "Greater": 1, "Where": 1}
    wanted: Counter[str] = Counter()
    for part in (forward, label, value, by_logits, by_layers):
        wanted.update(part)
    assert kinds(loss, *pb.gradients(loss, [x, w, b, v, c])) == wanted


def test_a_convolutional_net() -> None:
    """What is transposed is what TensorFlow's order of the filters' axes, and convolutions by the filters, ask for."""
    x = pb.placeholder(pb.float32, [8, 3, 16, 16])
    f, b, w = _weights(3, 3, 3, 8), _weights(8), _weights(8 * 4 * 4, 10)
    h = pb.nn.relu(pb.nn.bias_add(pb.nn.conv2d(x, f, 1, "SAME", data_format="NCHW"), b, data_format="NCHW"))
    h = pb.nn.max_pool2d(h, 2, 2, "VALID", data_format="NCHW")
    h = pb.nn.avg_pool2d(h, 2, 2, "VALID", data_format="NCHW")
    y = pb.matmul(pb.reshape(h, [-1, 128]), w)
    loss = pb.reduce_sum(y)
    forward = {
        "Conv": 1,
        "Add": 1,
        "Relu": 1,
        "MaxPool": 1,
        "AveragePool": 1,
        "Reshape": 1,
        "MatMul": 1,
        "ReduceSum": 1,
    }
    by_matrix = {"Gemm": 2, "Expand": 1}
    by_mean = {"Reshape": 2, "Mul": 1, "Expand": 1}
    by_maximum = {"Expand": 1, "Reshape": 3, "ScatterElements": 1}
    by_relu_and_bias = {"HardSigmoid": 1, "Mul": 1, "ReduceSum": 1}
    by_convolution = {"ConvTranspose": 1, "Transpose": 3, "Conv": 1}
    most: Counter[str] = Counter()
    for part in (forward, by_matrix, by_mean, by_maximum, by_relu_and_bias, by_convolution):
        most.update(part)
    assert kinds(loss, *pb.gradients(loss, [x, f, b, w])) - most == {}


@pytest.mark.parametrize("rectifier", [pb.nn.relu, pb.nn.relu6])
def test_the_derivative_of_a_rectifier_of_images_is_a_product_with_steps_that_are_exact(rectifier: Any) -> None:
    least, below = np.finfo(np.float32).tiny, np.nextafter(np.float32(6), np.float32(0))
    x = pb.placeholder(pb.float32, [1, 1, 1, 8])
    (dx,) = pb.gradients(rectifier(x), x)
    assert "Where" not in kinds(dx)
    fed = {x: np.array([-3e38, -least, 0, least, 1, below, 6, 3e38], np.float32).reshape(x.shape.known)}
    found = [pb.Session(engine=engine).run(dx, fed).tolist() for engine in ("numpy", "onnxruntime")]
    assert found[0] == found[1]


@pytest.mark.parametrize("rectifier", [pb.nn.relu, pb.nn.relu6, pb.nn.crelu])
def test_what_is_fed_to_a_rectifier_and_masked_behind_it_has_no_derivative(rectifier: Any) -> None:
    x = pb.placeholder(pb.float32, [2, 3])
    y = rectifier(x)
    (dx,) = pb.gradients(pb.where(pb.is_nan(y), pb.zeros_like(y), y), x)
    fed = {x: np.array([[np.nan, -np.inf, -1], [1e-45, 1, 3]], np.float32)}
    found = [pb.Session(engine=engine).run(dx, fed).tolist() for engine in ("numpy", "onnxruntime")]
    assert found[0] == found[1]


@pytest.mark.parametrize("rectifier", [pb.nn.relu, pb.nn.relu6])
def test_behind_a_pole_what_a_rectifier_hides_stays_zero(rectifier: Any) -> None:
    x = pb.placeholder(pb.float32, [2])
    (dx,) = pb.gradients(pb.sqrt(rectifier(x)), x)
    assert "Where" in kinds(dx)
    assert pb.Session(engine="onnxruntime").run(dx, {x: [-1, 4]}).tolist() == [0, 0.25]


@pytest.mark.parametrize(("channels", "kind"), [(32, "Conv"), (24, "ConvTranspose")])
def test_a_depthwise_convolution_by_strides_of_many_channels_is_turned_around(channels: int, kind: str) -> None:
    x = pb.placeholder(pb.float32, [1, channels, 9, 8])
    f = pb.constant(np.random.default_rng(0).standard_normal([3, 2, channels, 1]).astype(np.float32))
    y = pb.nn.depthwise_conv2d(x, f, [1, 1, 2, 2], "SAME", data_format="NCHW")
    (dx,) = pb.gradients(y, x, pb.square(y))
    assert kinds(dx)[kind] == 1 + (kind == "Conv")
    fed = {x: np.random.default_rng(1).standard_normal(x.shape.known).astype(np.float32)}
    found = [pb.Session(engine=engine).run(dx, fed) for engine in ("numpy", "onnxruntime")]
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


_DEPTHWISE: Any = pb.nn.depthwise_conv2d
_FILTERS = {
    "one product of all windows": (pb.nn.conv2d, [2, 16, 5, 5], [3, 3, 16, 20], 1, 1, {"Gemm": 1, "Slice": 9}),
    "in groups": (pb.nn.conv2d, [2, 6, 5, 4], [2, 2, 3, 4], 2, 1, {"MatMul": 1, "Slice": 4}),
    "a product for each place": (pb.nn.conv2d, [2, 16, 9, 8], [2, 2, 16, 3], 2, 1, {"MatMul": 4, "Slice": 4}),
    "few channels": (pb.nn.conv2d, [2, 3, 9, 8], [2, 2, 3, 4], 1, 1, {"Conv": 1}),
    "sums of products": (_DEPTHWISE, [2, 4, 6, 5], [3, 2, 4, 1], 1, 2, {"Mul": 6, "ReduceSum": 6}),
    "diagonals": (_DEPTHWISE, [2, 4, 9, 8], [5, 4, 4, 1], 1, 2, {"MatMul": 2, "Slice": 5}),
    "several filters for each channel": (_DEPTHWISE, [2, 4, 6, 5], [3, 2, 4, 2], 1, 1, {"Conv": 1, "MatMul": 1}),
}


@pytest.mark.parametrize(
    ("function", "image", "filters", "stride", "dilation", "nodes"), _FILTERS.values(), ids=_FILTERS
)
def test_the_derivative_of_a_convolution_by_its_filters(
    function: Any, image: list[int], filters: list[int], stride: int, dilation: int, nodes: dict[str, int]
) -> None:
    """Of batches of a known and of an unknown number, in the form that onnxruntime was measured to be fastest with."""
    random = np.random.default_rng(0)
    for batch in (image[0], None):
        x, f = pb.placeholder(pb.float32, [batch, *image[1:]]), pb.placeholder(pb.float32, filters)
        y = function(x, f, [1, 1, stride, stride], "SAME", "NCHW", dilations=[1, 1, dilation, dilation])
        seed = pb.placeholder(pb.float32, y.shape)
        (df,) = pb.gradients(y, f, seed)
        assert {kind: kinds(df)[kind] for kind in nodes} == nodes
        of_seed = [image[0], *[n or 0 for n in y.shape.sizes[1:]]]
        fed = {x: random.standard_normal(image), seed: random.standard_normal(of_seed)}
        found = [pb.Session(engine=engine).run(df, fed) for engine in ("numpy", "onnxruntime")]
        np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-5)


def test_attention() -> None:
    """A product more for each cotangent of a product, and the softmax's eight nodes; no shapes are worked out."""
    q, k, v = [pb.placeholder(pb.float32, [2, 4, 6, 5]) for _ in range(3)]
    y = pb.matmul(pb.nn.softmax(pb.matmul(q, k, transpose_b=True) * 0.5), v)
    seed = pb.placeholder(pb.float32, y.shape)
    forward = {"Transpose": 1, "MatMul": 2, "Mul": 1, "Softmax": 1}
    by_softmax = {"Mul": 3, "ReduceSum": 1, "Sub": 1, "Equal": 2, "Where": 2}
    by_products = {"MatMul": 4, "Transpose": 3}
    wanted: Counter[str] = Counter()
    for part in (forward, by_softmax, by_products):
        wanted.update(part)
    assert kinds(y, *pb.gradients(y, [q, k, v], seed)) - wanted == {}


def test_rows_times_a_matrix_are_a_product_of_matrices() -> None:
    x, w = pb.placeholder(pb.float32, [8, 6, 16]), _weights(16, 4)
    y = pb.tensordot(x, w, 1)
    assert kinds(y) == {"MatMul": 1}
    assert "Einsum" not in kinds(*pb.gradients(y, [x, w], pb.placeholder(pb.float32, y.shape)))


def _inner_kinds(*outputs: Any) -> set[str]:
    """The operators of the model of these outputs, those in its subgraphs included."""
    return {node.op_type for node in all_nodes(pb.onnx.export(list(outputs)).graph)}


def test_rows_of_a_loop_are_stacked_where_they_have_one_shape() -> None:
    x, w = pb.placeholder(pb.float32, [None, 4]), _weights(4, 4)
    y = pb.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, pb.tanh(pb.matmul(h, w)) + x), (0, x))[1]
    assert "SequenceInsert" not in _inner_kinds(y, *pb.gradients(y, [x, w]))


def test_rows_of_a_loop_are_a_sequence_where_they_grow() -> None:
    x = pb.placeholder(pb.float32, [None, 4])
    shape = pb.TensorShape([None, 4])
    y = pb.while_loop(
        lambda i, h: i < 3,
        lambda i, h: (i + 1, pb.concat([h * h, x], 0)),
        (0, x),
        shape_invariants=(pb.TensorShape([]), shape),
    )[1]
    (dx,) = pb.gradients(y, x)
    assert {"SequenceInsert", "SequenceAt"} <= _inner_kinds(y, dx)
    fed = {x: np.full([2, 4], 0.5, np.float32)}
    found = [pb.Session(engine=engine).run([y, dx], fed) for engine in ("numpy", "onnxruntime")]
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_loops_that_were_made_twice_are_one_node() -> None:
    x = pb.placeholder(pb.float32, [4])
    ys = [pb.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, pb.tanh(h)), (0, x))[1] for _ in range(2)]
    assert kinds(*ys)["Loop"] == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_loops_along_rows_of_a_known_number_are_scans(reverse: bool) -> None:
    x = pb.placeholder(pb.complex64, [3, 2])
    y = pb.scan(lambda a, row: a * row, x, reverse=reverse)
    (dx,) = pb.gradients(pb.abs(y), x)
    assert kinds(y, dx)["Scan"] == 2
    fed = {x: np.array([[1, 2j], [1 + 1j, 3], [2, 0.5]], np.complex64)}
    found = [pb.Session(engine=engine).run([y, dx], fed) for engine in ("numpy", "onnxruntime")]
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_loops_along_rows_of_an_unknown_number_may_have_none() -> None:
    x = pb.placeholder(pb.float32, [None, 2])
    y = pb.scan(lambda a, row: a * row, x, pb.ones([2]))
    assert kinds(y)["Loop"] == 1
    assert pb.Session(engine="onnxruntime").run(y, {x: np.ones([0, 2], np.float32)}).shape == (0, 2)


def test_branches_that_were_made_twice_are_one_node() -> None:
    x = pb.placeholder(pb.float32, [4])
    holds = pb.reduce_sum(x) > 0.0
    ys = [pb.cond(holds, lambda: pb.exp(x), lambda: pb.cos(x)) for _ in range(2)]
    assert kinds(*ys)["If"] == 1
    fed = {x: np.ones(4, np.float32)}
    a, b = pb.Session(engine="onnxruntime").run(ys, fed)
    np.testing.assert_allclose(a, np.exp(fed[x]), rtol=1e-6)
    np.testing.assert_array_equal(a, b)


def test_what_depends_on_constants_only_is_no_node() -> None:
    x = pb.placeholder(pb.float32, [2])
    assert kinds(x * pb.tanh(pb.constant([1.0, 2.0]))) == {"Mul": 1}


def test_a_complex_number_that_is_known_is_a_pair_of_constants() -> None:
    x = pb.placeholder(pb.complex128, [])
    y = x * pb.exp(pb.constant(0.5j))
    found = [pb.Session(engine=engine).run(y, {x: 1.0 + 2.0j}) for engine in ("numpy", "onnxruntime")]
    np.testing.assert_allclose(*found, rtol=1e-6)
