"""Scopes as context managers: `with pb.name_scope("layer"):` and others of the default graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from . import nest
from .composite import AbstractComposite
from .graph import AbstractTensorLike, Graph, Operation, Tensor, get_default_graph
from .scopes import DeviceFunction
from .slices import IndexedSlices

P = ParamSpec("P")
R = TypeVar("R")
_MANY = (list, tuple, dict)


def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> AbstractContextManager[str]:
    """A block in which names begin with `name/` (`default_name` where that is None), made unique; yields the prefix.

    `values` may list tensors, whose graph is then the one meant, and the default one inside.

    Raises:
        ValueError: not a valid scope name.

    >>> import pullback as pb
    >>> with pb.name_scope("layer"):
    ...     pb.constant(1.0).name
    'layer/Const:0'
    """
    graph = next((v.graph for v in values or () if isinstance(v, Tensor)), None) or get_default_graph()
    return graph.within(default_name if name is None else name)


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


def in_graph_of_inputs(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, for which the graph of the tensors that it is given is the default one.

    So what it makes beside them, constants of arrays and numbers above all, is in their graph.
    """

    @wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        default = get_default_graph()
        graph = args[0].op.graph if args and type(args[0]) is Tensor else None
        if graph is not default:
            graph = graph or graph_among(args) or graph_among(options.values())
            if graph is not None and graph is not default and not default.lies_in(graph):
                with graph.as_default():
                    return function(*args, **options)
        return function(*args, **options)

    return called


def graph_among(values: Iterable[Any]) -> Graph | None:
    """The graph of the first tensor among `values`, and within those that are lists, tuples or dictionaries."""
    pending = [*values][::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, Tensor):
            return value.op.graph
        if isinstance(value, AbstractTensorLike):
            return value.graph_element().op.graph
        if isinstance(value, AbstractComposite):
            return value.graph
        if isinstance(value, IndexedSlices):
            value = (value.values, value.indices)
        if isinstance(value, _MANY):
            inner = [*value, *value.values()] if isinstance(value, dict) else value
            if not nest.is_plain(inner):
                pending.extend(inner[::-1])
    return None
