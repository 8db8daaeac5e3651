"""Compatibility with TensorFlow 1: `pb.compat.v1`, for programs that import TensorFlow by that name."""

from . import v1

__all__ = ["v1"]
