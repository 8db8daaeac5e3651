"""Readers of several files: `slim.parallel_reader`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pullback as pb

from ..gfile import Glob
from ..io.readers import ReaderBase
from ..queues import FIFOQueue, RandomShuffleQueue
from ..train.producers import fill, string_input_producer


def get_data_files(data_sources: str | Sequence[str]) -> list[str]:
    """The names of the files that match a pattern, or one of several.

    Raises:
        ValueError: there are none.
    """
    patterns = [data_sources] if isinstance(data_sources, str) else data_sources
    found = [path for pattern in patterns for path in Glob(pattern)]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found


def parallel_read(
    data_sources: str | Sequence[str],
    reader_class: Callable[..., ReaderBase],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> tuple[pb.Tensor, pb.Tensor]:
    """A key and a value of files, another one in each run, in an order that is drawn unless `shuffle` is false."""
    del scope
    names = string_input_producer(get_data_files(data_sources), num_epochs, shuffle, seed)
    kinds = dtypes or [pb.string, pb.string]
    queue = (
        RandomShuffleQueue(capacity, min_after_dequeue, kinds, [[], []], seed=seed)
        if shuffle
        else FIFOQueue(capacity, kinds, [[], []])
    )
    readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
    fill(queue, [queue.enqueue(reader.read(names)) for reader in readers])
    key, value = queue.dequeue()
    return key, value


def single_pass_read(
    data_sources: str | Sequence[str],
    reader_class: Callable[..., ReaderBase],
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> tuple[pb.Tensor, pb.Tensor]:
    """A key and a value of files, in their order, once."""
    names = string_input_producer(get_data_files(data_sources), 1, False, capacity=1, name=scope)
    return reader_class(**(reader_kwargs or {})).read(names)
