"""`pullback demo`, from the command line to the files it leaves."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import pullback as pb
from pullback.cli import demo
from pullback.cli.main import main
from pullback.cli.model import build_model
from pullback.cli.progress import Silence
from pullback.core.graph import Operation

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

FILES = {"report.html", "curve.png", "graph.svg", "graph.txt", "checkpoint.npz", "history.json"}
NUMPY = ["demo", "--engine", "numpy", "--batch", "8"]


def train(folder: Path, *options: str) -> int:
    """A short training on the NumPy engine."""
    return main([*NUMPY, "--out", str(folder), "--quiet", *options])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def trained_values(folder: Path) -> dict[str, np.ndarray]:
    """The variables in a checkpoint."""
    model = build_model(seed=99)
    with pb.Session(graph=model.graph, engine="numpy") as session:
        model.saver.restore(session, str(folder / "checkpoint.npz"))
        return {v.name: session.run(v) for v in [*model.variables, model.step]}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training of two steps; whoever changes it works on a copy."""
    folder = tmp_path_factory.mktemp("trained")
    assert train(folder, "--steps", "2") == 0
    return folder


class InterruptAfter(Silence):
    """Presses Ctrl-C after a step."""

    def __init__(self, step: int) -> None:
        self._step = step

    def show(self, share: float, step: int, loss: float, accuracy: float | None, rate: float) -> None:
        if step == self._step:
            os.kill(os.getpid(), signal.SIGINT)


def test_the_demo_writes_its_files_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deep" / "out"
    assert main([*NUMPY, "--steps", "2", "--out", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == FILES
    shown = capsys.readouterr().out
    assert "1437 digits to train on, 360 held out, engine numpy" in shown
    assert "100%  step     2  loss " in shown
    assert re.search(r"^[\d.]+% of 360 held-out digits read right after 2 steps", shown, re.MULTILINE)
    for name in FILES - {"history.json"}:
        assert str(folder / name) in shown
    assert f"pullback demo --engine numpy --steps 2 --batch 8 --out {folder} --resume" in shown


def test_the_page_holds_the_picture_the_text_and_the_numbers(trained: Path) -> None:
    page = (trained / "report.html").read_text(encoding="utf-8")
    picture = (trained / "graph.svg").read_text(encoding="utf-8")
    assert picture in page
    assert "conv1/Conv2D: float32[?,8,8,32] = Conv2D" in page
    assert "data:image/png;base64," in page
    assert "pullback demo --engine numpy --steps 2 --batch 8" in page


def test_commands_to_try_name_the_program_as_it_can_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [".venv/bin/pullback", "demo"])
    main([*NUMPY, "--steps", "1", "--out", str(tmp_path / "out")])
    assert "\n  .venv/bin/pullback demo --help " in capsys.readouterr().out


def test_the_picture_shows_the_loss_and_its_gradients(trained: Path) -> None:
    root = ElementTree.parse(trained / "graph.svg").getroot()
    drawn = {name for g in root.iter() for name in g.get("data-name", "").split()}
    model = build_model(seed=0)
    assert {model.loss.op.name, *(g.op.name for g in model.gradients)} <= drawn
    text = (trained / "graph.txt").read_text(encoding="utf-8")
    assert drawn <= {line.split(":")[0] for line in text.splitlines()}


def test_quiet_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, "--steps", "1") == 0
    assert capsys.readouterr() == ("", "")


def test_the_same_seed_trains_the_same_and_another_does_not(trained: Path, tmp_path: Path) -> None:
    for seed in "01":
        train(tmp_path / seed, "--steps", "2", "--seed", seed)
    first, same, other = (trained_values(folder) for folder in (trained, tmp_path / "0", tmp_path / "1"))
    for name, value in first.items():
        np.testing.assert_array_equal(value, same[name])
    assert not np.array_equal(first["conv1/kernel:0"], other["conv1/kernel:0"])


