"""Edit distance (Levenshtein 1966): how many insertions, deletions and substitutions make one sequence another."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ...control_flow.host_call import host_call
from ...core.contexts import in_graph_of_inputs
from ...core.types import tensor_type


@in_graph_of_inputs
def edit_distance(
    hypothesis: pb.SparseTensor, truth: pb.SparseTensor, normalize: bool = True, name: str = "edit_distance"
) -> pb.Tensor:
    """The edit distance between the sequences [...] that lie along the last axis of two sparse tensors, float32.

    With `normalize` it is divided by the length of the true one; inf where that is empty and the other is not. It is
    computed on the host, before a run, and so cannot stand in the body of a branch, a loop or a function.

    Raises:
        TypeError: one is no sparse tensor, or the dtypes differ. ValueError: the ranks do.

    >>> import pullback.compat.v1 as tf
    >>> hypothesis = tf.SparseTensor([[0, 0], [0, 1]], ["b", "a"], [2, 2])
    >>> truth = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0]], ["b", "c", "a", "d"], [2, 3])
    >>> tf.Session().run(tf.edit_distance(hypothesis, truth, normalize=False))
    array([1., 1.], dtype=float32)
    """
    for what, x in (("hypothesis", hypothesis), ("truth", truth)):
        if not isinstance(x, pb.SparseTensor):
            raise TypeError(f"edit_distance: {what} must be a SparseTensor, not {x!r}")
    if hypothesis.dtype != truth.dtype:
        raise TypeError(f"edit_distance: dtypes differ: {hypothesis} and {truth}")
    if None not in (hypothesis.shape.rank, truth.shape.rank) and hypothesis.shape.rank != truth.shape.rank:
        raise ValueError(f"edit_distance: ranks differ: {hypothesis} and {truth}")

    def distances(session: Any, *parts: Any) -> list[Any]:
        del session
        found, wanted = _sequences(parts[:3]), _sequences(parts[3:])
        lengths = np.maximum(parts[2], parts[5])[:-1]
        result = np.zeros(lengths, np.float32)
        for place in {**found, **wanted}:
            given, true = found.get(place, []), wanted.get(place, [])
            number = float(_distance(given, true))
            result[place] = number / len(true) if normalize and true else np.inf if normalize and number else number
        return [result]

    inputs = [*hypothesis.tensors, *truth.tensors]
    rank = hypothesis.shape.rank
    of_result = tensor_type(pb.float32, None if rank is None else [None] * (rank - 1))
    return host_call(distances, inputs, [of_result], name).outputs[0]


def _sequences(parts: Any) -> dict[tuple[int, ...], list[Any]]:
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, element in zip(parts[0], parts[1], strict=True):
        found.setdefault(tuple(int(n) for n in place[:-1]), []).append(element)
    return found


def _distance(a: list[Any], b: list[Any]) -> int:
    """By dynamic programming, a row for each element of `a`."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]
