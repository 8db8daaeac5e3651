"""Damaged graphs in JSON: `Graph.from_dict` gives a graph or a documented error, never anything else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

import pullback as pb
from tests.cases.table import building, families

from .decoded_json import mutated

QUICK, LONG = 2_000, 10_000


@cache
def documents(every: int) -> Sequence[Any]:
    """The graphs of every so many rows of the case table, as JSON has them."""
    cases = [case for cases in families().values() for case in cases]
    found = []
    for case in cases[::every]:
        with building(case) as built:
            found.append(json.loads(json.dumps(built.graph.to_dict())))
    return found


def mutant(number: int, seeds: Sequence[Any]) -> Any:
    """The damaged document of that number: always the same."""
    random = Random(number)
    return mutated(random.choice(seeds), random)


def outcome(document: Any) -> str:
    """What becomes of a document: the name of the documented error, or that there is none."""
    try:
        graph = pb.Graph.from_dict(document)
    except (pb.errors.DataLossError, pb.errors.ResourceExhaustedError) as error:
        str(error).encode()
        return type(error).__name__
    str(graph)
    graph.to_dict()
    return "read"


@pytest.mark.parametrize(
    ("every", "count"), [pytest.param(40, QUICK, id="some"), pytest.param(1, LONG, id="many", marks=pytest.mark.slow)]
)
def test_damaged_graphs_are_refused_or_read(every: int, count: int) -> None:
    seeds = documents(every)
    assert {outcome(mutant(number, seeds)) for number in range(count)} >= {"read", "DataLossError"}
