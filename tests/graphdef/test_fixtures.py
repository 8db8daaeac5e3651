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
SAVED = sorted(path.parent.name for path in FIXTURES.glob("*/saved_model.pb"))


def arrays(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """What was fed to TensorFlow, and what it computed."""
    with np.load(FIXTURES / f"{name}.npz") as data:
        return unpacked(**data) if "names" in data else dict(data)


def unpacked(names: Any, ranks: Any, lengths: Any, elements: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Many small arrays, all as float32, from the four that hold them."""
    shapes = [tuple(part) for part in np.split(lengths, np.cumsum(ranks)[:-1])]
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]
    parts = np.split(elements, np.cumsum(sizes)[:-1])
    return {str(key): x.reshape(shape) for key, shape, x in zip(names, shapes, parts, strict=True)}


def fetches(graph: pb.Graph, data: dict[str, Any], tensor: Callable[[str], Any]) -> dict[str, Any]:
    """The tensors to compare, by the names of their entries."""
    found = {}
    with graph.as_default():
        for key in data:
            kind, *names = key.split("|")
            if kind == "value":
                found[key] = tensor(names[0])
            elif kind == "grad":
                (dx,) = pb.gradients(tensor(names[0]), tensor(names[1]), unconnected_gradients="zero")
                found[key] = pb.convert_to_tensor(dx)
    return found


def assert_equals_tensorflow(session: pb.Session, name: str, tensor: Callable[[str], Any]) -> None:
    """Values and derivatives are those in the `.npz` of that name."""
    data = arrays(name)
    feed = {tensor(k[5:]): x for k, x in data.items() if k.startswith("feed|")}
    found = session.run(fetches(session.graph, data, tensor), feed)
    for key, value in found.items():
        scale = float(np.abs(data[key]).max(initial=0.1))
        np.testing.assert_allclose(value, data[key], rtol=1e-4, atol=1e-5 * scale, err_msg=key)


def frozen(name: str, engine: str) -> None:
    """A frozen graph computes what TensorFlow computes."""
    graph = pb.graphdef.load(FIXTURES / f"{name}.pb")
    with pb.Session(graph=graph, engine=engine) as session:
        assert_equals_tensorflow(session, name, graph.get_tensor_by_name)


def saved(name: str, engine: str) -> None:
    """A SavedModel computes what TensorFlow computes, with the values of variables that it was saved with."""
    model = pb.saved_model.load(FIXTURES / name)
    signature = model.signatures["serving_default"]
    named = {**signature.inputs, **signature.outputs, **model.variables}
    with model.session(engine) as session:
        assert_equals_tensorflow(session, name, named.__getitem__)


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_graph_has_the_values_and_derivatives_of_tensorflow(name: str) -> None:
    frozen(name, "numpy")


SLOW_ON_XLA = [pytest.param(name, marks=pytest.mark.slow) for name in ("lenet", "dynamic_rnn", "transformer")]


@pytest.mark.parametrize("name", ["lstm_while", "cond_in_while", *SLOW_ON_XLA])
def test_a_frozen_graph_runs_on_xla(name: str) -> None:
    pytest.importorskip("jax")
    frozen(name, "xla")


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_has_the_values_and_derivatives_of_tensorflow(name: str) -> None:
    saved(name, "numpy")


@pytest.mark.slow
def test_a_saved_model_runs_on_xla() -> None:
    pytest.importorskip("jax")
    saved("saved_arrays", "xla")
