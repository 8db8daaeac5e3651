"""Numbers of segments and parts that there are not: errors that say which, whenever they are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

ROWS = [1.0, 2.0, 3.0]
SEGMENTS = {name: getattr(pb.math, f"segment_{name}") for name in ("sum", "mean", "prod", "max", "min")}
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


def refused(build: Any, numbers: list[int], engine: str, fed: bool) -> str:
    """The message of a run with those numbers, fed or constant."""
    given = pb.placeholder(pb.int32, [3]) if fed else pb.constant(numbers)
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.Session(engine=engine).run(build(given), {given: np.array(numbers, np.int32)} if fed else None)
    return str(caught.value)


@BOTH
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("name", SEGMENTS)
def test_segment_ids_that_do_not_ascend(name: str, fed: bool, engine: str) -> None:
    text = refused(lambda ids: SEGMENTS[name](pb.constant(ROWS), ids), [0, 2, 1], engine, fed)
    assert "segment ids must ascend, but number 2 is 1, after 2" in text


@BOTH
@pytest.mark.parametrize("fed", [True, False])
def test_segment_ids_below_zero(fed: bool, engine: str) -> None:
    text = refused(lambda ids: pb.math.segment_sum(pb.constant(ROWS), ids), [-1, 0, 1], engine, fed)
    assert "segment ids must not be negative, but the first is -1" in text


@BOTH
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("wrong", [-1, 2])
def test_partitions_out_of_range(wrong: int, fed: bool, engine: str) -> None:
    text = refused(lambda parts: pb.dynamic_partition(pb.constant(ROWS), parts, 2), [0, wrong, 1], engine, fed)
    assert f"dynamic_partition: partition number {wrong} is not in [0, 2)" in text
