"""Nested structures: what counts as one, and when two are the same."""

from __future__ import annotations

import pytest

import pullback as pb


def test_lists_tuples_and_dictionaries_are_nested() -> None:
    assert [pb.nest.is_nested(seq) for seq in ([], (), {}, "ab", 1)] == [True, True, True, False, False]


def test_a_list_beside_a_tuple_is_mapped_where_types_do_not_matter() -> None:
    with pytest.raises(TypeError, match=r"\[1, 2\] is a list, \(3, 4\) a tuple"):
        pb.nest.map_structure(lambda a, b: a + b, [1, 2], (3, 4))
    assert pb.nest.map_structure(lambda a, b: a + b, [1, 2], (3, 4), check_types=False) == [4, 6]


def test_dictionaries_are_taken_in_the_order_of_their_keys() -> None:
    assert pb.nest.flatten({"b": 1, "a": [2, 3]}) == [2, 3, 1]
