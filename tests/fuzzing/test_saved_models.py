"""Damaged SavedModels and meta graphs: graphs with collections, savers, signatures and values of variables."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import pullback as pb

pytest.importorskip("tensorboard")

from pullback.graphdef.messages import messages
from tests.graphdef.test_fixtures import FIXTURES, SAVED

from . import test_graphdef
from .protobuf import mutated
from .wiring import harden, rewired

QUICK, LONG = 100, 10_000


@cache
def meta_graphs() -> Sequence[Any]:
    """The meta graphs that TensorFlow wrote."""
    return [messages().MetaGraphDef.FromString(path.read_bytes()) for path in sorted(FIXTURES.glob("*.meta"))]


@cache
def saved_models() -> Sequence[tuple[str, Any]]:
    """The SavedModels that TensorFlow wrote, by the names of their folders."""
    found = [(name, (FIXTURES / name / "saved_model.pb").read_bytes()) for name in SAVED]
    return [(name, messages().SavedModel.FromString(data)) for name, data in found]


def damaged(message: Any, graph_of: Any, random: Random) -> Any:
    """A copy of a message that holds a graph, in which the graph is another one, or what is said of it."""
    copy = type(message)()
    copy.CopyFrom(message)
    if random.random() < 0.4:
        graph = graph_of(copy)
        graph.CopyFrom(rewired(graph, test_graphdef.lists, [graph], random))
        return copy
    meta = copy if hasattr(copy, "graph_def") else copy.meta_graphs[0]
    graph = type(meta.graph_def)()
    graph.CopyFrom(meta.graph_def)
    if random.random() < 0.7:
        meta.ClearField("graph_def")
    copy = mutated(copy, random) if random.random() < 0.7 else copy
    for each in [copy] if hasattr(copy, "graph_def") else copy.meta_graphs:
        harden(each, random)
        each.graph_def.CopyFrom(graph)
    return copy


def refused(read: Any) -> str:
    """The name of the documented error that comes of reading, or that there is none."""
    try:
        read()
    except pb.errors.PullbackError as error:
        str(error).encode()
        return type(error).__name__
    return "read"


def outcome_of_meta_graph(number: int) -> str:
    """What becomes of the damaged meta graph of that number: always the same."""
    random = Random(number)
    meta = damaged(random.choice(meta_graphs()), lambda m: m.graph_def, random)
    with pb.Graph().as_default():
        return refused(lambda: pb.train.import_meta_graph(meta))


def outcome_of_saved_model(number: int, folder: Path) -> str:
    """What becomes of the damaged SavedModel of that number: always the same."""
    random = Random(number)
    name, model = random.choice(saved_models())
    if not (folder / name).exists():
        shutil.copytree(FIXTURES / name, folder / name)
    changed = damaged(model, lambda m: m.meta_graphs[0].graph_def, random)
    (folder / name / "saved_model.pb").write_bytes(changed.SerializeToString())
    loaded = refused(lambda: pb.saved_model.load(folder / name))
    refused(lambda: pb.saved_model.load_frozen(folder / name))
    return loaded


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_damaged_meta_graphs_are_refused_or_read(count: int) -> None:
    with pb.config.Limits(seconds=60.0, bytes=2**26):
        outcomes = {outcome_of_meta_graph(number) for number in range(count)}
    assert outcomes >= {"read", "InvalidArgumentError"}


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_damaged_saved_models_are_refused_or_read(count: int, tmp_path: Path) -> None:
    with pb.config.Limits(seconds=60.0, bytes=2**26):
        outcomes = {outcome_of_saved_model(number, tmp_path) for number in range(count)}
    assert outcomes >= {"read", "InvalidArgumentError"}
