"""Assertions of `tf.test.TestCase` on containers, texts and order: what passes, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf

ROWS: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = [
    ("assertLen", ([1, 2], 2), ([1, 2], 3)),
    ("assertEmpty", ([],), ({"a": 1},)),
    ("assertEmpty", ((),), (3,)),
    ("assertNotEmpty", ("a",), (set(),)),
    ("assertNotEmpty", ([0],), (3,)),
    ("assertAllInRange", ([1.0, 2.0], 1.0, 2.0), ([1.0, 3.0], 1.0, 2.0)),
    ("assertAllInRange", ([1.5], 1.0, 2.0, True, True), ([1.0, 1.5], 1.0, 2.0, True)),
    ("assertItemsEqual", ([1, 2, 2], [2, 1, 2]), ([1, 2, 2], [2, 1])),
    ("assertSameElements", ([1, 2, 2], [2, 1]), ([1, 2], [2, 3])),
    ("assertContainsSubset", ([1], [2, 1]), ([1, 3], [2, 1])),
    ("assertNoCommonElements", ([1], [2]), ([1], [2, 1])),
    ("assertSequenceStartsWith", ([1, 2], [1, 2, 3]), ([2], [1, 2, 3])),
    ("assertSequenceStartsWith", (1, [1, 2, 3]), ([], [1])),
    ("assertContainsSubsequence", ([1, 2, 3], [1, 3]), ([1, 2, 3], [3, 1])),
    ("assertContainsExactSubsequence", ([1, 2, 3], [2, 3]), ([1, 2, 3], [1, 3])),
    ("assertContainsInOrder", (["a", "c"], "abc"), (["c", "a"], "abc")),
    ("assertContainsInOrder", (["a", "a"], "abc"), (["b", "a"], "abc")),
    ("assertStartsWith", ("abc", "ab"), ("abc", "bc")),
    ("assertNotStartsWith", ("abc", "bc"), ("abc", "ab")),
    ("assertEndsWith", ("abc", "bc"), ("abc", "ab")),
    ("assertNotEndsWith", ("abc", "ab"), ("abc", "bc")),
    ("assertRegexMatch", ("abc", ["x", "b."]), ("abc", ["^b"])),
    ("assertBetween", (2, 1, 2), (3, 1, 2)),
    ("assertTotallyOrdered", ([1, 1.0], [2], [3]), ([1], [1])),
    ("assertTotallyOrdered", ([1], [2]), ([1, 2],)),
    ("assertSequenceAlmostEqual", ([1.0, 2.0], [1.0, 2.0 + 1e-9]), ([1.0], [1.1])),
    ("assertSequenceAlmostEqual", ([1.0], [1.01], 1), ([1.0], [1.0, 2.0])),
    ("assertDictAlmostEqual", ({"a": 1.0}, {"a": 1.0}), ({"a": 1.0}, {"a": 1.1})),
    ("assertDictAlmostEqual", ({"a": 1.0}, {"a": 1.1}, None, None, 0.2), ({"a": 1.0}, {"b": 1.0})),
    ("assertSameStructure", ({"a": [1, 2]}, {"a": (1, 2)}), ({"a": [1, 2]}, {"a": [1, 3]})),
    ("assertSameStructure", ([1], [1]), ([1], [1, 2])),
    ("assertNDArrayNear", ([1.0, 2.0], [1.0, 2.1], 0.2), ([1.0, 2.0], [1.0, 2.1], 0.1)),
]


@pytest.mark.parametrize(("name", "passing", "failing"), ROWS)
def test_an_assertion_passes_or_fails(name: str, passing: Any, failing: Any) -> None:
    asserts = getattr(tf.test.TestCase(), name)
    asserts(*passing)
    with pytest.raises(AssertionError):
        asserts(*failing)


def test_a_message_is_told() -> None:
    with pytest.raises(AssertionError, match=r"has length 1, expected 2 : of losses$"):
        tf.test.TestCase().assertLen([1], 2, "of losses")
