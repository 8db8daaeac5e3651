"""TensorFlow 1 parameters for `pullback.math`."""

from importlib import import_module
from typing import Any

from ... import math as today
from . import functions, nn
from .arguments import older
from .composites import on_composites_too
from .counts import bincount as bincount

_OF_NN = ("in_top_k", "l2_normalize", "log_softmax", "softmax")


def __getattr__(name: str) -> Any:
    if name == "special":
        return import_module(f"{__package__}.special")
    if name in _OF_NN:
        return getattr(nn, name)
    parameters = functions.CONFUSION if name == "confusion_matrix" else functions.PARAMETERS.get(name)
    return on_composites_too(name, older(getattr(today, name), parameters), parameters)


def __dir__() -> list[str]:
    return dir(today)
