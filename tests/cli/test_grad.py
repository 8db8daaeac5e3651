"""`pullback grad`: an ONNX model in, the model with its derivative out, run by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from pullback.cli import main

LAYER = """<ir_version: 10, opset_import: ["" : 18]>
layer (float[batch, 3] x) => (float[batch, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}>
{ h = MatMul(x, w)  y = Tanh(h) }"""
LOSS = """<ir_version: 10, opset_import: ["" : 18]>
loss (float[n] x, float[n] unused) => (float[] y) <float scale = {2.0}>
{ s = Mul(x, x)  t = Mul(s, x)  u = Mul(t, scale)  y = ReduceSum<keepdims = 0>(u) }"""
TABLE = """<ir_version: 10, opset_import: ["" : 18]>
lookup (int64[k] rows) => (float[k, 2] y) <float[4, 2] table = {1, 2, 3, 4, 5, 6, 7, 8}>
{ found = Gather(table, rows)  y = Mul(found, found) }"""
ROUNDED = """<ir_version: 10, opset_import: ["" : 18]>
rounded (float[n] x) => (float[n] y) { r = Round(x)  y = Mul(r, r) }"""


def written(folder: Path, text: str) -> Path:
    """A model in a file."""
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def run(path: Path, **feeds: Any) -> dict[str, np.ndarray[Any, Any]]:
    """All outputs of a model, by onnxruntime."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {name.replace("__", "/"): x for name, x in feeds.items()}), strict=True))


def grad(path: Path, *options: str) -> Path:
    """The model that `pullback grad` writes."""
    assert main.main(["grad", str(path), "--quiet", *options]) == 0
    return path.with_name("model_grad.onnx")


X = np.array([[0.1, -0.2, 0.3]], np.float32)
W = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def test_the_gradient_by_the_inputs_is_the_default(tmp_path: Path) -> None:
    found = run(grad(written(tmp_path, LAYER)), x=X)
    assert list(found) == ["y", "gradients/x"]
    np.testing.assert_allclose(found["gradients/x"], (1 - np.tanh(X @ W) ** 2) @ W.T, rtol=1e-5)


def test_any_value_is_an_x(tmp_path: Path) -> None:
    found = run(grad(written(tmp_path, LAYER), "--wrt", "w", "--wrt", "h", "--only-grad"), x=X)
    slope = 1 - np.tanh(X @ W) ** 2
    assert list(found) == ["gradients/w", "gradients/h"]
    np.testing.assert_allclose(found["gradients/h"], slope, rtol=1e-5)
    np.testing.assert_allclose(found["gradients/w"], X.T @ slope, rtol=1e-5)


def test_seeds_tangents_and_vectors_are_inputs(tmp_path: Path) -> None:
    path, x, v = written(tmp_path, LOSS), np.float32([1, 2, 3]), np.float32([1, 0, -1])
    options = ["--of", "u", "--wrt", "x", "--only-grad"]
    found = run(grad(path, "--vjp", *options), x=x, seeds__u=v)
    np.testing.assert_allclose(found["gradients/x"], 6 * x**2 * v, rtol=1e-6)
    found = run(grad(path, "--jvp", *options), x=x, tangents__x=v)
    np.testing.assert_allclose(found["jvp/u"], 6 * x**2 * v, rtol=1e-6)
    found = run(grad(path, "--hvp", "--wrt", "x", "--only-grad"), x=x, vectors__x=v)
    np.testing.assert_allclose(found["hvp/x"], 12 * x * v, rtol=1e-6)


def test_a_hessian_is_an_output(tmp_path: Path) -> None:
    x = np.float32([1, 2, 3])
    found = run(grad(written(tmp_path, LOSS), "--hessian", "--wrt", "x", "--only-grad"), x=x)
    np.testing.assert_allclose(found["hessian/x"], np.diag(12 * x), rtol=1e-6)


def test_rows_of_a_table_are_indices_and_values(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE)
    found = run(grad(path, "--wrt", "table", "--sparse", "--only-grad"), rows=np.array([2, 0]))
    np.testing.assert_array_equal(found["gradients/table/indices"], [2, 0])
    np.testing.assert_array_equal(found["gradients/table/values"], [[10, 12], [2, 4]])
    found = run(grad(path, "--wrt", "table", "--only-grad"), rows=np.array([2, 0]))
    np.testing.assert_array_equal(found["gradients/table"], [[2, 4], [0, 0], [10, 12], [0, 0]])


def test_what_is_unconnected_is_left_out_and_explained_or_zeros(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, LOSS)
    assert main.main(["grad", str(path)]) == 0
    shown = capsys.readouterr()
    assert "unconnected: unused" in shown.out
    assert "nothing reads it" in shown.out
    assert shown.err.splitlines()[0] == f"reading {path}"
    x = np.float32([1, 2])
    assert "gradients/unused" not in run(tmp_path / "model_grad.onnx", x=x, unused=x)
    found = run(grad(path, "--unconnected", "zero"), x=x, unused=x)
    np.testing.assert_array_equal(found["gradients/unused"], [0, 0])


def test_a_rule_lets_cotangents_through(tmp_path: Path) -> None:
    x = np.float32([1.2, 2.6])
    path = grad(written(tmp_path, ROUNDED), "--rule", "Round=identity", "--only-grad")
    np.testing.assert_array_equal(run(path, x=x)["gradients/x"], [2, 6])


def test_a_training_step_returns_new_parameters(tmp_path: Path) -> None:
    path = grad(written(tmp_path, LAYER), "--train", "sgd", "--loss", "mean-squared-error", "--learning-rate", "0.5")
    target = np.float32([[0.5, -0.5]])
    found = run(path, x=X, targets=target)
    y = np.tanh(X @ W)
    np.testing.assert_allclose(found["loss"], np.mean((y - target) ** 2), rtol=1e-5)
    np.testing.assert_allclose(found["new/w"], W - 0.5 * X.T @ ((y - target) * (1 - y**2)), rtol=1e-5)
    again = run(path, x=X, targets=target, w=found["new/w"])
    assert again["loss"] < found["loss"]


def test_a_training_step_says_what_it_does_not_learn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LOSS.replace("scale", "val_0"))
    assert main.main(["grad", str(path), "--train", "sgd"]) == 1
    assert "there is nothing to learn (constants of the exporter: val_0)" in capsys.readouterr().err
    text = LAYER.replace("{1, 2, 3, 4, 5, 6}>", "{1, 2, 3, 4, 5, 6}, float val_0 = {0.5}>").replace(
        "y = Tanh(h)", "t = Tanh(h) y = Mul(t, val_0)"
    )
    assert main.main(["grad", str(written(tmp_path, text)), "--train", "sgd", "--of", "y"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "not learned, as constants of the exporter: val_0; --wrt learns them" in shown
    assert "  new/w: float32[3,2]" in shown


def test_doubles_are_computed_where_asked(tmp_path: Path) -> None:
    found = run(grad(written(tmp_path, LAYER), "--dtype", "float64", "--only-grad"), x=X.astype(np.float64))
    assert found["gradients/x"].dtype == np.float64


def test_check_runs_the_model_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["grad", str(written(tmp_path, LAYER)), "--quiet", "--check", "--wrt", "x", "--wrt", "w"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["onnxruntime", "to", "NumPy", "to", "differences"]
    assert [line.split()[0] for line in lines[1:]] == ["y", "gradients/x", "gradients/w"]
    assert all(float(line.split()[-1]) < 1e-3 for line in lines[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--wrt", "ww"], "onnx: wrt: the model has no value 'ww'; near it are 'w'"),
        (["--of", "x", "--wrt", "w"], "onnx.differentiate: 'x' has no derivative by 'w'"),
        (["--rule", "Tanh=nothing"], "--rule: 'nothing' is not one of identity, zero, guided, module:function"),
        (["--opset", "5"], "onnx.export: opset must be from 18 to 26, not 5"),
        (["--train", "sgd", "--wrt", "x"], "onnx.training_step: x is not an initializer"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["grad", str(written(tmp_path, LAYER)), *options]) != 0
    assert message in capsys.readouterr().err
    assert not (tmp_path / "model_grad.onnx").exists()


@pytest.mark.parametrize("what", ["torn", "empty", "missing"])
def test_a_file_that_is_no_model_is_refused(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, LAYER)
    if what == "torn":
        path.write_bytes(path.read_bytes()[:50])
    elif what == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
    assert main.main(["grad", str(path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("pullback grad: onnx.load:")
    assert not (tmp_path / "model_grad.onnx").exists()


def deep(folder: Path) -> Path:
    """Sixteen layers, and the square of what they give."""
    layers = "".join([f"h{i + 1} = Tanh(h{i})  " for i in range(16)])
    text = f"""<ir_version: 10, opset_import: ["" : 18]>
deep (float[rows, 64] x) => (float[] y)
{{ h0 = Mul(x, x)  {layers} s = Mul(h16, h16)  y = ReduceSum<keepdims = 0>(s) }}"""
    return written(folder, text)


def test_within_a_budget_of_memory_it_computes_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, x = deep(tmp_path), np.random.default_rng(0).normal(size=(128, 64)).astype(np.float32)
    plain = run(grad(path), x=x)
    assert main.main(["grad", str(path), "--memory", "400kB", "--size", "rows=128"]) == 0
    assert "operations are computed again" in capsys.readouterr().out
    out = path.with_name("model_grad.onnx")
    assert any(node.op_type == "If" for node in onnx.load(out).graph.node)
    for name, y in run(out, x=x).items():
        np.testing.assert_allclose(y, plain[name], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "400kB"], "depends on rows: give --size NAME=NUMBER"),
        (["--memory", "1kB", "--size", "rows=128"], "rematerialize: the budget is 1,000 bytes"),
        (["--memory", "much"], "much"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["grad", str(deep(tmp_path)), "--quiet", *options]) != 0
    assert message in capsys.readouterr().err
