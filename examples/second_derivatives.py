"""Newton's method: the gradient of a gradient, and the picture of all three graphs.

python examples/second_derivatives.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import pullback as pb


def main(folder: str = ".") -> float:
    """Finds the minimum of x^4 - 3 x^3 + 2, and draws how; the minimum's place."""
    x = pb.Variable(4.0, dtype=pb.float64, name="x")
    y = x**4 - 3.0 * x**3 + 2.0
    (slope,) = pb.gradients(y, x)
    (curvature,) = pb.gradients(slope, x)
    step = x.assign_sub(slope / curvature)

    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        for i in range(6):
            value = session.run(x)
            print(f"step {i}: x = {value:.10f}")
            session.run(step)
        result = float(session.run(x))
    path = Path(folder) / "second_derivatives.svg"
    pb.draw([y, slope, curvature]).save(path)
    print(f"minimum at x = {result:.10f} (exactly 9/4); drawn in {path}")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
