"""Initializers: functions of a shape that give the tensor a variable starts from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...core.dtypes import FLOATING, DType, float32
from ...core.graph import Tensor
from ...core.shape import as_shape
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...primitives.creation.constant import constant, convert_to_tensor
from ...primitives.creation.eye import eye
from ...primitives.creation.fill import fill, ones, zeros
from ...primitives.random.stateful import random_normal, random_uniform, truncated_normal
from .configured import Configured

_STDDEV_OF_TRUNCATED = 0.87962566103423978
"""The standard deviation of a standard normal number, given that it lies within two of zero."""


@dataclass(frozen=True)
class Zeros(Configured):
    """Zeros.

    >>> import pullback as pb
    >>> pb.Session().run(pb.zeros_initializer()([2]))
    array([0., 0.], dtype=float32)
    """

    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        return zeros(as_shape(shape), self.dtype if dtype is None else dtype)


@dataclass(frozen=True)
class Ones(Configured):
    """Ones.

    >>> import pullback as pb
    >>> pb.Session().run(pb.ones_initializer()([2]))
    array([1., 1.], dtype=float32)
    """

    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        return ones(as_shape(shape), self.dtype if dtype is None else dtype)


@dataclass(frozen=True)
class Constant(Configured):
    """The number `value` everywhere, or the values of a list or array of as many elements as are needed.

    Raises:
        ValueError: the values do not fill the shape.

    >>> import pullback as pb
    >>> pb.Session().run(pb.constant_initializer(3)([2]))
    array([3., 3.], dtype=float32)
    """

    value: TensorLike = 0
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        wanted = self.dtype if dtype is None else dtype
        values = np.asarray(self.value).tolist()
        if isinstance(values, list):
            return constant(values, wanted, as_shape(shape))
        return fill(as_shape(shape), convert_to_tensor(values, wanted))


@dataclass(frozen=True)
class RandomUniform(Configured):
    """Uniform numbers of [minval, maxval).

    >>> import pullback as pb
    >>> pb.Session().run(pb.random_uniform_initializer(-1.0, 1.0)([2, 3])).shape
    (2, 3)
    """

    minval: TensorLike = -0.05
    maxval: TensorLike = 0.05
    seed: int | None = None
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        return random_uniform(shape, self.minval, self.maxval, self.dtype if dtype is None else dtype, self.seed)


@dataclass(frozen=True)
class RandomNormal(Configured):
    """Normal numbers with `mean` and `stddev`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random_normal_initializer(stddev=0.1)([2, 3])).shape
    (2, 3)
    """

    mean: TensorLike = 0.0
    stddev: TensorLike = 0.05
    seed: int | None = None
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        return random_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, self.seed)


@dataclass(frozen=True)
class TruncatedNormal(Configured):
    """Normal numbers within two `stddev` of `mean`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.truncated_normal_initializer(stddev=0.1)([2, 3])).shape
    (2, 3)
    """

    mean: TensorLike = 0.0
    stddev: TensorLike = 0.05
    seed: int | None = None
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        return truncated_normal(shape, self.mean, self.stddev, self.dtype if dtype is None else dtype, self.seed)


Mode = Literal["fan_in", "fan_out", "fan_avg"]
Distribution = Literal["truncated_normal", "untruncated_normal", "normal", "uniform"]


@dataclass(frozen=True)
class VarianceScaling(Configured):
    """Numbers of variance `scale / n`: n is the number of inputs ("fan_in"), of outputs, or their mean ("fan_avg").

    For a matrix the inputs are the rows and the outputs the columns; for the filters of a convolution [..., in, out]
    both are multiplied by the size of the window.

    Raises:
        ValueError: `scale` is not positive, or `mode` or `distribution` is unknown.

    >>> import pullback as pb
    >>> w = pb.Session().run(pb.variance_scaling_initializer(distribution="uniform")([100, 50]))
    >>> bool(abs(w).max() <= (3 / 100) ** 0.5)
    True
    """

    scale: float = 1.0
    mode: Mode = "fan_in"
    distribution: Distribution = "truncated_normal"
    seed: int | None = None
    dtype: DTypeLike = float32

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError(f"variance_scaling_initializer: scale must be positive, not {self.scale}")
        if self.mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                f"variance_scaling_initializer: mode is 'fan_in', 'fan_out' or 'fan_avg', not {self.mode!r}"
            )
        if self.distribution not in ("normal", "truncated_normal", "untruncated_normal", "uniform"):
            raise ValueError(
                "variance_scaling_initializer: distribution is 'truncated_normal', 'untruncated_normal' or 'uniform', "
                f"not {self.distribution!r}"
            )

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        wanted = self.dtype if dtype is None else dtype
        inputs, outputs = fans(as_shape(shape).known)
        n = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[self.mode]
        variance = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return random_uniform(shape, -limit, limit, wanted, self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(variance), wanted, self.seed)
        return truncated_normal(shape, 0.0, math.sqrt(variance) / _STDDEV_OF_TRUNCATED, wanted, self.seed)


def glorot_uniform(seed: int | None = None, dtype: DTypeLike = float32) -> VarianceScaling:
    """Uniform numbers of variance 2 / (inputs + outputs).

    Source: X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.

    >>> import pullback as pb
    >>> pb.Session().run(pb.glorot_uniform_initializer()([2, 3])).shape
    (2, 3)
    """
    return VarianceScaling(1.0, "fan_avg", "uniform", seed, dtype)


def glorot_normal(seed: int | None = None, dtype: DTypeLike = float32) -> VarianceScaling:
    """Truncated normal numbers of variance 2 / (inputs + outputs): see `glorot_uniform`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.glorot_normal_initializer()([2, 3])).shape
    (2, 3)
    """
    return VarianceScaling(1.0, "fan_avg", "truncated_normal", seed, dtype)


def he_uniform(seed: int | None = None, dtype: DTypeLike = float32) -> VarianceScaling:
    """Uniform numbers of variance 2 / inputs.

    Source: K. He, X. Zhang, S. Ren, J. Sun, "Delving deep into rectifiers", 2015.

    >>> import pullback as pb
    >>> pb.Session().run(pb.initializers.he_uniform()([2, 3])).shape
    (2, 3)
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed, dtype)


