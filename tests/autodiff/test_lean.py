"""The gradient graphs of whole models have no operation that a careful hand would leave out; compared word for word."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback.core.printing import graph_text


def perceptron(batch: int | None) -> tuple[pb.Tensor, list[pb.Tensor]]:
    """The loss of a network of four layers, and its weights and biases."""
    lengths = [64, 512, 256, 128, 10]
    h = pb.placeholder(pb.float32, [batch, 64], name="x")
    labels = pb.placeholder(pb.int32, [batch], name="labels")
    parameters = []
    for i in range(4):
        w = pb.placeholder(pb.float32, lengths[i : i + 2], name=f"w{i}")
        b = pb.placeholder(pb.float32, lengths[i + 1 : i + 2], name=f"b{i}")
        parameters += [w, b]
        h = pb.nn.bias_add(pb.matmul(h, w, name=f"product{i}"), b, name=f"z{i}")
        h = pb.nn.relu(h, name=f"h{i}") if i < 3 else h
    losses = pb.nn.sparse_softmax_cross_entropy_with_logits(labels, h, name="losses")
    return pb.reduce_mean(losses, name="loss"), parameters


def text_of_gradient(loss: pb.Tensor, xs: list[pb.Tensor], **options: Any) -> tuple[str, str]:
    """The text forms of the graph before `gradients` and of what `gradients` adds, without its name scope."""
    graph = loss.graph
    before = len(graph.operations)
    pb.gradients(loss, xs, name="g", **options)
    forward, backward = graph.operations[:before], graph.operations[before:]
    return graph_text(forward), graph_text(backward).replace("g/", "")


FORWARD = """\
x: float32[128,64] = Placeholder[dtype=float32, shape=(128, 64)]()
labels: int32[128] = Placeholder[dtype=int32, shape=(128,)]()
w0: float32[64,512] = Placeholder[dtype=float32, shape=(64, 512)]()
b0: float32[512] = Placeholder[dtype=float32, shape=(512,)]()
product0: float32[128,512] = MatMul(x, w0)
z0: float32[128,512] = BiasAdd(product0, b0)
h0: float32[128,512] = Relu(z0)
w1: float32[512,256] = Placeholder[dtype=float32, shape=(512, 256)]()
b1: float32[256] = Placeholder[dtype=float32, shape=(256,)]()
product1: float32[128,256] = MatMul(h0, w1)
z1: float32[128,256] = BiasAdd(product1, b1)
h1: float32[128,256] = Relu(z1)
w2: float32[256,128] = Placeholder[dtype=float32, shape=(256, 128)]()
b2: float32[128] = Placeholder[dtype=float32, shape=(128,)]()
product2: float32[128,128] = MatMul(h1, w2)
z2: float32[128,128] = BiasAdd(product2, b2)
h2: float32[128,128] = Relu(z2)
w3: float32[128,10] = Placeholder[dtype=float32, shape=(128, 10)]()
b3: float32[10] = Placeholder[dtype=float32, shape=(10,)]()
product3: float32[128,10] = MatMul(h2, w3)
z3: float32[128,10] = BiasAdd(product3, b3)
losses: float32[128], float32[128,10] = SparseSoftmaxCrossEntropyWithLogits(z3, labels)
loss: float32[] = Mean(losses)"""

# The seed; 1/n for each loss; that times the derivative which the forward operation has computed already (two lines:
# the vector stands as a column first); then for each layer the bias (a sum over the batch), the layer below (dy @ W^T)
# and the weights (x^T @ dy), with the rectifier's derivative between layers. The lowest layer has no layer below.
BACKWARD = """\
grad_ys_0: float32[] = Const[value=1.0]()
loss_grad/MeanGrad: float32[128] = MeanGrad[shape=(128,)](grad_ys_0)
losses_grad/ExpandDims: float32[128,1] = ExpandDims[axis=(-1,)](loss_grad/MeanGrad)
losses_grad/multiply_no_nan: float32[128,10] = MulNoNan(losses:1, losses_grad/ExpandDims)
z3_grad/Sum: float32[10] = Sum[axis=(0,)](losses_grad/multiply_no_nan)
product3_grad/MatMul: float32[128,128] = MatMul[transpose_b](losses_grad/multiply_no_nan, w3)
product3_grad/MatMul_1: float32[128,10] = MatMul[transpose_a](h2, losses_grad/multiply_no_nan)
h2_grad/ReluGrad: float32[128,128] = ReluGrad(product3_grad/MatMul, h2)
z2_grad/Sum: float32[128] = Sum[axis=(0,)](h2_grad/ReluGrad)
product2_grad/MatMul: float32[128,256] = MatMul[transpose_b](h2_grad/ReluGrad, w2)
product2_grad/MatMul_1: float32[256,128] = MatMul[transpose_a](h1, h2_grad/ReluGrad)
h1_grad/ReluGrad: float32[128,256] = ReluGrad(product2_grad/MatMul, h1)
z1_grad/Sum: float32[256] = Sum[axis=(0,)](h1_grad/ReluGrad)
product1_grad/MatMul: float32[128,512] = MatMul[transpose_b](h1_grad/ReluGrad, w1)
product1_grad/MatMul_1: float32[512,256] = MatMul[transpose_a](h0, h1_grad/ReluGrad)
h0_grad/ReluGrad: float32[128,512] = ReluGrad(product1_grad/MatMul, h0)
z0_grad/Sum: float32[512] = Sum[axis=(0,)](h0_grad/ReluGrad)
product0_grad/MatMul: float32[64,512] = MatMul[transpose_a](x, h0_grad/ReluGrad)"""


def test_gradient_of_a_perceptron() -> None:
    forward, backward = text_of_gradient(*perceptron(128))
    assert forward == FORWARD
    assert backward == BACKWARD


def test_an_unknown_batch_adds_no_operation() -> None:
    _, backward = text_of_gradient(*perceptron(None))
    assert _names(backward) == _names(BACKWARD)


def _names(text: str) -> list[str]:
    return [line.partition(":")[0] for line in text.split("\n")]


def test_only_what_the_wanted_parameters_need_is_added() -> None:
    loss, parameters = perceptron(128)
    _, backward = text_of_gradient(loss, parameters[-1:])
    assert backward == "\n".join(BACKWARD.split("\n")[:5])


def test_gradient_of_a_convolution() -> None:
    x = pb.placeholder(pb.float32, [None, 8, 8, 3], name="x")
    f = pb.placeholder(pb.float32, [3, 3, 3, 4], name="f")
    b = pb.placeholder(pb.float32, [4], name="b")
    z = pb.nn.bias_add(pb.nn.conv2d(x, f, 1, "SAME", name="conv"), b, name="z")
    y = pb.nn.max_pool2d(pb.nn.relu(z, name="h"), 2, 2, "VALID", name="y")
    weights = pb.placeholder(pb.float32, [None, 4, 4, 4], name="weights")
    _, backward = text_of_gradient(y, [f, b], grad_ys=[weights])
    assert (
        backward
        == """\
