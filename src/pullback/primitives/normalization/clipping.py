"""Gradient clipping by norm: of tensors, of IndexedSlices, and of many of either together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import ml_dtypes
import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, DType, float32, float64
from ...core.graph import Tensor
from ...core.slices import IndexedSlices
from ...core.typing import AxisLike, TensorLike
from ..casting.cast import cast, upcast
from ..creation.constant import convert_to_tensor
from ..creation.fill import ones_like
from ..elementwise.add_n import add_n
from ..elementwise.arithmetic import multiply
from ..elementwise.maximum import maximum
from ..elementwise.powers import sqrt, square
from ..reduction.reduce import reduce_sum
from ..sparse.unique_rows import sum_equal_rows


@overload
def clip_by_norm(  # type: ignore[overload-overlap]
    t: IndexedSlices, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> Tensor: ...
@in_graph_of_inputs
def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """`t`, made shorter where its Euclidean norm is above `clip_norm`: multiplied by clip_norm / max(norm, clip_norm).

    Of IndexedSlices, slices; their norm is that of the dense array, in which equal rows add up. The derivative exists
    at norm 0. With `axes`, each slice along those axes has its own norm, and equal rows of IndexedSlices become one.

    Shapes: any; `clip_norm` a scalar, or what broadcasts to the shape of `t`. Dtypes: any float.

    Derivative: dt = dy * r where the norm is within clip_norm (r = 1), else r * (dy - t * sum(dy * t) / norm^2) with r
    = clip_norm / norm.

    Raises:
        TypeError: `t` holds no floats. ValueError: `clip_norm` would make it larger.

    >>> import pullback as pb
    >>> pb.Session().run(pb.clip_by_norm([3.0, 4.0], 1.0))
    array([0.6, 0.8], dtype=float32)
    """
    tensor = _floats("clip_by_norm", t)
    with _values(tensor).graph.within(name or "clip_by_norm") as scope:
        if axes is None:
            squares = _sum_of_squares(tensor, tensor.dtype)
        else:
            tensor = sum_equal_rows(tensor) if isinstance(tensor, IndexedSlices) else tensor
            squares = reduce_sum(square(upcast(_values(tensor))), axes, keepdims=True)
        return _scaled("clip_by_norm", tensor, _clip_scale(_safe_norm(squares), clip_norm), scope)


@in_graph_of_inputs
def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """`t`, made shorter where its Euclidean norm divided by its number of elements is above `clip_norm`.

    Shapes: any; `clip_norm` a scalar. Dtypes: any float.

    Derivative: as clip_by_norm, with r = clip_norm * n / norm.

    Raises:
        TypeError: `t` holds no floats.

    >>> import pullback as pb
    >>> pb.Session().run(pb.clip_by_average_norm([3.0, 4.0], 0.5))
    array([0.6, 0.8], dtype=float32)
    """
    tensor = convert_to_tensor(_floats("clip_by_average_norm", t))
    with tensor.graph.within(name or "clip_by_average_norm") as scope:
        size, wide = tensor.shape.num_elements(), upcast(tensor)
        count = reduce_sum(ones_like(wide)) if size is None else convert_to_tensor(float(size), wide.dtype)
        norm = _safe_norm(reduce_sum(square(wide)))
        return convert_to_tensor(_scaled("clip_by_average_norm", tensor, _clip_scale(norm / count, clip_norm), scope))


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all of `t_list` together: tensors, IndexedSlices, or None, which counts for nothing.

    The norm of IndexedSlices is that of the dense array, in which equal rows add up.

    Shapes: any; the result is a scalar. Dtypes: any float; where they differ the result is float32, or float64 where
    one of them is.

    Derivative: dt = dy * t / y.

    Raises:
        TypeError: `t_list` is no list, or holds no floats. ValueError: there is nothing but None.

    >>> import pullback as pb
    >>> pb.Session().run(pb.global_norm([[3.0], None, [[4.0]]]))
    np.float32(5.0)
    """
    given = _given("global_norm", t_list)
    with _values(given[0]).graph.within(name or "global_norm"):
        return _norm_of_all(given, _sum_of_all_squares(given))


