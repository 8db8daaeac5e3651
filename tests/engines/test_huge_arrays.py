"""Arrays that no memory holds, of lengths that a run computes: errors of ours, and the process goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

TOO_LARGE = 2**46
"""Elements of which no machine has so many, though their bytes can be counted."""
UNCOUNTABLE = 2**62
"""Elements whose bytes are more than 64 bits count."""


def row() -> pb.Tensor:
    return pb.placeholder_with_default(np.ones(2, np.float32), [2])


MAKERS: dict[str, Callable[[Any], pb.Tensor]] = {
    "broadcast_to": lambda n: pb.broadcast_to(pb.placeholder_with_default(1.0, []), [n]),
    "eye": lambda n: pb.eye(n),
    "fill": lambda n: pb.fill([n], pb.placeholder_with_default(1.0, [])),
    "one_hot": lambda n: pb.one_hot([0, 1], n),
    "pad": lambda n: pb.pad(row(), [[0, n]]),
    "random_uniform": lambda n: pb.random.uniform([n]),
    "range": lambda n: pb.range(n),
    "repeat": lambda n: pb.repeat(row(), n),
    "repeat_each": lambda n: pb.repeat(row(), pb.stack([n, n])),
    "scatter_nd": lambda n: pb.scatter_nd(pb.constant([[0]], pb.int64), row()[:1], [n]),
    "segment_sum": lambda n: pb.math.segment_sum(row(), pb.stack([0, n])),
    "segment_max": lambda n: pb.math.segment_max(row(), pb.stack([0, n])),
    "sequence_mask": lambda n: pb.sequence_mask(pb.stack([n])),
    "tile": lambda n: pb.tile(row(), [n]),
    "unsorted_segment_mean": lambda n: pb.math.unsorted_segment_mean(row(), [0, 1], n),
    "unsorted_segment_sum": lambda n: pb.math.unsorted_segment_sum(row(), [0, 1], n),
    "zeros": lambda n: pb.zeros([n]),
}


@pytest.mark.parametrize("size", [TOO_LARGE, UNCOUNTABLE])
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_no_memory_holds_is_an_error_of_ours(engine: str, name: str, size: int) -> None:
    y = MAKERS[name](pb.placeholder_with_default(np.int64(size), []))
    with pb.Session(engine=engine) as session:
        with pytest.raises((pb.errors.ResourceExhaustedError, pb.errors.InvalidArgumentError)):
            session.run(y)
        assert session.run(pb.constant(2.0)) == 2.0


@pytest.mark.parametrize("count", [2**61, 2**62, 2**63 - 1])
@pytest.mark.parametrize("engine", ["numpy", "xla", "onnxruntime"])
def test_known_counts_that_overflow_are_refused(engine: str, count: int) -> None:
    """NumPy's repeat would end the process; products of 64 bits are 0 or negative."""
    four = pb.placeholder_with_default(np.ones(4, np.float32), [None])
    refused = (pb.errors.ResourceExhaustedError, pb.errors.InvalidArgumentError, pb.errors.UnimplementedError)
    with pb.Session(engine=engine) as session, pytest.raises(refused):
        session.run(pb.repeat(four, count))
    with pytest.raises(ValueError, match=r"^repeat: the result would have more elements than any memory holds$"):
        pb.repeat(four, [count] * 4)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_ranges_that_cannot_be_counted_are_not_empty(engine: str) -> None:
    limit = pb.placeholder_with_default(np.int64(2**63 - 1), [])
    with pb.Session(engine=engine) as session, pytest.raises(pb.errors.InvalidArgumentError):
        session.run(pb.range(limit))


def test_results_that_cannot_be_copied_name_what_is_missing() -> None:
    y = MAKERS["fill"](pb.placeholder_with_default(np.int64(TOO_LARGE), []))
    with pb.Session(engine="numpy") as session, pytest.raises(pb.errors.ResourceExhaustedError) as raised:
        session.run(y)
    assert str(raised.value) == (
        "a run found too little memory for what is fetched: "
        "Unable to allocate 256. TiB for an array with shape (70368744177664,) and data type float32\n"
        "Fetch less at a time."
    )


def test_results_that_cannot_be_counted_are_refused_before_they_are_compiled() -> None:
    y = MAKERS["range"](pb.placeholder_with_default(np.int64(UNCOUNTABLE), []))
    with pb.Session(engine="xla") as session, pytest.raises(pb.errors.InvalidArgumentError) as raised:
        session.run(y)
    assert str(raised.value).splitlines()[0] == (
        "operation 'range' (Range) failed on int64[], int64[], int64[]: "
        "its result would have more elements than any memory holds"
    )
