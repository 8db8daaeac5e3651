"""`pullback optimize` and `pullback grad --optimize`: fewer nodes, the same values, and a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from pullback.cli import main

from .test_grad import run, written

SOFTPLUS = """<ir_version: 10, opset_import: ["" : 18]>
softplus (float[batch, 2] x) => (float[batch, 2] y, float[batch, 2] z) <float one = {1.0}>
{ e = Exp(x)  s = Add(e, one)  l = Log(s)  y = Mul(l, one)  f = Exp(x)  z = Mul(f, f) }"""
X = np.array([[-100.0, 200.0]], np.float32)


def test_a_model_of_fewer_nodes_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["optimize", str(written(tmp_path, SOFTPLUS)), "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = run(tmp_path / "model_optimized.onnx", x=X)
    np.testing.assert_allclose(found["y"], [[0, 200]], atol=1e-6)
    assert lines[0] == "3 nodes, were 6"
    assert lines[1].startswith("3 operations, were 6; 6 flops, were 12;")
    used = {line.split("  ")[1] for line in lines[2:6]}
    assert used == {"1 equal operations", "1 times one", "1 softplus by hand", "1 product with itself"}
    assert f"written: {tmp_path / 'model_optimized.onnx'}" in lines


def test_a_page_says_what_was_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    path, out = written(tmp_path, SOFTPLUS), tmp_path / "lean.onnx"
    assert main.main(["optimize", str(path), "-o", str(out), "--html", str(page), "--level", "exact"]) == 0
    assert "times one" in page.read_text()
    assert "softplus by hand" not in page.read_text()
    assert out.exists()


def test_a_model_that_cannot_be_better_is_written_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SOFTPLUS.replace("l = Log(s)  y = Mul(l, one)  f = Exp(x)  z = Mul(f, f)", "y = Log(e)  z = Tan(s)")
    text = text.replace("y = Log(e)", "y = Sin(e)")
    path = written(tmp_path, text)
    assert main.main(["optimize", str(path)]) == 0
    nodes = [[node.op_type for node in onnx.load(p).graph.node] for p in (path, tmp_path / "model_optimized.onnx")]
    assert sorted(nodes[0]) == sorted(nodes[1])
    assert capsys.readouterr().out.splitlines()[1].startswith("4 operations, were 4; ")


def test_a_gradient_is_optimised_with_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, SOFTPLUS)
    sizes = []
    for options in ([], ["--optimize"], ["--optimize", "fast"]):
        out = tmp_path / "grad.onnx"
        assert main.main(["grad", str(path), "--of", "y", "-o", str(out), *options]) == 0
        sizes.append(len(onnx.load(out).graph.node))
    assert sizes[2] <= sizes[1] < sizes[0]
    assert "softplus by hand" in capsys.readouterr().out
    found = run(tmp_path / "grad.onnx", x=X)
    np.testing.assert_allclose(found["gradients/x"], [[0, 1]], atol=1e-6)


@pytest.mark.parametrize("kind", ["--jvp", "--hvp", "--hessian", "--vjp"])
def test_derivatives_of_every_kind_are_the_plain_ones(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, SOFTPLUS)
    found = []
    for i, options in enumerate(([], ["--optimize"])):
        out = tmp_path / f"{i}.onnx"
        assert main.main(["grad", str(path), "--of", "y", kind, "--quiet", "-o", str(out), *options]) == 0
        names = [entry.name for entry in onnx.load(out).graph.input]
        feeds = {name.replace("/", "__"): np.array([[0.5, -0.25]], np.float32) for name in names}
        found.append(run(out, **feeds))
    assert found[0].keys() == found[1].keys()
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-5, atol=1e-6)


def test_a_model_that_would_have_more_nodes_is_written_as_it_was(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]>
    normal (float[4, 3] x) => (float[4, 3] y) <float[3] scale = {1, 2, 3}, float[3] bias = {0, 0, 0}>
    { a = LayerNormalization(x, scale, bias)  b = Gelu(a)  c = Mul(b, b)  d = Gelu(c)  y = Identity(d) }"""
    path = written(tmp_path, text)
    sizes = []
    for command in (["optimize"], ["grad", "--quiet"], ["grad", "--quiet", "--optimize"]):
        out = tmp_path / "out.onnx"
        assert main.main([command[0], str(path), "-o", str(out), *command[1:]]) == 0
        sizes.append(len(onnx.load(out).graph.node))
    assert sizes[0] <= 5
    assert sizes[2] <= sizes[1]


def test_a_training_step_is_optimised(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 18]>
    layer (float[n, 2] x) => (float[] loss) <float[2, 1] w = {1, 2}, float one = {1.0}>
    { h = MatMul(x, w)  t = Mul(h, one)  e = Exp(t)  s = Add(e, one)  l = Log(s)  loss = ReduceSum<keepdims = 0>(l) }"""
    path, sizes, found = written(tmp_path, text), [], []
    for i, options in enumerate(([], ["--optimize"])):
        out = tmp_path / f"{i}.onnx"
        command = ["grad", str(path), "--train", "sgd", "--of", "loss", "--wrt", "w", "--quiet", "-o", str(out)]
        assert main.main([*command, *options]) == 0
        sizes.append(len(onnx.load(out).graph.node))
        found.append(run(out, x=np.array([[0.5, -0.25]], np.float32)))
    assert sizes[1] < sizes[0]
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-5, atol=1e-6)


def test_a_file_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["optimize", str(tmp_path / "none.onnx")]) == 1
    assert capsys.readouterr().err.startswith("pullback optimize: ")
