"""MNIST data of the tutorials, `tensorflow.examples.tutorials.mnist`: read, and never downloaded."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ...core.dtypes import DType

Array = np.ndarray[Any, Any]
input_data = sys.modules[__name__]
"""The module inside `mnist`, whose names are the same."""
_IMAGES, _LABELS = 2051, 2049
_MOST = 1 << 28
"""The largest file that is read, unpacked."""


class DataSet:
    """Images and labels, and batches of them, epoch by epoch.

    >>> from pullback.compat.v1 import mnist
    >>> data = mnist.read_data_sets("", fake_data=True, one_hot=True)
    >>> images, labels = data.train.next_batch(3)
    >>> images.shape, labels.shape
    ((3, 784), (3, 10))
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = pb.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        if fake_data:
            images, labels = _made_up(one_hot, reshape)
        elif reshape:
            images = images.reshape(len(images), -1)
        kind: DType = pb.as_dtype(dtype)
        if kind == pb.float32 and images.dtype == np.uint8:
            images = images.astype(np.float32) / np.float32(255.0)
        self.images: Array = images
        self.labels: Array = labels
        self.num_examples = len(images)
        self.epochs_completed = 0
        self._order = np.arange(self.num_examples)
        self._next = 0
        self._random = np.random.default_rng(seed)

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Array, Array]:
        """The next images and labels; at the end of an epoch the rest of it and the beginning of the next."""
        del fake_data
        if self._next == 0 and self.epochs_completed == 0 and shuffle:
            self._order = self._random.permutation(self._order)
        rows = self._order[self._next : self._next + batch_size]
        self._next += batch_size
        missing = self._next - self.num_examples
        if missing > 0:
            self.epochs_completed += 1
            if shuffle:
                self._order = self._random.permutation(self._order)
            rows, self._next = np.concatenate([rows, self._order[:missing]]), missing
        return self.images[rows], self.labels[rows]


class Datasets(NamedTuple):
    """The three parts of the data."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = pb.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = "",
) -> Datasets:
    """The data in the four files `train-images-idx3-ubyte.gz` and so on of a folder; made up where `fake_data`.

    Raises:
        FileNotFoundError: a file is not there: nothing is downloaded. ValueError: it is no such file.
    """
    del source_url
    if fake_data:
        return Datasets(*[DataSet(None, None, True, one_hot, dtype, reshape, seed) for _ in range(3)])
    (images, labels), test = [_part(train_dir, name, one_hot) for name in ("train", "t10k")]
    held = slice(None, validation_size), slice(validation_size, None)
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    validation, train = [DataSet(images[rows], labels[rows], **options) for rows in held]
    return Datasets(train, validation, DataSet(*test, **options))


def _made_up(one_hot: bool, reshape: bool) -> tuple[Array, Array]:
    images = np.ones([10000, 784] if reshape else [10000, 28, 28, 1], np.float32)
    labels = np.zeros(10000, np.int64)
    return images, np.eye(10)[labels] if one_hot else labels


def _part(folder: str, name: str, one_hot: bool) -> tuple[Array, Array]:
    images = _read(folder, f"{name}-images-idx3-ubyte.gz", _IMAGES)[..., None]
    labels = _read(folder, f"{name}-labels-idx1-ubyte.gz", _LABELS)
    return images, np.eye(10)[labels] if one_hot else labels


def _read(folder: str, name: str, magic: int) -> Array:
    """The array in a packed file: a magic number, lengths, bytes."""
    path = Path(folder) / name
    if not path.is_file():
        raise FileNotFoundError(f"read_data_sets: there is no {path}; nothing is downloaded, put the file there")
    with gzip.open(path) as file:
        data = file.read(_MOST + 1)
    rank = magic & 255
    header = np.frombuffer(data[: 4 + 4 * rank], ">u4")
    if len(data) > _MOST or len(header) != 1 + rank or header[0] != magic:
        raise ValueError(f"read_data_sets: {path} is no file of {'images' if magic == _IMAGES else 'labels'}")
    lengths = [int(n) for n in header[1:]]
    values = np.frombuffer(data, np.uint8, offset=4 + 4 * rank)
    if values.size != np.prod(lengths):
        raise ValueError(f"read_data_sets: {path} holds {values.size} bytes of data, and its header says {lengths}")
    return values.reshape(lengths)
