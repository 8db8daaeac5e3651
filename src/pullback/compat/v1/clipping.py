"""Gradient clipping by norm, of IndexedSlices by that of their rows as they are: equal ones count apart, not their sum.

>>> import pullback.compat.v1 as tf
>>> twice = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([0, 0]), tf.constant([2, 1]))
>>> tf.Session().run(tf.global_norm([twice]))
np.float32(5.0)
>>> (clipped,), _ = tf.clip_by_global_norm([twice], 1.0)
>>> tf.Session().run([clipped.values, tf.clip_by_norm(twice, 1.0).values])
[array([[0.6],
       [0.8]], dtype=float32), array([[0.6],
       [0.8]], dtype=float32)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import AxisLike, TensorLike
from ...primitives.normalization import clipping as today


@in_graph_of_inputs
def clip_by_norm(
    t: TensorLike | pb.IndexedSlices, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> pb.Tensor | pb.IndexedSlices:
    """As `pb.clip_by_norm`; the norm of IndexedSlices is that of their rows as they are."""
    clipped: pb.Tensor | pb.IndexedSlices = _as(t, today.clip_by_norm(_rows(t), clip_norm, axes, name))
    return clipped


def global_norm(t_list: Sequence[Any], name: str | None = None) -> pb.Tensor:
    """As `pb.global_norm`; the norm of IndexedSlices is that of their rows as they are."""
    return today.global_norm(_all_rows(t_list), name)


@in_graph_of_inputs
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Any], pb.Tensor]:
    """As `pb.clip_by_global_norm`; the norm of IndexedSlices is that of their rows as they are."""
    clipped, norm = today.clip_by_global_norm(_all_rows(t_list), clip_norm, use_norm, name)
    return [_as(t, y) for t, y in zip(t_list, clipped, strict=True)], norm


def _all_rows(t_list: Any) -> Any:
    return [_rows(t) for t in t_list] if isinstance(t_list, list | tuple) else t_list


def _rows(t: Any) -> Any:
    return t.values if isinstance(t, pb.IndexedSlices) else t


def _as(t: Any, y: Any) -> Any:
    return pb.IndexedSlices(y, t.indices, t.dense_shape, t.static_shape) if isinstance(t, pb.IndexedSlices) else y
