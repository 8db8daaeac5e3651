"""Differential testing of derivatives by interior tensors: what a step gives may be an x, or be held constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pullback as pb
from pullback.core.dtypes import INEXACT

from .differences import distance
from .program import AbstractStep, Input, Program
from .properties import Array, Built, build, differentiable, few_roundings, weights_like
from .shrinking import copied

MOST_STEPS = 3
"""As many of the last steps are tried."""


def interior_tensors_are_inputs(program: Program) -> None:
    """The derivative by what a step gives is that by an input in its place; held, it is a constant."""
    steps = [step for step in program.block.steps if any(y.array.dtype in INEXACT for y in step.outputs)]
    for step in steps[-MOST_STEPS:]:
        whole, inner = _built_with(program, step)
        if inner is None or not differentiable(whole.ys):
            continue
        values = [np.asarray(value) for value in whole.run(inner)]
        cut = build(_without(program, step), static=True)
        arrays = [*[x.value.array for x in program.inputs], *values]
        weights = weights_like(whole.run(differentiable(whole.ys)), 1)
        moved = whole.moved()
        xs, inputs = ([built.xs[i] for i in moved] for built in (whole, cut))
        places = differentiable(cut.xs[len(program.inputs) :])
        found = _gradients(whole, differentiable(inner), weights, differentiable(inner), xs)
        expected = _gradients(cut, places, weights, [], inputs)
        for dx, other in zip(found, expected, strict=True):
            assert (dx is None) == (other is None), f"{dx} is, by an input, {other}"
            if dx is not None:
                a, b = whole.run(dx), cut.run(other, arrays=arrays)
                assert distance(a, b) <= max(1e-9, few_roundings(program)), f"{dx} is {a}, by an input {b}"


def _built_with(program: Program, step: AbstractStep) -> tuple[Built, list[Any] | None]:
    """The program as a graph, and what the step gives in it; None where another value is the same tensor."""
    values = [*program.block.parameters, *[y for other in program.block.steps for y in other.outputs]]
    more = copied(program)
    more.block.results = (*program.block.results, *values)
    built = build(more, static=True)
    count = len(program.block.results)
    at = dict(zip(values, built.ys[count:], strict=True))
    inner = [at[y] for y in step.outputs]
    others = [tensor for value, tensor in at.items() if value not in step.outputs]
    apart = len(set(inner)) == len(inner) and set(inner).isdisjoint(others)
    return Built(program, built.graph, built.xs, built.ys[:count]), inner if apart else None


def _without(program: Program, step: AbstractStep) -> Program:
    """The program with inputs for what the step gives."""
    made = copied(program)
    del made.block.steps[program.block.steps.index(step)]
    made.inputs += [Input("placeholder", y, np.shape(y.array)) for y in step.outputs]
    made.block.parameters = tuple([x.value for x in made.inputs])
    return made


def _gradients(
    built: Built, inner: Sequence[Any], weights: Sequence[Array], held: Sequence[Any], xs: Sequence[Any]
) -> list[Any]:
    """The derivatives by what is `inner`, alone and beside `xs`, and those by `xs` where what is `held` is constant."""
    ys = differentiable(built.ys)
    with built.graph.as_default(), pb.densify_policy("allow"):
        alone = pb.gradients(ys, inner, weights)
        beside = pb.gradients(ys, [*inner, *xs], weights)[: len(inner)]
        around = pb.gradients(ys, xs, weights, stop_gradients=held) if xs else []
        return [None if dx is None else pb.convert_to_tensor(dx) for dx in (*alone, *beside, *around)]
