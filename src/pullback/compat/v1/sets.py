"""Sets of TensorFlow 1: the last axis of a tensor, dense or sparse, as sets of numbers or texts; `tf.sets`.

How long the results are, only a run knows: they are computed on the host, before the run, and cannot stand in the body
of a branch, a loop or a function. There are no derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pullback as pb

from ...control_flow.host_call import host_call
from ...core.types import tensor_type
from ...core.typing import TensorLike

Sets = dict[tuple[int, ...], set[Any]]
Operand = TensorLike | pb.SparseTensor


def set_intersection(a: Operand, b: Operand, validate_indices: bool = True) -> pb.SparseTensor:
    """What each set of `a` and that of `b` have in common, in order: [..., n], n the size of the largest.

    Raises:
        ValueError: all axes but the last must have the same lengths. TypeError: the dtypes differ.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sets.intersection([[1, 2, 3]], [[3, 4, 2]])).values
    array([2, 3], dtype=int32)
    """
    del validate_indices
    return _combined("set_intersection", a, b, set.intersection)


def set_difference(a: Operand, b: Operand, aminusb: bool = True, validate_indices: bool = True) -> pb.SparseTensor:
    """What each set of `a` has and that of `b` has not, or the other way round; see `set_intersection`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sets.difference([[1, 2, 3]], [[3, 4, 2]])).values
    array([1], dtype=int32)
    """
    del validate_indices
    return _combined("set_difference", a, b, set.difference if aminusb else lambda x, y: y - x)


def set_union(a: Operand, b: Operand, validate_indices: bool = True) -> pb.SparseTensor:
    """What each set of `a` or that of `b` has; see `set_intersection`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.sets.union([[1, 2]], [[4, 2]])).values
    array([1, 2, 4], dtype=int32)
    """
    del validate_indices
    return _combined("set_union", a, b, set.union)


def set_size(a: pb.SparseTensor, validate_indices: bool = True) -> pb.Tensor:
    """How many different elements each set of the sparse tensor `a` has, int32.

    >>> import pullback.compat.v1 as tf
    >>> a = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [5, 5, 1], [3, 2])
    >>> tf.Session().run(tf.sets.size(a))
    array([1, 0, 1], dtype=int32)
    """
    del validate_indices

    def sizes(session: Any, *parts: Any) -> list[Any]:
        del session
        found = np.zeros(parts[2][:-1], np.int32)
        for place, members in _sets_of(parts).items():
            found[place] = len(members)
        return [found]

    static = a.sure_shape[:-1]
    return host_call(sizes, a.tensors, [pb.TensorType(pb.int32, static)], "set_size").outputs[0]


difference, intersection, size, union = set_difference, set_intersection, set_size, set_union


def _combined(
    function: str, a: Operand, b: Operand, combine: Callable[[set[Any], set[Any]], set[Any]]
) -> pb.SparseTensor:
    left, right = (x if isinstance(x, pb.SparseTensor) else pb.convert_to_tensor(x) for x in (a, b))
    if left.dtype != right.dtype:
        raise TypeError(f"{function}: dtypes differ: {left} and {right}; convert one with pb.cast")
    known = [x.sure_shape if isinstance(x, pb.SparseTensor) else x.shape for x in (left, right)]
    if not known[0][:-1].is_compatible_with(known[1][:-1]):
        raise ValueError(f"{function}: all lengths but the last must be the same, but they are {left} and {right}")
    parts = [x.tensors if isinstance(x, pb.SparseTensor) else (x,) for x in (left, right)]
    count = len(parts[0])

    def combined(session: Any, *arrays: Any) -> list[Any]:
        del session
        one, other = _sets_of(arrays[:count]), _sets_of(arrays[count:])
        found = {place: combine(one.get(place, set()), other.get(place, set())) for place in {**one, **other}}
        return _sparse(found, _lengths_of(arrays[:count]), arrays[0 if count == 1 else 1].dtype)

    rank = left.shape.rank
    types = [tensor_type(pb.int64, [None, rank]), tensor_type(left.dtype, [None]), tensor_type(pb.int64, [rank])]
    return pb.SparseTensor(*host_call(combined, [*parts[0], *parts[1]], types, function).outputs)


def _lengths_of(parts: Any) -> tuple[int, ...]:
    return tuple(parts[2][:-1]) if len(parts) == 3 else parts[0].shape[:-1]


def _sets_of(parts: Any) -> Sets:
    """The sets of a dense tensor, or of the parts of a sparse one, by their places."""
    found: Sets = {}
    for place, member in _members(parts):
        found.setdefault(place, set()).add(member)
    return found


def _members(parts: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    if len(parts) == 1:
        for place, member in np.ndenumerate(parts[0]):
            yield place[:-1], member
        return
    for place, member in zip(parts[0], parts[1], strict=True):
        yield tuple(int(n) for n in place[:-1]), member


def _sparse(sets: Sets, lengths: tuple[int, ...], dtype: Any) -> list[Any]:
    """Indices, values and shape of the sparse tensor whose sets these are."""
    rows = [(place, i, member) for place in sorted(sets) for i, member in enumerate(sorted(sets[place]))]
    most = max((len(members) for members in sets.values()), default=0)
    indices = np.array([(*place, i) for place, i, _ in rows], np.int64).reshape(-1, len(lengths) + 1)
    return [indices, np.array([member for _, _, member in rows], dtype), np.array([*lengths, most], np.int64)]
