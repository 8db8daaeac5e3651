"""Nested structures by TensorFlow 1's names: `tf.nest` and `tensorflow.python.util.nest`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.nest import assert_same_structure as assert_same_structure
from ...core.nest import children
from ...core.nest import flatten as flatten
from ...core.nest import is_nested as is_nested
from ...core.nest import map_structure as map_structure
from ...core.nest import pack_sequence_as as pack_sequence_as

is_sequence = is_nested


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> list[Any]:
    """The parts of `input_tree` that stand where `shallow_tree` has leaves.

    Raises:
        TypeError: `input_tree` ends before `shallow_tree` does. ValueError: they branch differently.

    >>> from pullback.compat.v1 import nest
    >>> nest.flatten_up_to([0, 0], [[1, 2], 3])
    [[1, 2], 3]
    """
    if not is_nested(shallow_tree):
        return [input_tree]
    if not is_nested(input_tree):
        raise TypeError(f"flatten_up_to: {input_tree!r} is a leaf where the shallow tree has {shallow_tree!r}")
    pairs = zip(children(shallow_tree), children(input_tree), strict=True)
    return [leaf for shallow, deep in pairs for leaf in flatten_up_to(shallow, deep, check_types)]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """`func` of the parts of `inputs` that stand where `shallow_tree` has leaves, in its structure.

    >>> from pullback.compat.v1 import nest
    >>> nest.map_structure_up_to({"a": 0}, len, {"a": [1, 2, 3]})
    {'a': 3}
    """
    del kwargs
    parts = zip(*[flatten_up_to(shallow_tree, tree) for tree in inputs], strict=True)
    return pack_sequence_as(shallow_tree, [func(*part) for part in parts])


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Nothing, if `input_tree` has at least the structure of `shallow_tree`.

    Raises:
        TypeError, ValueError: it has not.
    """
    flatten_up_to(shallow_tree, input_tree, check_types)