@in_graph_of_inputs
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """`t_list`, all multiplied by clip_norm / max(norm, clip_norm), and the norm: `use_norm`, or the global norm.

    Tensors give tensors, IndexedSlices slices, None gives None. Where the norm is not finite, all are NaN.

    Shapes: any; `clip_norm` a scalar. Dtypes: any float, each stays what it is; the norm's as for `global_norm`.

    Derivative: as clip_by_norm, with the norm and the sum over all of t_list.

    Raises:
        TypeError: `t_list` is no list, or holds no floats. ValueError: there is nothing but None.

    Source: R. Pascanu, T. Mikolov, Y. Bengio, "On the difficulty of training recurrent neural networks", 2013.

    >>> import pullback as pb
    >>> clipped, norm = pb.clip_by_global_norm([pb.constant([3.0]), pb.constant([4.0])], 1.0)
    >>> pb.Session().run([*clipped, norm])
    [array([0.6], dtype=float32), array([0.8], dtype=float32), np.float32(5.0)]
    """
    given = _given("clip_by_global_norm", t_list)
    graph = _values(given[0]).graph
    if use_norm is None:
        with graph.within(name or "global_norm"):
            squares = _sum_of_all_squares(given)
            norm = _norm_of_all(given, squares)
    with graph.within(name or "clip_by_global_norm") as scope:
        if use_norm is None:
            safe = _safe_norm(squares)
        else:
            norm = safe = (
                use_norm if isinstance(use_norm, Tensor) else convert_to_tensor(use_norm, _common_dtype(given))
            )
        scale = _clip_scale(safe, clip_norm)
        rest, clipped = iter(given), []
        for i, t in enumerate(t_list):
            # The name that TensorFlow gives it: that of the scope, in the scope.
            named = f"{scope}{scope}_{i}/"
            clipped.append(None if t is None else _scaled("clip_by_global_norm", next(rest), scale, named))
        return clipped, norm


def _clip_scale(norm: Tensor, clip_norm: Any) -> Tensor:
    limit = cast(clip_norm, norm.dtype) if isinstance(clip_norm, Tensor) else convert_to_tensor(clip_norm, norm.dtype)
    # norm - norm is 0, and NaN for an infinite norm, which would otherwise scale what is finite to 0.
    return limit / maximum(norm, limit) + (norm - norm)


def _safe_norm(squares: Tensor) -> Tensor:
    """The square root of a sum of squares, with derivative 0 at 0."""
    return sqrt(_positive(squares))


def _positive(x: Tensor) -> Tensor:
    """`x`, or the smallest normal number where that is larger."""
    dtype: Any = x.dtype
    tiny = ml_dtypes.finfo(dtype).tiny  # type: ignore[no-untyped-call]
    return maximum(x, convert_to_tensor(np.array(tiny, dtype), graph=x.graph))


def _norm_of_all(given: Sequence[Any], squares: Tensor) -> Tensor:
    """The square root of the sum of the squares of all of `given`, in their dtype."""
    dtype = _common_dtype(given)
    if squares.dtype == dtype:
        return sqrt(squares, name="global_norm")
    return cast(sqrt(squares), dtype, "global_norm")


def _sum_of_all_squares(given: Sequence[Any]) -> Tensor:
    """In float32 where the dtype of all has 16 bits."""
    dtype = _common_dtype(given)
    return add_n([_sum_of_squares(t, dtype) for t in given])


def _sum_of_squares(t: Any, dtype: DType) -> Tensor:
    values = sum_equal_rows(t).values if isinstance(t, IndexedSlices) else t
    return reduce_sum(square(upcast(cast(values, dtype))))


def _common_dtype(given: Sequence[Any]) -> DType:
    """The dtype of all of `given`, or one that is wide enough for each."""
    dtypes = {t.dtype for t in given}
    return dtypes.pop() if len(dtypes) == 1 else float64 if float64 in dtypes else float32


def _scaled(function: str, t: Tensor | IndexedSlices, scale: Tensor, name: str) -> Tensor | IndexedSlices:
    values = _values(t)
    y = multiply(values, cast(scale, t.dtype), name=name)
    if not y.shape.is_compatible_with(values.shape):
        raise ValueError(f"{function}: clip_norm of shape {scale.shape} would make {values} one of shape {y.shape}")
    return IndexedSlices(y, t.indices, t.dense_shape, t.static_shape) if isinstance(t, IndexedSlices) else y


def _values(t: Tensor | IndexedSlices) -> Tensor:
    return t.values if isinstance(t, IndexedSlices) else t


def _floats(function: str, t: TensorLike) -> Tensor | IndexedSlices:
    tensor = t if isinstance(t, IndexedSlices) else convert_to_tensor(t)
    if tensor.dtype not in FLOATING:
        raise TypeError(f"{function}: a norm is taken of floats, not of {tensor}")
    return tensor


def _given(function: str, t_list: Any) -> list[Any]:
    if not isinstance(t_list, list | tuple):
        raise TypeError(f"{function}: t_list should be a sequence of tensors, not {t_list!r}")
    given = [_floats(function, t) for t in t_list if t is not None]
    if not given:
        raise ValueError(f"{function}: t_list holds no tensors")
    return given
