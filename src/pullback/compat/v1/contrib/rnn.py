"""Recurrent cells by their older place: `tf.contrib.rnn`."""

from ....nn import static_rnn as static_rnn
from ....rnn_cell import BasicLSTMCell as BasicLSTMCell
from ....rnn_cell import BasicRNNCell as BasicRNNCell
from ....rnn_cell import DropoutWrapper as DropoutWrapper
from ....rnn_cell import GRUCell as GRUCell
from ....rnn_cell import LSTMCell as LSTMCell
from ....rnn_cell import LSTMStateTuple as LSTMStateTuple
from ....rnn_cell import MultiRNNCell as MultiRNNCell
from ....rnn_cell import RNNCell as RNNCell
