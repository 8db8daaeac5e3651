"""Probability distributions of TensorFlow 1: `tf.distributions`."""

from .continuous import Exponential as Exponential
from .continuous import Laplace as Laplace
from .continuous import Normal as Normal
from .continuous import Uniform as Uniform
from .discrete import Bernoulli as Bernoulli
from .discrete import Categorical as Categorical
from .distribution import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from .distribution import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from .distribution import Distribution as Distribution
from .distribution import RegisterKL as RegisterKL
from .distribution import ReparameterizationType as ReparameterizationType
from .distribution import kl_divergence as kl_divergence
from .independent import Independent as Independent
from .independent import MultivariateNormalDiag as MultivariateNormalDiag
