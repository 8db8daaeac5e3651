"""Limits of reading: what is counted, how they are set, and what is said beyond them."""

from __future__ import annotations

import pytest

import pullback as pb
from pullback.core.errors import ResourceExhaustedError
from pullback.core.limits import limited, reading
from pullback.core.text import printable

EXCEEDED = [
    ("nodes", lambda: reading().takes_nodes(11), "10 nodes"),
    ("depth", lambda: reading().takes_depth(11), "10 levels, one inside the other"),
    ("bytes", lambda: reading().takes_bytes(11), "10 bytes for one array"),
]
"""The limit, what exceeds it, and what it is called."""


@pytest.mark.parametrize(("limit", "take", "most"), EXCEEDED, ids=[row[0] for row in EXCEEDED])
def test_what_is_beyond_a_limit_says_which_and_how_to_set_it(limit: str, take: object, most: str) -> None:
    assert callable(take)
    with pb.config.Limits(**{limit: 10}), limited("load"), pytest.raises(ResourceExhaustedError) as caught:
        take()
    assert str(caught.value) == (
        f"load: this takes more than {most}. If you trust who made it, read it inside "
        f"'with pb.config.Limits({limit}=...):'"
    )


def test_time_ends_between_two_nodes() -> None:
    with pb.config.Limits(seconds=-1.0), limited("load") as now, pytest.raises(ResourceExhaustedError, match="seconds"):
        now.takes_nodes()


def test_what_is_counted_is_the_sum() -> None:
    with pb.config.Limits(nodes=3), limited("load") as now:
        now.takes_nodes(2)
        now.takes_nodes()
        with pytest.raises(ResourceExhaustedError):
            now.takes_nodes()


def test_limits_hold_inside_the_block_only() -> None:
    with pb.config.Limits(nodes=1):
        with pb.config.Limits(nodes=2):
            assert reading().limits.nodes == 2
        assert reading().limits.nodes == 1
    assert reading().limits == pb.config.Limits()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            MemoryError("Unable to allocate 7 TiB"),
            "load: this takes more memory than there is: Unable to allocate 7 TiB",
        ),
        (RecursionError("maximum"), "load: this is nested deeper than Python's stack: maximum"),
    ],
)
def test_where_python_ends_is_an_error_of_ours(error: Exception, text: str) -> None:
    with pytest.raises(ResourceExhaustedError) as caught, limited("load"):
        raise error
    assert str(caught.value) == text


def test_errors_have_no_control_characters() -> None:
    error = pb.errors.DataLossError("a\x1b[2J\x07 \u202e \ud800\nb")
    assert str(error) == "a\\x1b[2J\\x07 \\u202e \\ud800\nb"
    assert printable("ä→") == "ä→"
