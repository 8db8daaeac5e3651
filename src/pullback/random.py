"""Random numbers: `pb.random`, TensorFlow's names of them, old and new."""

from .primitives.random import (
    categorical,
    get_seed,
    random_normal,
    random_shuffle,
    random_uniform,
    set_random_seed,
    truncated_normal,
)
from .primitives.random import (
    random_normal as normal,
)
from .primitives.random import (
    random_shuffle as shuffle,
)
from .primitives.random import (
    random_uniform as uniform,
)
from .primitives.random import (
    set_random_seed as set_seed,
)
from .primitives.stateless_random import (
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "categorical",
    "get_seed",
    "normal",
    "random_normal",
    "random_shuffle",
    "random_uniform",
    "set_random_seed",
    "set_seed",
    "shuffle",
    "stateless_categorical",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]
