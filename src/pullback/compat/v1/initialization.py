"""Initialisation of TensorFlow 1: tables, variables that are checked, partitioners, scopes that begin anew.

>>> import pullback.compat.v1 as tf
>>> tf.enable_tensor_equality()
>>> with tf.container("worker"), tf.op_scope([tf.constant(1.0)], None, "layer") as scope:
...     scope
'layer/'
>>> shape = tf.TensorShape([8, 4])
>>> tf.variable_axis_size_partitioner(64)(shape, tf.float32), tf.min_max_variable_partitioner()(shape, tf.float32)
([2, 1], [1, 1])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from typing import Any

import numpy as np

import pullback as pb

from ...core.dtypes import FLOATING
from .arguments import older

Partitioner = Callable[..., list[int]]


class VariableSynchronization(Enum):
    """How variables of several devices are kept equal; here each variable is one."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """How variables of several devices become one; here each variable is one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def tables_initializer(name: str = "init_all_tables") -> pb.Operation:
    """An operation that fills all lookup tables: those of the collection `TABLE_INITIALIZERS`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.tables_initializer())
    """
    return pb.group(*pb.get_default_graph().get_collection(pb.GraphKeys.TABLE_INITIALIZERS), name=name)


initialize_all_tables = tables_initializer


def assert_variables_initialized(var_list: Sequence[pb.Variable] | None = None) -> pb.Tensor | None:
    """True for each variable, or an error of the run where one has no value; None where there are no variables.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable(1.0)
    >>> check = tf.assert_variables_initialized()
    >>> with tf.Session() as session:
    ...     session.run(v.initializer)
    ...     session.run(check)
    array([ True])
    """
    variables = [*pb.all_variables(), *pb.local_variables()] if var_list is None else list(var_list)
    if not variables:
        return None
    known = [pb.is_variable_initialized(v) for v in variables]
    with pb.get_default_graph().control_dependencies(
        [
            pb.Assert(fine, [f"Attempting to use uninitialized value {v.op.name}"])
            for v, fine in zip(variables, known, strict=True)
        ]
    ):
        return pb.stack(known)


def report_uninitialized_variables(
    var_list: Sequence[pb.Variable] | None = None, name: str = "report_uninitialized_variables"
) -> pb.Tensor:
    """The names, as bytes, of the variables that have no value: of all, or of `var_list`.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable(1.0, name="v")
    >>> missing = tf.report_uninitialized_variables()
    >>> with tf.Session() as session:
    ...     before = session.run(missing)
    ...     session.run(v.initializer)
    ...     before.tolist(), session.run(missing).tolist()
    ([b'v'], [])
    """
    variables = [*pb.all_variables(), *pb.local_variables()] if var_list is None else list(var_list)
    names = pb.constant(np.array([v.op.name.encode() for v in variables], object))
    if not variables:
        return names
    missing = pb.logical_not(pb.stack([pb.is_variable_initialized(v) for v in variables]))
    return pb.boolean_mask(names, missing, name=name)


def add_check_numerics_ops() -> pb.Operation:
    """An operation that raises in a run where a floating tensor of the graph is NaN or infinite.

    >>> import pullback.compat.v1 as tf
    >>> y = tf.log(tf.placeholder_with_default(1.0, []))
    >>> tf.Session().run(tf.add_check_numerics_ops())
    """
    graph = pb.get_default_graph()
    found = [(op, y) for op in graph.operations for y in op.outputs if y.dtype in FLOATING]
    return pb.group(*[pb.check_numerics(y, f"{op.name}: {y.name}").op for op, y in found])


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner that asks for `num_shards` parts along `axis`.

    >>> import pullback.compat.v1 as tf
    >>> tf.fixed_size_partitioner(3)([8, 2])
    [3, 1]
    """

    def partition(shape: Sequence[int], dtype: object = None) -> list[int]:
        del dtype
        return [num_shards if i in (axis, axis + len(shape)) else 1 for i in range(len(shape))]

    return partition


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """A partitioner that asks for parts of at most that many bytes, rows whole, and for at most `max_shards`.

    >>> import pullback.compat.v1 as tf
    >>> tf.variable_axis_size_partitioner(24)(tf.TensorShape([7, 2]), tf.float32)
    [3, 1]
    """

    def partition(shape: Any, dtype: Any) -> list[int]:
        length = _length("variable_axis_size_partitioner", shape, axis)
        row = shape.num_elements() // length * _bytes(dtype, bytes_per_string_element)
        count = math.ceil(length / max(1, max_shard_bytes // row))
        return _along(shape, axis, count if max_shards is None else min(max_shards, count))

    return partition


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """A partitioner that asks for parts of about `min_slice_size` bytes, and for at most `max_partitions`.

    >>> import pullback.compat.v1 as tf
    >>> tf.min_max_variable_partitioner(3, min_slice_size=24)(tf.TensorShape([7, 2]), tf.float32)
    [3, 1]
    """

    def partition(shape: Any, dtype: Any) -> list[int]:
        length = _length("min_max_variable_partitioner", shape, axis)
        size = shape.num_elements() * _bytes(dtype, bytes_per_string_element)
        return _along(shape, axis, max(1, min(length, max_partitions, math.ceil(size / min_slice_size))))

    return partition


def _length(function: str, shape: Any, axis: int) -> int:
    if not shape.is_fully_defined() or not -shape.rank <= axis < shape.rank:
        raise ValueError(f"{function}: the shape must be fully defined and have an axis {axis}, but it is {shape}")
    return int(shape.as_list()[axis])


def _bytes(dtype: Any, of_string: int) -> int:
    known = pb.as_dtype(dtype)
    return of_string if known == pb.string else known.itemsize


def _along(shape: Any, axis: int, count: int) -> list[int]:
    return [count if i == axis % shape.rank else 1 for i in range(shape.rank)]


@contextmanager
def init_scope() -> Iterator[None]:
    """A block whose operations wait for none of the control dependencies around it.

    >>> import pullback.compat.v1 as tf
    >>> with tf.control_dependencies([tf.no_op()]), tf.init_scope():
    ...     len(tf.constant(1.0).op.control_inputs)
    0
    """
    with pb.get_default_graph().control_dependencies(None):
        yield


@contextmanager
def container(container_name: str) -> Iterator[str]:
    """A block; variables live in sessions, and no containers are needed."""
    yield container_name


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> AbstractContextManager[str]:
    """As `pb.name_scope`, in the order of the first versions."""
    del values
    return pb.get_default_graph().name_scope(name or default_name)


variable_op_scope = older(
    pb.variable_scope,
    "values, name_or_scope, default_name, initializer, regularizer, caching_device, partitioner, custom_getter, reuse, "
    "dtype, use_resource, constraint",
)


def enable_tensor_equality() -> None:
    """No effect: tensors are compared by identity; `pb.equal` compares elements."""
