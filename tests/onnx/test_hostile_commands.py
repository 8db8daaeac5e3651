"""`pullback grad` of models that are broken, or made to do harm: what it prints, and its limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import ModelProto, helper

from pullback.cli import main

from .test_hostile_models import classifier, doubling, nodes


def on_the_command_line(model: ModelProto, folder: Path, *options: str) -> int:
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return main.main(["grad", str(folder / "model.onnx"), *options])


def test_the_command_says_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert on_the_command_line(classifier(), tmp_path, "--of", "p") == 0
    assert "left out, for they depend on what is not read: y\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["y\x1b[2J", "ÿ\x9b", "\u202ey"])
def test_names_do_not_rule_the_terminal(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = nodes(helper.make_node("Exp", ["x"], [name]))
    model.graph.output[0].name = name
    assert on_the_command_line(model, tmp_path) == 0
    assert on_the_command_line(model, tmp_path, "--wrt", f"{name}no") == 1
    printed = capsys.readouterr()
    assert not set(printed.out + printed.err) & set("\x1b\x9b\u202e")


def test_the_command_takes_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert on_the_command_line(doubling(5), tmp_path, "--limit", "nodes=10") == 1
    assert "this takes more than 10 nodes" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        on_the_command_line(doubling(5), tmp_path, "--limit", "patience=10")
    assert "a name of nodes, depth, bytes, seconds, not 'patience=10'" in " ".join(capsys.readouterr().err.split())
