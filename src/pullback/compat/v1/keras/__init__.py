"""Keras inside graphs: `tf.keras` layers, losses, activations, initializers and regularizers as functions of tensors.

A layer, or a model of layers, is called with a tensor of the graph and gives one; what trains itself is refused.
"""

from typing import Any

from . import activations as activations
from . import backend as backend
from . import constraints as constraints
from . import datasets as datasets
from . import experimental as experimental
from . import initializers as initializers
from . import layers as layers
from . import losses as losses
from . import metrics as metrics
from . import models as models
from . import optimizers as optimizers
from . import preprocessing as preprocessing
from . import regularizers as regularizers
from . import utils as utils
from .models import Input as Input
from .models import Model as Model
from .models import Sequential as Sequential


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'tensorflow.keras' has no attribute '{name}': call the layers on tensors, and train the loss with an "
        "optimizer of tf.train in a session"
    )
