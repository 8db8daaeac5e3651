"""A fresh default graph for every test and every docstring example."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pullback as pb


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[pb.Graph]:
    graph = pb.Graph()
    with graph.as_default():
        yield graph
