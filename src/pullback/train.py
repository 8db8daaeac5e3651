"""Training: `pb.train`, optimizers, schedules of the learning rate, the global step, checkpoints."""

from .checkpoints.saver import (
    Saver,
    checkpoint_exists,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_variable,
)
from .optimizers.adadelta import AdadeltaOptimizer
from .optimizers.adagrad import AdagradOptimizer
from .optimizers.adam import AdamOptimizer
from .optimizers.ftrl import FtrlOptimizer
from .optimizers.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from .optimizers.gradient_descent import GradientDescentOptimizer, MomentumOptimizer
from .optimizers.moving_averages import ExponentialMovingAverage
from .optimizers.optimizer import AbstractOptimizer as Optimizer
from .optimizers.rmsprop import RMSPropOptimizer
from .optimizers.schedules import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    piecewise_constant,
    polynomial_decay,
)
from .optimizers.schedules import piecewise_constant as piecewise_constant_decay

__all__ = [
    "AdadeltaOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "ExponentialMovingAverage",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "Saver",
    "assert_global_step",
    "checkpoint_exists",
    "cosine_decay",
    "cosine_decay_restarts",
    "create_global_step",
    "exponential_decay",
    "get_checkpoint_state",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "inverse_time_decay",
    "latest_checkpoint",
    "linear_cosine_decay",
    "list_variables",
    "load_variable",
    "natural_exp_decay",
    "piecewise_constant",
    "piecewise_constant_decay",
    "polynomial_decay",
]
