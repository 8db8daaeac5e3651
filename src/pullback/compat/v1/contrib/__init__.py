"""Contributed modules (`tf.contrib`) that programs use most: layers, slim, cells, sequences, optimizers."""

from typing import Any

from .... import signal as signal
from ....names import absent as _absent
from .. import autograph as autograph
from .. import distributions as distributions
from .. import keras as keras
from .. import nest as nest
from . import crf as crf
from . import cudnn_rnn as cudnn_rnn
from . import data as data
from . import eager as eager
from . import feature_column as feature_column
from . import framework as framework
from . import image as image
from . import integrate as integrate
from . import layers as layers
from . import learn as learn
from . import legacy_seq2seq as legacy_seq2seq
from . import lookup as lookup
from . import losses as losses
from . import metrics as metrics
from . import nn as nn
from . import opt as opt
from . import predictor as predictor
from . import resampler as resampler
from . import rnn as rnn
from . import seq2seq as seq2seq
from . import slim as slim
from . import staging as staging
from . import stateless as stateless
from . import summary as summary
from . import tensorboard as tensorboard
from . import training as training
from . import util as util


def __getattr__(name: str) -> Any:
    raise _absent("tensorflow.contrib", name)
