"""`Memory` as a value."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.core.memory import as_bytes


def test_a_policy_prints_what_it_says() -> None:
    assert str(pb.Memory(every=3)) == "Memory(every=3)"
    assert str(pb.Memory(intermediates=True)) == "Memory(intermediates=True)"


@pytest.mark.parametrize("name", ["every", "budget"])
def test_numbers_must_be_positive(name: str) -> None:
    with pytest.raises(ValueError, match=f"^Memory: {name} must be positive, not 0$"):
        pb.Memory(**{name: 0})


def test_a_loop_shows_a_policy_only_where_there_is_one() -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.while_loop(lambda i, y: i < 5, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
    pb.gradients(y, x)
    assert "Memory" not in str(x.graph)
    with pb.memory_policy(pb.Memory(every=2)):
        pb.gradients(y, x)
    assert "memory=Memory(every=2)" in str(x.graph)


@pytest.mark.parametrize(
    ("text", "number"), [(12, 12), ("12", 12), ("2kB", 2000), ("1.5 MB", 1_500_000), ("1GiB", 2**30), ("3 KiB", 3072)]
)
def test_bytes_are_numbers_or_have_units(text: int | str, number: int) -> None:
    assert as_bytes(text) == number


@pytest.mark.parametrize("wrong", [0, -5, "many", "3 apples", "MB", True])
def test_what_is_no_number_of_bytes_is_refused(wrong: Any) -> None:
    with pytest.raises(pb.errors.InvalidArgumentError) as raised:
        as_bytes(wrong)
    assert str(raised.value) == f"a budget is a number of bytes, or a string such as '200MB', not {wrong!r}"


def test_a_policy_takes_a_budget_with_a_unit() -> None:
    assert pb.Memory(budget="2MB").bytes == 2_000_000
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"not 'much'$"):
        pb.Memory(budget="much")
