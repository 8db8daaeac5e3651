"""Initialisation of a SavedModel that is loaded: `tf.saved_model.main_op`."""

from __future__ import annotations

import pullback as pb

from ..initialization import tables_initializer


def main_op() -> pb.Operation:
    """The operation that gives global and local variables, and tables, their first values.

    >>> import pullback.compat.v1 as tf
    >>> tf.saved_model.main_op.main_op().type
    'NoOp'
    """
    return pb.group(pb.global_variables_initializer(), pb.initialize_local_variables(), tables_initializer())


def main_op_with_restore(restore_op_name: pb.Operation) -> pb.Operation:
    """The same after the operation that restores values."""
    with restore_op_name.graph.control_dependencies([main_op()]):
        return pb.group(restore_op_name)