grad_ys_0: float32[?,4,4,4] = EnsureShapeLike(weights, y)
y_grad/MaxPoolGrad: float32[?,8,8,4] = MaxPoolGrad[ksize=(2, 2), strides=(2, 2), padding=VALID, data_format=NHWC]\
(h, y, grad_ys_0)
h_grad/ReluGrad: float32[?,8,8,4] = ReluGrad(y_grad/MaxPoolGrad, h)
z_grad/Sum: float32[4] = Sum[axis=(0, 1, 2)](h_grad/ReluGrad)
conv_grad/Conv2DBackpropFilter: float32[3,3,3,4] = Conv2DBackpropFilter[strides=(1, 1), padding=SAME, \
data_format=NHWC, dilations=(1, 1), filter_sizes=(3, 3, 3, 4)](x, h_grad/ReluGrad)"""
    )


def test_gradient_of_attention() -> None:
    q, k, v = [pb.placeholder(pb.float32, [8, 16, 4, 32], name=name) for name in "qkv"]
    weights = pb.nn.softmax(pb.einsum("bthd,bshd->bhts", q, k, name="scores"), name="weights")
    y = pb.einsum("bhts,bshd->bthd", weights, v, name="y")
    _, backward = text_of_gradient(pb.reduce_sum(y, name="total"), [q, k, v])
    assert (
        backward
        == """\
