"""What operations of the case table do to numbers: what their traits must agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb
from pullback.core.function import AbstractFunctional
from pullback.core.operation import Operation
from pullback.core.primitive import Primitive
from pullback.core.traits import (
    ADDS,
    CHOOSES,
    ELEMENTWISE,
    GIVES_TO_CHOSEN,
    MOVES,
    SURROGATE,
    Links,
    broadcast_axes_of,
    is_linear,
)
from pullback.core.types import type_of_array
from pullback.derivatives.axis_patterns import along_axes
from pullback.derivatives.block_pattern import identity

from .cases.table import building, differentiable, families

Arrays = list[np.ndarray[Any, Any]]
_MOST_ELEMENTS = 64
_MOST_SAMPLES = 40
_MOST_ALIKE = 6
_FEWEST = 5


@dataclass(eq=False)
class Effect:
    """For each output the changes [its size, size of an input] by a change of each element of the input, over that."""

    slopes: Arrays

    def ones(self, *, signed: bool = False) -> bool:
        """Whether every slope is 0 or 1; `signed`: or -1."""
        parts = [np.abs(s) if signed else s for s in self.slopes]
        return all(np.all(np.isclose(p, 1.0, rtol=1e-5) | (p == 0)) for p in parts)

    def hits(self, axis: int) -> Any:
        """How many elements of the input each element of the outputs depends on (axis 1), or the other way (0)."""
        return np.concatenate([s != 0 for s in self.slopes]).sum(axis)


@dataclass(eq=False)
class Sample:
    """An operation of a row and the arrays that it was given."""

    row: str
    primitive: Primitive
    arrays: Arrays

    def run(self, arrays: Sequence[Any] | None = None) -> Arrays:
        """What the kernel makes of `arrays`, the sample's own where none are given."""
        with np.errstate(all="ignore"):
            results = self.primitive.kernel(np, *(self.arrays if arrays is None else arrays))
        return [np.asarray(y) for y in (results if isinstance(results, tuple) else (results,))]

    def views_its_input(self) -> bool | None:
        """Whether the first output lies in the memory of the first input; None where that cannot be told."""
        if not self.arrays[0].ndim:
            return None
        y = self.run()[0]
        return np.shares_memory(y, self.arrays[0]) if y.ndim and y.size else None

    def floats(self) -> list[int]:
        """The numbers of the inputs of real numbers, of not too many elements."""
        return [i for i, x in enumerate(self.arrays) if x.dtype == np.float64 and 0 < x.size <= _MOST_ELEMENTS]

    def with_inputs(self, others: Mapping[int, Any]) -> Arrays:
        """The arrays, some of them replaced."""
        return [others.get(i, x) for i, x in enumerate(self.arrays)]

    def is_linear(self, inputs: Sequence[int], seed: int = 0, is_affine: bool = False) -> bool:
        """Whether the outputs are linear in these inputs together, or affine, at random points."""
        random = np.random.default_rng(seed)
        u, v = [{i: 2.0 * random.normal(size=self.arrays[i].shape) for i in inputs} for _ in range(2)]
        points = (u, v, {i: u[i] + v[i] for i in inputs}, {i: 0.0 * u[i] for i in inputs})
        try:
            at_u, at_v, at_sum, at_zero = [self.run(self.with_inputs(point)) for point in points]
        except (ValueError, pb.errors.InvalidArgumentError):
            return False
        outputs = [ys for ys in zip(at_u, at_v, at_sum, at_zero, strict=True) if ys[0].dtype.kind in "fc"]
        if is_affine:
            outputs = [tuple([y - zero for y in (*ys, zero)]) for *ys, zero in outputs]
        return bool(outputs) and all(_is_sum(*ys) for ys in outputs)

    def reads(self, i: int) -> bool:
        """Whether the numbers in input `i` change anything."""
        x, random = self.arrays[i], np.random.default_rng(0)
        others = (np.ones_like(x), np.zeros_like(x), (3 * random.normal(size=x.shape)).astype(x.dtype))
        try:
            return not all(_keep(self, self.run(self.with_inputs({i: other}))) for other in others)
        except (ValueError, pb.errors.InvalidArgumentError):
            return True

    def matters(self, i: int) -> bool:
        """Whether the outputs are finite, and other than 0, at a random input `i`."""
        ys = self.run(self.with_inputs({i: np.random.default_rng(0).normal(size=self.arrays[i].shape)}))
        return any(np.any(y) and np.all(np.isfinite(y)) for y in ys)

    def effect(self, i: int) -> Effect | None:
        """What changing each element of input `i` does; None where that changes shapes, or is not finite."""
        before, x, random = self.run(), self.arrays[i], np.random.default_rng(0)
        columns: list[list[Any]] = [[] for _ in before]
        for j in range(x.size):
            step = float(random.uniform(0.1, 0.4) * max(abs(x.reshape(-1)[j]), 0.1))
            if not np.isfinite(step):
                return None
            moved = x + step * (np.arange(x.size).reshape(x.shape) == j)
            after = self.run(self.with_inputs({i: moved}))
            if any(a.shape != b.shape for a, b in zip(before, after, strict=True)):
                return None
            for column, a, b in zip(columns, before, after, strict=True):
                with np.errstate(all="ignore"):
                    column.append(np.nan_to_num((b.astype(complex) - a.astype(complex)).reshape(-1) / step))
        return Effect([np.stack(column, axis=1) for column in columns])

    def links(self, i: int) -> Links | None:
        """Which axes of the outputs go along which of input `i`."""
        return self.primitive.links(i, *[type_of_array(x) for x in self.arrays])

    def bound(self, i: int, output: int) -> Any:
        """Which elements of an output may depend on which of input `i`, by the declared traits; None: on all."""
        x, y = self.arrays[i], self.run()[output]
        elementwise = ELEMENTWISE in self.primitive.traits
        links = broadcast_axes_of(x.shape, y.ndim) if elementwise else self.links(i)
        if links is None:
            return None
        return along_axes(identity(x.size), links, x.shape, y.shape).whole.toarray()


