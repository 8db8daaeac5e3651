"""Damaged ONNX models: what comes of one is a derivative or a documented error, never anything else.

Models are damaged as messages, so that most of what is read of them is still a model. A crash of onnx's own C++ code
would end the process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

import pullback as pb

from .protobuf import mutated
from .wiring import rewired

QUICK, LONG = 200, 10_000
DATA = Path(onnx.__file__).parent / "backend/test/data"


@cache
def in_files() -> Sequence[ModelProto]:
    """The models that come with the package onnx: layers as PyTorch exports them, loops, sequences, functions."""
    paths = [path for kind in ("simple", "pytorch-*") for path in DATA.glob(f"{kind}/*/model.onnx")]
    return [onnx.load(path) for path in sorted(paths)]


@cache
def of_operators() -> Sequence[ModelProto]:
    """A model for each of onnx's tests of operators."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return [case.model for case in collect_testcases("") if case.model is not None]


def mutant(number: int, seeds: Sequence[ModelProto]) -> ModelProto:
    """The damaged model of that number: always the same."""
    random = Random(number)
    return mutated(random.choice(seeds), random)


def lists(model: ModelProto) -> list[Any]:
    """The lists of nodes of a model: those of its graph, its bodies and its functions."""
    found = [model.graph.node, *[function.node for function in model.functions]]
    for nodes in found:
        found.extend([a.g.node for node in nodes for a in node.attribute if a.HasField("g")])
    return found


def rewired_mutant(number: int, seeds: Sequence[ModelProto]) -> ModelProto:
    """Of that number the model whose nodes are missing, wired otherwise, of another model, or have hard numbers."""
    random = Random(number)
    seed = random.choice(seeds)
    changed = rewired(seed, lists, seeds, random)
    return mutated(changed, random) if random.random() < 0.3 else changed


def outcome(model: ModelProto) -> str:
    """What becomes of a model: the name of the documented error, or that there is none."""
    try:
        graph = pb.onnx.load(model)
        made = pb.onnx.differentiate(graph)
        pb.onnx.export(made.outputs, graph.input_tensors)
    except pb.errors.PullbackError as error:
        str(error).encode()
        return type(error).__name__
    except LookupError as error:
        if type(error) is not LookupError:
            raise
        return "no gradient"
    return "written"


@pytest.mark.parametrize("damage", [mutant, rewired_mutant])
@pytest.mark.parametrize(
    ("seeds", "count"), [(in_files, QUICK), pytest.param(of_operators, LONG, marks=pytest.mark.slow)]
)
def test_damaged_models_are_refused_or_differentiated(
    seeds: Callable[[], Sequence[ModelProto]],
    count: int,
    damage: Callable[[int, Sequence[ModelProto]], ModelProto],
) -> None:
    with pb.config.Limits(seconds=60.0):
        outcomes = {outcome(damage(number, seeds())) for number in range(count)}
    assert outcomes >= {"written", "InvalidArgumentError"}
