"""Graphs written by TensorFlow 2.21: their values and derivatives are TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("tensorboard")

FIXTURES = Path(__file__).with_name("fixtures")
FROZEN = sorted(path.stem for path in FIXTURES.glob("*.pb"))


def arrays(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """What was fed to TensorFlow, and what it computed."""
    with np.load(FIXTURES / f"{name}.npz") as data:
        return dict(data)


def fetches(graph: pb.Graph, data: dict[str, Any], tensor: Callable[[str], Any]) -> dict[str, Any]:
    """The tensors to compare, by the names of their entries."""
    found = {}
    with graph.as_default():
        for key in data:
            kind, *names = key.split("|")
            if kind == "value":
                found[key] = tensor(names[0])
            elif kind == "grad":
                (dx,) = pb.gradients(tensor(names[0]), tensor(names[1]))
                assert dx is not None, key
                found[key] = pb.convert_to_tensor(dx)
    return found


def assert_equals_tensorflow(graph: pb.Graph, name: str, engine: str) -> None:
    """Values and derivatives of `graph` are those in the `.npz` of that name."""
    data = arrays(name)
    wanted = fetches(graph, data, graph.get_tensor_by_name)
    feed = {graph.get_tensor_by_name(k[5:]): x for k, x in data.items() if k.startswith("feed|")}
    with pb.Session(graph=graph, engine=engine) as session:
        found = session.run(wanted, feed)
    for key, value in found.items():
        scale = float(np.abs(data[key]).max(initial=0.1))
        np.testing.assert_allclose(value, data[key], rtol=1e-4, atol=1e-5 * scale, err_msg=key)


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_graph_has_the_values_and_derivatives_of_tensorflow(name: str) -> None:
    assert_equals_tensorflow(pb.graphdef.load(FIXTURES / f"{name}.pb"), name, "numpy")


@pytest.mark.parametrize("name", ["lenet", "dynamic_rnn", "cond_in_while", "nested_while"])
def test_a_frozen_graph_runs_on_xla(name: str) -> None:
    pytest.importorskip("jax")
    assert_equals_tensorflow(pb.graphdef.load(FIXTURES / f"{name}.pb"), name, "xla")
