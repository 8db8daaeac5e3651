"""Dropout: elements kept at random, and scaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, float32
from ...core.graph import AbstractTensorLike, Operation, Tensor
from ...core.types import TensorType
from ...core.typing import ShapeLike, TensorLike
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..elementwise.arithmetic import Mul
from ..reduction.sum import sum_like
from ..shape.reshape import shape_to_use
from ..shape.size import shape as shape_of
from . import threefry
from .stateful import AbstractDraw, Dims, drawn, get_seed, inferred_shape, shape_inputs


@in_graph_of_inputs
def dropout(
    x: TensorLike,
    rate: float | Tensor | AbstractTensorLike,
    noise_shape: ShapeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`x` with each element set to 0 with probability `rate`, else divided by `1 - rate`; drawn anew in each run.

    The derivative is multiplied by the same mask. `rate` 0 gives `x` itself.

    Shapes: any; `noise_shape` is the shape of what is drawn, which broadcasts to that of `x` (None: the length of `x`).
    Dtypes: any float.

    Derivative: dx = dy * mask; drate = sum(dy * y) / (1 - rate).

    Raises:
        ValueError: `x` holds no floats, or `rate`, where it is a number, is not in [0, 1).

    Source: N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15, 2014.

    >>> import pullback as pb
    >>> y = pb.Session().run(pb.nn.dropout(pb.ones([1000]), rate=0.5, seed=1))
    >>> sorted(set(y.tolist()))
    [0.0, 2.0]
    """
    tensor = convert_to_tensor(x)
    if tensor.dtype not in FLOATING:
        raise ValueError(f"dropout: x must hold floats, since it is divided by 1 - rate; it is {tensor}")
    known = None if isinstance(rate, Tensor | AbstractTensorLike) else rate
    if known is not None and not (np.ndim(known) == 0 and 0 <= known < 1):
        raise ValueError(f"dropout: rate must be a number in the range [0, 1), not {rate!r}")
    if known == 0:
        return tensor
    with tensor.graph.within(name or "dropout") as scope:
        shape = _noise_shape(tensor, noise_shape)
        dims, lengths = shape_inputs(shape)
        inputs = lengths if known is not None else (convert_to_tensor(shape), cast(rate, float32))
        number = None if known is None else float(known)
        mask = drawn(tensor.graph, DropoutMask(dims, tensor.dtype, number, *get_seed(seed)), inputs, "mask")
        y = Mul()(tensor, mask, name=scope)
        if y.shape != tensor.shape:
            y.set_shape(tensor.shape)
        return y


class DropoutMask(AbstractDraw):
    """1 / (1 - rate) with probability 1 - rate, else 0."""

    shape_inputs = length_inputs = (0,)

    shape: Dims
    dtype: Any
    rate: float | None
    """None where a second input, after the lengths, gives it."""
    seed: int | None = None
    seed2: int | None = None

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, inferred_shape(self.shape, self._lengths(types))),)

    def drawn_shape(self, *arrays: Any) -> tuple[int, ...]:
        return shape_to_use(self.shape, *self._lengths(arrays) or (None,))

    def sample(self, xp: Any, pair: tuple[Any, Any], *arrays: Any) -> Any:
        if self.rate is None:
            keep = threefry.uniform(xp, pair, float32) >= arrays[-1]
            return xp.where(keep, 1 / (1 - arrays[-1]), float32.type(0)).astype(self.dtype)
        first = np.uint32(min(round(self.rate * 2.0**32), 2**32 - 1))
        scale = np.float64(1 / (1 - self.rate)).astype(self.dtype)
        return xp.where(pair[0] >= first, scale, self.dtype.type(0))

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        """By a rate that is an input: of the elements that are kept, dy * y / (1 - rate)."""
        if self.rate is not None:
            return (None,) * len(op.inputs)
        _, rate = op.inputs
        return None, lambda: sum_like(cast(dy * op.outputs[0], float32), rate) / (1 - rate)

    def _lengths(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(inputs[:-1] if self.rate is None else inputs)


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    if noise_shape is None:
        return x.shape.as_list() if x.shape.is_fully_defined() else shape_of(x)
    if not isinstance(noise_shape, list | tuple) or None not in noise_shape:
        return noise_shape
    lengths = [None] * len(noise_shape) if x.shape.rank is None else x.shape.as_list()
    known = [n if m is None else m for m, n in zip(noise_shape, lengths, strict=True)]
    if None not in known:
        return known
    dynamic = shape_of(x)
    return [dynamic[i] if n is None else n for i, n in enumerate(known)]
