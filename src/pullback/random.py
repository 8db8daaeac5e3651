"""Random numbers: `pb.random`, TensorFlow's names of them, old and new."""

from .compat.older_names import multinomial as multinomial
from .layers.losses.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from .layers.losses.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
from .layers.losses.unigram_sampling import all_candidate_sampler as all_candidate_sampler
from .layers.losses.unigram_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from .layers.losses.unigram_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from .primitives.random.discrete import random_poisson as _poisson
from .primitives.random.discrete import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from .primitives.random.discrete import stateless_poisson as stateless_poisson
from .primitives.random.gamma import random_gamma as random_gamma
from .primitives.random.gamma import stateless_gamma as stateless_gamma
from .primitives.random.stateful import categorical as categorical
from .primitives.random.stateful import get_seed as get_seed
from .primitives.random.stateful import random_normal as random_normal
from .primitives.random.stateful import random_shuffle as random_shuffle
from .primitives.random.stateful import random_uniform as random_uniform
from .primitives.random.stateful import set_random_seed as set_random_seed
from .primitives.random.stateful import truncated_normal as truncated_normal
from .primitives.random.stateless import stateless_categorical as stateless_categorical
from .primitives.random.stateless import stateless_normal as stateless_normal
from .primitives.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from .primitives.random.stateless import stateless_uniform as stateless_uniform

gamma = random_gamma
normal = random_normal
poisson = _poisson
set_seed = set_random_seed
shuffle = random_shuffle
uniform = random_uniform
