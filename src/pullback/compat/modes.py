"""Execution modes of TensorFlow: calls that ask for what always holds here are accepted, the others refused."""

from __future__ import annotations


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
    """No effect: programs are always graphs. Lengths of static shapes are integers, not `Dimension`s.

    >>> import pullback as pb
    >>> pb.disable_v2_behavior()
    """


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
    """No effect: all variables are resource variables.

    >>> import pullback as pb
    >>> pb.enable_resource_variables()
    """


def resource_variables_enabled() -> bool:
    """True: all variables are resource variables.

    >>> import pullback as pb
    >>> pb.resource_variables_enabled()
    True
    """
    return True


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


def enable_v2_tensorshape() -> None:
    """No effect: lengths of static shapes are integers.

    >>> import pullback as pb
    >>> pb.enable_v2_tensorshape()
    """


def disable_tensor_equality() -> None:
    """No effect: tensors are compared by identity; `pb.equal` compares elements.

    >>> import pullback as pb
    >>> pb.disable_tensor_equality()
    """
