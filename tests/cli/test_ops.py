"""`pullback ops`: the count of what is there."""

from __future__ import annotations

from functools import reduce
from inspect import unwrap
from typing import Any

import pytest

import pullback as pb
from pullback.cli.capabilities import CAPABILITIES
from pullback.cli.main import main
from pullback.cli.ops import missing
from pullback.primitives.families import FAMILIES


def test_all_239_capabilities_are_counted() -> None:
    assert sum(map(len, CAPABILITIES.values())) == 239


def test_every_capability_is_in_the_family_of_its_function() -> None:
    for family, names in CAPABILITIES.items():
        for name in names.values():
            function: Any = unwrap(reduce(getattr, name.split("."), pb))
            assert [part for part in function.__module__.split(".") if part in FAMILIES][-1] == family, name


def test_every_capability_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--missing"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["in", "all", "239", "of", "239"]


def test_what_is_missing_is_named() -> None:
    assert missing({"family": {"there": "nn.relu", "not there": "nn.nothing"}}) == {
        "family": {"not there": "nn.nothing"}
    }
