"""`pullback grad --check`: what it feeds, and what it calls a difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pullback.cli import main

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def written(folder: Path, text: str) -> Path:
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> agraph {text}'), path)
    return path


def check(path: Path, *options: str) -> int:
    return main.main(["grad", str(path), "--quiet", "--check", *options])


# A window of 20 elements: fewer make the runtime fail, or nothing come out.
WINDOW = "(float[N, 1, L] x, float[1, 1, 20] w) => (float[N, 1, M] y) { y = Conv (x, w) }"


def test_open_axes_get_lengths_with_which_the_model_runs(tmp_path: Path) -> None:
    assert check(written(tmp_path, WINDOW)) == 0


def test_axes_of_one_name_have_one_length(tmp_path: Path) -> None:
    text = "(float[N, K] a, float[K, M] b) => (float[N, M] y) { y = MatMul (a, b) }"
    assert check(written(tmp_path, text)) == 0
    assert check(written(tmp_path, text), "--feed", "b=7,3") == 0


def test_a_shape_can_be_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(written(tmp_path, WINDOW), "--feed", "x=3,1,5") == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(
        "pullback grad: --check: the model does not run; say what to feed, as --feed NAME=1,3,224,224: "
        "operation 'Conv/Conv2D' (Conv2D) failed on float32[3,1,5], float32[20,1,1]: "
    )


def test_an_array_can_be_fed(tmp_path: Path) -> None:
    np.save(tmp_path / "k.npy", np.array([5, 3], np.int64))
    text = "(float[3, 5] x, int64[2] k) => (float[?, ?] y) { y = Reshape (x, k) }"
    assert check(written(tmp_path, text), "--feed", f"k={tmp_path / 'k.npy'}") == 0
    assert check(written(tmp_path, text)) == 1


@pytest.mark.parametrize(
    ("feed", "message"),
    [
        ("z=2", "--feed: there is no input 'z'; there are x, w"),
        ("x=two", "--feed: x=two is neither a shape such as 1,3,224,224 nor a file FILE.npy"),
        ("w=1,1,21", "--feed: the input 'w' is float32[1,1,20]; 1,1,21 is float32[1,1,21]"),
    ],
)
def test_feeds_that_do_not_fit_are_refused(
    feed: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(written(tmp_path, WINDOW), "--feed", feed) == 1
    assert capsys.readouterr().err.splitlines() == [f"pullback grad: {message}"]


def test_what_rounding_makes_is_no_difference(tmp_path: Path) -> None:
    # Probabilities have the sum 1, whose gradient is what rounding leaves.
    text = "(float[4, 50] x) => (float[4, 50] y) { z = Exp (x) p = Softmax <axis = -1> (z) y = Mul (p, p) q = Sum (p) }"
    assert check(written(tmp_path, text), "--of", "p") == 0


def test_a_wrong_derivative_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pullback as pb
    from pullback.cli.checking import check as checked

    path = written(tmp_path, "(float[3] x) => (float[3] y) { y = Tanh (x) }")
    graph = pb.onnx.load(path)
    with graph.as_default():
        wrong = pb.gradients(graph["y"], graph["x"])[0] * 1.01
    out = tmp_path / "wrong.onnx"
    pb.onnx.export({"gradients/x": wrong}, {"x": graph["x"]}, out)
    wide = written(tmp_path, "(double[3] x) => (double[3] y) { y = Tanh (x) }")
    report = checked(out, graph, {"gradients/x": wrong}, {"x": graph["x"]}, lambda: pb.onnx.load(wide), ["y"])
    assert not report.passed
    assert report.rows[0].to_numpy < 1e-6 < 1e-3 < report.rows[0].to_differences


def test_where_outputs_differ_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pullback.cli import checking

    monkeypatch.setattr(checking, "_TOLERANCE", -1.0)
    path = written(tmp_path, "(float[3] x) => (float[3] y) { y = Tanh (x) }")
    assert main.main(["grad", str(path), "--check", "--quiet"]) == 1
    printed = capsys.readouterr()
    assert printed.err.endswith("<- differs\npullback grad: --check: outputs differ, and nothing is written\n")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_what_onnxruntime_does_not_load_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED")

    monkeypatch.setattr(onnxruntime, "InferenceSession", fail)
    path = written(tmp_path, "(float[3] x) => (float[3] y) { y = Tanh (x) }")
    assert main.main(["grad", str(path), "--check", "--quiet"]) == 1
    said = "pullback grad: --check: onnxruntime does not load the model: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED\n"
    assert capsys.readouterr().err == said
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_array_is_not_fed(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "(float[3] x) => (float[3] y) { y = Tanh (x) }")
    (tmp_path / "x.npy").write_bytes(content)
    assert main.main(["grad", str(path), "--check", "--quiet", "--feed", f"x={tmp_path / 'x.npy'}"]) == 1
    assert f"pullback grad: --feed: {tmp_path / 'x.npy'} is no file of an array" in capsys.readouterr().err


def test_an_input_that_does_not_fit_into_memory_is_not_fed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "(float[1099511627776] x) => (float[1099511627776] y) { y = Tanh (x) }")
    assert main.main(["grad", str(path), "--check", "--quiet"]) == 1
    assert "this takes more than 1,073,741,824 bytes for one array" in capsys.readouterr().err
