"""Both engines for each test that takes `engine`."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["numpy", "xla"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    name: str = request.param
    if name == "xla":
        pytest.importorskip("jax")
    return name
