"""Bitwise operations on integers, under TensorFlow's names of `tf.bitwise`."""

from .primitives.bitwise import bitwise_and as bitwise_and
from .primitives.bitwise import bitwise_or as bitwise_or
from .primitives.bitwise import bitwise_xor as bitwise_xor
from .primitives.bitwise import invert as invert
from .primitives.bitwise import left_shift as left_shift
from .primitives.bitwise import right_shift as right_shift
