"""Compiler options of XLA for a program: how much effort it makes, in what pieces it takes memory, which libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from ...control_flow.loop import Loop
from ...core.dtypes import resource
from ...core.function import AbstractFunctional
from ...core.shape import TensorShape
from ...core.traits import multiplies
from ...passes.run_lengths import Lengths
from ...primitives.convolution.abstract import AnyConvolution
from ..engine import EngineOptions
from ..plan import Plan
from .jax_internals import keeps_programs
from .libraries import WITHOUT_YNNPACK, library_options
from .platform import PROCESSOR

_FEW = 64
"""The elements of an array that take less time than the call of what computes them."""
_FEW_STEPS = 100
"""The steps up to which one part is compiled sooner than several at once, each of which takes a start of its own."""
HAS_OLD_EMITTERS = jax.__version_info__ < (0, 11)
_LARGEST_PIECE = 31 << 20
"""The bytes of temporary memory that are taken in one piece: glibc keeps what is freed, and does not ask the system for
it again at each call, only of pieces below 32 MB. With a larger array there are none: XLA would warn of it."""
_SLOW_PASSES = "while-loop-invariant-code-motion,simplify-while-loops"
"""What takes XLA longest for derivatives of high order of loops in loops: it goes through all of them nine times."""


def compiler_options(
    options: EngineOptions, plan: Plan, platform: str, lengths: Lengths, with_ynnpack: bool = True
) -> dict[str, Any]:
    """The options that a plan is compiled with, for a platform of jax; `lengths` are those of its feeds."""
    chosen: dict[str, Any] = {}
    if options.compile_effort == "fast":
        chosen["xla_backend_optimization_level"] = 0
        chosen["xla_disable_hlo_passes"] = _SLOW_PASSES
    if platform != PROCESSOR:
        return chosen
    # XLA writes no program to a file that takes several pieces.
    if not keeps_programs() and _largest(plan, lengths) <= _LARGEST_PIECE:
        chosen["xla_multiheap_size_constraint_per_heap"] = _LARGEST_PIECE
    # Inside nested loops, XLA 0.10.2 leaves out copies that are needed: what one iteration wrote, the next read as old.
    has_loops = any(step.bodies for step in plan.steps)
    if plan.written and not has_loops:
        chosen["xla_cpu_copy_insertion_use_region_analysis"] = True
    # What the new emitters make of a fusion takes twice as long to compile, and pays where there is much to compute.
    if HAS_OLD_EMITTERS and (options.compile_effort == "fast" or _is_tiny(plan)):
        chosen["xla_cpu_use_fusion_emitters"] = False
        if _count(plan) <= _FEW_STEPS:
            chosen["xla_cpu_parallel_codegen_split_count"] = 1
    return chosen | (library_options(plan, lengths) if with_ynnpack else WITHOUT_YNNPACK)


def _largest(plan: Plan, lengths: Lengths) -> int:
    """The bytes of the largest array that a step makes, or one inside of it; at most all that a convolution takes."""
    found = [lengths.bytes(y) for step in plan.steps for y in step.op.outputs if lengths.knows(y)]
    convolutions = [step.op for step in plan.steps if isinstance(step.op.primitive, AnyConvolution)]
    if convolutions:
        from ...passes.costs import compiled_scratch

        found += [compiled_scratch(op, lengths) for op in convolutions if all(map(lengths.knows, op.inputs))]
    for op, bodies in [(step.op, step.bodies) for step in plan.steps]:
        if isinstance(op.primitive, AbstractFunctional):
            arguments = op.primitive.arguments(op.inputs)
            for body, function, args in zip(bodies, op.primitive.functions, arguments, strict=True):
                found.append(_largest(body.plan, lengths.inside(function, args)))
    return max(found, default=0)


def _count(plan: Plan) -> int:
    """The number of steps, with those in bodies."""
    return sum(1 + sum(_count(body.plan) for body in step.bodies) for step in plan.steps)


def _is_tiny(plan: Plan) -> bool:
    """Whether no step makes, or is given, more than a few numbers at once."""
    few = all(shape.is_fully_defined() and (shape.num_elements() or 0) <= _FEW for shape in _shapes(plan))
    return few and all(_is_tiny(body.plan) for step in plan.steps for body in step.bodies)


def _shapes(plan: Plan) -> Iterator[TensorShape]:
    """Those of what the steps of a plan are given and make at once.

    Of rows of a number that only a run knows, which a loop without products reads or writes, of one. What multiplies
    small matrices takes up to twice as long the short way.
    """
    for step in plan.steps:
        op, loop = step.op, step.op.primitive
        scanned, written = range(0), range(0)
        if isinstance(loop, Loop) and not any(_has_products(body.plan) for body in step.bodies):
            scanned = range(1 + loop.carried, 1 + loop.carried + loop.scanned)
            written = range(1 + loop.carried, len(op.outputs))
        for ys, rows in ((op.inputs, scanned), (op.outputs, written)):
            for i, y in enumerate(ys):
                if y.dtype is not resource:
                    yield y.shape[1:] if i in rows and y.shape[:1] == (None,) else y.shape


def _has_products(plan: Plan) -> bool:
    """Whether a step, or one inside of it, multiplies matrices."""
    steps = plan.steps
    return any(
        multiplies(step.op.primitive.traits) or any(_has_products(b.plan) for b in step.bodies) for step in steps
    )
