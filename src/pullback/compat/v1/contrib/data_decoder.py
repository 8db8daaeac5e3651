"""Decoders of the examples of a data set (`tf.contrib.slim.data_decoder`); programs derive their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class DataDecoder(ABC):
    """A decoder of serialized examples into items by name."""

    @abstractmethod
    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The items, all or some, of an example."""

    @abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items."""
