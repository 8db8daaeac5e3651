"""Random numbers: `pb.random`, TensorFlow's names of them, old and new."""

from .primitives.candidate_sampling import log_uniform_candidate_sampler, uniform_candidate_sampler
from .primitives.older_names import multinomial
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
from .primitives.random_discrete import (
    random_poisson as poisson,
)
from .primitives.random_discrete import (
    stateless_parameterized_truncated_normal,
    stateless_poisson,
)
from .primitives.random_gamma import (
    random_gamma,
    stateless_gamma,
)
from .primitives.random_gamma import (
    random_gamma as gamma,
)
from .primitives.stateless_random import (
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
