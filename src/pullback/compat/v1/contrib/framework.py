"""Argument scopes, nested structures and variables: `tf.contrib.framework`."""

from ....core import nest as nest
from ....layers.variables.scope import get_variable as variable
from ....optimizers.global_step import get_or_create_global_step as get_or_create_global_step
from .arguments import add_arg_scope as add_arg_scope
from .arguments import arg_scope as arg_scope
from .arguments import current_arg_scope as current_arg_scope
from .arguments import has_arg_scope as has_arg_scope

model_variable = variable
