"""Element types of datasets and iterators: `tf.data.get_output_types` and its like."""

from __future__ import annotations

from typing import Any

import pullback as pb

from .dataset import Dataset
from .iterators import Iterator
from .structure import leaves, packed


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The dtypes of an element."""
    spec = dataset_or_iterator.element_spec
    return packed(spec, [kind.dtype for kind in leaves(spec)])


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The static shapes of an element."""
    spec = dataset_or_iterator.element_spec
    return packed(spec, [kind.shape for kind in leaves(spec)])


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The classes of what `get_next` gives."""
    spec = dataset_or_iterator.element_spec
    return packed(spec, [pb.Tensor for _ in leaves(spec)])


def get_structure(dataset_or_iterator: Dataset | Iterator) -> Any:
    """The types of an element."""
    return dataset_or_iterator.element_spec
