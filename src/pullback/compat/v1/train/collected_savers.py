"""Savers and the operations that sessions begin with, as the collections of a graph hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb


def collected_saver() -> pb.train.Saver | None:
    """The saver of the default graph's collection; None where there is none.

    Raises:
        RuntimeError: there are several.
    """
    found = pb.get_default_graph().get_collection(pb.GraphKeys.SAVERS)
    if len(found) > 1:
        raise RuntimeError(
            "More than one item in collection savers. Please indicate which one to use by passing it to the "
            "constructor."
        )
    return found[0] if found else None


def first_saver() -> pb.train.Saver | None:
    """The first of the savers of the default graph's collection."""
    return next(iter(pb.get_default_graph().get_collection(pb.GraphKeys.SAVERS)), None)


def added_saver() -> pb.train.Saver:
    """A new saver of all variables, which is in the collection."""
    saver = pb.train.Saver(allow_empty=True)
    pb.add_to_collection(pb.GraphKeys.SAVERS, saver)
    return saver


def collected(key: str, make: Callable[[], Any]) -> Any:
    """The first of a collection of the default graph; where there is none, what `make` gives, which is in it then."""
    found = pb.get_default_graph().get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        pb.add_to_collection(key, made)
    return made
