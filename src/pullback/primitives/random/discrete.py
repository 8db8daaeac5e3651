"""Poisson and truncated normal random numbers."""

from __future__ import annotations

import math
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, INTEGER, as_dtype, float32, float64, int32, int64
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..base.broadcasting import operands
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..elementwise.clip import clip_by_value
from ..indexing.where import where
from ..shape.broadcast import broadcast_to
from ..special.error_function import erfc, ndtri
from . import rejection
from .gamma import joined_shape
from .stateful import AbstractDraw, drawn, get_seed
from .stateless import check_seed, stateless_uniform, words_of

COUNTS = FLOATING | {int32, int64}


@in_graph_of_inputs
def random_poisson(
    shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Numbers drawn anew in each run, of the Poisson distribution with mean `lam`; they have no derivative.

    Shapes: `shape`, integers or an integer vector; the result is `shape` followed by that of `lam`. Dtypes: `dtype` any
    float, int32 or int64; `lam` any float.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.poisson([2], lam=[0.0, 3.0], seed=1))[:, 0]
    array([0., 0.], dtype=float32)
    """
    means = _means(lam)
    with means.graph.within(name or "random_poisson") as scope:
        full = broadcast_to(means, joined_shape(shape, means))
        return drawn(means.graph, RandomPoissonV2(_counted("random.poisson", dtype), *get_seed(seed)), (full,), scope)


def _means(lam: Any) -> Tensor:
    means = convert_to_tensor(lam)
    return cast(means, float32) if means.dtype in INTEGER else means


def _counted(what: str, dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    if wanted not in COUNTS:
        raise TypeError(f"{what}: no numbers of dtype {wanted.name}; use {', '.join(sorted(d.name for d in COUNTS))}")
    return wanted


class RandomPoissonV2(AbstractDraw):
    dtype: Any
    seed: int | None = None
    seed2: int | None = None

    def infer(self, means: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, means.shape),)

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        return (rejection.POISSON_WORDS, *arrays[0].shape)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return rejection.poisson(xp, pair, arrays[0], self.dtype)


@in_graph_of_inputs
def stateless_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """The numbers of `seed`, of the Poisson distribution with mean `lam`; they have no derivative.

    Shapes: `shape`, integers or an integer vector, to which `lam` broadcasts; `seed` [2]. Dtypes: `dtype` any float,
    int32 or int64; `lam` any float.

    Raises:
        ValueError: a seed that is no pair. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.stateless_poisson([2], [1, 2], lam=0.0))
    array([0, 0], dtype=int32)
    """
    means = _means(lam)
    with means.graph.within(name or "stateless_random_poisson") as scope:
        primitive = StatelessRandomPoisson(_counted("random.stateless_poisson", dtype))
        return primitive(convert_to_tensor(seed), broadcast_to(means, shape), name=scope)


class StatelessRandomPoisson(Primitive):
    dtype: Any

    def infer(self, seed: TensorType, means: TensorType) -> tuple[TensorType, ...]:
        check_seed("random.stateless_poisson", seed)
        return (TensorType(self.dtype, means.shape),)

    def kernel(self, xp: Any, seed: Any, means: Any) -> Any:
        shape = (rejection.POISSON_WORDS, *means.shape)
        return rejection.poisson(xp, words_of(xp, seed, shape), means, self.dtype)

    gradient = no_gradient


@in_graph_of_inputs
def stateless_parameterized_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """The numbers of `seed`, normal with `means` and `stddevs` given that they are between `minvals` and `maxvals`.

    All four have derivatives, of any order: the numbers are found by inversion of the distribution function. Where
    both bounds are more than 37 deviations from the mean, on one side, the number is the nearer bound.

    Shapes: `shape`, integers or an integer vector, to which the parameters broadcast; `seed` [2]. Dtypes: any float,
    the same for all.

    Derivative: implicit: dy divided by the density, times the derivative of the distribution by each parameter.

    Raises:
        ValueError: a seed that is no pair. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> x = pb.random.stateless_parameterized_truncated_normal([99], [1, 2], minvals=1.0, maxvals=1.5)
    >>> bool(((1 <= pb.Session().run(x)) & (pb.Session().run(x) <= 1.5)).all())
    True
    """
    mean, deviation, low, high = operands(means, stddevs, minvals, maxvals)
    dtype = mean.dtype
    with mean.graph.within(name or "stateless_parameterized_truncated_normal"):
        u = stateless_uniform(shape, seed, dtype=float64)
        m, s, a, b = (cast(p, float64) for p in (mean, deviation, low, high))
        first, second = (a - m) / s, (b - m) / s
        mirrored = first + second > 0.0
        below, above = where(mirrored, -second, first), where(mirrored, -first, second)
        start, end = _distribution(below), _distribution(above)
        quantile = ndtri(start + where(mirrored, 1.0 - u, u) * (end - start))
        x = m + s * where(mirrored, -quantile, quantile)
        return cast(clip_by_value(x, a, b), dtype)


def _distribution(x: Tensor) -> Tensor:
    return erfc(x * -math.sqrt(0.5)) * 0.5
