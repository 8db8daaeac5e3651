"""Tensor manipulation of TensorFlow 1: what moves elements, gathered late as `tf.manip`."""

from typing import Any

from ... import compat

NAMES = ("batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd", "tile")


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module 'tensorflow.manip' has no attribute '{name}'")
    return getattr(compat.v1, name)


def __dir__() -> list[str]:
    return list(NAMES)
