"""Gamma random numbers, with implicit derivatives by their parameters.

The derivative by the shape is implicit, that of the number at which the distribution function has a fixed value:
M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", NeurIPS 2018. It is itself a function with
derivatives, so that every order is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, float32
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.types import TensorType
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..creation.constant import convert_to_tensor
from ..creation.fill import zeros_like
from ..elementwise.arithmetic import Neg
from ..elementwise.division import divide
from ..elementwise.masking import multiply_no_nan
from ..shape.broadcast import broadcast_to
from ..shape.size import shape
from ..shape.stacking import concat
from ..special.igamma_ratio import IgammaRatio
from . import rejection
from .stateful import AbstractDraw, drawn, drawn_type, get_seed
from .stateless import check_seed, words_of


@in_graph_of_inputs
def random_gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers drawn anew in each run, of the gamma distribution with shape `alpha` and inverse scale `beta` (None: 1).

    Derivatives go to both; that by `alpha` is implicit.

    Shapes: `shape`, integers or an integer vector; the result is `shape` followed by the shape that `alpha` and `beta`
    broadcast to. Dtypes: any float.

    Derivative: dalpha = -dy * (dP/dalpha) / density, implicit in the distribution P; dbeta = -dy * y / beta.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.gamma([2, 3], alpha=[1.0, 5.0], seed=1)).shape
    (2, 3, 2)
    """
    wanted = drawn_type("random.gamma", dtype, FLOATING)
    a = convert_to_tensor(alpha, wanted)
    with a.graph.within(name or "random_gamma") as scope:
        b = None if beta is None else convert_to_tensor(beta, wanted)
        own = a if b is None else a + zeros_like(b)
        full = broadcast_to(own, joined_shape(shape, own))
        x = drawn(a.graph, RandomGamma(*get_seed(seed)), (full,), scope if b is None else None)
        return x if b is None else divide(x, b, name=scope)


def joined_shape(before: Any, x: Tensor) -> Any:
    """A shape, followed by that of `x`."""
    if isinstance(before, Tensor):
        return concat([before, shape(x)], 0)
    lengths = _listed(before)
    if x.shape.is_fully_defined() and all(isinstance(n, int) for n in lengths):
        return [*lengths, *x.shape.as_list()]
    return concat([convert_to_tensor(lengths), shape(x)], 0) if lengths else shape(x)


def _listed(lengths: Any) -> list[Any]:
    return list(lengths) if isinstance(lengths, list | tuple) else [lengths]


class RandomGamma(AbstractDraw):
    seed: int | None = None
    seed2: int | None = None

    def infer(self, alpha: TensorType) -> tuple[TensorType, ...]:
        return (alpha,)

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        return (rejection.GAMMA_WORDS, *arrays[0].shape)

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        return rejection.gamma(xp, pair, arrays[0], arrays[0].dtype)

    def gradient(self, op: Operation, *dys: Tensor) -> Sequence[Any]:
        return (lambda: implicit_back(dys[0], op.inputs[0], op.outputs[0]),)


def implicit_back(dy: Tensor, alpha: Tensor, sample: Tensor) -> Tensor:
    """The cotangent of the shape of gamma distributions from those of their samples."""
    return multiply_no_nan(IgammaRatio(1)(alpha, sample), Neg()(dy))


@in_graph_of_inputs
def stateless_gamma(
    shape: ShapeLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """The numbers of `seed`, of the gamma distribution with shape `alpha` and inverse scale `beta` (None: 1).

    Derivatives go to both; that by `alpha` is implicit.

    Shapes: `shape`, integers or an integer vector, to which `alpha` and `beta` broadcast; `seed` [2].
    Dtypes: any float; the seed int32 or int64.

    Derivative: dalpha = -dy * (dP/dalpha) / density, implicit in the distribution P; dbeta = -dy * y / beta.

    Raises:
        ValueError: a seed that is no pair. TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.random.stateless_gamma([2], [1, 2], alpha=3.0)).dtype
    dtype('float32')
    """
    wanted = drawn_type("random.stateless_gamma", dtype, FLOATING)
    a = convert_to_tensor(alpha, wanted)
    with a.graph.within(name or "stateless_random_gamma") as scope:
        full = broadcast_to(a, shape)
        key = convert_to_tensor(seed)
        x = StatelessRandomGammaV3()(key, full, name=scope if beta is None else None)
        return x if beta is None else divide(x, convert_to_tensor(beta, wanted), name=scope)


class StatelessRandomGammaV3(Primitive):
    def infer(self, seed: TensorType, alpha: TensorType) -> tuple[TensorType, ...]:
        check_seed("random.stateless_gamma", seed)
        return (alpha,)

    def kernel(self, xp: Any, seed: Any, alpha: Any) -> Any:
        shape = (rejection.GAMMA_WORDS, *alpha.shape)
        return rejection.gamma(xp, words_of(xp, seed, shape), alpha, alpha.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return None, lambda: implicit_back(dy, op.inputs[1], op.outputs[0])
