"""Backward reachability: what some things need."""

from __future__ import annotations

from pullback.core.needs import needed

BEFORE = {"e": ["c", "d"], "d": ["b"], "c": ["b"], "b": ["a"], "a": [], "other": ["a"]}


def test_what_is_needed_is_the_targets_and_all_before_them() -> None:
    assert needed(["e"], BEFORE.__getitem__) == {"a", "b", "c", "d", "e"}
    assert needed(["d", "other"], BEFORE.__getitem__) == {"a", "b", "d", "other"}


def test_nothing_is_needed_for_no_target() -> None:
    assert needed([], BEFORE.__getitem__) == set()


def test_each_thing_is_asked_once_what_it_needs() -> None:
    asked: list[str] = []

    def before(x: str) -> list[str]:
        asked.append(x)
        return BEFORE[x]

    needed(["e", "c"], before)
    assert sorted(asked) == ["a", "b", "c", "d", "e"]


def test_a_circle_ends() -> None:
    assert needed([0], lambda n: [(n + 1) % 3]) == {0, 1, 2}
