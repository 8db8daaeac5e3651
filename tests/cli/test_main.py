"""The command line itself: help, version, wrong arguments, and that it starts lightly."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pullback as pb
from pullback.cli import demo, main
from pullback.cli.failure import CommandError


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"pullback {pb.__version__}\n"


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([]) == 0
    assert "train on real digits and write a report" in capsys.readouterr().out


def test_the_commands_and_their_options_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["demo", "--help"])
    shown = capsys.readouterr().out
    for option in ("--engine", "--steps", "--seconds", "--batch", "--out", "--resume", "--seed", "--quiet"):
        assert option in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--steps", "0"], "argument --steps: a whole number of at least 1, not '0'"),
        (["--steps", "many"], "argument --steps: a whole number of at least 1, not 'many'"),
        (["--batch", "-3"], "argument --batch: a whole number of at least 1, not '-3'"),
        (["--seconds", "0"], "argument --seconds: a number of seconds above 0, not '0'"),
        (["--seconds", "inf"], "argument --seconds: a number of seconds above 0, not 'inf'"),
        (["--seed", "1.5"], "argument --seed: a whole number from 0 to 2147483647, not '1.5'"),
        (["--steps", "5", "--seconds", "5"], "argument --seconds: not allowed with argument --steps"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["demo", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"pullback demo: error: {message}"


def test_a_command_that_fails_says_why_and_gives_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: argparse.Namespace) -> int:
        raise CommandError("no such thing", 5)

    monkeypatch.setattr(demo, "run", fail)
    assert main.main(["demo"]) == 5
    assert capsys.readouterr().err == "no such thing\n"


def test_an_interrupt_is_no_stack_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    assert main.main(["demo"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_it_can_be_called_as_a_module() -> None:
    command = [sys.executable, "-m", "pullback", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"pullback {pb.__version__}\n"


def test_the_command_line_starts_without_anything_heavy() -> None:
    heavy = ("jax", "matplotlib", "sklearn", "rich", "pullback.cli.demo")
    code = f"import sys, pullback.cli.main; print([m for m in {heavy!r} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


ENDED = """
import os, signal, sys
from pullback.cli import main
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGNAME)
sys.exit(main.main())
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_told_to_end_leaves_no_half_written_file(name: str, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    text = '<ir_version: 10, opset_import: ["" : 18]> g (float[n] x) => (float[n] y) { y = Mul(x, x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    command = [sys.executable, "-c", ENDED.replace("SIGNAME", name), "grad", str(tmp_path / "model.onnx"), "--quiet"]
    assert subprocess.run(command, check=False).returncode == 128 + getattr(signal, name)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_a_program_that_runs_ends_as_python_does_whatever_threads_it_has(tmp_path: Path) -> None:
    program = "import os, signal, threading, time\n"
    program += "threading.Thread(target=time.sleep, args=(60,)).start()\nos.kill(os.getpid(), signal.SIGTERM)\n"
    (tmp_path / "program.py").write_text(program + "time.sleep(60)\n")
    command = [sys.executable, "-m", "pullback", "run", str(tmp_path / "program.py")]
    assert subprocess.run(command, check=False, timeout=50).returncode == -signal.SIGTERM
