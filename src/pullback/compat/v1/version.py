"""Versions of TensorFlow 1 that programs ask for: `tf.version`."""

from ... import __version__ as _ours

VERSION = "1.15.0"
GIT_VERSION = f"pullback {_ours}"
COMPILER_VERSION = ""
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
