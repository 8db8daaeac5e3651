"""Delta debugging: a smaller program that fails as a given one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

import numpy as np

from .program import Block, Input, Program


def shrunk(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest program that steps of this kind lead to, and that fails still.

    A step is left out: what it gives becomes an input. Results are left out; inputs lose their names of lengths.
    """
    while True:
        smaller = next((p for p in _smaller(program) if fails(p)), None)
        if smaller is None:
            return program
        program = smaller


def _smaller(program: Program) -> Iterator[Program]:
    results = program.block.results
    if len(results) > 1:
        yield from [_with_results(program, [i]) for i in range(len(results))]
    for i in range(len(list(program.block.all_steps()))):
        yield _without_step(program, i)
    for i, x in enumerate(program.inputs):
        if x.kind != "placeholder" or x.shape != x.value.array.shape:
            yield _with_plain_input(program, i)
    if len(results) > 1:
        yield from [_with_results(program, [j for j in range(len(results)) if j != i]) for i in range(len(results))]


def _with_results(program: Program, kept: list[int]) -> Program:
    made = copied(program)
    made.block.results = tuple([made.block.results[i] for i in kept])
    return made.pruned()


def _without_step(program: Program, number: int) -> Program:
    made = copied(program)
    step = list(made.block.all_steps())[number]
    for block in _blocks(made.block):
        if step in block.steps:
            block.steps.remove(step)
    made.inputs += [Input("placeholder", y, np.shape(y.array)) for y in step.outputs]
    return made.pruned()


def _with_plain_input(program: Program, number: int) -> Program:
    made = copied(program)
    x = made.inputs[number]
    x.kind, x.shape = "placeholder", x.value.array.shape
    return made


def copied(program: Program) -> Program:
    """The same program, of steps of its own."""
    return Program([replace(x) for x in program.inputs], _copy_of_block(program.block))


def _copy_of_block(block: Block) -> Block:
    steps = []
    for step in block.steps:
        inner = {f.name: getattr(step, f.name) for f in fields(step)}  # type: ignore[arg-type]
        steps.append(replace(step, **{k: _copy_of_block(v) for k, v in inner.items() if isinstance(v, Block)}))  # type: ignore[type-var]
    return Block(block.parameters, steps, block.results)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for step in block.steps:
        for inner in step.blocks:
            yield from _blocks(inner)
