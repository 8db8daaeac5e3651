"""Activations, cross entropies, convolutions and pooling under the names of `tf.keras.backend`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.typing import ShapeLike, TensorLike
from .arithmetic import cast
from .state import checked_format, epsilon, rank_of


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> pb.Tensor:
    """`x` above the threshold, `alpha` times what is missing to it below, and `max_value` at most.

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> pb.Session().run(backend.relu([-2.0, 1.0, 9.0], alpha=0.5, max_value=6.0)).tolist()
    [-1.0, 1.0, 6.0]
    """
    tensor = pb.convert_to_tensor(x)
    above: pb.Tensor = pb.nn.relu(tensor)
    if threshold:
        above = tensor * cast(tensor > threshold, tensor.dtype)
    if max_value is not None:
        above = pb.minimum(above, max_value)
    if not alpha:
        return above
    return above - alpha * pb.nn.relu(threshold - tensor)


def elu(x: TensorLike, alpha: float = 1.0) -> pb.Tensor:
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
    y = pb.nn.elu(x)
    return y if alpha == 1 else pb.where(pb.convert_to_tensor(x) > 0.0, y, alpha * y)


def hard_sigmoid(x: TensorLike) -> pb.Tensor:
    """`0.2 * x + 0.5` between 0 and 1."""
    return pb.clip_by_value(pb.convert_to_tensor(x) * 0.2 + 0.5, 0.0, 1.0)


def softmax(x: TensorLike, axis: int = -1) -> pb.Tensor:
    """`exp(x)` over its sum along `axis`."""
    return pb.nn.softmax(x, axis)


def dropout(x: TensorLike, level: float, noise_shape: ShapeLike | None = None, seed: int | None = None) -> pb.Tensor:
    """`x` with the share `level` of its elements 0, the others larger."""
    return pb.nn.dropout(x, level, noise_shape, seed)


def logits_behind(output: pb.Tensor, activation: str) -> pb.Tensor | None:
    """What an activation was applied to, where `output` is its result: losses of Keras go back to that."""
    return output.op.inputs[0] if output.op.type == activation else None


@in_graph_of_inputs
def binary_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False) -> pb.Tensor:
    """The cross entropy of yes and no, element by element, of probabilities or of logits.

    Of what a sigmoid made it is that of the logits, which is right where the sigmoid is 0 or 1.
    """
    t, p = pair(target, output)
    behind = p if from_logits else logits_behind(p, "Sigmoid")
    if behind is not None:
        return pb.nn.sigmoid_cross_entropy_with_logits(t, behind)
    small = epsilon()
    p = pb.clip_by_value(p, small, 1.0 - small)
    gained: pb.Tensor = t * pb.log(p + small) + (1.0 - t) * pb.log(1.0 - p + small)
    return -gained


@in_graph_of_inputs
def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> pb.Tensor:
    """The cross entropy along `axis` of probabilities, or of logits; of what a softmax made that of its logits."""
    t, p = pair(target, output)
    behind = p if from_logits else logits_behind(p, "Softmax")
    if behind is not None:
        return pb.nn.softmax_cross_entropy_with_logits(t, behind, axis)
    small = epsilon()
    shares = p / pb.reduce_sum(p, axis, keepdims=True)
    return -pb.reduce_sum(t * pb.log(pb.clip_by_value(shares, small, 1.0 - small)), axis)


@in_graph_of_inputs
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> pb.Tensor:
    """The cross entropy of probabilities, or of logits, for numbers of classes; `axis` goes."""
    labels, p = pb.convert_to_tensor(target), pb.convert_to_tensor(output)
    logits = p if from_logits else logits_behind(p, "Softmax")
    if logits is None:
        logits = pb.log(pb.clip_by_value(p, epsilon(), 1.0 - epsilon()))
    rank = rank_of(logits)
    if axis not in (-1, None) and axis % rank != rank - 1:
        logits = pb.transpose(logits, [*[a for a in range(rank) if a != axis % rank], axis % rank])
    flat = pb.nn.sparse_softmax_cross_entropy_with_logits(
        pb.reshape(pb.cast(labels, "int64"), [-1]), pb.reshape(logits, [-1, pb.shape(logits)[-1]])
    )
    return pb.reshape(flat, pb.shape(logits)[:-1])


@in_graph_of_inputs
def pair(target: TensorLike, output: TensorLike) -> tuple[Any, Any]:
    """Both as tensors of the dtype of the prediction."""
    p = pb.convert_to_tensor(output)
    return pb.cast(pb.convert_to_tensor(target), p.dtype), p


@in_graph_of_inputs
def bias_add(x: TensorLike, bias: TensorLike, data_format: str | None = None) -> pb.Tensor:
    """`x` plus a bias: a vector, one number for each channel, or an array for each place."""
    tensor, b = pb.convert_to_tensor(x), pb.convert_to_tensor(bias)
    if checked_format(data_format) == "channels_last":
        return tensor + b
    rank, of_bias = rank_of(tensor), rank_of(b)
    if of_bias == 1:
        return tensor + pb.reshape(b, [-1, *[1] * (rank - 2)])
    return tensor + pb.transpose(b, [of_bias - 1, *range(of_bias - 1)])


def _letters(data_format: str | None, axes: int) -> str:
    inner = "DHW"[3 - axes :] if axes > 1 else "W"
    return f"N{inner}C" if checked_format(data_format) == "channels_last" else f"NC{inner}"


def _lengths(value: Any, axes: int) -> list[int]:
    return [value] * axes if isinstance(value, int) else list(value)


def _convolved(axes: int, x: TensorLike, kernel: TensorLike, strides: Any, padding: str, form: Any, rate: Any) -> Any:
    images, early = pb.convert_to_tensor(x), padding == "causal"
    letters = _letters(form, axes)
    if early:
        before = _lengths(rate, 1)[0] * (pb.convert_to_tensor(kernel).shape.size(0) - 1)
        images = pb.pad(images, [[before, 0] if letter == "W" else [0, 0] for letter in letters])
    return pb.nn.convolution(
        images,
        kernel,
        _lengths(strides, axes),
        "VALID" if early else padding.upper(),
        letters,
        _lengths(rate, axes),
    )


@in_graph_of_inputs
def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> pb.Tensor:
    """A convolution along one axis; with the padding "causal" no step sees a later one."""
    return _convolved(1, x, kernel, strides, padding, data_format, dilation_rate)  # type: ignore[no-any-return]


@in_graph_of_inputs
def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> pb.Tensor:
    """A convolution along two axes.

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> backend.conv2d(pb.ones([2, 5, 5, 3]), pb.ones([3, 3, 3, 4]), padding="same").shape
    TensorShape([2, 5, 5, 4])
    """
    return _convolved(2, x, kernel, strides, padding, data_format, dilation_rate)  # type: ignore[no-any-return]


@in_graph_of_inputs
def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> pb.Tensor:
    """A convolution along three axes."""
    return _convolved(3, x, kernel, strides, padding, data_format, dilation_rate)  # type: ignore[no-any-return]


def _pooled(axes: int, x: TensorLike, size: Any, strides: Any, padding: str, form: str | None, mode: str) -> pb.Tensor:
    if mode not in ("max", "avg"):
        raise ValueError(f"keras.backend.pool{axes}d: pool_mode must be 'max' or 'avg', not {mode!r}")
    kind = mode.upper()
    return pb.nn.pool(
        x,
        _lengths(size, axes),
        kind,
        _lengths(strides, axes),
        padding.upper(),
        _letters(form, axes),
    )


def pool2d(
    x: TensorLike,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> pb.Tensor:
    """The largest, or the mean, of each window of images."""
    return _pooled(2, x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: TensorLike,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> pb.Tensor:
    """The largest, or the mean, of each window of volumes."""
    return _pooled(3, x, pool_size, strides, padding, data_format, pool_mode)


def temporal_padding(x: TensorLike, padding: Sequence[int] = (1, 1)) -> pb.Tensor:
    """Sequences [batch, time, depth] with zeros before and behind."""
    return pb.pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x: TensorLike, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None) -> pb.Tensor:
    """Images with zeros around them."""
    return padded(x, padding, data_format)


def spatial_3d_padding(
    x: TensorLike, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> pb.Tensor:
    """Volumes with zeros around them."""
    return padded(x, padding, data_format)


def padded(x: TensorLike, padding: Any, data_format: str | None) -> pb.Tensor:
    """`x` with zeros around it along the axes between batch and channels."""
    widths = [list(pair) for pair in padding]
    last = checked_format(data_format) == "channels_last"
    return pb.pad(x, [[0, 0], *widths, [0, 0]] if last else [[0, 0], [0, 0], *widths])


@in_graph_of_inputs
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    axis: int = -1,
    epsilon: float = 1e-3,
) -> pb.Tensor:
    """`x` less a mean over a deviation, times `gamma` plus `beta`, all for each place along `axis`, or of its shape."""
    tensor = pb.convert_to_tensor(x)
    rank = rank_of(tensor)
    broad = [-1 if a == axis % rank else 1 for a in range(rank)]
    given = [None if v is None else pb.convert_to_tensor(v) for v in (mean, var, beta, gamma)]
    at = [v if v is None or v.shape.rank != 1 else pb.reshape(v, broad) for v in given]
    return pb.nn.batch_normalization(tensor, at[0], at[1], at[2], at[3], epsilon)  # type: ignore[arg-type]
