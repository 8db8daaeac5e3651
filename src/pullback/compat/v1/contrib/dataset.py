"""Datasets of slim: `slim.dataset.Dataset`, where files are, how they are read and decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Dataset:
    """Files, a reader of them, a decoder of what it reads, and what else is said of them, as attributes."""

    def __init__(
        self,
        data_sources: Any,
        reader: Callable[..., Any],
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: Mapping[str, str],
        **kwargs: Any,
    ) -> None:
        self.data_sources, self.reader, self.decoder = data_sources, reader, decoder
        self.num_samples, self.items_to_descriptions = num_samples, items_to_descriptions
        vars(self).update(kwargs)
