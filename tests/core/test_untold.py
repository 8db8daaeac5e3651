"""What is told of integers while a graph is built, where elements are decided by a run: nothing that is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.operation import Operation
from pullback.core.untold import Untold, as_computed, to_compute_with
from pullback.core.values import constant_value, evaluated, inputs_to_evaluate

from ..cases.case import Case
from ..cases.table import building, each, rows

IDS = [0, 0, 1, 1, 4, 4, 2, 5, 5, 5, 6, 7]


def untold(op: Operation) -> list[Any] | None:
    """Arrays of which the shapes are known, for what decides the values of `op`; None where they are long."""
    sizes = [x.shape.num_elements() for x in inputs_to_evaluate(op)]
    if not sizes or any(n is None or n > 64 for n in sizes):
        return None
    return [np.full(x.shape.known, None) for x in inputs_to_evaluate(op)]


@each(rows("not_on_numpy"))
def test_what_is_told_of_unknown_elements_is_true(case: Case) -> None:
    with building(case) as built:
        graph = built.ys[0].graph
        checked = [(op, arrays) for op in graph.get_operations() for arrays in [untold(op)] if arrays is not None]
        for op, arrays in checked:
            for y, found in zip(op.outputs, evaluated(op, arrays), strict=True):
                if found is None or all(n is None for n in found.reshape(-1)):
                    continue
                (value,) = built.run([y])
                for n, wanted in zip(found.reshape(-1), np.asarray(value).reshape(-1), strict=True):
                    assert n is None or n == wanted, f"{op.name} is told to be {found}"


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("axis", [0, -1])
def test_one_hot_of_few_computed_numbers(axis: int, engine: str) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    table, ids = pb.placeholder(pb.int64, [8]), pb.placeholder(pb.int64, [len(IDS)])
    logits = pb.placeholder(pb.float32, [len(IDS), 8])
    picked, largest = pb.gather(table, ids), pb.argmax(logits, 1)
    assert constant_value(pb.one_hot(picked, 3, axis=axis)) is None
    wanted = np.equal.outer(IDS, np.arange(8))
    feeds = {table: np.arange(8), ids: IDS, logits: wanted}
    for y in pb.Session(engine=engine).run([pb.one_hot(i, 8, axis=axis) for i in (picked, largest)], feeds):
        np.testing.assert_array_equal(y, wanted.T if axis == 0 else wanted)


def test_lengths_are_computed_with() -> None:
    lengths: Any = pb.placeholder(pb.float32, ["n", 3]).shape.lengths
    n = lengths[0]
    given = to_compute_with(np.array([n, 3, None]))
    computed = as_computed(-(given[:2] * 2 - given[:2] // 2 + 7 % given[:2]))
    assert [str(x) for x in computed] == [str(-(n * 2 - n // 2 + 7 % n)), "-6"]
    assert as_computed(given).tolist() == [n, 3, None]
    assert as_computed(given[:1] - given[:1]).tolist() == [0]


@pytest.mark.parametrize("ask", [bool, hash, lambda x: x == 3, lambda x: x != 3, lambda x: x < 3, lambda x: x > 3, int])
def test_what_a_run_decides_is_not_compared(ask: Any) -> None:
    with pytest.raises(TypeError):
        ask(Untold(None))
