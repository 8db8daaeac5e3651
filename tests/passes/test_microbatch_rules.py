"""Micro-batching rules: what an operation makes of equal parts of its inputs, put together, is what it makes of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.core.types import TensorType, type_of_array
from pullback.passes.microbatch_parts import Part
from pullback.passes.microbatch_rules import part_of
from pullback.primitives.reduction.reduce import Mean, MeanGrad

from ..traits_probe import Sample, samples

PARTS = (2, 3)


def piece(x: Any, axis: int | None, i: int, parts: int) -> Any:
    return x if axis is None else np.split(x, parts, axis)[i]


def together(sample: Sample, part: Part, parts: int) -> list[Any]:
    """What the parts give, side by side or added up."""
    factor = {"input": 1.0 / parts}.get(part.scaled, 1.0)
    made = []
    for i in range(parts):
        given = [piece(x, axis, i, parts) for x, axis in zip(sample.arrays, part.inputs, strict=True)]
        if part.scaled == "input":
            given[0] = given[0] * np.asarray(factor, given[0].dtype)
        made.append(Sample(sample.row, part.primitive, given).run())
    after = 1.0 / parts if part.scaled == "output" else 1.0
    if part.output is None:
        return [sum(ys) * after for ys in zip(*made, strict=True)]
    return [np.concatenate(ys, part.output) for ys in zip(*made, strict=True)]


def asked(sample: Sample, made: list[TensorType], parts: int) -> list[Part]:
    """What the rules say of each axis of each input, and of each axis of the result."""
    types = [type_of_array(x) for x in sample.arrays]
    none: tuple[int | None, ...] = (None,) * len(types)
    given = [(*none[:i], axis, *none[i + 1 :]) for i, x in enumerate(sample.arrays) for axis in range(x.ndim)]
    questions: list[tuple[Any, int | None]] = [(axes, None) for axes in given]
    questions += [(none, axis) for axis in range(len(made[0].shape.known))] if made else []
    firsts = [i for i, x in enumerate(sample.arrays) if x.ndim]
    questions.append((tuple([0 if i in firsts else None for i in range(len(types))]), None))
    found = [part_of(sample.primitive, types, made, axes, parts, wanted) for axes, wanted in questions]
    return [part for part in found if part is not None]


def test_parts_put_together_are_the_whole_for_all_rows_of_the_case_table() -> None:
    wrong, ruled = [], set()
    for cls, some in samples().items():
        for sample in some:
            if any(x.dtype.kind == "O" for x in sample.arrays):
                continue
            whole = sample.run()
            made = [type_of_array(y) for y in whole]
            for parts in PARTS:
                for part in asked(sample, made, parts):
                    ruled.add(cls.__name__)
                    with np.errstate(all="ignore"):
                        found = together(sample, part, parts)
                    for a, b in zip(found, whole, strict=True):
                        if a.shape != b.shape or not np.allclose(a, b, 1e-6, 1e-9, equal_nan=True):
                            wrong.append(f"{cls.__name__} of {sample.row}: {part} in {parts} parts")
    assert wrong == []
    assert len(ruled) > 200
    assert {Mean.__name__, MeanGrad.__name__, "Reshape", "Conv2DBackpropFilter", "MatMul", "Softmax"} <= ruled
