"""Random numbers that two seeds decide: `tf.contrib.stateless`.

>>> import pullback.compat.v1 as tf
>>> draw = tf.contrib.stateless.stateless_random_uniform([2], seed=[1, 2])
>>> tf.Session().run(draw).tolist() == tf.Session().run(draw).tolist()
True
"""

from ..random import stateless_multinomial as stateless_multinomial
from ..random import stateless_normal as stateless_random_normal  # noqa: F401  (its name there)
from ..random import stateless_truncated_normal as stateless_truncated_normal
from ..random import stateless_uniform as stateless_random_uniform  # noqa: F401  (its name there)
