"""TensorFlow 1 parameters for `pullback.random`."""

from typing import Any

from ... import random as today
from .arguments import older

PARAMETERS = {"poisson": "lam, shape, dtype, seed, name"}


def __getattr__(name: str) -> Any:
    if name == "stateless_multinomial":
        return older(today.stateless_categorical, "logits, num_samples, seed, output_dtype:dtype, name")
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
