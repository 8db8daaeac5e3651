"""Experimental names of Keras: `tf.keras.experimental`."""

from .features import SequenceFeatures as SequenceFeatures
from .optimizers.schedules import CosineDecay as CosineDecay
