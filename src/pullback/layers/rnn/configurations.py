"""Configurations of recurrent cells: the arguments that make one again, as TensorFlow's `get_config` gives them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.dtypes import as_dtype, dtype_name
from .activations import name_of

if TYPE_CHECKING:
    from .cells import RNNCell


class TrackableReference(NamedTuple):
    """What an object holds, and the name that it has in object-based checkpoints."""

    name: str
    ref: Any


def config_of(cell: RNNCell, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a cell by name: activations and dtypes by theirs, cells as pairs of a class and arguments."""
    given = inspect.signature(type(cell).__init__).bind(cell, *args, **kwargs)
    given.apply_defaults()
    _, *named = given.arguments.items()
    return {name: _plain(name, value) for name, value in named}


def _plain(name: str, value: Any) -> Any:
    from .cells import RNNCell

    if isinstance(value, RNNCell):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, list | tuple):
        return [_plain(name, x) for x in value]
    if name == "dtype" and value is not None:
        return dtype_name(as_dtype(value))
    known = name_of(value) if callable(value) else None
    return known or value


def arguments_of(config: Mapping[str, Any], custom: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments that a configuration tells.

    Raises:
        ValueError: it has a cell of a class that is not known.
    """
    return {name: _made(value, custom or {}) for name, value in config.items()}


def _made(value: Any, custom: Mapping[str, Any]) -> Any:
    from .cells import RNNCell

    if isinstance(value, list):
        return [_made(x, custom) for x in value]
    if not isinstance(value, Mapping) or value.keys() != {"class_name", "config"}:
        return value
    name = value["class_name"]
    known = {cls.__name__: cls for cls in _below(RNNCell)} | dict(custom)
    if name not in known:
        raise ValueError(f"from_config: there is no cell of the class {name!r}; pass it in custom_objects")
    return known[name].from_config(value["config"], custom)


def _below(cls: type[Any]) -> Iterator[type[Any]]:
    for inner in cls.__subclasses__():
        yield inner
        yield from _below(inner)
