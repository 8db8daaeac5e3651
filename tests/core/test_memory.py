"""`Memory` as a value."""

from __future__ import annotations

import pytest

import pullback as pb


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
