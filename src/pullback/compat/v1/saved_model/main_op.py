"""Initialisation of a SavedModel that is loaded: `tf.saved_model.main_op`."""

from __future__ import annotations

from ....core.graph import Operation
from ....layers.variables.scope import global_variables_initializer, local_variables_initializer
from ....primitives.identity.identity import group_operations
from ..initialization import tables_initializer


def main_op() -> Operation:
    """The operation that gives global and local variables, and tables, their first values.

    >>> import pullback.compat.v1 as tf
    >>> tf.saved_model.main_op.main_op().type
    'NoOp'
    """
    return group_operations(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: Operation) -> Operation:
    """The same after the operation that restores values."""
    with restore_op_name.graph.control_dependencies([main_op()]):
        return group_operations(restore_op_name)
