"""Fetches and feeds: what a user asks of a session, nested, turned into tensors and operations of its graph."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.composite import AbstractComposite
from ..core.dtypes import TokenType
from ..core.graph import AbstractTensorLike, Graph, Operation, Tensor
from ..core.slices import IndexedSlices, IndexedSlicesValue
from ..primitives.variables.operations import VarHandleOp
from ..primitives.variables.variable import Variable
from . import messages

Element = Tensor | Operation
Rebuild = Callable[[list[Any]], Any]
"""From one value for each element to the structure that was asked for."""


class Conversion(NamedTuple):
    """How objects of a class of somebody else's are fetched and fed, as TensorFlow has it."""

    kind: type[Any]
    fetch: Callable[[Any], tuple[Sequence[Any], Rebuild]]
    feed: Callable[[Any, Any], Sequence[tuple[Any, Any]]] | None


_conversions: list[Conversion] = []


def register_session_run_conversion_functions(
    tensor_type: type[Any],
    fetch_function: Callable[[Any], tuple[Sequence[Any], Rebuild]],
    feed_function: Callable[[Any, Any], Sequence[tuple[Any, Any]]] | None = None,
    feed_function_for_partial_run: object = None,
) -> None:
    """Let sessions fetch and feed objects of a class.

    `fetch_function` gives for one what to fetch, and a function from the list of their values to its own;
    `feed_function` gives for one and its value the pairs to feed.

    Raises:
        ValueError: the class, or one that it comes from, is registered already.
    """
    del feed_function_for_partial_run
    if any(issubclass(tensor_type, known.kind) for known in _conversions):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _conversions.insert(0, Conversion(tensor_type, fetch_function, feed_function))


def _conversion_of(obj: Any) -> Conversion | None:
    known: Sequence[Conversion] = _conversions
    if isinstance(obj, AbstractComposite):
        from .composites import SPARSE_AND_RAGGED

        known = [*SPARSE_AND_RAGGED, *_conversions]
    return next((conversion for conversion in known if isinstance(obj, conversion.kind)), None)


class Fetches(NamedTuple):
    """The elements of a nested structure, in order, and how to put their values in their places."""

    elements: list[Element]
    rebuild: Rebuild

    @property
    def tensors(self) -> list[Tensor]:
        """The elements that have a value."""
        return [x for x in self.elements if isinstance(x, Tensor)]

    @property
    def operations(self) -> list[Operation]:
        """The elements that are only run."""
        return [x for x in self.elements if isinstance(x, Operation)]

    def values(self, arrays: Sequence[Any]) -> Any:
        """The structure, with `arrays` for the tensors and None for the operations."""
        if len(arrays) == len(self.elements):
            return self.rebuild(list(arrays))
        rest = iter(arrays)
        return self.rebuild([next(rest) if isinstance(x, Tensor) else None for x in self.elements])


def flatten(fetches: Any, graph: Graph) -> Fetches:
    """The elements of `fetches`, all of `graph`."""
    if isinstance(fetches, Tensor):
        return Fetches([element(fetches, graph, "fetch")], _only)
    if isinstance(fetches, IndexedSlices):
        return Fetches([element(x, graph, "fetch") for x in fetches.tensors], _slices)
    conversion = _conversion_of(fetches)
    if conversion is not None:
        items, rebuild = conversion.fetch(fetches)
        return _nested(items, graph, rebuild)
    if isinstance(fetches, dict):
        return _nested(list(fetches.values()), graph, _dictionary(fetches))
    if isinstance(fetches, list | tuple):
        make: Any = getattr(type(fetches), "_make", type(fetches))
        return _nested(fetches, graph, make)
    return Fetches([element(fetches, graph, "fetch")], _only)


def _only(values: list[Any]) -> Any:
    return values[0]


def _slices(values: list[Any]) -> IndexedSlicesValue:
    return IndexedSlicesValue(values[0], values[1], values[2] if len(values) > 2 else None)


def _dictionary(fetches: dict[Any, Any]) -> Rebuild:
    keys = list(fetches)
    make: Any = OrderedDict if isinstance(fetches, OrderedDict) else dict
    return lambda values: make(zip(keys, values, strict=True))


