"""Properties of random programs, over everything that the case table has.

A program that fails is printed as Python code, after all was left out of it that can be. The quick tests draw the same
few programs each time, the slow ones more; `make programs ARGS=100000` draws as many as you like.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from .drawing import programs
from .program import Program
from .properties import ELSEWHERE, ON_NUMPY, dtype_of, hold

Property = Callable[[Program], None]


def check(holds: Property, count: int) -> None:
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
    @given(programs(dtype_of(holds)))
    def programs_hold(program: Program) -> None:
        hold(holds, program)

    programs_hold()


@pytest.mark.parametrize("holds", ON_NUMPY, ids=lambda f: f.__name__)
def test_programs(holds: Property) -> None:
    check(holds, 40)


@pytest.mark.parametrize("holds", ELSEWHERE, ids=lambda f: f.__name__)
def test_programs_on_other_engines(holds: Property) -> None:
    check(holds, 4)


@pytest.mark.slow
@pytest.mark.parametrize("holds", ON_NUMPY, ids=lambda f: f.__name__)
def test_many_programs(holds: Property) -> None:
    check(holds, 3000)


@pytest.mark.slow
@pytest.mark.parametrize("holds", ELSEWHERE, ids=lambda f: f.__name__)
def test_many_programs_on_other_engines(holds: Property) -> None:
    check(holds, 200)
