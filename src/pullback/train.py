"""Training: `pb.train`, optimizers, schedules of the learning rate, the global step, checkpoints."""

from .checkpoints import Saver, get_checkpoint_state, latest_checkpoint, list_variables, load_variable
from .optimizers.adagrad import AdagradOptimizer
from .optimizers.adam import AdamOptimizer
from .optimizers.global_step import create_global_step, get_global_step, get_or_create_global_step, global_step
from .optimizers.gradient_descent import GradientDescentOptimizer, MomentumOptimizer
from .optimizers.optimizer import AbstractOptimizer as Optimizer
from .optimizers.rmsprop import RMSPropOptimizer
from .optimizers.schedules import (
    cosine_decay,
    exponential_decay,
    inverse_time_decay,
    natural_exp_decay,
    piecewise_constant,
    polynomial_decay,
)

__all__ = [
    "AdagradOptimizer",
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "Saver",
    "cosine_decay",
    "create_global_step",
    "exponential_decay",
    "get_checkpoint_state",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "inverse_time_decay",
    "latest_checkpoint",
    "list_variables",
    "load_variable",
    "natural_exp_decay",
    "piecewise_constant",
    "polynomial_decay",
]
