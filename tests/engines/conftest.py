"""Both engines for each test that takes `engine` or `session`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine."""
    name: str = request.param
    if name == "xla":
        pytest.importorskip("jax")
    return name


@pytest.fixture(autouse=True)
def graph() -> Iterator[pb.Graph]:
    """A new default graph for each test."""
    with pb.Graph().as_default() as new:
        yield new


@pytest.fixture
def session(engine: str, graph: pb.Graph) -> pb.Session:
    """A session of the default graph."""
    return pb.Session(graph=graph, engine=engine)
