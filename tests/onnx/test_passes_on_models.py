"""What users do with a loaded model: rules of their own, mixed precision, the page of the report; and onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import pullback as pb
import pullback.onnx

RANDOM = np.random.default_rng(0)
FEEDS = {
    "x": RANDOM.normal(size=(5, 2, 3)).astype(np.float32),
    "w": RANDOM.normal(size=(1, 16, 3)).astype(np.float32),
    "r": RANDOM.normal(size=(1, 16, 4)).astype(np.float32),
    "v": RANDOM.normal(size=(4, 2)).astype(np.float32),
}
TEXT = """<ir_version: 10, opset_import: ["" : 21]>
net (float[5,2,3] x, float[1,16,3] w, float[1,16,4] r, float[4,2] v) => (float loss) <float one = {1.0}> {
    hs, h, c = LSTM<hidden_size = 4>(x, w, r)  n = LpNormalization(h)  m = MatMul(n, v)
    s = Sigmoid(m)  y = Mul(m, s)  t = Mul(y, one)  loss = ReduceMean<keepdims = 0>(t) }"""


@pb.rewrite("safe", check=True)
def swish_by_hand(x: Any) -> Any:
    """x * sigmoid(x) is swish."""
    yield x * pb.sigmoid(x)
    yield pb.nn.swish(x)


def loaded() -> pb.onnx.OnnxGraph:
    return pb.onnx.load(onnx.parser.parse_model(TEXT))


def run(outputs: dict[str, Any], graph: pb.onnx.OnnxGraph) -> dict[str, Any]:
    model = pb.onnx.export(outputs, graph.input_tensors)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip(outputs, session.run(None, FEEDS), strict=True))


def with_gradients(loss: Any, graph: pb.onnx.OnnxGraph) -> dict[str, Any]:
    found = pb.gradients(loss, [graph[name] for name in FEEDS])
    return {"value": loss, **{f"by {name}": dx for name, dx in zip(FEEDS, found, strict=True)}}


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    graph = loaded()
    return run(with_gradients(graph["loss"], graph), graph)


def test_a_rule_of_the_user_rewrites_a_model_and_its_page_shows_it(plain: dict[str, Any], tmp_path: Path) -> None:
    graph = loaded()
    loss, report = pb.optimize(graph["loss"], pb.Rules("safe", swish_by_hand))
    assert {"swish by hand", "times one"} <= report.counts.keys()
    for name, value in run(with_gradients(loss, graph), graph).items():
        np.testing.assert_allclose(value, plain[name], rtol=1e-5, atol=1e-6)
    report.html.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "swish by hand" in page
    assert "node &#x27;y&#x27; (Mul, opset 21)" in page


@pytest.mark.parametrize("dtype", [pb.bfloat16, pb.float16])
def test_a_model_in_mixed_precision_and_its_gradients(dtype: Any, plain: dict[str, Any]) -> None:
    graph = loaded()
    outputs = with_gradients(pb.mixed_precision(graph["loss"], dtype), graph)
    found = run(outputs, graph)
    with pb.Session(graph=graph, engine="numpy") as session:
        own = session.run(list(outputs.values()), {graph[name]: x for name, x in FEEDS.items()})
    for (name, value), expected in zip(found.items(), own, strict=True):
        assert value.dtype == np.float32
        size = np.abs(plain[name]).max()
        assert 0 < np.abs(value - plain[name]).max() < 0.03 * size
        np.testing.assert_allclose(value, expected, atol=0.02 * size)
