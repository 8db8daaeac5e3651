"""Writes docs/reference/onnx-operators.md: what is read, differentiated and written of ONNX, by its own tests.

Run `python -m tools.onnx_operators` in the root of the repository; it takes ten seconds.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto
from tests.onnx import backend
from tests.onnx.gradient_suite import SMOOTH, Sample, classified, samples
from tests.onnx.test_gradient_suite import NOT_RIGHT_ON_ONNXRUNTIME

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "onnx-operators.md"
HEAD = """\
# ONNX operators

Made by `python -m tools.onnx_operators` from ONNX's own tests of operators (onnx {version}); do not edit.

**Values**: how many of the tests of an operator pass on the NumPy engine. **Gradients**: in how many of these the
derivatives were compared with differences: all are right on NumPy, and on onnxruntime but for those said. Where there
are none, the operator has no floats, is constant between steps, or its tests lie on a kink. Tests of the same operator
as a function of others are left out.

{tests} tests, {passed} passed; {gradients} gradients, {right} right on onnxruntime.

| operator | values | gradients | |
|---|---|---|---|
"""


@dataclass
class Found:
    """What the tests of an operator say."""

    tests: int = 0
    passed: int = 0
    gradients: int = 0
    remarks: set[str] = field(default_factory=set)


def main() -> int:
    """Writes the page."""
    PAGE.write_text(made(), encoding="utf-8")
    return 0


def made() -> str:
    """The page as it should be."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return page(by_operator(samples(("node",))))


def by_operator(tests: Iterable[Sample]) -> dict[str, Found]:
    """What is found for each operator, by its name."""
    found: dict[str, Found] = defaultdict(Found)
    for sample in tests:
        entry = found[operator_of(sample.model)]
        entry.tests += 1
        why = backend.reason(f"{sample.name}_cpu", "numpy")
        if why is not None:
            entry.remarks.add(why)
            continue
        entry.passed += 1
        if classified(sample).reason == SMOOTH:
            entry.gradients += 1
            wrong = NOT_RIGHT_ON_ONNXRUNTIME.get(sample.name)
            if wrong is not None:
                entry.remarks.add(f"{sample.name}: {wrong}")
    return dict(found)


def operator_of(model: ModelProto) -> str:
    """The operator that a test is of: the one of its nodes that helps the others least."""
    nodes = [(node.domain, node.op_type) for node in model.graph.node]
    helpers = {"Constant", "Identity", "SequenceConstruct", "SequenceAt", "Cast", "Optional"}
    domain, name = next((node for node in nodes if node[1] not in helpers), nodes[0])
    return f"{domain}.{name}" if domain not in ("", "ai.onnx") else name


def page(found: Mapping[str, Found]) -> str:
    """The text of the page."""
    wrong = sum(1 for entry in found.values() for remark in entry.remarks if remark.startswith("test_"))
    gradients = sum(entry.gradients for entry in found.values())
    head = HEAD.format(
        version=onnx.__version__.rpartition(".")[0],
        tests=sum(entry.tests for entry in found.values()),
        passed=sum(entry.passed for entry in found.values()),
        gradients=gradients,
        right=gradients - wrong,
    )
    order = sorted(found, key=lambda name: ("." in name, name.lower()))
    return head + "".join(_row(name, found[name]) for name in order)


def _row(name: str, entry: Found) -> str:
    values = (
        "all" if entry.passed == entry.tests else "none" if not entry.passed else f"{entry.passed} of {entry.tests}"
    )
    return f"| {name} | {values} | {entry.gradients or ''} | {'; '.join(sorted(entry.remarks))} |\n"


if __name__ == "__main__":
    sys.exit(main())
