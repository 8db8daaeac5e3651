"""The page: complete, well formed, and in need of nothing from elsewhere."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from pullback.cli.report import Mistake, Report, report_html

VOID = {"meta", "img", "source", "br"}


class Checker(HTMLParser):
    """Holds that what is opened is closed, and gathers texts and addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Closed at once."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def report() -> Report:
    pytest.importorskip("matplotlib")
    mistake = Mistake(np.zeros((8, 8, 1), np.float32), label=3, predicted=8, probability=0.91)
    return Report(
        accuracy=0.9875,
        held_out=80,
        tiles=[("1,200", "steps"), ("81", "steps a second")],
        facts=[("engine", "xla <fast>")],
        light_curve=b"light",
        dark_curve=b"dark",
        picture='<svg class="pullback"><path d="M0 0"/></svg>',
        text="x: float32[?] = Placeholder()\ny: float32[?] = Less(x, x)",
        mistakes=[mistake],
    )


def check(report: Report) -> Checker:
    checker = Checker()
    checker.feed(report_html(report))
    checker.close()
    assert checker.open == []
    return checker


def test_the_page_shows_all_it_is_given(report: Report) -> None:
    text = " ".join(check(report).texts)
    for shown in ("98.75%", "80 held-out", "1,200", "81", "xla <fast>", "2 operations", "y: float32[?] = Less(x, x)"):
        assert shown in text
    assert "taken for" in text
    assert "91% sure" in text


def test_the_page_loads_nothing(report: Report) -> None:
    addresses = check(report).addresses
    assert len(addresses) == 3
    assert all(address.startswith("data:image/png;base64,") for address in addresses)


def test_no_mistakes_are_worth_a_sentence(report: Report) -> None:
    assert "Nothing, of the held-out digits." in report_html(replace(report, accuracy=1.0, mistakes=[]))


def test_many_mistakes_are_shown_in_part(report: Report) -> None:
    text = report_html(replace(report, accuracy=0.5, mistakes=report.mistakes * 18))
    assert "40 of the held-out digits; here the 18 it was surest of." in text
