"""ONNX import of normalisations; `stash_type` is the dtype in which means and variances are computed."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import DType
from ...core.operation import Tensor
from ...primitives.elementwise.powers import pow, rsqrt, sqrt, square
from ...primitives.elementwise.sign import absolute
from ...primitives.indexing.where import where
from ...primitives.normalization.normalization import Standardize
from ...primitives.pooling.avg_pool import AvgPool
from ...primitives.reduction.moments import moments
from ...primitives.reduction.norms import euclidean_norm
from ...primitives.reduction.reduce import reduce_mean, reduce_sum
from ...primitives.shape.pad import pad
from ...primitives.shape.reshape import reshape
from ..element_types import dtype_of
from ..reading import Node, reader
from .dtypes import cast
from .lengths import lengths, rank_of
from .operands import from_front


@reader("BatchNormalization")
def batch_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> Any:
    epsilon = node.attribute("epsilon", 1e-5)
    if node.attribute("training_mode", 0):
        return _trained(node, x, scale, bias, mean, variance)
    # In the widest of the three dtypes that the inputs may have.
    dtype = _widest(x, scale, mean)
    factor = rsqrt(cast(variance, dtype) + epsilon) * cast(scale, dtype)
    shift = cast(bias, dtype) - cast(mean, dtype) * factor
    y = cast(x, dtype) * _per_channel(node, factor, x) + _per_channel(node, shift, x)
    return cast(y, x.dtype)


def _trained(node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> Any:
    momentum = node.attribute("momentum", 0.9)
    axes = tuple(i for i in range(rank_of(node, x)) if i != 1)
    dtype = _widest(x, scale, mean)
    y, now_mean, now_variance = Standardize(axes, node.attribute("epsilon", 1e-5)).operation(cast(x, dtype)).outputs
    y = y * _per_channel(node, cast(scale, dtype), x) + _per_channel(node, cast(bias, dtype), x)
    running = [
        before * momentum + reshape(cast(now, before.dtype), [-1]) * (1 - momentum)
        for before, now in ((mean, now_mean), (variance, now_variance))
    ]
    return cast(y, x.dtype), *running


def _widest(*xs: Tensor) -> DType:
    dtypes = [x.dtype for x in xs]
    return max(dtypes, key=lambda d: d.itemsize) if len({d.itemsize for d in dtypes}) > 1 else dtypes[0]


def _per_channel(node: Node, vector: Tensor, x: Tensor) -> Tensor:
    """`vector` in a shape that broadcasts over what comes after the channels."""
    rank = rank_of(node, x)
    return vector if rank <= 2 else reshape(vector, [-1, *[1] * (rank - 2)])


@reader("InstanceNormalization")
def instance_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    axes = tuple(range(2, rank_of(node, x)))
    if not axes:
        node.reject(f"it takes at least three axes, not {x}")
    y = Standardize(axes, node.attribute("epsilon", 1e-5)).operation(x).outputs[0]
    return y * _per_channel(node, scale, x) + _per_channel(node, bias, x)


@reader("LayerNormalization")
def layer_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Any:
    axis, epsilon = node.attribute("axis", -1), node.attribute("epsilon", 1e-5)
    rank = rank_of(node, x)
    axes = tuple(range(from_front(node, axis, rank), rank))
    y, mean, variance = Standardize(axes, epsilon).operation(cast(x, _stash(node, x))).outputs
    y = cast(y, x.dtype) * scale
    y = y if bias is None else y + bias
    if not node.wants(1) and not node.wants(2):
        return y
    stash = dtype_of(node.attribute("stash_type", 1))
    return y, cast(mean, stash), cast(rsqrt(variance + epsilon), stash)


def _stash(node: Node, x: Tensor) -> DType:
    """The dtype to compute in: no narrower than that of `x`."""
    stash = dtype_of(node.attribute("stash_type", 1))
    return x.dtype if x.dtype.itemsize > stash.itemsize else stash


@reader("GroupNormalization")
def group_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    groups = node.attribute("num_groups")
    dims = lengths(x)
    wide = cast(x, _stash(node, x))
    parts = reshape(wide, [dims[0], groups, -1])
    y = reshape(Standardize((2,), node.attribute("epsilon", 1e-5)).operation(parts).outputs[0], dims)
    return cast(y, x.dtype) * _per_channel(node, scale, x) + _per_channel(node, bias, x)


@reader("RMSNormalization")
def rms_normalization(node: Node, x: Tensor, scale: Tensor) -> Tensor:
    """`x / sqrt(mean(x * x) + epsilon) * scale`."""
    rank, axis = rank_of(node, x), node.attribute("axis", -1)
    wide = cast(x, _stash(node, x))
    mean = reduce_mean(square(wide), list(range(from_front(node, axis, rank), rank)), True)
    y = cast(wide * rsqrt(mean + node.attribute("epsilon", 1e-5)), x.dtype)
    return y * scale


@reader("LpNormalization")
def lp_normalization(node: Node, x: Tensor) -> Tensor:
    """`x / norm(x)`, and 0 where the norm is 0."""
    axis = node.attribute("axis", -1)
    first = node.attribute("p", 2) == 1
    norm = reduce_sum(absolute(x), axis, True) if first else euclidean_norm(x, axis, True)
    some = norm > 0
    return x / where(some, norm, 1.0)


@reader("MeanVarianceNormalization")
def mean_variance_normalization(node: Node, x: Tensor) -> Tensor:
    """The differences from the mean, divided by their root mean square, to which 1e-9 is added."""
    axes = list(node.attribute("axes", [0, 2, 3]))
    mean, variance = moments(x, axes, keepdims=True)
    return (x - mean) / (sqrt(variance) + 1e-9)


@reader("LRN")
def lrn(node: Node, x: Tensor) -> Tensor:
    """`x / (bias + alpha * mean)^beta`, the mean of the squares over `size` channels around, none counted as 0."""
    size = node.attribute("size")
    before = (size - 1) // 2
    dims = lengths(x)
    squares = pad(reshape(square(x), [dims[0], 1, dims[1], -1]), [(0, 0), (0, 0), (before, size - 1 - before), (0, 0)])
    mean = AvgPool((size, 1), (1, 1), "VALID", "NCHW")(squares)
    scale = reshape(mean, dims) * node.attribute("alpha", 1e-4) + node.attribute("bias", 1.0)
    return x * pow(scale, -node.attribute("beta", 0.75))