def he_normal(seed: int | None = None, dtype: DTypeLike = float32) -> VarianceScaling:
    """Truncated normal numbers of variance 2 / inputs: see `he_uniform`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.initializers.he_normal()([2, 3])).shape
    (2, 3)
    """
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed, dtype)


def lecun_uniform(seed: int | None = None, dtype: DTypeLike = float32) -> VarianceScaling:
    """Uniform numbers of variance 1 / inputs.

    Source: Y. LeCun, L. Bottou, G. Orr, K.-R. Mueller, "Efficient backprop", 1998.

    >>> import pullback as pb
    >>> pb.Session().run(pb.initializers.lecun_uniform()([2, 3])).shape
    (2, 3)
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed, dtype)


def lecun_normal(seed: int | None = None, dtype: DTypeLike = float32) -> VarianceScaling:
    """Truncated normal numbers of variance 1 / inputs: see `lecun_uniform`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.initializers.lecun_normal()([2, 3])).shape
    (2, 3)
    """
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed, dtype)


@dataclass(frozen=True)
class UniformUnitScaling(Configured):
    """Uniform numbers within factor * sqrt(3 / inputs) of zero; the inputs are all axes but the last.

    >>> import pullback as pb
    >>> w = pb.Session().run(pb.uniform_unit_scaling_initializer()([12, 3]))
    >>> bool(abs(w).max() <= 0.5)
    True
    """

    factor: float = 1.0
    seed: int | None = None
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        limit = math.sqrt(3.0 / max(1.0, math.prod(as_shape(shape).known[:-1]))) * self.factor
        return random_uniform(shape, -limit, limit, self.dtype if dtype is None else dtype, self.seed)


@dataclass(frozen=True)
class Identity(Configured):
    """The identity matrix times `gain`, not square where the shape is not.

    Raises:
        ValueError: the shape is no matrix's.

    >>> import pullback as pb
    >>> pb.Session().run(pb.initializers.identity(2.0)([2, 3])).tolist()
    [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    """

    gain: float = 1.0
    dtype: DTypeLike = float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: object = None) -> Tensor:
        del partition_info
        dims = as_shape(shape).known
        if len(dims) != 2:
            raise ValueError(f"initializers.identity: the shape must be that of a matrix, not {as_shape(shape)}")
        return eye(dims[0], dims[1], dtype=self.dtype if dtype is None else dtype) * self.gain


def fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """The number of inputs and of outputs of a layer whose weights have `shape`."""
    if len(shape) < 2:
        n = float(shape[0]) if shape else 1.0
        return n, n
    window = math.prod(shape[:-2])
    return float(shape[-2] * window), float(shape[-1] * window)


def default_initializer(dtype: DType) -> Any:
    """The initializer of `get_variable` where none is given: `glorot_uniform` for floats, zeros for the others."""
    return glorot_uniform(dtype=dtype) if dtype in FLOATING else Zeros(dtype)
