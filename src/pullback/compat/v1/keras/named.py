"""Serialization of Keras' objects: from a name, or a class and its arguments, to an activation, initializer or penalty.

>>> import pullback.compat.v1 as tf
>>> tf.keras.regularizers.serialize(tf.keras.regularizers.l2(0.5))
{'class_name': 'L2', 'config': {'l2': 0.5}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_custom: dict[str, Any] = {}
Find = Callable[[str], Any]
"""What a module has under a name; None where it has nothing."""


def get_custom_objects() -> dict[str, Any]:
    """The objects that names stand for beside those of Keras; a program may change it."""
    return _custom


@contextmanager
def custom_object_scope(*args: Mapping[str, Any]) -> Iterator[None]:
    """A block in which more names stand for objects.

    >>> import pullback.compat.v1 as tf
    >>> with tf.keras.utils.custom_object_scope({"twice": lambda x: 2.0 * x}):
    ...     layer = tf.keras.layers.Dense(1, activation="twice")
    """
    before = dict(_custom)
    for objects in args:
        _custom.update(objects)
    try:
        yield
    finally:
        _custom.clear()
        _custom.update(before)


CustomObjectScope = custom_object_scope


def serialize_keras_object(instance: Any) -> Any:
    """The class and the arguments that make such an object, the name of a function, None for None.

    Raises:
        ValueError: it has neither `get_config` nor a name.
    """
    if instance is None:
        return None
    if getattr(instance, "get_config", None) is not None:
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    name = getattr(instance, "__name__", None)
    if name is None:
        raise ValueError(f"Cannot serialize {instance!r}: it has no get_config() and no name")
    return name


def deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """What `serialize_keras_object` told of: an object of a class, or a function.

    Raises:
        ValueError: there is nothing of the name.
    """
    return found(identifier, (module_objects or {}).get, custom_objects, printable_module_name)


def found(
    identifier: Any, find: Find, custom_objects: Mapping[str, Any] | None, what: str, *, made: bool = False
) -> Any:
    """The object of a name or of a class and its arguments; with `made` what `find` gives for a name is called.

    Raises:
        ValueError: there is nothing of the name, or it is no name.
    """
    if isinstance(identifier, Mapping):
        name, arguments = identifier["class_name"], dict(identifier["config"])
    elif isinstance(identifier, str):
        name, arguments = identifier, {}
    else:
        raise ValueError(f"Could not interpret {what} identifier: {identifier!r}")
    kind = (custom_objects or {}).get(name, _custom.get(name))
    if kind is None:
        kind, called = find(name), made
    else:
        called = False
    if kind is None:
        raise ValueError(f"Unknown {what}: '{name}'. Give it itself, or name it in custom_objects")
    if not isinstance(kind, type):
        return kind(**arguments) if called or isinstance(identifier, Mapping) else kind
    from_config = getattr(kind, "from_config", None)
    return kind(**arguments) if from_config is None else from_config(arguments)


def getter(find: Find, what: str) -> Callable[[Any], Any]:
    """A function from a name, or from what `serialize` told of, to an object; it gives callables and None as they are.

    Raises:
        ValueError: from that function, if there is nothing of the name, or it is given something else.
    """

    def get(identifier: Any) -> Any:
        if identifier is None:
            return None
        if callable(identifier):
            return identifier() if isinstance(identifier, type) else identifier
        return found(identifier, find, None, what, made=True)

    return get
