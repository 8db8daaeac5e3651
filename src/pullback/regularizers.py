"""Penalties on weights: `pb.regularizers`, the names of `tf.keras.regularizers`."""

from .layers.losses.regularizers import l1 as l1
from .layers.losses.regularizers import l1_l2 as l1_l2
from .layers.losses.regularizers import l2 as l2
