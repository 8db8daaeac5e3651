"""Learning in stock onnxruntime: a model with a training step, made from an ONNX file that only knows how to predict.

What `pullback grad digits.onnx --train adam --loss cross-entropy` does on the command line. The new model returns its
own parameters after a step, to be given to it in the next. It needs no training build of onnxruntime, and no Python.

    python examples/onnx_training.py

Needs: pip install "pullback[onnxruntime,demo]"
"""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, numpy_helper
from sklearn.datasets import load_digits

import pullback as pb

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
digits (float[batch, 1, 8, 8] images) => (float[batch, 10] logits)
{
    convolved = Conv<pads = [1, 1, 1, 1]>(images, filters, filter_bias)
    positive = Relu(convolved)
    pooled = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(positive)
    flat = Flatten(pooled)
    logits = Gemm(flat, weights, bias)
}
"""


SHAPES = {"filters": (8, 1, 3, 3), "filter_bias": (8,), "weights": (128, 10), "bias": (10,)}


def untrained() -> ModelProto:
    """The model, with random weights."""
    model = onnx.parser.parse_model(MODEL)
    random = np.random.default_rng(0)
    for name, shape in SHAPES.items():
        inputs = np.prod(shape[1:]) if name == "filters" else shape[0]
        values = random.normal(0.0, np.sqrt(2.0 / inputs), shape) if len(shape) > 1 else np.zeros(shape)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), name))
    return model


def main(steps: int = 600) -> float:
    """Trains and prints; the share of held-out digits read right."""
    graph = pb.onnx.load(untrained(), training=True)
    step = pb.onnx.training_step(graph, criterion="cross-entropy", optimizer="adam", learning_rate=0.01)
    inputs = {"images": graph["images"], **step.inputs, **step.parameters}
    model = pb.onnx.export({"logits": graph["logits"], **step.outputs}, inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    data, target = load_digits(return_X_y=True)
    data = (data / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(1).permutation(len(data))
    test, training = order[:360], order[360:]
    state: dict[str, np.ndarray] = {}
    names = [output.name for output in session.get_outputs()]
    for i in range(steps):
        batch = training[(np.arange(64) + 64 * i) % len(training)]
        found = dict(
            zip(names, session.run(names, {"images": data[batch], "targets": target[batch], **state}), strict=True)
        )
        state = {name.removeprefix("new/"): value for name, value in found.items() if name.startswith("new/")}
        if i % 100 == 0:
            print(f"step {i:3}  loss {found['loss']:.4f}")
    (logits,) = session.run(["logits"], {"images": data[test], "targets": target[test], **state})
    right = float(np.mean(logits.argmax(axis=1) == target[test]))
    print(f"{right:.1%} of {len(test)} held-out digits read right, trained by onnxruntime")
    return right


if __name__ == "__main__":
    main()
