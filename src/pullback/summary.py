"""Graphs and values for TensorBoard: `pb.summary`, TensorFlow's names."""

from .interop.tensorboard import FileWriter as FileWriter
from .interop.tensorboard import audio as audio
from .interop.tensorboard import graph_def as graph_def
from .interop.tensorboard import histogram as histogram
from .interop.tensorboard import image as image
from .interop.tensorboard import merge as merge
from .interop.tensorboard import merge_all as merge_all
from .interop.tensorboard import scalar as scalar
from .interop.tensorboard import tensor_summary as tensor_summary
from .interop.tensorboard import text as text
