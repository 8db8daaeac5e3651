"""Recurrent cells, under TensorFlow's names of `tf.compat.v1.nn.rnn_cell`."""

from .layers.rnn.cells import BasicLSTMCell as BasicLSTMCell
from .layers.rnn.cells import BasicRNNCell as BasicRNNCell
from .layers.rnn.cells import GRUCell as GRUCell
from .layers.rnn.cells import LSTMCell as LSTMCell
from .layers.rnn.cells import LSTMStateTuple as LSTMStateTuple
from .layers.rnn.cells import MultiRNNCell as MultiRNNCell
from .layers.rnn.cells import RNNCell as RNNCell
from .layers.rnn.wrappers import DeviceWrapper as DeviceWrapper
from .layers.rnn.wrappers import DropoutWrapper as DropoutWrapper
from .layers.rnn.wrappers import ResidualWrapper as ResidualWrapper
