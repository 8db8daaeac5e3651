"""Batch normalization as a layer: moving means for prediction are brought up to date by `UPDATE_OPS`.

S. Ioffe and C. Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
Shift", 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....core.dtypes import float32
from ....core.graph import Tensor
from ....core.typing import TensorLike
from ....layers.variables.scope import VariableScope
from ....primitives.base.axes import static_integers
from ....primitives.casting.cast import cast
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.creation.fill import ones_like, zeros_like
from ....primitives.normalization.normalization import batch_normalization as normalized
from ....primitives.reduction.moments import moments
from ....primitives.reduction.reduce import reduce_mean
from ....primitives.shape.reshape import reshape
from ....primitives.shape.size import shape, size
from ....primitives.shape.stacking import concat
from .core import is_training, while_training
from .renormalization import Moving, Renormalization
from .variables import ONES, ZEROS, Maker, Named, Wish, layer_scope, layer_variable

Pair = tuple[Tensor, Tensor]
Transform = tuple[Any, Any]
"""A factor and a summand; those of a layer's variables may be None."""


def batch_normalization(
    inputs: TensorLike,
    axis: int | Sequence[int] = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Named = ZEROS,
    gamma_initializer: Named = ONES,
    moving_mean_initializer: Named = ZEROS,
    moving_variance_initializer: Named = ONES,
    beta_regularizer: Named = None,
    gamma_regularizer: Named = None,
    beta_constraint: Maker = None,
    gamma_constraint: Maker = None,
    training: TensorLike | bool = False,
    trainable: bool = True,
    name: str | VariableScope | None = None,
    reuse: bool | str | None = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, TensorLike] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[[Tensor], Pair] | None = None,
) -> Tensor:
    """`inputs` less their mean along all axes but those in `axis`, over their deviation, times gamma plus beta.

    Where `training`, be it known or computed in a run, mean and variance are those of the batch, else moving ones. What
    brings these up to date is in the collection `UPDATE_OPS`: let the training step depend on it. Floats of 16 bits are
    normalized as float32, which the variables are then.

    For `renorm` see `Renormalization`. With `virtual_batch_size` each part of the batch has moments of its own: example
    i is in part i % (examples / virtual_batch_size). `adjustment` makes of the shape of the inputs what they are
    multiplied with and what is then added while training, before gamma and beta.

    Raises:
        ValueError: the rank is not known, or options exclude each other.
    """
    x = convert_to_tensor(inputs)
    form = _form(x, axis, virtual_batch_size, adjustment)
    is_plain = not renorm and virtual_batch_size is None and adjustment is None
    is_unbiased = fused is not False and is_plain and x.shape.rank == 4 and form.axes in ([1], [3])
    with layer_scope(name, "batch_normalization", x, reuse, float32 if x.dtype.itemsize == 2 else x.dtype):
        gamma = beta = None
        if scale:
            wish = Wish(gamma_initializer, gamma_regularizer, gamma_constraint)
            gamma = layer_variable("gamma", form.shape, wish, trainable)
        if center:
            wish = Wish(beta_initializer, beta_regularizer, beta_constraint)
            beta = layer_variable("beta", form.shape, wish, trainable)
        wishes = Wish(moving_mean_initializer), Wish(moving_variance_initializer)
        moving = Moving.made(form.shape, wishes, momentum, epsilon, training)
        again = None
        if renorm:
            again = Renormalization.made(form.shape, wishes, renorm_clipping or {}, renorm_momentum)
        z = cast(x, moving.mean.dtype)
        z = z if virtual_batch_size is None else reshape(z, concat([[virtual_batch_size, -1], shape(x)[1:]], 0))
        used: Pair = moving.read()
        transform: Transform = (form.broad(gamma), form.broad(beta))
        if is_training(training) is not False:
            if adjustment is not None:
                transform = _composed(_while_training_only(training, adjustment(shape(z))), transform)
            batch = moments(z, form.reduced, keepdims=form.keeps_rank)
            kept = used
            used = while_training(training, lambda: batch, lambda: kept)
            seen = (batch[0], _unbiased(batch[1], x, form.shape[0])) if is_unbiased else batch
            if virtual_batch_size is not None:
                seen = reduce_mean(seen[0], 1, keepdims=True), reduce_mean(seen[1], 1, keepdims=True)
            if again is not None:
                correction = _while_training_only(training, again.correction(seen, epsilon))
                transform = _composed((form.broad(correction[0]), form.broad(correction[1])), transform)
                again.follow(moving, seen)
            else:
                moving.follow(seen)
        y = normalized(z, form.broad(used[0]), form.broad(used[1]), transform[1], transform[0], epsilon)
        return cast(y if virtual_batch_size is None else reshape(y, shape(x)), x.dtype)


class Form(NamedTuple):
    """Where the moments of a tensor are taken, and how its variables lie along it."""

    axes: list[int]
    """The axes along which there is a mean each."""

    reduced: list[int]
    shape: list[int | None]
    keeps_rank: bool
    """Whether variables have all axes of the tensor."""

    place: list[int | None] | None
    """The shape in which a variable broadcasts, if it is not its own."""

    def broad(self, v: Any) -> Any:
        """A variable, or a vector like it, as it broadcasts; None of None."""
        return v if v is None or self.place is None else reshape(v, self.place)


def _form(x: Tensor, axis: int | Sequence[int], parts: int | None, adjustment: object) -> Form:
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"batch_normalization: the rank of {x} must be known; use pb.ensure_shape")
    given = static_integers(axis, "batch_normalization: axis")
    axes = sorted({a + rank if a < 0 else a for a in given})
    if len(axes) < len(given) or any(not 0 <= a < rank for a in axes):
        raise ValueError(f"batch_normalization: axis must be different axes of {x}, not {axis}")
    lengths = [x.shape.size(a) for a in range(rank)]
    broad = [length if a in axes else 1 for a, length in enumerate(lengths)]
    if parts is None:
        reduced = [a for a in range(rank) if a not in axes]
        if len(axes) > 1:
            return Form(axes, reduced, broad, True, None)
        return Form(axes, reduced, [lengths[axes[0]]], False, None if axes[0] == rank - 1 else broad)
    if 0 in axes or adjustment is not None:
        raise ValueError("batch_normalization: with virtual_batch_size there is no axis 0 and no adjustment")
    return Form(axes, [0, *[a + 1 for a in range(1, rank) if a not in axes]], [1, *broad], True, None)


def _composed(first: Transform, then: Transform) -> Transform:
    """Factor and summand of both transforms, one after the other."""
    (factor, summand), (scale, offset) = first, then
    if scale is None:
        return factor, summand + offset if offset is not None else summand
    return factor * scale, summand * scale if offset is None else summand * scale + offset


def _while_training_only(training: TensorLike | bool, transform: Pair) -> Pair:
    factor, summand = (convert_to_tensor(t) for t in transform)
    made: Pair = while_training(training, lambda: (factor, summand), lambda: (ones_like(factor), zeros_like(summand)))
    return made


def _unbiased(variance: Tensor, x: Tensor, length: int | None) -> Tensor:
    """The variance of what the batch is a sample of, as TensorFlow's kernel for images keeps it."""
    count = x.shape.num_elements()
    if count is not None and length is not None:
        number = count // length
        return variance * (number / max(number - 1, 1))
    several = cast(size(x), float32) / cast(size(variance), float32)
    return variance * cast(several / (several - 1.0), variance.dtype)
