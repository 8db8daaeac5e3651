"""Layers: what is composed of operations and has no primitive of its own: losses, cells, initializers, pipelines."""

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    """An answer to programs that look for TensorFlow's layers here."""
    raise AttributeError(
        f"module 'pullback' has no attribute 'layers.{name}'; "
        "make variables with pb.get_variable, and layers of the functions of pb.nn"
    )