def _nested(items: Sequence[Any], graph: Graph, make: Rebuild) -> Fetches:
    if all(type(x) is Tensor for x in items):
        return Fetches([element(x, graph, "fetch") for x in items], make)
    parts = [flatten(x, graph) for x in items]

    def rebuild(values: list[Any]) -> Any:
        built, start = [], 0
        for part in parts:
            end = start + len(part.elements)
            built.append(part.rebuild(values[start:end]))
            start = end
        return make(built)

    return Fetches([x for part in parts for x in part.elements], rebuild)


def feed_pairs(feed_dict: Any, graph: Graph) -> list[tuple[Tensor, Any]]:
    """The tensors to feed, all of `graph`, each with what the user gave for it."""
    if not isinstance(feed_dict, Mapping):
        raise messages.feeds_kind(feed_dict)
    pairs: list[tuple[Tensor, Any]] = []
    for key, value in feed_dict.items():
        if isinstance(key, Tensor):
            pairs.append((fed_tensor(key, graph), value))
        elif isinstance(key, IndexedSlices):
            pairs.extend(_slices_pairs(key, value, graph))
        elif isinstance(key, tuple):
            pairs.extend(feed_pairs(_by_part(key, value), graph))
        else:
            conversion = _conversion_of(key)
            fed = [(key, value)] if conversion is None or conversion.feed is None else conversion.feed(key, value)
            pairs.extend([(fed_tensor(x, graph), array) for x, array in fed])
    return pairs


def variable_or(key: Any, graph: Graph) -> Any:
    """The variable whose handle has the name `key`; or `key`, where it is another tensor's name, or none."""
    if not isinstance(key, str) or not key.endswith(":0"):
        return key
    try:
        op = graph.get_operation_by_name(key[:-2])
    except (KeyError, ValueError):
        return key
    return Variable.from_handle(op) if isinstance(op.primitive, VarHandleOp) else key


def _by_part(key: tuple[Any, ...], value: Any) -> dict[Any, Any]:
    """What is given for each part of a tuple."""
    if not isinstance(value, Collection) or len(value) != len(key):
        raise messages.feed_tuple(key, value)
    return dict(zip(key, value, strict=True))


def _slices_pairs(key: IndexedSlices, value: Any, graph: Graph) -> list[tuple[Tensor, Any]]:
    if not isinstance(value, tuple) or len(value) not in (2, 3):
        raise messages.feed_slices(key, value)
    parts = (key.values, key.indices, key.shape_tensor)
    given = zip(parts, (*value, None)[:3], strict=True)
    return [(fed_tensor(x, graph), array) for x, array in given if x is not None and array is not None]


def fed_tensor(key: Any, graph: Graph) -> Tensor:
    """The tensor of `graph` that a key of a feed_dict means."""
    found = element(key, graph, "feed")
    if isinstance(found, Operation):
        raise messages.feed_of_operation(found)
    return found


def element(obj: Any, graph: Graph, verb: str) -> Element:
    """The tensor or operation of `graph` that `obj` is, names, or stands for; `verb` is "fetch" or "feed"."""
    found = obj if isinstance(obj, Tensor | Operation) else _meant(obj, graph, verb)
    if found.graph is not graph:
        raise messages.other_graph(verb, found)
    if isinstance(found, Tensor) and isinstance(found.dtype, TokenType):
        raise messages.handle(verb, found)
    if (graph.never_fetched if verb == "fetch" else graph.never_fed) and _is_prevented(found, graph, verb):
        raise messages.prevented(verb, found)
    return found


def _is_prevented(element: Element, graph: Graph, verb: str) -> bool:
    return not graph.is_fetchable(element) if verb == "fetch" else element in graph.never_fed


def _meant(obj: Any, graph: Graph, verb: str) -> Element:
    if isinstance(obj, str):
        return _named(obj, graph, verb)
    if isinstance(obj, AbstractTensorLike):
        return obj.graph_element()
    raise messages.wrong_kind(verb, obj)


def _named(name: str, graph: Graph, verb: str) -> Element:
    try:
        if ":" not in name:
            return graph.get_operation_by_name(name)
        variable = variable_or(name, graph)
        return graph.get_tensor_by_name(name) if variable is name else variable.graph_element()
    except (KeyError, ValueError):
        raise messages.no_such_name(verb, name, graph) from None
