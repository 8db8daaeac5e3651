"""Training: `pb.train`, optimizers, schedules of the learning rate, the global step, checkpoints."""

from .checkpoints.places import checkpoint_exists as checkpoint_exists
from .checkpoints.reader import CheckpointReader as CheckpointReader
from .checkpoints.reader import list_variables as list_variables
from .checkpoints.reader import load_checkpoint as load_checkpoint
from .checkpoints.reader import load_variable as load_variable
from .checkpoints.saver import Saver as Saver
from .checkpoints.state_file import CheckpointState as CheckpointState
from .checkpoints.state_file import get_checkpoint_state as get_checkpoint_state
from .checkpoints.state_file import latest_checkpoint as latest_checkpoint
from .graphdef.exporting import write_graph as write_graph
from .graphdef.meta_graph import import_meta_graph as import_meta_graph
from .graphdef.saving import export_meta_graph as export_meta_graph
from .optimizers.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from .optimizers.adagrad import AdagradOptimizer as AdagradOptimizer
from .optimizers.adam import AdamOptimizer as AdamOptimizer
from .optimizers.adam import LazyAdamOptimizer as LazyAdamOptimizer
from .optimizers.ftrl import FtrlOptimizer as FtrlOptimizer
from .optimizers.global_step import assert_global_step as assert_global_step
from .optimizers.global_step import create_global_step as create_global_step
from .optimizers.global_step import get_global_step as get_global_step
from .optimizers.global_step import get_or_create_global_step as get_or_create_global_step
from .optimizers.global_step import global_step as global_step
from .optimizers.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from .optimizers.gradient_descent import MomentumOptimizer as MomentumOptimizer
from .optimizers.loss_scale import DynamicLossScale as DynamicLossScale
from .optimizers.loss_scale import FixedLossScale as FixedLossScale
from .optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from .optimizers.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from .optimizers.optimizer import AbstractOptimizer as _Optimizer
from .optimizers.proximal import AdagradDAOptimizer as AdagradDAOptimizer
from .optimizers.proximal import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from .optimizers.proximal import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
from .optimizers.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from .optimizers.schedules import cosine_decay as cosine_decay
from .optimizers.schedules import cosine_decay_restarts as cosine_decay_restarts
from .optimizers.schedules import exponential_decay as exponential_decay
from .optimizers.schedules import inverse_time_decay as inverse_time_decay
from .optimizers.schedules import linear_cosine_decay as linear_cosine_decay
from .optimizers.schedules import natural_exp_decay as natural_exp_decay
from .optimizers.schedules import noisy_linear_cosine_decay as noisy_linear_cosine_decay
from .optimizers.schedules import piecewise_constant as piecewise_constant
from .optimizers.schedules import polynomial_decay as polynomial_decay

Optimizer = _Optimizer
piecewise_constant_decay = piecewise_constant
NewCheckpointReader = load_checkpoint
