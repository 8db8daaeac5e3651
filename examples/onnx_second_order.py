"""Newton's method on somebody else's model: Hessian-vector products of an ONNX file for SciPy, run by onnxruntime.

The model is a logistic regression's loss. Its value, gradient and Hessian-vector product are one new ONNX file, and
SciPy's trust-region method, which asks for just these, minimizes it in few steps.

    python examples/onnx_second_order.py

Needs: pip install "pullback[onnxruntime,special]"
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from scipy.optimize import minimize

import pullback as pb

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
logistic (double[features] w, double[rows, features] x, double[rows] sign) => (double loss)
<double rate = {0.005}, double one = {1.0}>
{
    margin = MatMul(x, w)
    signed = Mul(margin, sign)
    opposite = Neg(signed)
    exponential = Exp(opposite)
    likelihood = Add(exponential, one)
    each = Log(likelihood)
    mean = ReduceMean<keepdims = 0>(each)
    squares = ReduceSumSquare<keepdims = 0>(w)
    penalty = Mul(squares, rate)
    loss = Add(mean, penalty)
}
"""


def main() -> float:
    """Minimizes and prints; the length of the gradient at the end."""
    graph = pb.onnx.load(onnx.parser.parse_model(MODEL))
    first = pb.onnx.differentiate(graph, wrt=["w"])
    second = pb.onnx.differentiate(graph, wrt=["w"], kind="hvp")
    outputs = {"loss": graph["loss"], **first.outputs, **second.outputs}
    inputs = dict(zip(graph.input_names, graph.inputs, strict=True)) | second.inputs
    model = pb.onnx.export(outputs, inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    random = np.random.default_rng(0)
    x = random.normal(size=(500, 20))
    sign = np.where(x @ random.normal(size=20) + random.normal(size=500) > 0, 1.0, -1.0)

    def run(name: str, w: np.ndarray, v: np.ndarray | None = None) -> Any:
        vector = np.zeros_like(w) if v is None else v
        return session.run([name], {"w": w, "x": x, "sign": sign, "vectors/w": vector})[0]

    result = minimize(
        lambda w: float(run("loss", w)),
        np.zeros(20),
        jac=lambda w: run("gradients/w", w),
        hessp=lambda w, v: run("hvp/w", w, v),
        method="trust-ncg",
        options={"gtol": 1e-9},
    )
    slope = float(np.linalg.norm(run("gradients/w", result.x)))
    print(f"loss {result.fun:.6f} after {result.nit} steps of Newton's method; the gradient's length is {slope:.1e}")
    return slope


if __name__ == "__main__":
    main()
