"""Execution modes of TensorFlow: calls that ask for what always holds here are accepted, the others refused."""

from __future__ import annotations

from ..core.dimensions import Dimension
from ..core.seen import itself, nothing, seen


def executing_eagerly() -> bool:
    """False: functions add to a graph.

    >>> import pullback as pb
    >>> pb.executing_eagerly()
    False
    """
    return False


def executing_eagerly_outside_functions() -> bool:
    """False: functions add to a graph.

    >>> import pullback as pb
    >>> pb.executing_eagerly_outside_functions()
    False
    """
    return False


def disable_eager_execution() -> None:
    """No effect: programs are always graphs.

    >>> import pullback as pb
    >>> pb.disable_eager_execution()
    """


def disable_v2_behavior() -> None:
    """Let dtypes, lengths and variables be the objects that TensorFlow 1 has for them, in this process.

    `x.dtype` has the methods of `tf.DType`, and is equal to NumPy's dtype, and `op.get_attr` knows TensorFlow's names
    and forms: `strides` is [1, 2, 2, 1]. Effects in branches and loops happen where what is fetched waits for them.
    For `x.shape[i]` see `disable_v2_tensorshape`, for variables `compat.v1.disable_resource_variables`.
    `enable_v2_tensorshape` and `enable_resource_variables` take it back.

    >>> import numpy as np
    >>> import pullback as pb
    >>> pb.disable_v2_behavior()
    >>> x = pb.placeholder(pb.float32, [None, 3])
    >>> x.dtype.is_floating, x.dtype.as_numpy_dtype is np.float32, x.shape[1].value
    (True, True, 3)
    >>> pb.enable_v2_tensorshape(), pb.enable_resource_variables()
    (None, None)
    """
    from .v1.attributes import attribute_of
    from .v1.dtypes import seen as dtype_of_version_1

    seen.dtype, seen.attribute = dtype_of_version_1, attribute_of
    seen.package, seen.on_demand, seen.single_assignment = "tf", True, True
    disable_v2_tensorshape()
    disable_resource_variables()


def disable_v2_tensorshape() -> None:
    """Let lengths of static shapes be `Dimension`s, which have a `value`, in this process.

    Those that are known are numbers too; those that are not are no longer None, but have the value None.

    >>> import pullback as pb
    >>> pb.disable_v2_tensorshape()
    >>> shape = pb.placeholder(pb.float32, [None, 3]).shape
    >>> shape, list(shape), shape[1] * 2, shape[0].value
    (TensorShape([Dimension(None), Dimension(3)]), [Dimension(None), Dimension(3)], Dimension(6), None)
    >>> pb.enable_v2_tensorshape()
    """
    seen.size = Dimension


def enable_v2_tensorshape() -> None:
    """Let lengths of static shapes be integers and None, and dtypes NumPy's, as they are from the beginning.

    >>> import pullback as pb
    >>> pb.enable_v2_tensorshape()
    >>> pb.zeros([3]).shape[0]
    3
    """
    seen.dtype = seen.size = itself
    seen.attribute = nothing
    seen.package, seen.on_demand, seen.single_assignment = "pb", False, False


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Raises RuntimeError: there is no eager execution.

    Raises:
        RuntimeError: always; functions add to a graph, and `pb.Session` runs it.

    >>> import pullback as pb
    >>> pb.enable_eager_execution()
    Traceback (most recent call last):
    RuntimeError: enable_eager_execution: functions of pullback add to a graph; run it with pb.Session, or wrap ...
    """
    raise _graphs_only("enable_eager_execution")


def enable_v2_behavior() -> None:
    """Raises RuntimeError: there is no eager execution; see `enable_eager_execution`.

    >>> import pullback as pb
    >>> pb.enable_v2_behavior()
    Traceback (most recent call last):
    RuntimeError: enable_v2_behavior: functions of pullback add to a graph; run it with pb.Session, or wrap ...
    """
    raise _graphs_only("enable_v2_behavior")


def _graphs_only(function: str) -> RuntimeError:
    return RuntimeError(
        f"{function}: functions of pullback add to a graph; run it with pb.Session, or wrap them in pb.function"
    )


def enable_resource_variables() -> None:
    """Let fetches of variables made from here on give their values before all that the run assigns, as at first.

    >>> import pullback as pb
    >>> pb.enable_resource_variables()
    >>> v = pb.Variable(1.0)
    >>> with pb.Session() as session:
    ...     session.run(v.initializer)
    ...     session.run([v, v.assign_add(1.0)])
    [np.float32(1.0), np.float32(2.0)]
    """
    seen.references, seen.named = False, itself


def disable_resource_variables() -> None:
    """Let fetches of variables made from here on give their values at the end of the run, in this process.

    Such are TensorFlow 1's variables, but for those made with `use_resource=True`: beside a training step the step
    number is that behind it. `graph.get_tensor_by_name("w:0")` is the variable. Reads in the graph are ordered as they
    always are.

    >>> import pullback.compat.v1 as tf
    >>> tf.disable_resource_variables()
    >>> v = tf.Variable(1.0)
    >>> with tf.Session() as session:
    ...     session.run(v.initializer)
    ...     session.run([v, v.assign_add(1.0)])
    [np.float32(2.0), np.float32(2.0)]
    >>> tf.enable_resource_variables()
    """
    from .v1.variable import variable_of

    seen.references, seen.named = True, variable_of


def resource_variables_enabled() -> bool:
    """Whether fetches of variables made now give their values before all that a run assigns.

    >>> import pullback as pb
    >>> pb.resource_variables_enabled()
    True
    """
    return not seen.references


def enable_control_flow_v2() -> None:
    """No effect: a loop or a branch is one operation.

    >>> import pullback as pb
    >>> pb.enable_control_flow_v2()
    """


def control_flow_v2_enabled() -> bool:
    """True: a loop or a branch is one operation.

    >>> import pullback as pb
    >>> pb.control_flow_v2_enabled()
    True
    """
    return True


def disable_control_flow_v2() -> None:
    """No effect: a loop or a branch stays one operation, which computes the same.

    >>> import pullback as pb
    >>> pb.disable_control_flow_v2()
    """


def disable_tensor_equality() -> None:
    """No effect: tensors are compared by identity; `pb.equal` compares elements.

    >>> import pullback as pb
    >>> pb.disable_tensor_equality()
    """
