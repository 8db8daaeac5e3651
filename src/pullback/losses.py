"""Losses to train with: `pb.losses`, TensorFlow's names of `tf.compat.v1.losses`."""

from .layers.losses.pairwise import mean_pairwise_squared_error as mean_pairwise_squared_error
from .layers.losses.weighted import Reduction as Reduction
from .layers.losses.weighted import absolute_difference as absolute_difference
from .layers.losses.weighted import add_loss as add_loss
from .layers.losses.weighted import compute_weighted_loss as compute_weighted_loss
from .layers.losses.weighted import cosine_distance as cosine_distance
from .layers.losses.weighted import get_losses as get_losses
from .layers.losses.weighted import get_regularization_loss as get_regularization_loss
from .layers.losses.weighted import get_regularization_losses as get_regularization_losses
from .layers.losses.weighted import get_total_loss as get_total_loss
from .layers.losses.weighted import hinge_loss as hinge_loss
from .layers.losses.weighted import huber_loss as huber_loss
from .layers.losses.weighted import log_loss as log_loss
from .layers.losses.weighted import mean_squared_error as mean_squared_error
from .layers.losses.weighted import sigmoid_cross_entropy as sigmoid_cross_entropy
from .layers.losses.weighted import softmax_cross_entropy as softmax_cross_entropy
from .layers.losses.weighted import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
