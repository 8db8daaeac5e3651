"""Element types of datasets and iterators: `tf.data.get_output_types` and its like."""

from __future__ import annotations

from typing import Any

from .dataset import Dataset
from .iterators import Iterator
from .structure import classes_in, shapes_in, types_in


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The dtypes of an element."""
    return types_in(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The static shapes of an element."""
    return shapes_in(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The classes of what `get_next` gives."""
    return classes_in(dataset_or_iterator.element_spec)


def get_structure(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The types of an element."""
    return dataset_or_iterator.element_spec
