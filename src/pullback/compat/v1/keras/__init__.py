"""Keras inside graphs: `tf.keras` layers, losses, activations, initializers and regularizers as functions of tensors.

A layer is called with a tensor of the graph and gives one; models, which run graphs by themselves, are refused.
"""

from typing import Any

from . import activations as activations
from . import backend as backend
from . import datasets as datasets
from . import initializers as initializers
from . import layers as layers
from . import losses as losses
from . import regularizers as regularizers
from . import utils as utils


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'tensorflow.keras' has no attribute '{name}': call the layers on tensors, and train the loss with an "
        "optimizer of tf.train in a session"
    )
