"""`pullback show`: text, picture, page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import pullback as pb
from pullback.cli import main

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
layer (float[batch, 3] x) => (float[batch, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}>
{ h = MatMul(x, w)  y = Tanh(h) }"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "layer.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


def test_a_model_is_printed_an_operation_a_line(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["show", str(model)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "x: float32[batch,3] = Placeholder[dtype=float32, shape=(None, 3)]()"
    assert lines[-1] == "Tanh/Tanh: float32[batch,2] = Tanh(MatMul/MatMul)"


def test_the_gradient_is_shown_too_where_asked(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["show", str(model), "--grad"]) == 0
    assert "TanhGrad" in capsys.readouterr().out.splitlines()[-2]


def test_the_page_links_forward_and_backward_both_ways(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, picture = model.with_suffix(".html"), model.with_suffix(".svg")
    assert main.main(["show", str(model), "--grad", "--html", str(page), "--svg", str(picture)]) == 0
    assert capsys.readouterr().out == f"written: {picture}\nwritten: {page}\n"
    html = page.read_text(encoding="utf-8")
    assert "gradients: <a href='#op-5'>gradients/Tanh/Tanh_grad/TanhGrad</a>" in html
    assert "of <a href='#op-3'>Tanh/Tanh</a>" in html
    assert 'type="search"' in html
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_a_saved_graph_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = pb.constant(2.0, name="x")
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(x.graph.to_dict()), encoding="utf-8")
    assert main.main(["show", str(path)]) == 0
    assert capsys.readouterr().out == "x: float32[] = Const[value=2.0]()\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", " is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[" * 100_000, " is not JSON: maximum recursion depth exceeded while decoding a JSON array"),
        ("[]", "a graph must be an object, not []"),
        ('{"format": "\\u001b[2J"}', "this is no graph: its format is '\\x1b[2J', not 'pullback.graph'"),
    ],
    ids=["empty", "nested", "a list", "another format"],
)
def test_a_damaged_graph_is_said_to_be_one(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "graph.json"
    path.write_text(text)
    assert main.main(["show", str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("pullback show: ")
    assert said in err


def test_limits_can_be_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(pb.add(1.0, 2.0).graph.to_dict()))
    assert main.main(["show", str(path), "--limit", "nodes=2"]) == 1
    assert "this takes more than 2 nodes" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.onnx"
    assert main.main(["show", str(path)]) == 1
    assert capsys.readouterr().err == f"pullback show: onnx.load: there is no file '{path}'\n"


def test_a_terminal_without_a_character_gets_its_number(tmp_path: Path) -> None:
    with pb.Graph().as_default() as graph:
        pb.print("größe", pb.constant(1.0), sep="\n", output_stream=sys.stderr)
    (tmp_path / "graph.json").write_text(json.dumps(graph.to_dict()), encoding="utf-8")
    command = [sys.executable, "-m", "pullback", "show", str(tmp_path / "graph.json")]
    run = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=True)
    text = run.stdout.decode("ascii").splitlines()
    assert text[1] == (
        "PrintV2: () = PrintV2[parts=('gr\\xf6\\xdfe', None), stream=stderr, summarize=3, sep=\\n, end=\\n](Const)"
    )
