"""GraphDef import of pooling, and of TensorFlow's derivatives of it."""

from __future__ import annotations

from typing import Any

from ...core.operation import Tensor
from ...primitives.pooling.argmax import max_pool_with_argmax
from ...primitives.pooling.avg_pool import AvgPool, AvgPoolGrad
from ...primitives.pooling.fractional import fractional_avg_pool, fractional_max_pool
from ...primitives.pooling.geometry import pool_arguments
from ...primitives.pooling.max_pool import MaxPool, MaxPoolGrad, MaxPoolGradGrad
from ...primitives.shape.reshape import split_shape
from ..nodes import Node, reader
from .operands import padding_of


def _window(node: Node, x: Tensor, *given: Tensor) -> Any:
    """The arguments of a primitive that pools `x`; `given` are its size and strides in MaxPoolV2."""
    if given:
        ksize, strides = [node.integers(n, what) for n, what in zip(given, ("the window", "the strides"), strict=True)]
    else:
        ksize, strides = node.attribute("ksize"), node.attribute("strides")
    count = 3 if "3D" in node.op_type else 2
    form = node.text("data_format", "NDHWC" if count == 3 else "NHWC")
    return pool_arguments(node.op_type, x, list(ksize), list(strides), padding_of(node), form, count)


@reader("MaxPool", "MaxPool3D", "MaxPoolV2")
def max_pool(node: Node, x: Tensor, *given: Tensor) -> Any:
    return node.make(MaxPool(*_window(node, x, *given)), x)


@reader("AvgPool", "AvgPool3D")
def avg_pool(node: Node, x: Tensor) -> Any:
    return node.make(AvgPool(*_window(node, x)), x)


@reader("MaxPoolGrad", "MaxPool3DGrad", "MaxPoolGradV2")
def max_pool_grad(node: Node, x: Tensor, y: Tensor, dy: Tensor, *given: Tensor) -> Any:
    return node.make(MaxPoolGrad(*_window(node, x, *given)), x, y, dy)


@reader("MaxPoolGradGrad", "MaxPool3DGradGrad", "MaxPoolGradGradV2")
def max_pool_grad_grad(node: Node, x: Tensor, y: Tensor, ddx: Tensor, *given: Tensor) -> Any:
    return node.make(MaxPoolGradGrad(*_window(node, x, *given)), x, y, ddx)


@reader("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad(node: Node, sizes: Tensor, dy: Tensor) -> Any:
    dims, lengths = split_shape(sizes)
    ksize, strides, padding, form, *_ = _window(node, dy)
    primitive = AvgPoolGrad(ksize, strides, padding, form, (), dims)
    return node.make(primitive, dy, *(() if lengths is None else (lengths,)))


@reader("MaxPoolWithArgmax", outputs=("output", "argmax"))
def with_argmax(node: Node, x: Tensor) -> Any:
    return tuple(
        max_pool_with_argmax(
            x,
            list(node.attribute("ksize")),
            list(node.attribute("strides")),
            padding_of(node),
            output_dtype=node.attribute("Targmax", "int64"),
            include_batch_in_index=node.attribute("include_batch_in_index", False),
            name=node.exactly,
        )
    )


@reader(
    "FractionalMaxPool",
    "FractionalAvgPool",
    outputs=("output", "row_pooling_sequence", "col_pooling_sequence"),
)
def fractional(node: Node, x: Tensor) -> Any:
    pool = fractional_max_pool if node.op_type == "FractionalMaxPool" else fractional_avg_pool
    ratio, random = list(node.attribute("pooling_ratio")), node.attribute("pseudo_random", False)
    overlapping, seed = node.attribute("overlapping", False), node.attribute("seed", 0)
    return tuple(pool(x, ratio, random, overlapping, seed, name=node.exactly))
