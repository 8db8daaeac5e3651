"""Strings: `pb.strings`, under TensorFlow's names of `tf.strings`."""

from .primitives.strings import as_string as as_string
from .primitives.strings import format as format
from .primitives.strings import join as join
from .primitives.strings import length as length
from .primitives.strings import to_number as to_number
