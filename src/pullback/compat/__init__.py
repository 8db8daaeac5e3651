"""Compatibility with TensorFlow 1: `pb.compat.v1`, for programs that import TensorFlow by that name or by its own.

Each is imported when it is first used: the root has names of older TensorFlow from beside it, and version 1 those of
the root.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import v1 as v1
    from .import_hook import install as install
    from .import_hook import uninstall as uninstall

__all__ = ["install", "uninstall", "v1"]


def __getattr__(name: str) -> Any:
    if name == "v1":
        return import_module(f"{__name__}.v1")
    if name in __all__:
        return getattr(import_module(f"{__name__}.import_hook"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
