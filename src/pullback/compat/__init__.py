"""Compatibility with TensorFlow 1: `pb.compat.v1`, for programs that import TensorFlow by that name or by its own."""

from . import v1
from .import_hook import install, uninstall

__all__ = ["install", "uninstall", "v1"]
