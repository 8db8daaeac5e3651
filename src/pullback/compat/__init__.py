"""Other names of pullback: `pb.compat.v1` is pullback itself, for programs that import TensorFlow 1 by that name."""

from . import v1

__all__ = ["v1"]
