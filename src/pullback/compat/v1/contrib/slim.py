"""TF-Slim: the layers of `tf.contrib.layers`, argument scopes, losses, variables: `tf.contrib.slim`."""

from . import data_decoder as data_decoder
from . import dataset as dataset
from . import dataset_data_provider as dataset_data_provider
from . import initializers as initializers
from . import layers as layers
from . import learning as learning
from . import losses as losses
from . import metrics as metrics
from . import parallel_reader as parallel_reader
from . import prefetch_queue as prefetch_queue
from . import regularizers as regularizers
from . import tfexample_decoder as tfexample_decoder
from . import utils as utils
from .arguments import add_arg_scope as add_arg_scope
from .arguments import arg_scope as arg_scope
from .arguments import current_arg_scope as current_arg_scope
from .arguments import has_arg_scope as has_arg_scope
from .framework import add_model_variable as add_model_variable
from .framework import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from .framework import assign_from_values as assign_from_values
from .framework import assign_from_values_fn as assign_from_values_fn
from .framework import filter_variables as filter_variables
from .framework import get_local_variables as get_local_variables
from .framework import get_model_variables as get_model_variables
from .framework import get_or_create_global_step as get_or_create_global_step
from .framework import get_trainable_variables as get_trainable_variables
from .framework import get_unique_variable as get_unique_variable
from .framework import get_variables as get_variables
from .framework import get_variables_by_name as get_variables_by_name
from .framework import get_variables_by_suffix as get_variables_by_suffix
from .framework import get_variables_to_restore as get_variables_to_restore
from .framework import global_variable as global_variable
from .framework import local_variable as local_variable
from .framework import model_variable as model_variable
from .framework import variable as variable
from .layers import *  # noqa: F403  (as TensorFlow has it)
