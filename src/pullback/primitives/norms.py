"""Norms, variances and the logarithm of sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import COMPLEX, FLOATING, INEXACT, bfloat16, float16, float32
from ..core.graph import get_default_graph
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.types import TensorType
from .axes import as_axes, checked_axis, static_integers
from .casting import cast
from .complex import conj, real
from .constant import convert_to_tensor
from .division import divide_no_nan
from .elementwise import AbstractElementwise, Entry, in_float32
from .logsumexp import ExpDifference
from .masking import multiply_no_nan
from .reduction import Axes, reduce_max, reduce_mean, reduce_sum, take_numbers
from .reshaping import keep_reduced, reduced_shape
from .shaping import expand_dims, squeeze, transpose
from .svd import svd


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """`log(sum(exp(x)))` along `axis` without overflow: an axis, a list of them, or None for all; of none it is -inf.

    The derivative by an element that is -inf is 0, by one that is inf 1.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.reduce_logsumexp([0.0, 1000.0]))
    np.float32(1000.0)
    """
    x = take_numbers(input_tensor, "reduce_logsumexp", FLOATING)
    result: Tensor = LogSumExp(as_axes(axis, x, "reduce_logsumexp"), bool(keepdims))(x, name=name)
    return result


class LogSumExp(Primitive):
    type = "LogSumExp"

    axis: Axes = None
    keepdims: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, self.axis, self.keepdims)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = x.dtype
        x = x.astype(float32) if dtype in (float16, bfloat16) else x
        top = xp.max(x, axis=self.axis, keepdims=True, initial=-xp.inf)
        top = xp.where(xp.isfinite(top), top, xp.zeros((), x.dtype))
        total = xp.log(xp.sum(xp.exp(x - top), axis=self.axis, keepdims=self.keepdims, dtype=x.dtype))
        return (total + top.reshape(total.shape)).astype(dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,), (y,) = op.inputs, op.outputs

        def back() -> Tensor:
            weights = ExpDifference()(x, keep_reduced(y, x, self.axis, self.keepdims))
            return multiply_no_nan(weights, keep_reduced(dy, x, self.axis, self.keepdims))

        return (back,)


def euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """`sqrt(sum(abs(x)**2))` along `axis`: an axis, a list of them, or None for all. The derivative at 0 is 0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers;
    the norm of complex numbers is complex, as in TensorFlow.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 2.0]], axis=1))
    array([5., 2.], dtype=float32)
    """
    x = take_numbers(input_tensor, "reduce_euclidean_norm", INEXACT)
    norms = EuclideanNorm(as_axes(axis, x, "reduce_euclidean_norm"), bool(keepdims))
    if x.dtype in COMPLEX:
        of_complex: Tensor = cast(norms(abs(x)), x.dtype, name=name)
        return of_complex
    result: Tensor = norms(x, name=name)
    return result


class EuclideanNorm(Primitive):
    type = "EuclideanNorm"

    axis: Axes = None
    keepdims: bool = False

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, self.axis, self.keepdims)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        dtype = x.dtype
        x = x.astype(float32) if dtype in (float16, bfloat16) else x
        total = xp.sum(x * x, axis=self.axis, keepdims=self.keepdims, dtype=x.dtype)
        return xp.sqrt(total).astype(dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        (x,), (y,) = op.inputs, op.outputs

        return (lambda: x * keep_reduced(divide_no_nan(dy, y), x, self.axis, self.keepdims),)


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Tensor:
    """The norm of vectors, or of matrices where `axis` names two: "euclidean" or "fro" or 2, 1, infinity, any p > 0.

    With `axis=None` all elements are one vector. For matrices "euclidean" and "fro" are the Frobenius norm, 2 is the
    largest singular value, 1 and infinity the largest column and row sum; others there are not. The derivative at 0 is
    0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers.

    Raises:
        ValueError: another `ord`, or one that matrices or vectors do not have; an axis out of range.

    >>> import pullback as pb
    >>> pb.Session().run([pb.norm([3.0, -4.0]), pb.norm([3.0, -4.0], ord=1)])
    [np.float32(5.0), np.float32(7.0)]
    """
    x = convert_to_tensor(tensor)
    axes = None if axis is None else static_integers(axis, "norm: axis")
    keep = bool(keepdims)
    if axes is not None and len(axes) == 2:
        return _matrix_norm(x, ord, axes, keep, name)
    if axes is not None and len(axes) != 1:
        raise ValueError(f"norm: axis must be None, an integer, or two integers, not {axis!r}")
    if ord in ("euclidean", 2):
        return euclidean_norm(x, axes, keep, name or "norm")
    if not isinstance(ord, int | float) or ord <= 0:
        raise ValueError(f"norm: ord must be 'euclidean', 1, 2, infinity or a positive number for vectors, not {ord!r}")
    if ord == 1:
        return reduce_sum(abs(x), axes, keep, name or "norm")
    if ord == float("inf"):
        return reduce_max(abs(x), axes, keep, name or "norm")
    with get_default_graph().name_scope(name or "norm"):
        total: Tensor = Root(1.0 / ord)(reduce_sum(abs(x) ** ord, axes, keep))
        return total


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keep: bool, name: str | None) -> Tensor:
    if ord in ("euclidean", "fro"):
        return euclidean_norm(x, axes, keep, name or "norm")
    if ord not in (1, 2, float("inf")):
        raise ValueError(f"norm: ord must be 'euclidean', 'fro', 1, 2 or infinity for matrices, not {ord!r}")
    if ord == 2:
        return _largest_singular_value(x, axes, keep, name)
    rows, columns = axes
    first, second = (rows, columns) if ord == 1 else (columns, rows)
    sums = reduce_sum(abs(x), first, keepdims=True)
    largest = reduce_max(sums, second, keepdims=True, name=name or "norm")
    if keep:
        return largest
    return squeeze(largest, list(axes))


def _largest_singular_value(x: Tensor, axes: tuple[int, ...], keep: bool, name: str | None) -> Tensor:
    rank = x.shape.rank
    if rank is None and axes != (-2, -1):
        raise ValueError(f"norm: the rank of {x.type} must be known, or axis=(-2, -1)")
    with x.graph.name_scope(name or "norm"):
        if rank is not None:
            last = [checked_axis(axis, rank, "norm", x.type) for axis in axes]
            x = x if last == [rank - 2, rank - 1] else transpose(x, [*[i for i in range(rank) if i not in last], *last])
        largest = reduce_max(svd(x, compute_uv=False), -1)
        for axis in sorted(axes if rank is None else last) if keep else ():
            largest = expand_dims(largest, axis)
        return largest


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """`sum(t**2) / 2`.

    Shapes: any; the result is a scalar. Dtypes: floats.

    Raises:
        TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.l2_loss([1.0, 3.0]))
    np.float32(5.0)
    """
    result: Tensor = L2Loss()(take_numbers(t, "l2_loss", FLOATING), name=name)
    return result


class L2Loss(Primitive):
    type = "L2Loss"

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (TensorType(x.dtype, reduced_shape(x.shape, None, False)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        flat = (x.astype(float32) if x.dtype in (float16, bfloat16) else x).reshape(-1)
        return (xp.vdot(flat, flat) / 2).astype(x.dtype)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (lambda: op.inputs[0] * dy,)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean of `abs(x - mean(x))**2` along `axis`: an axis, a list of them, or None for all.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers,
    of which the variance is real.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reduce_variance([1.0, 3.0]))
    np.float32(1.0)
    """
    x = take_numbers(input_tensor, "reduce_variance", INEXACT)
    with x.graph.name_scope(name or "reduce_variance"):
        difference = x - reduce_mean(x, axis, keepdims=True)
        if x.dtype in COMPLEX:
            return reduce_mean(real(difference * conj(difference)), axis, keepdims)
        return reduce_mean(difference * difference, axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of the variance along `axis`: an axis, a list of them, or None for all.

    Its derivative is 0 where the variance is 0.

    Shapes: any; the result lacks the axes, or with `keepdims` has length one there. Dtypes: floats and complex numbers,
    of which the deviation is real.

    Raises:
        ValueError: an axis is out of range or stands twice. TypeError: not floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.math.reduce_std([1.0, 5.0]))
    np.float32(2.0)
    """
    x = take_numbers(input_tensor, "reduce_std", INEXACT)
    with x.graph.name_scope(name or "reduce_std"):
        deviation: Tensor = Root(0.5)(reduce_variance(x, axis, keepdims))
        return deviation


class Root(AbstractElementwise):
    """`x` to a power between 0 and 1, with derivative 0 at 0: there a norm has a kink, and 0 is among its slopes."""

    type = "Root"
    dtypes = FLOATING

    exponent: float

    @in_float32
    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.sqrt(x) if self.exponent == 0.5 else xp.power(x, self.exponent)

    def partials(self, dy: Tensor, y: Tensor, x: Tensor) -> Sequence[Entry]:
        if self.exponent == 0.5:
            return (lambda: divide_no_nan(dy * 0.5, y),)
        return (lambda: divide_no_nan(dy * y * self.exponent, x),)
