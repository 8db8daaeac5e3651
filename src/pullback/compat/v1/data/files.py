"""Datasets of files: the lines of texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ....core.dtypes import string
from ....core.types import tensor_type
from .dataset import Dataset, Element, Pass, value_of
from .structure import as_leaves


def TextLineDataset(filenames: Any, compression_type: Any = None, buffer_size: Any = None) -> Dataset:
    """The dataset of the lines of files, as bytes, without their ends.

    Raises:
        NotImplementedError: the files are compressed.
    """
    del buffer_size
    if compression_type:
        raise NotImplementedError(f"TextLineDataset: files compressed as {compression_type} are not read; unpack them")
    leaf = as_leaves(filenames)

    def elements(p: Pass) -> Iterator[Element]:
        for name in np.ravel(value_of(leaf, p)):
            with Path(name.decode() if isinstance(name, bytes) else name).open("rb") as file:
                for line in file:
                    yield [np.array(line.rstrip(b"\r\n"), object)]

    return Dataset(tensor_type(string, []), [] if isinstance(leaf, np.ndarray) else [leaf], elements)