def test_an_interrupt_keeps_a_checkpoint_and_resuming_ends_where_an_unbroken_training_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, unbroken = tmp_path / "broken", tmp_path / "unbroken"
    with monkeypatch.context() as patched:
        patched.setattr(demo, "progress", lambda quiet: InterruptAfter(3))
        assert train(broken, "--steps", "5") == 130
    assert {path.name for path in broken.iterdir()} == {"checkpoint.npz", "history.json"}
    assert capsys.readouterr().err == (
        f"interrupted after step 3: {broken}/checkpoint.npz is kept; "
        f"go on with pullback demo --engine numpy --steps 5 --batch 8 --out {broken} --resume\n"
    )
    assert train(broken, "--steps", "5", "--resume") == 0
    assert train(unbroken, "--steps", "5") == 0
    resumed, expected = trained_values(broken), trained_values(unbroken)
    assert expected["step:0"] == 5
    for name, value in expected.items():
        np.testing.assert_array_equal(resumed[name], value)


def test_resuming_a_finished_training_adds_as_many_steps_again(trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    train(folder, "--steps", "2", "--resume")
    assert trained_values(folder)["step:0"] == 4
    history = (folder / "history.json").read_text()
    assert '"loss_steps": [1, 2, 3, 4]' in history


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_torn_checkpoint_is_refused_and_nothing_is_lost(
    trained: Path, tmp_path: Path, keep: float, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(trained, folder)
    path = folder / "checkpoint.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if keep < 1 else int(keep)])
    before = contents(folder)
    assert train(folder, "--steps", "3", "--resume") == 1
    assert contents(folder) == before
    error = capsys.readouterr().err
    assert error.startswith("cannot resume: ")
    assert str(path) in error
    assert error.endswith(
        "Nothing was changed. Put a sound checkpoint in its place, or train anew, without --resume, to replace it.\n"
    )


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "checkpoint.npz", other=np.zeros(3))
    assert train(tmp_path, "--steps", "2", "--resume") == 1
    assert capsys.readouterr().err.startswith("cannot resume: ")


def test_resuming_from_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "nothing"
    assert train(folder, "--resume") == 1
    assert capsys.readouterr().err == (
        f"there is no checkpoint to resume from: {folder}/checkpoint.npz is missing; train first, without --resume\n"
    )
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert train(tmp_path / "file", "--steps", "1") == 1
    assert capsys.readouterr().err == f"cannot write to {tmp_path}/file: File exists\n"


@pytest.mark.parametrize("missing", ["sklearn", "matplotlib.figure"])
def test_a_missing_extra_is_one_clear_line(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert train(tmp_path, "--steps", "1") == 2
    needs = 'pullback demo needs scikit-learn and matplotlib: pip install "pullback[demo]"'
    assert capsys.readouterr().err == needs + "\n"


def test_a_time_may_be_given_instead_of_steps(tmp_path: Path) -> None:
    assert train(tmp_path, "--seconds", "0.05") == 0
    assert trained_values(tmp_path)["step:0"] >= 1


def test_xla_trains_too(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    assert main(["demo", "--engine", "xla", "--steps", "2", "--quiet", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_every_operation_of_the_model_is_forward_backward_or_besides() -> None:
    model = build_model(seed=0)
    forward, backward, besides = demo.operation_counts(model)
    operations: list[Operation] = model.graph.operations
    assert forward + backward + besides == len(operations)
    assert min(forward, backward, besides) > 0


@pytest.mark.slow
def test_the_demo_reads_98_of_100_held_out_digits(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    command = [sys.executable, "-m", "pullback.cli.main", "demo", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    accuracy = re.search(r"^([\d.]+)% of 360 held-out digits", done.stdout, re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) >= 98.0


@pytest.mark.slow
def test_numpy_alone_reads_95_of_100_held_out_digits(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pullback.cli.main",
        "demo",
        "--engine",
        "numpy",
        "--steps",
        "300",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    accuracy = re.search(r"^([\d.]+)% of 360 held-out digits", done.stdout, re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) >= 95.0
