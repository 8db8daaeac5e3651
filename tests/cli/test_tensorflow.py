"""`pullback grad`, `show` and `optimize` on files of TensorFlow's."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import onnxruntime
import pytest

import pullback as pb
from pullback.cli import main

from ..graphdef.test_fixtures import FIXTURES, arrays

pytest.importorskip("tensorboard")


def test_grad_writes_the_derivative_of_a_frozen_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "grad.onnx"
    frozen = str(FIXTURES / "lenet.pb")
    assert main.main(["grad", frozen, "--of", "loss", "--wrt", "conv1/weights", "-o", str(path), "--quiet"]) == 0
    data = arrays("lenet")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {"image": data["feed|image:0"], "labels": data["feed|labels:0"]}
    loss, dw = session.run(["loss", "gradients/conv1/weights"], feed)
    np.testing.assert_allclose(loss, data["value|loss:0"], rtol=1e-5)
    np.testing.assert_allclose(dw, data["grad|loss:0|conv1/weights:0"], rtol=1e-4, atol=1e-6)


def test_grad_takes_a_saved_model_by_the_names_of_its_signature(tmp_path: Path) -> None:
    pytest.importorskip("google_crc32c")
    path = tmp_path / "grad.onnx"
    assert main.main(["grad", str(FIXTURES / "saved_while"), "--wrt", "x", "-o", str(path), "--quiet"]) == 0
    data = arrays("saved_while")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (dx,) = session.run(["gradients/x"], {"x": data["feed|x"], "n": data["feed|n"]})
    np.testing.assert_allclose(dx, data["grad|y|x"], rtol=1e-4)


@pytest.mark.parametrize("name", ["grad.pb", "grad.pbtxt"])
def test_grad_writes_a_graph_for_tensorflow(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    command = ["grad", str(FIXTURES / "lenet.pb"), "--of", "loss", "--wrt", "conv1/weights", "-o", str(path), "--quiet"]
    assert main.main(command) == 0
    data = arrays("lenet")
    graph = pb.graphdef.load(path)
    feed = {"image:0": data["feed|image:0"], "labels:0": data["feed|labels:0"]}
    dw = pb.Session(graph=graph, engine="numpy").run("gradients/conv1/weights:0", feed)
    np.testing.assert_allclose(dw, data["grad|loss:0|conv1/weights:0"], rtol=1e-4, atol=1e-6)


COMMANDS = [["grad", "--of", "loss"], ["optimize"]]


@pytest.mark.parametrize("command", COMMANDS, ids=["grad", "optimize"])
def test_stablehlo_is_written_for_jax_and_to_be_read(command: list[str], tmp_path: Path) -> None:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    loss = pb.reduce_sum(pb.tanh(x), name="loss")
    model = pb.train.write_graph(loss.graph, tmp_path, "model.pb", as_text=False)
    for suffix in ("mlir", "stablehlo"):
        assert main.main([*command, model, "-o", str(tmp_path / f"made.{suffix}")]) == 0
    assert "stablehlo.tanh" in (tmp_path / "made.mlir").read_text()
    loads = jax.export.deserialize(bytearray((tmp_path / "made.stablehlo").read_bytes()))
    for rows in (2, 5):
        found, *derivatives = loads.call(np.ones([rows, 3], np.float32))
        np.testing.assert_allclose(found, np.tanh(1) * 3 * rows, rtol=1e-6)
        for dx in derivatives:
            np.testing.assert_allclose(dx, np.full([rows, 3], 1 - np.tanh(1) ** 2), rtol=1e-6)


@pytest.mark.parametrize("command", COMMANDS, ids=["grad", "optimize"])
def test_what_is_written_is_what_the_suffix_says(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "made.pb"
    assert main.main([*command, str(FIXTURES / "resnet.pb"), "-o", str(path)]) == 0
    data = arrays("resnet")
    loss = pb.Session(graph=pb.graphdef.load(path), engine="numpy").run("loss:0", {"image:0": data["feed|image:0"]})
    np.testing.assert_allclose(loss, data["value|loss:0"], rtol=1e-5)


def test_checks_are_for_onnx(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "grad.pb"
    assert main.main(["grad", str(FIXTURES / "lenet.pb"), "--of", "loss", "-o", str(path), "--check", "--quiet"]) == 2
    assert f"--check and --opset are for ONNX models, not for {path}" in capsys.readouterr().err


def test_show_prints_a_frozen_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["show", str(FIXTURES / "cond.pb")]) == 0
    printed = capsys.readouterr().out
    assert "cond/Merge: float32[3] = Identity(cond/Merge/cond/If)" in printed


def test_optimize_writes_a_frozen_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lean.onnx"
    assert main.main(["optimize", str(FIXTURES / "resnet.pb"), "-o", str(path)]) == 0
    assert "nodes, were 61" in capsys.readouterr().out
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    data = arrays("resnet")
    (loss,) = session.run(["loss"], {"image": data["feed|image:0"]})
    np.testing.assert_allclose(loss, data["value|loss:0"], rtol=1e-5)


def test_training_steps_are_for_onnx(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["grad", str(FIXTURES / "lenet.pb"), "--of", "loss", "--train", "sgd"]) == 2
    assert "--train and --dtype are for ONNX models, not for TensorFlow's" in capsys.readouterr().err


def test_a_file_that_is_no_graph_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "torn.pb"
    path.write_bytes(b"\xff\xff")
    assert main.main(["show", str(path)]) == 1
    assert "torn.pb is torn, or no GraphDef" in capsys.readouterr().err
