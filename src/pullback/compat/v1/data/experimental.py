"""Transformations of `tf.data.experimental` and `tf.contrib.data`, for `Dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dataset import Dataset

Transformation = Callable[[Dataset], Dataset]
AUTOTUNE = -1


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Transformation:
    """`shuffle`, then `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map`, then `batch`."""
    del num_parallel_batches, num_parallel_calls
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def batch_and_drop_remainder(batch_size: int) -> Transformation:
    """`batch` without a smaller last one."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return Dataset.unbatch


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """The same dataset."""
    del device, buffer_size
    return Dataset.prefetch
