"""Changed ONNX models that say what their nodes stand for: they mean what their nodes say, not what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

import pullback as pb
from pullback.onnx.hints import HINT
from tests.cases.table import building, families

from .protobuf import mutated

QUICK, LONG = 150, 5_000
FAMILIES = ("activations", "cumulative", "elementwise", "linalg", "losses", "normalization", "reduction", "special")
EVERY = 4
"""One row of so many is exported."""
OPERATORS = ["Abs", "Add", "Div", "Exp", "Less", "Log", "Max", "Min", "Mul", "Neg", "Sub", "Where"]
Exported = tuple[ModelProto, list[np.ndarray[Any, Any]]]


@cache
def exported() -> Sequence[Exported]:
    """Models of rows of the case table that have hints, with arrays for their inputs."""
    found = []
    rows = [case for family in FAMILIES for case in families()[family][::EVERY]]
    for case in rows:
        if case.not_onnx or case.not_exact or case.not_on_numpy or any(a.dtype.kind == "c" for a in case.arrays()):
            continue
        with building(case) as built:
            if built.graph.get_collection("variables"):
                continue
            ys = {f"y{i}": y for i, y in enumerate(built.ys)}
            model = pb.onnx.export(ys, {x.op.name: x for x in built.xs})
        if any(node.metadata_props for node in model.graph.node):
            found.append((model, built.arrays))
    return found


def changed(model: ModelProto, random: Random) -> ModelProto:
    """A copy in which an attribute, a constant, an operator, an input or a hint is another one."""
    copy = ModelProto()
    copy.CopyFrom(model)
    node, what = random.choice(copy.graph.node), random.randrange(5)
    told = [node for node in copy.graph.node if node.metadata_props]
    if what == 0 and node.attribute:
        attribute = random.choice(node.attribute)
        attribute.f, attribute.i = attribute.f + 1, random.choice([0, 1, -1, attribute.i + 1])
    elif what == 1 and copy.graph.initializer:
        tensor = random.choice(copy.graph.initializer)
        array = numpy_helper.to_array(tensor)
        other = ~array if array.dtype == bool else array + np.ones((), array.dtype)
        tensor.CopyFrom(numpy_helper.from_array(np.asarray(other), tensor.name))
    elif what == 2:
        node.op_type = random.choice(OPERATORS)
    elif what == 3:
        names = [*[y for other in copy.graph.node for y in other.output], *[x.name for x in copy.graph.input]]
        node.input[random.randrange(len(node.input))] = random.choice(names)
    else:
        random.choice(told).metadata_props[0].value = random.choice(told).metadata_props[0].value
    return copy


def loaded(model: ModelProto) -> pb.Graph | None:
    try:
        return pb.onnx.load(model)
    except pb.errors.PullbackError:
        return None


def values(graph: Any, arrays: Sequence[Any]) -> Any:
    try:
        with pb.Session(graph=graph, engine="numpy") as session, np.errstate(all="ignore"):
            return session.run(list(graph.outputs), dict(zip(graph.inputs, arrays, strict=True)))
    except (pb.errors.PullbackError, ValueError):
        return None


@pytest.mark.parametrize("count", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_hints_do_not_change_what_a_changed_model_computes(count: int) -> None:
    compared = 0
    for number in range(count):
        random = Random(number)
        model, arrays = random.choice(exported())
        told = changed(model, random) if random.random() < 0.8 else mutated(model, random)
        plain = onnx.ModelProto()
        plain.CopyFrom(told)
        for node in plain.graph.node:
            kept = [entry for entry in node.metadata_props if entry.key != HINT]
            del node.metadata_props[:]
            node.metadata_props.extend(kept)
        graphs = [loaded(each) for each in (told, plain)]
        assert (graphs[0] is None) == (graphs[1] is None), f"model {number}"
        found = [None if graph is None else values(graph, arrays) for graph in graphs]
        # Types that bodies declare may be wrong, which only those who read bodies see.
        assert found[1] is None or found[0] is not None, f"model {number}"
        for a, b in zip(*found, strict=True) if found[1] is not None else ():
            compared += 1
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7, err_msg=f"model {number}")
    assert compared > count // 3
