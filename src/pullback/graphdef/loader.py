"""SavedModels as version 1 loads them: `saved_model.loader.load`."""

from __future__ import annotations

from .saved_model import load_into as load
from .saved_model import maybe_saved_model_directory

__all__ = ["load", "maybe_saved_model_directory"]
