"""Properties of random programs, over everything that the case table has.

A program that fails is printed as Python code, after all was left out of it that can be. The quick tests draw the same
few programs each time, the slow ones more; `make programs ARGS=100000` draws as many as you like.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from .drawing import Kind, programs
from .holding import (
    ELSEWHERE,
    HALF,
    MIXED,
    NARROW,
    OF_HALF,
    OF_MODELS,
    OF_WILD,
    ON_NUMPY,
    PLAIN,
    WILD,
    Property,
    hold,
)
from .program import Program
from .properties import xla_agrees


def check(holds: Property, kind: Kind, count: int) -> None:
    """That it holds for `count` programs, the same each time."""

    @settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(kind))
    def programs_hold(program: Program) -> None:
        hold(holds, program)

    programs_hold()


@pytest.mark.parametrize("holds", ON_NUMPY, ids=lambda f: f.__name__)
def test_programs(holds: Property) -> None:
    check(holds, PLAIN, 20)
    check(holds, MIXED, 10)


@pytest.mark.parametrize("holds", OF_WILD, ids=lambda f: f.__name__)
def test_programs_that_compute_anything(holds: Property) -> None:
    check(holds, WILD, 10)


@pytest.mark.parametrize("holds", ELSEWHERE, ids=lambda f: f.__name__)
def test_programs_on_xla(holds: Property) -> None:
    check(holds, PLAIN, 4)


@pytest.mark.parametrize("holds", OF_MODELS, ids=lambda f: f.__name__)
def test_programs_as_models(holds: Property) -> None:
    check(holds, NARROW, 4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PLAIN, MIXED], ids=["plain", "mixed"])
@pytest.mark.parametrize("holds", ON_NUMPY, ids=lambda f: f.__name__)
def test_many_programs(holds: Property, kind: Kind) -> None:
    check(holds, kind, 1500)


@pytest.mark.slow
@pytest.mark.parametrize("holds", OF_WILD, ids=lambda f: f.__name__)
def test_many_programs_that_compute_anything(holds: Property) -> None:
    check(holds, WILD, 1500)


@pytest.mark.slow
@pytest.mark.parametrize("holds", OF_HALF, ids=lambda f: f.__name__)
def test_many_programs_of_16_bits(holds: Property) -> None:
    check(holds, HALF, 300)


@pytest.mark.slow
def test_many_programs_that_compute_anything_on_xla() -> None:
    check(xla_agrees, WILD, 100)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [PLAIN, MIXED], ids=["plain", "mixed"])
@pytest.mark.parametrize("holds", ELSEWHERE, ids=lambda f: f.__name__)
def test_many_programs_on_xla(holds: Property, kind: Kind) -> None:
    check(holds, kind, 100)


@pytest.mark.slow
@pytest.mark.parametrize("holds", OF_MODELS, ids=lambda f: f.__name__)
def test_many_programs_as_models(holds: Property) -> None:
    check(holds, NARROW, 200)
