"""Random programs, of a few elements each, with the lowerings that XLA has for many: all operations meet them so."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from ..programs.drawing import Kind
from ..programs.holding import MIXED, NARROW, PLAIN
from ..programs.properties import xla_agrees
from ..programs.test_programs import check
from .thresholds import low_thresholds

KINDS = pytest.mark.parametrize("kind", [NARROW, PLAIN, MIXED], ids=["narrow", "plain", "mixed"])


@KINDS
def test_programs_of_few_elements_are_lowered_as_of_many(kind: Kind) -> None:
    with low_thresholds():
        check(xla_agrees, kind, 3)


@pytest.mark.slow
@KINDS
def test_many_programs_of_few_elements_are_lowered_as_of_many(kind: Kind) -> None:
    with low_thresholds():
        check(xla_agrees, kind, 300)
