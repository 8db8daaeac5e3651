"""What programs use most of `tf.contrib`: layers, slim, arg_scope, recurrent cells, the loss of sequences."""

from . import framework as framework
from . import layers as layers
from . import rnn as rnn
from . import seq2seq as seq2seq
from . import slim as slim
