"""Scopes as context managers: `with pb.name_scope("layer"):` and others of the default graph."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from .graph import AbstractTensorLike, Graph, Operation, Tensor, get_default_graph
from .scopes import DeviceFunction


def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> AbstractContextManager[str]:
    """A block in which names begin with `name/` (`default_name` where that is None), made unique; yields the prefix.

    `values` may list tensors, whose graph is then the one meant.

    Raises:
        ValueError: not a valid scope name.

    >>> import pullback as pb
    >>> with pb.name_scope("layer"):
    ...     pb.constant(1.0).name
    'layer/Const:0'
    """
    graph = next((v.graph for v in values or () if isinstance(v, Tensor)), None) or get_default_graph()
    return graph.name_scope(default_name if name is None else name)


def device(device_name: str | DeviceFunction | None) -> AbstractContextManager[None]:
    """A block in which operations are put on a device: a TensorFlow-style string, merged with those around.

    The string is not checked while the graph is built. A function is given the operation and returns a string. None
    clears the blocks around.

    >>> import pullback as pb
    >>> with pb.device("/job:worker"), pb.device("/gpu:1"):
    ...     pb.constant(1.0).device
    '/job:worker/device:GPU:1'
    """
    return get_default_graph().device(device_name)


def colocate_with(
    op: Operation | Tensor | AbstractTensorLike | None, ignore_existing: bool = False
) -> AbstractContextManager[None]:
    """A block in which operations are put where `op` is; with `ignore_existing` the blocks around do not count.

    >>> import pullback as pb
    >>> a = pb.constant(1.0, name="a")
    >>> with pb.colocate_with(a):
    ...     pb.constant(2.0).op.colocation_groups()
    [b'loc:@a']
    """
    return _graph(op).colocate_with(op, ignore_existing)


def control_dependencies(control_inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
    """A block in which operations run after `control_inputs`: operations, tensors, variables. None clears.

    >>> import pullback as pb
    >>> first = pb.no_op("first")
    >>> with pb.control_dependencies([first]):
    ...     pb.constant(1.0).op.control_inputs
    [<Operation 'first' type=NoOp>]
    """
    elements = [x for x in control_inputs or () if isinstance(x, Tensor | Operation)]
    return _graph(elements[0] if elements else None).control_dependencies(control_inputs)


def _graph(element: Any) -> Graph:
    return get_default_graph() if element is None else element.graph
