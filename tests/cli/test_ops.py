"""`pullback ops`: the count of what is there."""

from __future__ import annotations

import pytest

from pullback.cli.capabilities import CAPABILITIES
from pullback.cli.main import main
from pullback.cli.ops import missing


def test_all_239_capabilities_are_counted() -> None:
    assert sum(map(len, CAPABILITIES.values())) == 239


def test_every_capability_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--missing"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["in", "all", "239", "of", "239"]


def test_what_is_missing_is_named() -> None:
    assert missing({"family": {"there": "nn.relu", "not there": "nn.nothing"}}) == {
        "family": {"not there": "nn.nothing"}
    }