def _chooses(sample: Sample) -> bool:
    """Whether what is no element of the first input is the same for other elements, or NaN as one of them is."""
    x, (y, *_) = sample.arrays[0], sample.run()
    (other, *_) = sample.run([x + x.dtype.type(1), *sample.arrays[1:]])
    return bool((np.isin(y, x) | (y == other) | ((y != y) & (x != x).any())).all())


def contradictions(sample: Sample) -> list[str]:
    """What the kernel does that the declared traits say it does not."""
    found = []
    traits, effects = type(sample.primitive).traits, {i: sample.effect(i) for i in sample.floats()}
    seen = {i: effect for i, effect in effects.items() if effect is not None}
    for i, effect in seen.items():
        for k, slopes in enumerate(effect.slopes):
            bound = sample.bound(i, k)
            if bound is not None and np.any((slopes != 0) & ~bound):
                found.append(f"output {k} depends on more of input {i} than axes or places that go along")
        if MOVES in traits and not effect.ones():
            found.append(f"it does not move the elements of input {i}")
        if ADDS in traits and not (effect.ones(signed=True) and effect.hits(0).max(initial=0) <= 1):
            found.append(f"it does not add each element of input {i} to one element")
    if CHOOSES in traits and not _chooses(sample):
        found.append("it does not choose elements of the input")
    if GIVES_TO_CHOSEN in traits and sample.run()[0][~np.isin(*sample.arrays[:2])].any():
        found.append("it gives to elements that were not chosen")
    if MOVES in traits and seen and sum(effect.hits(1) for effect in seen.values()).max(initial=0) > 1:
        found.append("it moves several elements to one")
    for trait in traits:
        if trait.name in ("linear", "affine", "bilinear"):
            inputs = [i for i in effects if i in (trait.inputs or effects)]
            groups = [[i] for i in inputs] if trait.name == "bilinear" else [inputs]
            found.extend(
                f"it is not {trait.name.removeprefix('bi')} in {group}"
                for group in groups
                if group and not sample.is_linear(group, is_affine=trait.name == "affine")
            )
        if trait.name == "reads shape":
            others = {i: np.ones_like(sample.arrays[i]) for i in trait.inputs if i < len(sample.arrays)}
            if not _keep(sample, sample.run(sample.with_inputs(others))):
                found.append("it reads elements of an input of which it says to read the shape")
    if not sample.primitive.reads_values and not _keep(sample, sample.run([np.ones_like(x) for x in sample.arrays])):
        found.append("it reads values")
    return [f"{type(sample.primitive).__name__} of {sample.row}: {text}" for text in found]


