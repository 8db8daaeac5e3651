"""`unsteady_rows`: which rows of a loop may have another shape at each step, and so cannot be stacked by the loop.

Lengths that are not known are taken for a number that many others divide, and types inferred again with it. A loop
variable that would not keep its type, because it grows or is cut, has unknown lengths from then on.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..control_flow.loop import Loop
from ..core.operation import Operation, Tensor
from ..core.shape import TensorShape
from ..core.types import TensorType

_LENGTH = 5040


def unsteady_rows(op: Operation, scanned: Sequence[bool]) -> set[int]:
    """The numbers of a loop's outputs whose rows may differ in shape.

    `scanned` says of each array that is scanned whether its rows do. Where not even the rank is known they are taken to
    be alike.
    """
    loop = op.primitive
    assert isinstance(loop, Loop)
    places, count = loop.places, loop.carried
    written = [n for n in (*places.history, *places.stacked, *places.kept) if _is_open(op.outputs[n].type)]
    if not written:
        return set()
    parameters, results = loop.body.parameters, loop.body.results
    types = [_with_length(x.type) for x in parameters]
    for i, moves in enumerate(scanned, start=count):
        types[i] = parameters[i].type if moves else types[i]
    while True:
        found = _inferred(loop, types)
        changed = [i for i in range(count) if types[i] is not parameters[i].type and found[results[i]] != types[i]]
        if not changed:
            break
        for i in changed:
            types[i] = parameters[i].type
    rows = {n: types[n - places.history.start] for n in places.history}
    rows |= {n: found[results[places.result_of(n)]] for n in (*places.stacked, *places.kept)}
    return {n for n in written if not rows[n].shape.is_fully_defined()}


def _is_open(type: TensorType) -> bool:
    """Whether the rank of rows is known, and one of their lengths is not."""
    dims = type.shape.dims
    return dims is not None and None in dims[1:]


def _with_length(type: TensorType) -> TensorType:
    dims = type.shape.dims
    if dims is None or None not in dims:
        return type
    return TensorType(type.dtype, TensorShape([_LENGTH if n is None else n for n in dims]))


def _inferred(loop: Loop, types: Sequence[TensorType]) -> dict[Tensor, TensorType]:
    """The types of all that the body computes from parameters of these types; its own where they cannot be inferred."""
    found = dict(zip(loop.body.parameters, types, strict=True))
    for op in loop.body.operations:
        try:
            made = op.primitive.infer(*[found[x] for x in op.inputs])
        except (TypeError, ValueError):
            made = tuple([y.type for y in op.outputs])
        found.update(zip(op.outputs, made, strict=True))
    return found
