"""Assertions on containers, texts and order: those of `tf.test.TestCase` that come from absl's test case."""

from __future__ import annotations

import operator
import re
import unittest
from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import pairwise, product
from typing import Any

import numpy as np


class ContainerAssertions(unittest.TestCase):
    """A test case that compares what is in containers, how texts begin and end, and which object is the smaller one."""

    def assertLen(self, container: Sized, expected_len: int, msg: str | None = None) -> None:
        """The container holds so many elements."""
        if len(container) != expected_len:
            self._tell(f"{container!r} has length {len(container)}, expected {expected_len}", msg)

    def assertEmpty(self, container: Sized, msg: str | None = None) -> None:
        """The container holds nothing."""
        if not isinstance(container, Sized):
            self._tell(f"Expected a Sized object, got: {type(container).__name__}", msg)
        if len(container):
            self._tell(f"{container!r} has length of {len(container)}", msg)

    def assertNotEmpty(self, container: Sized, msg: str | None = None) -> None:
        """The container holds something."""
        if not isinstance(container, Sized):
            self._tell(f"Expected a Sized object, got: {type(container).__name__}", msg)
        if not len(container):
            self._tell(f"{container!r} has length of 0", msg)

    def assertItemsEqual(self, first: Iterable[Any], second: Iterable[Any], msg: str | None = None) -> None:
        """Both hold the same elements, each as often, in any order."""
        self.assertCountEqual(first, second, msg)  # noqa: PT009  (there need be no pytest)

    def assertSameElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        """Both hold the same elements, however often."""
        expected, actual = list(expected_seq), list(actual_seq)
        missing, more = [x for x in expected if x not in actual], [x for x in actual if x not in expected]
        if missing or more:
            self._tell(f"Expected, but missing: {missing!r}; unexpected, but present: {more!r}", msg)

    def assertContainsSubset(
        self, expected_subset: Iterable[Any], actual_set: Iterable[Any], msg: str | None = None
    ) -> None:
        """The second holds all elements of the first."""
        actual = list(actual_set)
        missing = [x for x in expected_subset if x not in actual]
        if missing:
            self._tell(f"Missing elements {missing!r} in {actual!r}", msg)

    def assertNoCommonElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: str | None = None
    ) -> None:
        """No element is in both."""
        actual = list(actual_seq)
        common = [x for x in expected_seq if x in actual]
        if common:
            self._tell(f"Common elements {common!r}", msg)

    def assertSequenceStartsWith(self, prefix: Any, whole: Sequence[Any], msg: str | None = None) -> None:
        """The sequence begins with `prefix`, which may be one element."""
        wanted = list(prefix) if isinstance(prefix, Sequence) else [prefix]
        if not wanted:
            self._tell("Prefix length is 0", msg)
        if list(whole[: len(wanted)]) != wanted:
            self._tell(f"prefix: {wanted!r} not found at start of whole: {whole!r}", msg)

    def assertContainsSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: str | None = None
    ) -> None:
        """The elements of `subsequence` come in the container in this order, others may stand between them."""
        rest, wanted = iter(container), list(subsequence)
        for x in wanted:
            if x not in rest:
                self._tell(f"{container!r} does not contain {wanted!r} as a subsequence; {x!r} is missing", msg)

    def assertContainsExactSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: str | None = None
    ) -> None:
        """The elements of `subsequence` come in the container one right after the other."""
        whole, wanted = list(container), list(subsequence)
        if not any(whole[i : i + len(wanted)] == wanted for i in range(len(whole) - len(wanted) + 1)):
            self._tell(f"{whole!r} does not contain {wanted!r} without gaps", msg)

    def assertContainsInOrder(self, strings: Any, target: str, msg: str | None = None) -> None:
        """The texts are found in `target`, none before the one that stands before it."""
        place = 0
        for text in [strings] if isinstance(strings, str) else strings:
            found = target.find(text, place)
            if found < 0:
                self._tell(f"Did not find {text!r} in {target[place:]!r}", msg)
            place = found

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """The text begins so."""
        if not actual.startswith(expected_start):
            self._tell(f"{actual!r} does not start with {expected_start!r}", msg)

    def assertNotStartsWith(self, actual: str, unexpected_start: str, msg: str | None = None) -> None:
        """The text does not begin so."""
        if actual.startswith(unexpected_start):
            self._tell(f"{actual!r} does start with {unexpected_start!r}", msg)

    def assertEndsWith(self, actual: str, expected_end: str, msg: str | None = None) -> None:
        """The text ends so."""
        if not actual.endswith(expected_end):
            self._tell(f"{actual!r} does not end with {expected_end!r}", msg)

    def assertNotEndsWith(self, actual: str, unexpected_end: str, msg: str | None = None) -> None:
        """The text does not end so."""
        if actual.endswith(unexpected_end):
            self._tell(f"{actual!r} does end with {unexpected_end!r}", msg)

    def assertRegexMatch(self, actual_str: str, regexes: Iterable[str], message: str | None = None) -> None:
        """One of the regular expressions is found in the text."""
        if not any(re.search(regex, actual_str) for regex in regexes):
            self._tell(f"{actual_str!r} matches none of {regexes!r}", message)

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """`minv <= value <= maxv`."""
        if not minv <= value <= maxv:
            self._tell(f"{value!r} unexpectedly not between {minv!r} and {maxv!r}", msg)

    def assertTotallyOrdered(self, *groups: Sequence[Any], **kwargs: Any) -> None:
        """Each element is less than those of later groups, and equal to those of its own."""
        for group in groups:
            for a, b in product(group, group):
                self._compare(a, b, {"eq", "le", "ge"}, kwargs.get("msg"))
        for small, large in pairwise(groups):
            for a, b in product(small, large):
                self._compare(a, b, {"lt", "le", "ne"}, kwargs.get("msg"))

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Sequence[Any],
        actual_seq: Sequence[Any],
        places: int | None = None,
        msg: str | None = None,
        delta: Any = None,
    ) -> None:
        """Both are equally long, and their elements almost equal, in order."""
        if len(expected_seq) != len(actual_seq):
            self._tell(f"Sequence size mismatch: {len(expected_seq)} vs {len(actual_seq)}", msg)
        for a, b in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(a, b, places, msg, delta)  # noqa: PT009  (there need be no pytest)

    def assertDictAlmostEqual(
        self,
        a: Mapping[Any, Any],
        b: Mapping[Any, Any],
        places: int | None = None,
        msg: str | None = None,
        delta: Any = None,
    ) -> None:
        """Both have the same keys, and values almost equal."""
        self.assertCountEqual(a, b, msg)  # noqa: PT009  (there need be no pytest)
        for key, value in a.items():
            self.assertAlmostEqual(value, b[key], places, msg, delta)  # noqa: PT009  (there need be no pytest)

    def assertSameStructure(self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: str | None = None) -> None:
        """Dictionaries and sequences, however deep, hold equal things at equal places."""
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            self.assertCountEqual(a, b, msg)  # noqa: PT009  (there need be no pytest)
            for key in a:
                self.assertSameStructure(a[key], b[key], f"{aname}[{key!r}]", f"{bname}[{key!r}]", msg)
        elif isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self.assertSameStructure(x, y, f"{aname}[{i}]", f"{bname}[{i}]", msg)
        elif a != b:
            self._tell(f"{aname} is {a!r} but {bname} is {b!r}", msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """The Euclidean norm of the difference is less than `err`."""
        norm = float(np.linalg.norm(np.subtract(ndarray1, ndarray2)))
        if not norm < err:
            self._tell(f"the norm of the difference is {norm}, not less than {err}", msg)

    def _compare(self, a: Any, b: Any, true: set[str], msg: str | None) -> None:
        """Of all comparisons of the two those named are true, and no others."""
        for name in ("eq", "ne", "lt", "le", "gt", "ge"):
            if bool(getattr(operator, name)(a, b)) != (name in true):
                self._tell(f"{name}({a!r}, {b!r}) is {name not in true}, which no order is", msg)

    def _tell(self, found: str, msg: str | None) -> None:
        self.fail(f"{found} : {msg}" if msg else found)