def undeclared(samples: Sequence[Sample]) -> list[str]:
    """The traits that a class has in all of its samples that tell anything, and does not declare."""
    cls = type(samples[0].primitive)
    told = [(s, {i: e for i in s.floats() if (e := s.effect(i)) is not None and e.hits(1).any()}) for s in samples]
    told = [(s, effects) for s, effects in told if any(s.arrays[i].size > 2 for i in effects)]
    if not told:
        return []
    found = []
    linear = {i for _, effects in told for i in effects}
    linear -= {i for s, effects in told for i in effects if not all(s.is_linear([i], n) for n in range(3))}
    linear = {i for i in linear if any(s.matters(i) for s, effects in told if i in effects)}
    moves = all(
        set(effects) <= linear
        and all(e.ones() for e in effects.values())
        and sum(e.hits(1) for e in effects.values()).max() <= 1
        for _, effects in told
    )
    diagonal = all(len(e.slopes) == 1 and _is_diagonal(s, i, e) for s, effects in told for i, e in effects.items())
    diagonal = diagonal and len(told) > 1 and cls.links is Primitive.links
    if {MOVES, ADDS, ELEMENTWISE, SURROGATE}.isdisjoint(cls.traits) and (moves or diagonal):
        found.append("moves" if moves else "elementwise")
    found.extend(f"linear in input {i}" for i in sorted(linear) if not is_linear(cls.traits, i) and not moves)
    return [f"{cls.__name__} declares not that it is {what}" for what in found]


def unread(samples: Sequence[Sample]) -> list[int]:
    """The inputs of a class whose numbers change nothing in many samples, and of which it does not say so."""
    cls = type(samples[0].primitive)
    said = {i for trait in cls.traits if trait.name == "reads shape" for i in trait.inputs}
    counts: Counter[int] = Counter()
    for sample in samples if cls.reads_values else []:
        for i, x in enumerate(sample.arrays):
            if i not in said and x.dtype.kind in "fc" and x.size:
                counts[i] += -_MOST_SAMPLES if sample.reads(i) else 1
    return [i for i, count in counts.items() if count >= _FEWEST]


def _is_diagonal(sample: Sample, i: int, effect: Effect) -> bool:
    """Whether elements of the output depend on those at their places only."""
    (y,), x = sample.run(), sample.arrays[i]
    if x.ndim > y.ndim or any(n not in (1, m) for n, m in zip(x.shape[::-1], y.shape[::-1], strict=False)):
        return False
    links = broadcast_axes_of(x.shape, y.ndim)
    diagonal = along_axes(identity(x.size), links, x.shape, y.shape).whole.toarray()
    return not np.any((effect.slopes[0] != 0) & ~diagonal)


def _is_sum(u: Any, v: Any, both: Any, zero: Any) -> bool:
    if len({y.shape for y in (u, v, both, zero)}) > 1 or np.any(zero[np.isfinite(zero)] != 0):
        return False
    finite = np.isfinite(u) & np.isfinite(v) & np.isfinite(both)
    scale = np.abs(both[finite]).max(initial=1.0)
    close = np.isclose(u[finite] + v[finite], both[finite], rtol=1e-7, atol=1e-9 * scale)
    return bool(close.all())


def _keep(sample: Sample, ys: Sequence[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(sample.run(), ys, strict=True))


def samples() -> dict[type[Primitive], list[Sample]]:
    """Some operations of each class, in the rows and in their derivatives."""
    found: dict[type[Primitive], list[Sample]] = {}
    for family, cases in families().items():
        for case in cases:
            if not case.not_on_numpy and not case.slow:
                for sample in _samples_of(f"{family}-{case.name}", case, found):
                    found.setdefault(type(sample.primitive), []).append(sample)
    return found


def _samples_of(row: str, case: Any, found: Any) -> list[Sample]:
    with building(case) as built:
        ys = differentiable(built.ys)
        xs = [built.xs[i] for i in case.differentiated()]
        if ys and xs and not case.not_differentiable:
            with pb.densify_policy("allow"):
                pb.gradients(ys, xs, grad_ys=[pb.ones_like(y) for y in ys])
        ops: list[Operation] = []
        for op in built.graph.operations:
            others = [*[s.primitive for s in found.get(type(op.primitive), ())], *[o.primitive for o in ops]]
            same_class = sum(type(p) is type(op.primitive) for p in others)
            enough = same_class >= _MOST_SAMPLES or others.count(op.primitive) >= _MOST_ALIKE
            if not enough and not op.primitive.stateful and not isinstance(op.primitive, AbstractFunctional):
                ops.append(op)
        if not ops:
            return []
        fetches = [x for op in ops for x in op.inputs]
        values = iter(built.run(fetches) if fetches else [])
        made = [Sample(row, op.primitive, [np.asarray(next(values)) for _ in op.inputs]) for op in ops]
    return [s for s in made if _runs(s)]


def _runs(sample: Sample) -> bool:
    try:
        return all(y.size <= 4 * _MOST_ELEMENTS for y in sample.run()) and all(
            x.size <= _MOST_ELEMENTS for x in sample.arrays
        )
    except (NotImplementedError, TypeError, ValueError, pb.errors.InvalidArgumentError):
        return False