grad_ys_0: float32[] = Const[value=1.0]()
total_grad/BroadcastTo: float32[8,16,4,32] = BroadcastTo[shape=(8, 16, 4, 32)](grad_ys_0)
y_grad/Einsum: float32[8,4,16,16] = Einsum[equation=bthd,bshd->bhts](total_grad/BroadcastTo, v)
y_grad/Einsum_1: float32[8,16,4,32] = Einsum[equation=bthd,bhts->bshd](total_grad/BroadcastTo, weights)
weights_grad/SoftmaxGrad: float32[8,4,16,16] = SoftmaxGrad[axis=-1](weights, y_grad/Einsum)
scores_grad/Einsum: float32[8,16,4,32] = Einsum[equation=bhts,bshd->bthd](weights_grad/SoftmaxGrad, k)
scores_grad/Einsum_1: float32[8,16,4,32] = Einsum[equation=bhts,bthd->bshd](weights_grad/SoftmaxGrad, q)"""
    )


def test_a_matrix_against_a_stack_is_one_product() -> None:
    x = pb.placeholder(pb.float32, [8, 16, 32], name="x")
    w = pb.placeholder(pb.float32, [32, 64], name="w")
    dy = pb.placeholder(pb.float32, [8, 16, 64], name="dy")
    _, backward = text_of_gradient(pb.matmul(x, w, name="y"), [x, w], grad_ys=[dy])
    assert (
        backward
        == """\
grad_ys_0: float32[8,16,64] = Identity(dy)
y_grad/BatchMatMulV2: float32[8,16,32] = BatchMatMulV2[adj_y](grad_ys_0, w)
y_grad/Einsum: float32[32,64] = Einsum[equation=Amk,Amn->kn](x, grad_ys_0)"""
    )


def test_gradient_of_layer_normalization() -> None:
    x = pb.placeholder(pb.float32, [None, 16], name="x")
    y = pb.nn.layer_normalization(x, name="y")
    dy = pb.placeholder(pb.float32, [None, 16], name="dy")
    _, backward = text_of_gradient(y, [x], grad_ys=[dy])
    assert (
        backward
        == """\
grad_ys_0: float32[?,16] = EnsureShapeLike(dy, y/Standardize)
y/Standardize_grad/StandardizeGrad: float32[?,16] = StandardizeGrad[axis=(1,), epsilon=0.001]\
(grad_ys_0, y/Standardize, y/Standardize:2)"""
    )


def test_the_lean_gradient_is_the_right_one() -> None:
    loss, parameters = perceptron(128)
    random = np.random.default_rng(0)
    feeds = {p: 0.1 * random.normal(size=p.shape.known) for p in parameters}
    feeds |= {loss.graph.get_tensor_by_name("x:0"): random.normal(size=(128, 64))}
    feeds |= {loss.graph.get_tensor_by_name("labels:0"): random.integers(10, size=128)}
    feeds = {x: np.asarray(a, x.dtype) for x, a in feeds.items()}
    gradients = pb.gradients(loss, parameters)
    by_numpy, by_xla = [pb.Session(engine=e).run(gradients, feeds) for e in ("numpy", "xla")]
    for a, b in zip(by_numpy, by_xla, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
