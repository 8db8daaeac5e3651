"""Nested structures (pytrees): lists, tuples, named tuples and dictionaries of anything else, which is a leaf.

Dictionaries are taken in the order of their keys, as TensorFlow does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

_PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), np.ndarray, np.float32, np.float64, np.int64])


def is_plain(elements: Iterable[Any]) -> bool:
    """Whether all elements are of types that long lists without tensors are made of, by a look at the types alone."""
    return _PLAIN.issuperset(map(type, elements))


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a list, tuple or dictionary.

    >>> import pullback as pb
    >>> pb.nest.is_nested([1]), pb.nest.is_nested(1)
    (True, False)
    """
    return isinstance(seq, list | tuple | Mapping)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; a leaf alone is a structure. `expand_composites` must be False.

    >>> import pullback as pb
    >>> pb.nest.flatten({"b": [1, (2, 3)], "a": 4})
    [4, 1, 2, 3]
    """
    if expand_composites:
        raise _composites("flatten")
    return list(_leaves(structure))


def _composites(function: str) -> NotImplementedError:
    return NotImplementedError(f"nest.{function}: expand_composites=True is not supported; IndexedSlices are leaves")


def _leaves(structure: Any) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for child in children(structure):
        yield from _leaves(child)


def children(structure: Any) -> list[Any]:
    """What a list, tuple or dictionary holds, in order."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _keys(structure: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        raise TypeError(f"nest: the keys of a dictionary must be sortable, not {list(structure)!r}") from None


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """`flat_sequence` in the shape of `structure`. `expand_composites` must be False.

    Raises:
        ValueError: as many leaves are needed as `structure` has.

    >>> import pullback as pb
    >>> pb.nest.pack_sequence_as({"b": [1, 2], "a": 4}, ["x", "y", "z"])
    {'b': ['y', 'z'], 'a': 'x'}
    """
    if expand_composites:
        raise _composites("pack_sequence_as")
    leaves = list(flat_sequence)
    needed = len(flatten(structure))
    if len(leaves) != needed:
        raise ValueError(f"nest: {len(leaves)} leaves for a structure that has {needed}: {structure!r}")
    return _packed(structure, iter(leaves))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        found = {key: _packed(structure[key], leaves) for key in _keys(structure)}
        make: Any = dict if type(structure) is dict else type(structure)
        return make((key, found[key]) for key in structure)
    children = [_packed(child, leaves) for child in structure]
    named: Any = getattr(type(structure), "_make", None)
    return named(children) if named is not None else type(structure)(children)


def map_structure(
    func: Callable[..., Any], *structure: Any, check_types: bool = True, expand_composites: bool = False
) -> Any:
    """`func` of the leaves at the same places of all structures, in the shape of the first.

    `expand_composites` must be False.

    Raises:
        ValueError, TypeError: the structures differ; with `check_types=False` lists and tuples are the same.

    >>> import pullback as pb
    >>> pb.nest.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if expand_composites:
        raise _composites("map_structure")
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types)
    leaves = [flatten(one) for one in structure]
    return pack_sequence_as(first, [func(*values) for values in zip(*leaves, strict=True)])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Nothing, where both have the same shape. `expand_composites` must be False.

    Raises:
        ValueError: a leaf stands where the other has a structure, or lengths or keys differ.
        TypeError: with `check_types`, a list stands where the other has a tuple, and the like.

    >>> import pullback as pb
    >>> pb.nest.assert_same_structure([1, 2], [3])
    Traceback (most recent call last):
    ValueError: The two structures don't have the same nested structure: ... not the same number of elements.
    """
    if expand_composites:
        raise _composites("assert_same_structure")
    where = "The two structures don't have the same nested structure:"
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"{where} {nest1!r} and {nest2!r}.")
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"{where} {nest1!r} is a {type(nest1).__name__}, {nest2!r} a {type(nest2).__name__}.")
    if len(nest1) != len(nest2):
        counts = f"{nest1!r} has {len(nest1)}, {nest2!r} has {len(nest2)}"
        raise ValueError(f"{where} {counts}: not the same number of elements.")
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"{where} {nest1!r} has the keys {list(nest1)}, {nest2!r} {list(nest2)}.")
    for a, b in zip(children(nest1), children(nest2), strict=True):
        assert_same_structure(a, b, check_types)
