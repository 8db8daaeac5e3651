"""Floating-point operations (FLOPs) of an operation, as TensorFlow 1 counts them from static shapes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import pullback as pb

_ELEMENTS = {
    **dict.fromkeys(["Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "BiasAdd"], 1),
    **dict.fromkeys(["Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual"], 1),
    **dict.fromkeys(["Reciprocal", "Square", "Log", "Neg"], 1),
    "SquaredDifference": 2,
    "Rsqrt": 2,
    "RsqrtGrad": 4,
    "Softmax": 5,
}
"""How many there are for each element of the result."""


def float_operations(op: pb.Operation) -> int:
    """How many there are; 0 where TensorFlow has no count, or shapes are not known.

    >>> import pullback.compat.v1 as tf
    >>> float_operations(tf.matmul(tf.zeros([3, 4]), tf.zeros([4, 5])).op)
    120
    """
    if not all(x.shape.is_fully_defined() for x in (*op.inputs, *op.outputs)):
        return 0
    each = _ELEMENTS.get(op.type)
    if each is not None:
        return each * _size(op.outputs[0])
    count = _COUNTS.get(op.type)
    return 0 if count is None else count(op)


def _size(x: pb.Tensor) -> int:
    return prod(x.shape.known)


def _sum(op: pb.Operation) -> int:
    return _size(op.inputs[0]) - _size(op.outputs[0])


def _mean(op: pb.Operation) -> int:
    return _size(op.inputs[0])


def _add_n(op: pb.Operation) -> int:
    return _size(op.outputs[0]) * (len(op.inputs) - 1)


def _l2_loss(op: pb.Operation) -> int:
    return 3 * _size(op.inputs[0]) - 1


def _matmul(op: pb.Operation) -> int:
    primitive: Any = op.primitive
    is_transposed = primitive.transpose_a if op.type == "MatMul" else primitive.adj_x
    return 2 * _size(op.outputs[0]) * op.inputs[0].shape.known[-2 if is_transposed else -1]


def _convolution(op: pb.Operation) -> int:
    return _products(op.outputs[0], op.inputs[1])


def _convolution_by_input(op: pb.Operation) -> int:
    return _products(op.inputs[1], op.inputs[0])


def _convolution_by_filter(op: pb.Operation) -> int:
    return _products(op.inputs[1], op.outputs[0])


def _products(y: pb.Tensor, kernel: pb.Tensor) -> int:
    """Two for each product of a convolution with the result `y`, of a kernel [lengths..., channels, channels]."""
    return 2 * _size(y) * prod(kernel.shape.known[:-1])


def _depthwise(op: pb.Operation) -> int:
    return 2 * _size(op.outputs[0]) * prod(op.inputs[1].shape.known[:2])


def _dilation(op: pb.Operation) -> int:
    return 2 * _size(op.outputs[0]) * prod(op.inputs[1].shape.known[:2])


def _window(op: pb.Operation) -> int:
    primitive: Any = op.primitive
    lengths: tuple[int, ...] = primitive.ksize
    return prod(lengths)


def _pool(op: pb.Operation) -> int:
    return _window(op) * _size(op.outputs[0])


def _max_pool_grad(op: pb.Operation) -> int:
    return (_window(op) + 1) * _size(op.inputs[1])


def _average_pool_grad(op: pb.Operation) -> int:
    return _window(op) * _size(op.inputs[0]) + _size(op.outputs[0])


_COUNTS: dict[str, Callable[[pb.Operation], int]] = {
    "Sum": _sum,
    "Mean": _mean,
    "ArgMax": _sum,
    "ArgMin": _sum,
    "AddN": _add_n,
    "L2Loss": _l2_loss,
    "MatMul": _matmul,
    "BatchMatMulV2": _matmul,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "Conv2DBackpropInput": _convolution_by_input,
    "Conv2DBackpropFilter": _convolution_by_filter,
    "DepthwiseConv2dNative": _depthwise,
    "Dilation2D": _dilation,
    "MaxPool": _pool,
    "AvgPool": _pool,
    "MaxPoolGrad": _max_pool_grad,
    "AvgPoolGrad": _average_pool_grad,
}
