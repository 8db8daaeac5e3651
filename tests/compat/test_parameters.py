"""TensorFlow's parameters: what is called there by position or by name is called here alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pullback as pb
from pullback.compat import v1

DIFFERENCES = {
    "today's has the parameters that only version 1 has too, in their order": "gradients hessians",
    "of graphs, where today's are eager": "summary.histogram summary.image summary.scalar",
    "made by functions; programs derive from them, but do not call them": """
        RaggedTensor ReaderBase VariableScope distributions.Distribution""",
    "as in TensorFlow 1.15, which had one more before them": """
        nn.sigmoid_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits
        nn.sparse_softmax_cross_entropy_with_logits""",
    "Python's own": "test.main",
    "a primitive, not the declaration that one has no gradient": "no_gradient",
}
EXEMPT = {name for names in DIFFERENCES.values() for name in names.split()}
WITHOUT_EFFECT = {
    "allow_fast_lookup",
    "bad_indices_policy",
    "dim",
    "experimental_enable_variable_lifting",
    "layout",
    "support_partition",
    "use_own_namescope_for_non_slot_vars",
}
"""Last parameters that we may leave out: new ones that would change nothing here, and an old name of `axis`."""


def functions(file: str, root: ModuleType) -> Iterator[tuple[str, Callable[..., Any], list[str]]]:
    """The functions that both have: TensorFlow's name, ours, and the parameters of TensorFlow's."""
    for line in (Path(__file__).parent / "signatures" / f"{file}.txt").read_text().splitlines():
        name, *parameters = line.split()
        function = reduce(lambda value, part: getattr(value, part, None), name.split("."), root)
        if callable(function) and name not in EXEMPT:
            yield name, function, parameters


@pytest.mark.parametrize(("file", "root"), [("today", pb), ("v1", v1)])
def test_functions_take_the_parameters_of_tensorflows_in_their_order(file: str, root: ModuleType) -> None:
    compared, wrong = 0, []
    for name, function, theirs in functions(file, root):
        ours = list(inspect.signature(function).parameters)
        while theirs and theirs[-1] in WITHOUT_EFFECT and theirs[-1] not in ours:
            theirs.pop()
        compared += 1
        if ours[: len(theirs)] != theirs:
            wrong.append(f"{name}: {' '.join(ours)}; TensorFlow: {' '.join(theirs)}")
    assert not wrong
    assert compared > 500
