"""TensorFlow 1 parameters for `pullback.sparse`."""

from typing import Any

from ... import sparse as today
from .. import older_names
from .arguments import older
from .functions import SPARSE, SPARSE_ADD

PARAMETERS = {"add": SPARSE_ADD, "reduce_max": SPARSE, "reduce_sum": SPARSE}


def __getattr__(name: str) -> Any:
    if name.startswith("segment_"):
        return getattr(older_names, f"sparse_{name}")
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
