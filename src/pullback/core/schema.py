"""Schema validation of decoded JSON: what is not of the type that is asked for is a DataLossError that says where."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from functools import cache
from reprlib import Repr
from types import NoneType, UnionType
from typing import Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from .errors import DataLossError

T = TypeVar("T")
RAISED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    StopIteration,
    TypeError,
    ValueError,
)
"""What building an operation may meet with attributes that have the right types and make no sense."""
_WORDS: dict[Any, str] = {
    bool: "true or false",
    dict: "an object",
    int: "an integer",
    list: "a list",
    str: "a string",
    NoneType: "null",
}
_repr = Repr()
_repr.maxstring = _repr.maxother = 60
_REQUIRED: Any = object()


def parsed(text: str | bytes, where: str) -> Any:
    """What a JSON text says; DataLossError where it is none.

    >>> parsed("[1, null]", "a list")
    [1, None]
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataLossError(f"{where} is not JSON: {error}") from None


def expect(value: Any, kind: type[T], where: str) -> T:
    """`value`, which must be of the type `kind`: bool, int, str, list or dict, as JSON has them.

    >>> expect([1], list, "shape"), expect({}, dict, "attributes")
    ([1], {})
    """
    if type(value) is kind:
        return value
    raise DataLossError(f"{where} must be {_WORDS[kind]}, not {shown(value)}")


def field(entry: Mapping[str, Any], key: str, kind: type[T], where: str, default: T = _REQUIRED) -> T:
    """The value of `key`, of the type `kind`; `default` where it is missing."""
    if key in entry:
        return expect(entry[key], kind, f"{where}: '{key}'")
    if default is _REQUIRED:
        raise DataLossError(f"{where} has no '{key}'")
    return default


def texts(value: Any, where: str) -> list[str]:
    """A list of strings."""
    return [expect(text, str, where) for text in expect(value, list, where)]


def shown(value: Any) -> str:
    """A value as a message shows it: briefly."""
    return _repr.repr(value)


@cache
def declared(cls: type[Any]) -> Mapping[str, Any]:
    """The types that the fields of a class are annotated with; any, where these cannot be looked up."""
    try:
        hints = get_type_hints(cls)
    except NameError:
        return {name: Any for base in cls.__mro__ for name in inspect.get_annotations(base)}
    return {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}


def fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of an annotated type.

    >>> fits((1, None), tuple[int | None, ...]), fits(True, int), fits("SAME", str | tuple[int, int])
    (True, False, True)
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, argument) for argument in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and _elements_fit(value, arguments)
    if origin is not None:
        return isinstance(value, origin)
    if annotation is float:
        return isinstance(value, float | int | np.generic) and not isinstance(value, bool)
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, NoneType if annotation is None else annotation)


def _elements_fit(value: tuple[Any, ...], arguments: tuple[Any, ...]) -> bool:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return all(fits(element, arguments[0]) for element in value)
    return len(value) == len(arguments) and all(map(fits, value, arguments))
