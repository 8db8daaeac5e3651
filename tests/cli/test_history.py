"""The history of a training run outlives the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from pullback.cli.history import History, load_history


def some_history() -> History:
    history = History()
    for step in (1, 2, 3):
        history.add_loss(step, 1.0 / step)
    history.add_accuracy(2, 0.5)
    history.add_accuracy(3, 0.75)
    return history


def test_what_was_saved_is_read(tmp_path: Path) -> None:
    some_history().save(tmp_path / "history.json")
    assert load_history(tmp_path / "history.json", 3) == some_history()


def test_steps_after_the_checkpoint_are_left_out(tmp_path: Path) -> None:
    some_history().save(tmp_path / "history.json")
    assert load_history(tmp_path / "history.json", 2) == History([1, 2], [1.0, 0.5], [2], [0.5])


def test_saving_leaves_no_other_file(tmp_path: Path) -> None:
    some_history().save(tmp_path / "history.json")
    assert [path.name for path in tmp_path.iterdir()] == ["history.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"other": 1}', '{"losses": [1.0]}', '{"losses": 3}'])
def test_a_torn_or_foreign_file_is_an_empty_history(tmp_path: Path, text: str) -> None:
    path = tmp_path / "history.json"
    path.write_text(text)
    assert load_history(path, 10) == History()


def test_no_file_is_an_empty_history(tmp_path: Path) -> None:
    assert load_history(tmp_path / "history.json", 10) == History()
