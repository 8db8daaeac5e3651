"""`history`: the values of each step."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pullback as pb


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_values_and_derivatives_of_each_step(engine: str, steps: int) -> None:
    n, x = pb.placeholder(pb.int32, []), pb.placeholder(pb.float64, [])
    y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, pb.sin(y)), (0, x), maximum_iterations=9)[1]
    (dx,) = pb.gradients(y, x)
    values, slopes = pb.Session(engine=engine).run([pb.history(y), pb.history(dx)], {n: steps, x: 0.5})
    expected = [0.5]
    for _ in range(steps):
        expected.append(np.sin(expected[-1]))
    np.testing.assert_allclose(values, expected[:-1])
    np.testing.assert_allclose(slopes, [np.prod(np.cos(expected[t + 1 : steps])) for t in range(steps)])


def test_only_what_a_loop_returned_has_a_history() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.while_loop(lambda y: y < 10.0, lambda y: y * 2.0, x)
    for tensor in (x, y + 1.0, y.op.outputs[0]):
        with pytest.raises(ValueError, match=re.escape(f"history: {tensor} (made at ")):
            pb.history(tensor)
