"""TensorFlow 1 parameters: functions of today called with the order, names and defaults that they had there."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...core.named_functions import named

Translation = Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]


@functools.cache
def older(function: Callable[..., Any], parameters: str | None) -> Callable[..., Any]:
    """`function`, to be called with `parameters`: names in order, which are those of `function` unless it is said.

    `dimension:axis` is an old name of `axis`; `use_cudnn_on_gpu:` is taken and changes nothing; `stddev=1.0` has a
    default of its own. None means that an argument was not given, if `function` has a default for it.
    """
    if parameters is None:
        return function
    today = inspect.signature(function).parameters
    optional = {name for name, p in today.items() if p.default is not p.empty}
    renamed: dict[str, str] = {}
    defaults: dict[str, Any] = {}
    for part in parameters.split(", "):
        old, colon, new = part.partition("=")[0].partition(":")
        renamed[old] = new if colon else old
        if "=" in part:
            defaults[old] = float(part.partition("=")[2])

    def translated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = defaults | _given(function.__name__, list(renamed), args, kwargs)
        arguments: dict[str, Any] = {}
        for old, value in given.items():
            new = renamed[old]
            if not new or (value is None and (new in optional or new != old)):
                continue
            if new in arguments:
                names = " and ".join(n for n in given if renamed[n] == new)
                raise ValueError(f"{function.__name__}: {names} are the same parameter; give one of them")
            arguments[new] = value
        return arguments

    signature = inspect.signature(function).replace(parameters=_shown(renamed, defaults, today))
    return (_older_class if inspect.isclass(function) else _older_function)(function, translated, signature)


def _shown(
    renamed: dict[str, str], defaults: dict[str, Any], today: Mapping[str, inspect.Parameter]
) -> list[inspect.Parameter]:
    """The old parameters with their defaults: None, for what has another name, or none, today."""
    found: list[inspect.Parameter] = []
    for old, new in renamed.items():
        alone = old == new and list(renamed.values()).count(new) == 1
        default = defaults.get(old, today[new].default if alone else None)
        if default is inspect.Parameter.empty and any(p.default is not p.empty for p in found):
            default = None
        found.append(inspect.Parameter(old, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    return found


def with_first(general: Callable[..., Any], first: object, name: str, doc: str) -> Callable[..., Any]:
    """`general` of that first argument, with its other parameters, by another name."""

    def function(*args: Any, **options: Any) -> Any:
        return general(first, *args, **options)

    signature = inspect.signature(general)
    function.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    function.__module__ = general.__module__
    return named(name, doc, function)


def _older_function(
    function: Callable[..., Any], translated: Translation, signature: inspect.Signature
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(**translated(args, kwargs))

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _older_class(today: Any, translated: Translation, signature: inspect.Signature) -> Callable[..., Any]:
    """A class to call and to derive others from; `today` is an instance of it, however it was made."""

    class AnyOfToday(type(today)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return super().__instancecheck__(instance) or (cls is made and isinstance(instance, today))

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        today.__init__(self, **translated(args, kwargs))

    members = {"__init__": __init__, "__doc__": today.__doc__, "__signature__": signature}
    made: Callable[..., Any] = AnyOfToday(today.__name__, (today,), members)
    return made


def _given(function: str, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by their names in TensorFlow 1."""
    if len(args) > len(names):
        raise TypeError(f"{function}: takes {len(names)} arguments, {', '.join(names)}, and not {len(args)}")
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"{function}: takes no argument '{name}', but {', '.join(names)}")
        if name in given:
            raise TypeError(f"{function}: '{name}' is given twice")
        given[name] = value
    return given
