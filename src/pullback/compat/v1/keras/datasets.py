"""Data sets of `tf.keras.datasets`: MNIST is read where Keras has put it; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

Array = np.ndarray[Any, Any]
Pairs = tuple[tuple[Array, Array], tuple[Array, Array]]
KEPT = Path("~/.keras/datasets")
"""The folder in which Keras keeps what it downloads."""


class Digits(NamedTuple):
    """MNIST."""

    def load_data(self, path: str = "mnist.npz") -> Pairs:
        """Images and labels to train with, and to test with, of the file `path` in `~/.keras/datasets`, or anywhere.

        Raises:
            FileNotFoundError: it is not there.
        """
        file = KEPT.expanduser() / path
        if not file.exists():
            raise FileNotFoundError(f"keras.datasets: there is no {file}, and nothing is downloaded; put it there")
        with np.load(file, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in ("x_train", "y_train", "x_test", "y_test")}
        return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])


class Elsewhere(NamedTuple):
    """A data set that is not read here."""

    name: str

    def load_data(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Always FileNotFoundError."""
        raise FileNotFoundError(f"keras.datasets.{self.name}: nothing is downloaded; read the arrays and feed them")


mnist = Digits()
cifar10, cifar100, fashion_mnist, imdb, reuters, boston_housing = (
    Elsewhere(name) for name in ("cifar10", "cifar100", "fashion_mnist", "imdb", "reuters", "boston_housing")
)
