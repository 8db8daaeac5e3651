"""Random numbers: `pb.random`, TensorFlow's names of them, old and new."""

from .compat.older_names import multinomial
from .layers.losses.candidate_sampling import log_uniform_candidate_sampler, uniform_candidate_sampler
from .primitives.random.discrete import random_poisson as poisson
from .primitives.random.discrete import stateless_parameterized_truncated_normal, stateless_poisson
from .primitives.random.gamma import random_gamma, stateless_gamma
from .primitives.random.gamma import random_gamma as gamma
from .primitives.random.stateful import (
    categorical,
    get_seed,
    random_normal,
    random_shuffle,
    random_uniform,
    set_random_seed,
    truncated_normal,
)
from .primitives.random.stateful import random_normal as normal
from .primitives.random.stateful import random_shuffle as shuffle
from .primitives.random.stateful import random_uniform as uniform
from .primitives.random.stateful import set_random_seed as set_seed
from .primitives.random.stateless import (
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "categorical",
    "gamma",
    "get_seed",
    "log_uniform_candidate_sampler",
    "multinomial",
    "normal",
    "poisson",
    "random_gamma",
    "random_normal",
    "random_shuffle",
    "random_uniform",
    "set_random_seed",
    "set_seed",
    "shuffle",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_normal",
    "stateless_parameterized_truncated_normal",
    "stateless_poisson",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]
