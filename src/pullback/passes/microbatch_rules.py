"""Micro-batching rules: how an operation is run on equal parts of its inputs along an axis, by its traits and links.

Of the whole result a part makes either the part along an axis, or a term of a sum. What says nothing has no rule.
Each rule is checked against the kernels, on the rows of the case table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core.dtypes import INEXACT
from ..core.primitive import Primitive
from ..core.traits import ADDS, ELEMENTWISE, Link
from ..primitives.creation.fill import Fill, Filled
from ..primitives.indexing.slice import Slice, SliceGrad
from ..primitives.indexing.slicing import FULL, StridedSlice, StridedSliceGrad
from ..primitives.linalg.einsum import Einsum, split_equation
from ..primitives.linalg.stacks import LowerPart
from ..primitives.losses.l2 import L2Loss
from ..primitives.reduction.reduce import Mean, MeanGrad
from ..primitives.shape.broadcast import BroadcastTo
from ..primitives.shape.pad import Pad
from ..primitives.shape.reshape import Reshape
from ..primitives.shape.squeeze import Squeeze
from ..primitives.shape.stacking import SplitV
from ..primitives.shape.tile import Repeat, RepeatGrad, Tile, TileGrad
from ..primitives.variables.operations import ResourceGather
from .microbatch_parts import At, Axes, Part, Rule, Types, fits, resized, short
from .microbatch_rows import RULES_OF_ROWS


def part_of(
    primitive: Primitive, types: Types, made: Types, axes: Axes, parts: int, wanted: int | None = None
) -> Part | None:
    """How `primitive` is run on one of so many parts of its inputs, some of which are given so; None: it cannot be.

    More inputs than are given in parts may be asked for in parts. All lengths are known.
    """
    acts = primitive.acts or (primitive.stateful and not isinstance(primitive, ResourceGather))
    if acts or primitive.functions or not made:
        return None
    if wanted is None and all(axis is None for axis in axes):
        return None
    at = At(primitive, types, made, axes, wanted, parts)
    rule = _RULES.get(type(primitive), _by_traits)
    part = rule(at)
    if part is None or (part.scaled and made[0].dtype not in INEXACT):
        return None
    return part if fits(at, part.primitive, part.inputs, part.output) else None


def _by_traits(at: At) -> Part | None:
    """The rule of what is elementwise, and of what links say."""
    links = _elementwise_links(at) if ELEMENTWISE in at.primitive.traits else _links(at)
    if links is None:
        return None
    output = at.wanted
    for some, axis in zip(links, at.axes, strict=True):
        along = [link for link in some if link.input == axis]
        if axis is not None and any(link.pairs is not None for link in along):
            return None
        if along and output is None:
            output = along[0].output
    if output is None:
        return _added(at, links)
    inputs = _inputs_along(at, links, output)
    if inputs is None or not any(axis is not None for axis in inputs):
        return None
    primitive = resized(at, inputs, output)
    return Part(primitive, inputs, output) if primitive is not None else None


def _links(at: At) -> list[Sequence[Link]] | None:
    """The links of all inputs; None where some are not stated."""
    found = [at.primitive.links(i, *at.types) for i in range(len(at.types))]
    return None if None in found else [some for some in found if some is not None]


def _elementwise_links(at: At) -> list[Sequence[Link]]:
    rank = len(at.result)
    ranks = [len(at.lengths(i)) for i in range(len(at.types))]
    return [[Link(rank - n + axis, axis) for axis in range(n)] for n in ranks]


def _inputs_along(at: At, links: Sequence[Sequence[Link]], output: int) -> Axes | None:
    """The axes of the inputs along that axis of the result; None where an input is given in parts along another."""
    inputs: list[int | None] = []
    if output >= len(at.result):
        return None
    for i, some in enumerate(links):
        along = [link for link in some if link.output == output and link.input < len(at.lengths(i))]
        if any(link.pairs is not None for link in along) or len(along) > 1:
            return None
        axis = along[0].input if along else None
        if axis is not None and at.lengths(i)[axis] != at.result[output]:
            axis = None
        given = at.axes[i]
        if given is not None and (given != axis or len([link for link in some if link.input == given]) > 1):
            return None
        inputs.append(axis)
    return tuple(inputs)


def _added(at: At, links: Sequence[Sequence[Link]]) -> Part | None:
    """The rule of what adds up along the axes that are given in parts."""
    given = [i for i, axis in enumerate(at.axes) if axis is not None]
    traits = at.primitive.traits
    if ADDS in traits and len(at.types) == 1:
        inputs: Axes | None = at.axes
    else:
        pair = next((t.inputs for t in traits if t.name == "bilinear"), ())
        inputs = (
            _contracted(at, links, pair) if pair and len(pair) == len(at.types) and set(given) <= set(pair) else None
        )
    if inputs is None:
        return None
    primitive = resized(at, inputs, None)
    return Part(primitive, inputs, None) if primitive is not None else None


def _contracted(at: At, links: Sequence[Sequence[Link]], pair: Sequence[int]) -> Axes | None:
    """The axes of two factors of a sum of products along one axis of each."""
    axes = list(at.axes)
    n = next(at.lengths(i)[axis] for i, axis in enumerate(axes) if axis is not None)
    for i in pair:
        linked = {link.input for link in links[i]}
        summed = [axis for axis, m in enumerate(at.lengths(i)) if axis not in linked and m == n]
        if axes[i] is None and len(summed) == 1:
            axes[i] = summed[0]
        if axes[i] not in summed or len([a for a in range(len(at.lengths(i))) if a not in linked]) != 1:
            return None
    return tuple(axes)


def _mean(at: At) -> Part | None:
    part = _by_traits(at)
    if part is not None or at.wanted is not None or any(a == at.axes[0] for a in _staying(at)):
        return part
    return Part(at.primitive, at.axes, None, "output")


def _staying(at: At) -> list[int]:
    return [link.input for link in at.primitive.links(0, *at.types) or ()]


def _mean_grad(at: At) -> Part | None:
    """A part of what a mean hands back; along the axes of the mean, one over the whole length is handed back."""
    part = _by_traits(at)
    if part is not None or at.wanted is None or len(at.types) > 1:
        return part
    along = [link for link in at.primitive.links(0, *at.types) or () if link.output == at.wanted]
    if along:
        return None
    primitive = resized(at, at.axes, at.wanted)
    return Part(primitive, at.axes, at.wanted, "input") if primitive is not None else None


def _loss(at: At) -> Part | None:
    return None if at.axes[0] is None else Part(at.primitive, at.axes, None)


def _broadcast(at: At) -> Part | None:
    """The rule of what repeats its first input along axes in front, and along those of length one."""
    if len(at.types) > 1:
        return None
    lead = len(at.result) - len(at.lengths(0))
    output = at.wanted if at.axes[0] is None else at.axes[0] + lead
    if output is None:
        return None
    axis = output - lead if output >= lead and at.lengths(0)[output - lead] == at.result[output] else None
    if at.axes[0] != axis and at.axes[0] is not None:
        return None
    primitive = resized(at, (axis,), output)
    return Part(primitive, (axis,), output) if primitive is not None else None


def _filled(at: At) -> Part | None:
    if at.wanted is None or any(axis is not None for axis in at.axes):
        return None
    primitive = resized(at, at.axes, at.wanted)
    return Part(primitive, at.axes, at.wanted) if primitive is not None else None


def _reshape(at: At) -> Part | None:
    """The rule of what keeps the order of elements: a part of an axis is one of any with as many elements before it."""
    if len(at.types) > 1:
        return None
    lengths, axis, output = at.lengths(0), at.axes[0], at.wanted
    if axis is None and output is not None:
        axis = _axis_behind(lengths, math.prod(at.result[:output]), at.parts)
    elif axis is not None:
        output = _axis_behind(at.result, math.prod(lengths[:axis]), at.parts)
    if axis is None or output is None:
        return None
    wanted = short(at.made[0], output, at.parts).shape.known
    primitive = at.primitive
    if isinstance(primitive, Reshape):
        primitive = Reshape(wanted)
    return Part(primitive, (axis,), output)


def _axis_behind(lengths: Sequence[int], count: int, parts: int) -> int | None:
    """The first axis that has so many elements before it and is divisible."""
    for axis, n in enumerate(lengths):
        if math.prod(lengths[:axis]) == count and n > 1:
            return axis if n % parts == 0 else None
    return None


def _along_others(changed: Callable[[Any, int, int], bool]) -> Rule:
    """The rule of what leaves all axes where they are, but does something along some of them."""

    def rule(at: At) -> Part | None:
        axis = at.axes[0] if at.axes[0] is not None else at.wanted
        if len(at.types) > 1 or axis is None or changed(at.primitive, axis, len(at.result)):
            return None
        primitive = resized(at, (axis,), axis)
        return Part(primitive, (axis,), axis) if primitive is not None else None

    return rule


def _of_stacks(at: At) -> Part | None:
    """The rule of what works on each matrix of a stack, and looks at where in it an element stands."""
    part = _by_traits(at)
    return part if part is not None and (part.output or 0) < len(at.result) - 2 else None


def _sliced(at: At) -> Part | None:
    """The rule of slices, and of what they hand back, that take all of the first axis."""
    spec: Sequence[Any] = at.primitive.attributes["spec"]
    rank = max(len(at.lengths(0)), len(at.result))
    taken = len([entry for entry in spec if entry is not None and entry != "..."])
    first = spec[0] if spec else FULL
    axis = at.axes[0] if at.axes[0] is not None else at.wanted
    if axis != 0 or not (first == FULL or (first == "..." and taken < rank)):
        return None
    inputs = (0, *[None for _ in at.types[1:]])
    primitive = resized(at, inputs, 0)
    return Part(primitive, inputs, 0) if primitive is not None else None


def _einsum(at: At) -> Part | None:
    """The rule of an index: each term has it or not; where the result lacks it, the parts are added up."""
    terms, result = split_equation(at.primitive.attributes["equation"])
    terms = [_written_out(term, len(at.lengths(i))) for i, term in enumerate(terms)]
    result = _written_out(result, len(at.result))
    axis = next((i for i, a in enumerate(at.axes) if a is not None), None)
    if axis is not None:
        index = terms[axis][at.axes[axis] or 0]
    elif at.wanted is not None:
        index = result[at.wanted]
    else:
        return None
    inputs = tuple([term.index(index) if index in term else None for term in terms])
    if any(term.count(index) > 1 for term in terms):
        return None
    if any(a is not None and a != b for a, b in zip(at.axes, inputs, strict=True)):
        return None
    return Part(at.primitive, inputs, result.index(index) if index in result else None)


def _written_out(term: str, rank: int) -> str:
    """A term with digits in the place of the dots, the same ones for axes that go along each other."""
    count = rank - len(term.replace("...", ""))
    return term.replace("...", "".join([chr(ord("0") + n) for n in reversed(range(count))]))


def _pads(p: Any, axis: int, rank: int) -> bool:
    del rank
    return p.widths is None or tuple(p.widths[axis]) != (0, 0)


def _repeats(p: Any, axis: int, rank: int) -> bool:
    return bool(p.axis % rank == axis)


def _tiles(p: Any, axis: int, rank: int) -> bool:
    del rank
    return p.multiples is None or p.multiples[axis] != 1


def _begins_later(p: Any, axis: int, rank: int) -> bool:
    del rank
    return p.begin is None or p.begin[axis] != 0


_RULES: dict[type[Primitive], Rule] = {
    **RULES_OF_ROWS,
    BroadcastTo: _broadcast,
    Einsum: _einsum,
    Fill: _filled,
    Filled: _filled,
    L2Loss: _loss,
    LowerPart: _of_stacks,
    Mean: _mean,
    MeanGrad: _mean_grad,
    Pad: _along_others(_pads),
    Repeat: _along_others(_repeats),
    RepeatGrad: _along_others(_repeats),
    Reshape: _reshape,
    Slice: _along_others(_begins_later),
    SliceGrad: _along_others(_begins_later),
    SplitV: _along_others(_repeats),
    Squeeze: _reshape,
    StridedSlice: _sliced,
    StridedSliceGrad: _sliced,
    Tile: _along_others(_tiles),
    TileGrad: _along_others(_tiles),
}
