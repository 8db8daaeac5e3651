"""Loops on NumPy, and what their derivatives keep of them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.control_flow.py_function import numpy_function
from pullback.engines.numpy import loops

from .loops import COUNTS, FEW, Derivatives, nested, two_variables, with_random_numbers

POLICIES = [FEW, pb.Memory(every=1), pb.Memory(every=5), pb.Memory(every=3, budget=400)]


@pytest.mark.parametrize("memory", POLICIES, ids=str)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_is_computed_again_is_the_same_to_the_last_bit(memory: pb.Memory, order: int) -> None:
    found, expected = Derivatives(two_variables, order, "numpy", memory), Derivatives(two_variables, order, "numpy")
    for n in COUNTS:
        np.testing.assert_array_equal(found(n), expected(n), err_msg=f"{n} steps")


@pytest.mark.parametrize("order", [1, 2, 3])
def test_steps_that_compute_again_differ_in_the_order_of_sums_only(order: int) -> None:
    lean = Derivatives(two_variables, order, "numpy", pb.Memory(every=3, budget=100))
    expected = Derivatives(two_variables, order, "numpy")
    for n in COUNTS:
        np.testing.assert_allclose(lean(n), expected(n), rtol=1e-12, err_msg=f"{n} steps")


def test_loop_in_a_branch_in_a_loop_from_few_checkpoints() -> None:
    found, expected = Derivatives(nested, 2, "numpy", FEW), Derivatives(nested, 2, "numpy")
    for n in [0, 1, 7, 40]:
        np.testing.assert_array_equal(found(n), expected(n))


def test_random_numbers_are_the_same_when_a_step_is_made_again() -> None:
    found = Derivatives(with_random_numbers, 2, "numpy", FEW)
    expected = Derivatives(with_random_numbers, 2, "numpy")
    for n in [9, 40, 5]:  # one after the other: what is drawn again must not count as drawn
        np.testing.assert_array_equal(found(n), expected(n))


def peak(memory: pb.Memory | None, steps: int) -> int:
    """The most bytes in use while a loop over 10 kB is differentiated."""
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [1250])
        y = pb.while_loop(lambda i, y: i < steps, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
        run = pb.Session(engine="numpy").make_callable(pb.gradients(y, x, memory=memory), [x])
    array = np.ones(1250)
    run(array)
    tracemalloc.start()
    run(array)
    _, found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return found


def test_memory_stays_within_the_budget() -> None:
    assert peak(None, 1000) > 10_000_000
    assert peak(pb.Memory(budget=400_000), 300) < 700_000
    assert peak(pb.Memory(budget=400_000), 3000) < 700_000


def test_memory_of_every_thirtieth_state() -> None:
    assert peak(pb.Memory(every=30), 900) < 1_500_000


def steps_made(monkeypatch: pytest.MonkeyPatch, count: int, order: int) -> float:
    """How often each step is computed again for a derivative from eight checkpoints of a loop."""
    made = [0]
    step = loops._Part.step

    def counted(self: Any, *args: Any) -> Any:
        made[0] += 1
        return step(self, *args)

    with pb.Graph().as_default(), monkeypatch.context() as patch:
        patch.setattr(loops._Part, "step", counted)
        x = pb.placeholder(pb.float64, [4])
        y = pb.while_loop(lambda i, y: i < count, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
        for _ in range(order):
            (y,) = pb.gradients(y, x, memory=FEW)
        pb.Session(engine="numpy").run(y, {x: np.ones(4)})
    return made[0] / count


def test_a_tight_budget_takes_n_log_n_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    again = [steps_made(monkeypatch, count, order=1) for count in (512, 1024, 2048, 4096)]
    assert np.diff(again).max() <= 0.5
    assert again[-1] < 5


def test_second_derivatives_from_a_tight_budget_take_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps_made(monkeypatch, 512, order=2) < 2 * steps_made(monkeypatch, 128, order=2) + 10


def test_steps_that_call_python_are_not_made_twice() -> None:
    calls: list[float] = []

    def noted(y: float) -> float:
        calls.append(y)
        return y * 2.0

    x = pb.placeholder(pb.float64, [])

    def body(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        return [i + 1, pb.sin(y) * pb.stop_gradient(pb.reshape(numpy_function(noted, [y], pb.float64), []))]

    y = pb.while_loop(lambda i, y: i < 20, body, [0, x])[1]
    dx = pb.gradients(y, x, memory=pb.Memory(every=4))
    pb.Session(engine="numpy").run(dx, {x: 0.5})
    assert len(calls) == 20
