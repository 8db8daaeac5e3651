"""What a classifier looks at: Grad-CAM of a convolutional net, from an ONNX file, run by onnxruntime.

Grad-CAM (Selvaraju et al., 2017) needs the gradient of a class's score by the result of the last convolution: a value
in the middle of a model. Any value of a model can be differentiated by, and be an output.

    python examples/onnx_saliency.py

Needs: pip install "pullback[onnxruntime,demo]"
"""

from __future__ import annotations

import numpy as np
import onnxruntime
from onnx import ModelProto
from sklearn.datasets import load_digits

import pullback as pb


def classifier(steps: int) -> tuple[ModelProto, np.ndarray, np.ndarray]:
    """An ONNX model that reads digits, with held-out images and their labels."""
    data, target = load_digits(return_X_y=True)
    data = (data / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    random = np.random.default_rng(0)

    def weights(*shape: int) -> pb.Variable:
        return pb.Variable(random.normal(0.0, np.sqrt(2.0 / np.prod(shape[:-1])), shape).astype(np.float32))

    with pb.Graph().as_default():
        images = pb.placeholder(pb.float32, [None, 1, 8, 8], name="images")
        labels = pb.placeholder(pb.int32, [None], name="labels")
        first, second, last = weights(3, 3, 1, 16), weights(3, 3, 16, 16), weights(16, 10)
        x = pb.nn.relu(pb.nn.conv2d(images, first, 1, "SAME", data_format="NCHW"))
        x = pb.nn.relu(pb.nn.conv2d(x, second, 1, "SAME", data_format="NCHW"), name="features")
        logits = pb.identity(pb.matmul(pb.reduce_mean(x, [2, 3]), last), name="logits")
        loss = pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        train = pb.train.AdamOptimizer(0.01).minimize(loss)
        with pb.Session() as session:
            session.run(pb.global_variables_initializer())
            for _ in range(steps):
                batch = random.integers(0, 1400, 64)
                session.run(train, {images: data[batch], labels: target[batch]})
            model = pb.onnx.export({"logits": logits}, {"images": images}, session=session, names={x: "features"})
    return model, data[1400:], target[1400:]


def near_ink(image: np.ndarray, heat: np.ndarray) -> bool:
    """Whether there is ink at most one pixel from the hottest place."""
    row, column = divmod(int(heat.argmax()), 8)
    return bool(image[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].max() > 0.3)


def main(steps: int = 400) -> float:
    """Prints an image and where the model looked; how many of the images it looked at the ink of."""
    model, images, labels = classifier(steps)
    graph = pb.onnx.load(model)
    with graph.as_default():
        features, logits = graph["features"], graph["logits"]
        chosen = pb.reduce_max(logits, axis=1)
        (slope,) = pb.gradients(chosen, features)
        weights = pb.reduce_mean(slope, [2, 3], keepdims=True)
        heat = pb.nn.relu(pb.reduce_sum(weights * features, axis=1))
    made = pb.onnx.export({"class": pb.argmax(logits, 1), "heat": heat}, {"images": graph["images"]})
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    classes, maps = session.run(["class", "heat"], {"images": images})
    for row, hot in zip(images[0, 0], maps[0], strict=True):
        ink = "".join(" .:*#"[int(4 * v)] for v in row)
        print(f"{ink}    {''.join(' .:*#'[int(4 * v / max(maps[0].max(), 1e-9))] for v in hot)}")
    hits = np.mean([near_ink(image[0], hot) for image, hot in zip(images, maps, strict=True)])
    print(f"a {labels[0]}, read as {classes[0]}; the hottest place is near ink in {hits:.0%} of {len(images)} images")
    return float(hits)


if __name__ == "__main__":
    main()
