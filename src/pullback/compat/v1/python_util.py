"""What programs use of `tensorflow.python.util`: decorators that change nothing here, and the like."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

contextmanager = contextlib.contextmanager
getfullargspec = inspect.getfullargspec
getmembers, getmodule, getsource, isclass, isfunction = (
    inspect.getmembers,
    inspect.getmodule,
    inspect.getsource,
    inspect.isclass,
    inspect.isfunction,
)


def deprecated(*args: object, **kwargs: object) -> Callable[[Any], Any]:
    """A decorator that changes nothing."""
    del args, kwargs
    return _itself


deprecated_args = deprecated_arg_values = tf_export = keras_export = deprecated


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The one of two arguments that is given.

    Raises:
        ValueError: both are.
    """
    if old_value is not None and new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return new_value if old_value is None else old_value


@contextlib.contextmanager
def silence() -> Any:
    """A block."""
    yield


def make_decorator(target: Callable[..., Any], decorator_func: Any, *args: object, **kwargs: object) -> Any:
    """`decorator_func`, which has the name and docstring of `target`."""
    del args, kwargs
    decorator_func.__name__, decorator_func.__doc__ = target.__name__, target.__doc__
    decorator_func.__wrapped__ = target
    return decorator_func


def getargspec(func: Callable[..., Any]) -> Any:
    """The arguments of a function, as Python itself says them."""
    return inspect.getfullargspec(func)


def remove_undocumented(
    module_name: str, allowed_exception_list: object = None, doc_string_modules: object = None
) -> None:
    """Nothing: all names of a module stay."""
    del module_name, allowed_exception_list, doc_string_modules


def _itself(function: Any) -> Any:
    return function
