"""Providers of data (`slim.dataset_data_provider.DatasetDataProvider`): other items of a dataset in each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .dataset import Dataset
from .parallel_reader import parallel_read


class DatasetDataProvider:
    """The items of a dataset, which runs of threads read."""

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, data = parallel_read(
            dataset.data_sources,
            dataset.reader,
            num_epochs,
            num_readers,
            reader_kwargs,
            shuffle,
            None,
            common_queue_capacity,
            common_queue_min,
            seed,
            scope,
        )
        names = dataset.decoder.list_items()
        if record_key in names:
            raise ValueError(
                f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}"
            )
        self._items = dict(zip(names, dataset.decoder.decode(data, names), strict=True)) | {record_key: key}
        self._num_samples = dataset.num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """The tensors of some items.

        Raises:
            ValueError: there is no such item.
        """
        for item in items:
            if item not in self._items:
                raise ValueError(f"Item {item} is not in {', '.join(self._items)}")
        return [self._items[item] for item in items]

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items)

    def num_samples(self) -> int | None:
        """How many examples there are."""
        return self._num_samples
