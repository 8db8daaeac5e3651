"""`pullback grad` with models that cannot be: what is said, an exit code that is not 0, and no file left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from pullback.cli import main

LAYER = """<ir_version: 10, opset_import: ["" : 18]>
layer (float[batch, 3] x) => (float[batch, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}>
{ h = MatMul(x, w)  y = Tanh(h) }"""


def _nodes(*nodes: onnx.NodeProto, domains: dict[str, int] | None = None) -> ModelProto:
    """A model of these nodes from `x` to `y`, which nobody has checked."""
    entries = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", entries[:1], entries[1:])
    opsets = [helper.make_opsetid(domain, version) for domain, version in ({"": 18} | (domains or {})).items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _with_weights_beside(folder: Path) -> Path:
    """A model whose weights are in `w.bin`."""
    model = _nodes(helper.make_node("Mul", ["x", "w"], ["y"]))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    path = folder / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


CYCLE = _nodes(helper.make_node("Add", ["x", "b"], ["y"], name="sum"), helper.make_node("Neg", ["y"], ["b"]))
NO_IMPORT = _nodes(helper.make_node("Frob", ["x"], ["y"], name="f", domain="acme"))
NEITHER_READ = _nodes(
    helper.make_node("Frob", ["x"], ["a"], name="f", domain="acme"),
    helper.make_node("Blub", ["a"], ["y"], name="b", domain="ajax"),
    domains={"acme": 1, "ajax": 2},
)
TWICE = _nodes(
    helper.make_node("Neg", ["x"], ["y"], name="first"), helper.make_node("Exp", ["x"], ["y"], name="second")
)
NO_PATH = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18]>
    g (float[2] x) => (float[2] y) { whole = Cast <to = 7> (x)  s = Cast <to = 1> (whole)  y = Exp(s) }""")
REFUSED = {
    "a cycle": (CYCLE, ["the model is not valid", "'b'", "sum OpType: Add"]),
    "a domain without an import": (NO_IMPORT, ["the model is not valid", "domain 'acme'", "Name: f"]),
    "domains without readers": (NEITHER_READ, ["acme::Frob", "node 'f'", "ajax::Blub", "node 'b'"]),
    "a value that is made twice": (TWICE, ["the model is not valid", "y"]),
    "no path with a gradient": (NO_PATH, ["onnx.differentiate: 'y' has no derivative by 'x'", "Cast"]),
}


def _said(folder: Path, capsys: pytest.CaptureFixture[str], *options: str, left: set[str]) -> str:
    """What is said of the model in a folder, in which only the files `left` may be afterwards."""
    assert main.main(["grad", str(folder / "model.onnx"), *options]) == 1
    assert {path.name for path in folder.iterdir()} == left
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_wrong_with_a_model_is_said(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, texts = REFUSED[what]
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    said = _said(tmp_path, capsys, left={"model.onnx"})
    assert [text for text in texts if text not in said] == []


def test_the_script_that_starts_the_command_is_not_said_to_be_the_users(tmp_path: Path) -> None:
    onnx.save(NO_PATH, tmp_path / "model.onnx")
    script = tmp_path / "pullback"
    script.write_text("import sys\nfrom pullback.cli.main import main\nsys.exit(main())")
    command = [sys.executable, str(script), "grad", str(tmp_path / "model.onnx"), "--quiet"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert "- 'Cast/Cast' (Cast, made at node 'whole' (Cast, opset 21)) turns float32[2] 'x:0' into" in said


def test_weights_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _with_weights_beside(tmp_path)
    (tmp_path / "w.bin").unlink()
    said = _said(tmp_path, capsys, left={"model.onnx"})
    assert "'w'" in said
    assert "w.bin" in said


def test_weights_that_are_torn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _with_weights_beside(tmp_path)
    (tmp_path / "w.bin").write_bytes(b"1234")
    said = _said(tmp_path, capsys, left={"model.onnx", "w.bin"})
    assert "'w'" in said
    assert "w.bin" in said


@pytest.mark.parametrize("size", range(0, 144, 9))
def test_a_model_that_is_cut_anywhere(size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = onnx.parser.parse_model(LAYER).SerializeToString()
    assert size < len(whole)
    (tmp_path / "model.onnx").write_bytes(whole[:size])
    assert "pullback grad: onnx" in _said(tmp_path, capsys, left={"model.onnx"})


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(onnx.parser.parse_model(LAYER), tmp_path / "model.onnx")
    said = _said(tmp_path, capsys, "-o", str(tmp_path / "none" / "out.onnx"), left={"model.onnx"})
    assert "none" in said


def test_an_older_result_stays_where_the_new_one_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(onnx.parser.parse_model(LAYER), tmp_path / "model.onnx")
    (tmp_path / "model_grad.onnx").write_bytes(b"older")
    _said(tmp_path, capsys, "--wrt", "nothing", left={"model.onnx", "model_grad.onnx"})
    assert (tmp_path / "model_grad.onnx").read_bytes() == b"older"
