"""Savers that a graph has: the collection `SAVERS`, where sessions and hooks look for the one to use."""

from __future__ import annotations

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
