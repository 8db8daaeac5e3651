"""Complex numbers in ONNX, by what is linear: real and imaginary parts are written one after the other, as real ones.

So are arrays that are moved, added up or multiplied as matrices and in convolutions. It needs no lengths, as tracing a
kernel does.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from ..core.dtypes import COMPLEX, real_dtype
from ..core.operation import Operation, Tensor
from ..core.primitive import Primitive
from ..core.traits import ADDS, MOVES
from ..core.types import TensorType
from ..primitives.linalg.matmul import BatchMatMul
from .pairs import Pair
from .records import Value
from .registry import WriterFunction
from .writing import Writer


def write_by_parts(w: Writer, write: WriterFunction, inputs: Sequence[Any]) -> list[Pair] | None:
    """The outputs of the operation that is written, by its writer for real numbers; None where it is not linear."""
    op = w.op
    given = [i for i, x in enumerate(inputs) if isinstance(x, Pair)]
    if any(y.dtype not in COMPLEX for y in op.outputs):
        return None
    primitive, twin = op.primitive, of_reals(op)
    if isinstance(primitive, BatchMatMul):
        adjoint = primitive.adj_x, primitive.adj_y
        inputs = [
            _conjugate(w, x) if turned and i in given else x
            for i, (x, turned) in enumerate(zip(inputs, adjoint, strict=True))
        ]

    def of(*imaginary: bool) -> list[Value]:
        """The outputs for the imaginary part of some of the inputs `given`, for the real one of the others."""
        chosen = dict(zip(given, imaginary, strict=True))
        return written(w, write, twin, [_part(x, chosen[i]) if i in chosen else x for i, x in enumerate(inputs)])

    reals, imaginaries = [[part] * len(given) for part in (False, True)]
    if is_linear_together(primitive, given):
        return [Pair(re, im) for re, im in zip(of(*reals), of(*imaginaries), strict=True)]
    if is_product(primitive, given):
        (rr,), (ii,), (ri,), (ir,) = of(*reals), of(*imaginaries), of(False, True), of(True, False)
        return [Pair(w.node("Sub", rr, ii), w.node("Add", ri, ir))]
    if getattr(primitive, "dtype", None) in COMPLEX:
        return [Pair(re, w.expand(w.constant(0, re.type.dtype), w.shape(re))) for re in of(*reals)]
    return None


def _conjugate(w: Writer, x: Pair) -> Pair:
    return Pair(x.re, w.node("Neg", x.im))


def _part(x: Pair, is_imaginary: bool) -> Value:
    return x.im if is_imaginary else x.re


def is_linear_together(primitive: Primitive, given: Sequence[int]) -> bool:
    """Whether the outputs are linear in these inputs together, as far as their numbers are read, the others held."""
    if not given or getattr(primitive, "value", False):
        return False
    traits = primitive.traits
    if MOVES in traits or ADDS in traits:
        return True
    numbers = set(given) - {i for t in traits if t.name == "reads shape" for i in t.inputs}
    groups = [t.inputs or given for t in traits if t.name == "linear"]
    alone = [(i,) for t in traits if t.name == "bilinear" for i in t.inputs]
    return any(numbers <= set(group) for group in [*groups, *alone])


def is_product(primitive: Primitive, given: Sequence[int]) -> bool:
    """Whether the output is linear in each of these two inputs, the other held."""
    return any(t.name == "bilinear" and tuple(given) == t.inputs for t in primitive.traits)


def of_reals(op: Operation) -> Operation:
    """`op`, as what it is of real numbers."""
    twin = copy(op)
    types = [TensorType(real_dtype(y.dtype), y.shape) for y in op.outputs]
    results = tuple([Tensor(twin, i, type) for i, type in enumerate(types)])
    twin.result = results if isinstance(op.result, tuple) else results[0]
    if getattr(op.primitive, "dtype", None) in COMPLEX:
        twin.primitive = replace(op.primitive, dtype=real_dtype(op.primitive.dtype))  # type: ignore[type-var, attr-defined]
    return twin


def written(w: Writer, write: WriterFunction, op: Operation, inputs: Sequence[Any]) -> list[Value]:
    """The outputs of `op` by its writer."""
    with w.writing(op):
        found = write(w, op.primitive, *inputs)
    return list(found) if isinstance(found, Sequence) else [found]
