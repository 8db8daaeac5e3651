"""Forces from an energy model: an ONNX file of somebody else's in, the file with its gradient out, run by onnxruntime.

The model gives the energy of a cluster of atoms (Lennard-Jones). A force is minus the gradient of the energy by the
positions. With the new file, stock onnxruntime moves the atoms, and their energy stays what it was.

    python examples/onnx_forces.py

Needs: pip install "pullback[onnxruntime]"
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import onnxruntime

import pullback as pb

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
lennard_jones (double[atoms, 3] positions) => (double energy)
<double tiny = {1e-9}, double one = {1.0}, double two = {2.0}, int64[1] first = {0}, int64[1] second = {1},
 int64[1] last = {2}>
{
    rows = Unsqueeze(positions, second)
    columns = Unsqueeze(positions, first)
    apart = Sub(rows, columns)
    squares = Mul(apart, apart)
    distance = ReduceSum<keepdims = 0>(squares, last)
    size = Shape(distance)
    ones = ConstantOfShape<value = double[1] {1.0}>(size)
    same = EyeLike<dtype = 11>(ones)
    safe = Add(distance, same)
    inverse = Div(one, safe)
    third = Mul(inverse, inverse)
    sixth = Mul(third, inverse)
    less = Sub(sixth, one)
    pairs = Mul(sixth, less)
    others = Sub(one, same)
    counted = Mul(pairs, others)
    total = ReduceSum<keepdims = 0>(counted)
    energy = Mul(total, two)
}
"""


def main(steps: int = 400) -> float:
    """Moves the atoms and prints their energies; the largest change of the total energy."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "energy.onnx"
        onnx.save(onnx.parser.parse_model(MODEL), path)
        graph = pb.onnx.load(path)
        made = pb.onnx.differentiate(graph, of=["energy"], wrt=["positions"])
        both = {"energy": graph["energy"], "gradient": made.outputs["gradients/positions"]}
        pb.onnx.export(both, {"positions": graph["positions"]}, Path(folder) / "forces.onnx")
        session = onnxruntime.InferenceSession(Path(folder) / "forces.onnx", providers=["CPUExecutionProvider"])

    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    positions = corners * 1.15 + np.random.default_rng(0).normal(0, 0.02, (8, 3))
    velocities, h = np.zeros((8, 3)), 0.005
    energy, gradient = session.run(None, {"positions": positions})
    totals = []
    for step in range(steps):
        velocities -= 0.5 * h * gradient
        positions += h * velocities
        energy, gradient = session.run(None, {"positions": positions})
        velocities -= 0.5 * h * gradient
        totals.append(energy + 0.5 * np.sum(velocities**2))
        if step % 100 == 0:
            print(f"step {step:3}  potential {energy:8.4f}  total {totals[-1]:8.4f}")
    drift = float(max(totals) - min(totals))
    print(f"the total energy of 8 atoms changed by {drift:.4f} in {steps} steps of onnxruntime")
    return drift


if __name__ == "__main__":
    main()
