"""Data sets of the tutorials, from files that are there: `tf.contrib.learn.datasets`."""

from __future__ import annotations

from typing import Any

from ... import mnist as mnist


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """The data set of that name: "mnist", from the folder `MNIST-data`.

    Raises:
        ValueError: another name. FileNotFoundError: the files are not there: nothing is downloaded.
    """
    del size
    if name != "mnist":
        raise ValueError(f"learn.datasets.load_dataset: there is 'mnist' only, not {name!r}; read the files with NumPy")
    return mnist.read_data_sets("MNIST-data", fake_data=test_with_fake_data)
