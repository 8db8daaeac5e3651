"""The oldest versions that are tested are those that `pyproject.toml` allows."""

from __future__ import annotations

from tools.oldest import PINNED, oldest, requirements


def test_lower_bounds_become_pins() -> None:
    assert list(oldest(["numpy>=2.0", "rich>=13", "jax>=0.10.2,<0.12", "pytest"])) == ["numpy==2.0", "jax==0.10.2"]


def test_all_that_pullback_computes_with_is_pinned() -> None:
    assert {pin.split("==")[0] for pin in oldest(requirements())} == set(PINNED)
