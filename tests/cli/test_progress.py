"""Progress is a bar on a terminal, lines in a file, nothing when asked to be quiet."""

from __future__ import annotations

from io import StringIO

import pytest

from pullback.cli import progress as module
from pullback.cli.progress import Bar, Lines, Silence, progress


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_lines_are_printed_where_there_is_no_terminal() -> None:
    stream = StringIO()
    with progress(quiet=False, stream=stream) as shown:
        shown.show(0.25, 300, 0.04321, 0.9861, 81.4)
    assert stream.getvalue() == " 25%  step   300  loss 0.0432  accuracy 98.61%  81 steps/s\n"


def test_lines_come_every_two_seconds_and_the_last_one_always(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    stream = StringIO()
    with Lines(stream) as shown:
        for step in range(1, 56):
            now = step / 10
            shown.show(step / 55, step, 1.0, None, 10.0)
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["1", "21", "41", "55"]


def test_a_terminal_gets_a_bar() -> None:
    pytest.importorskip("rich")
    stream = Terminal()
    with progress(quiet=False, stream=stream) as shown:
        assert isinstance(shown, Bar)
        shown.show(1.0, 1200, 0.01, 0.99, 80.0)
    assert "step 1200" in stream.getvalue()
    assert "99.00%" in stream.getvalue()


def test_a_terminal_without_rich_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert isinstance(progress(quiet=False, stream=Terminal()), Lines)


def test_quiet_shows_nothing() -> None:
    stream = Terminal()
    with progress(quiet=True, stream=stream) as shown:
        assert isinstance(shown, Silence)
        shown.show(1.0, 1, 0.0, None, 1.0)
    assert stream.getvalue() == ""


def test_nothing_shown_prints_no_line() -> None:
    stream = StringIO()
    with Lines(stream):
        pass
    assert stream.getvalue() == ""
