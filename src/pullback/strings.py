"""Strings: `pb.strings`, under TensorFlow's names of `tf.strings`."""

from .primitives.strings.buckets import to_hash_bucket as to_hash_bucket
from .primitives.strings.buckets import to_hash_bucket_fast as to_hash_bucket_fast
from .primitives.strings.buckets import to_hash_bucket_strong as to_hash_bucket_strong
from .primitives.strings.conversion import as_string as as_string
from .primitives.strings.conversion import format as format
from .primitives.strings.conversion import to_number as to_number
from .primitives.strings.parts import join as join
from .primitives.strings.parts import length as length
from .primitives.strings.parts import lower as lower
from .primitives.strings.parts import reduce_join as reduce_join
from .primitives.strings.parts import strip as strip
from .primitives.strings.parts import substr as substr
from .primitives.strings.parts import upper as upper
from .primitives.strings.patterns import regex_full_match as regex_full_match
from .primitives.strings.patterns import regex_replace as regex_replace
from .primitives.strings.splitting import bytes_split as bytes_split
from .primitives.strings.splitting import split as split
from .primitives.strings.splitting import unicode_split as unicode_split
