"""TensorFlow 1 parameters for `pullback.random`."""

from typing import Any

from ... import random as today
from . import random_keys as experimental  # noqa: F401  (its name there)
from .arguments import older
from .random_keys import stateless_fold_in as fold_in  # noqa: F401
from .random_keys import stateless_split as split  # noqa: F401

PARAMETERS = {"poisson": "lam, shape, dtype, seed, name"}


def __getattr__(name: str) -> Any:
    if name == "stateless_multinomial":
        return older(today.stateless_categorical, "logits, num_samples, seed, output_dtype:dtype, name")
    return older(getattr(today, name), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
