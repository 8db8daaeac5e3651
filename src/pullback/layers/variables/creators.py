"""Variable creators: functions that stand between whoever asks for a variable and the one who makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ...core.opened import in_force, opened

Creator = Callable[..., Any]
_KIND = "variable_creator_scope"


@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """A block in which `variable_creator(next_creator, **options)` makes variables: `tf.Variable`, `get_variable`.

    It calls `next_creator(**options)`, that of the block around or the one that makes a variable, with other options
    or none, and returns a variable.

    >>> import pullback.compat.v1 as tf
    >>> def untrained(next_creator, **options):
    ...     return next_creator(**{**options, "trainable": False})
    >>> with tf.variable_creator_scope(untrained):
    ...     v, w = tf.Variable(1.0), tf.get_variable("w", [2])
    >>> v.trainable, w.trainable
    (False, False)
    """
    with opened(_KIND, (*in_force(_KIND, ()), variable_creator)):
        yield


def created(make: Creator, **options: Any) -> Any:
    """What `make(**options)` gives, or what the creators around it make of that."""
    for creator in in_force(_KIND, ()):
        make = partial(creator, make)
    return make(**options)
