"""Preparation of data: `tf.keras.preprocessing`."""

from . import sequence as sequence
