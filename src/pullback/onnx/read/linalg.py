"""ONNX import of matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.dtypes import FLOATING, float32, int32
from ...core.operation import Tensor
from ...primitives.linalg.determinants import det as det_of
from ...primitives.linalg.einsum import einsum as einsum_of
from ...primitives.linalg.matmul import matmul as matmul_of
from ...primitives.shape.squeeze import expand_dims, squeeze
from ..reading import Node, calling, reader
from .dtypes import cast

reader("Det")(calling(det_of))


@reader("Gemm")
def gemm(node: Node, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    trans_a, trans_b = bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0))
    y = _scaled(matmul_of(a, b, trans_a, trans_b), node.attribute("alpha", 1.0))
    return y if c is None else y + _scaled(c, node.attribute("beta", 1.0))


def _scaled(x: Tensor, factor: float) -> Tensor:
    if factor == 1:
        return x
    return x * factor if x.dtype in FLOATING else cast(cast(x, float32) * factor, x.dtype)


def product(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b` as NumPy has it: a vector stands for a row on the left, for a column on the right."""
    row, column = a.shape.rank == 1, b.shape.rank == 1
    y = matmul_of(expand_dims(a, 0) if row else a, expand_dims(b, 1) if column else b)
    axes = [-2] * row + [-1] * column
    return squeeze(y, axes) if axes else y


reader("MatMul")(calling(product))


@reader("MatMulInteger")
def matmul_integer(
    node: Node, a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    del node
    a, b = cast(a, int32), cast(b, int32)
    if a_zero_point is not None:
        zero = cast(a_zero_point, int32)
        a = a - (expand_dims(zero, -1) if zero.shape.rank == 1 else zero)
    if b_zero_point is not None:
        b = b - cast(b_zero_point, int32)
    return product(a, b)


@reader("Einsum")
def einsum(node: Node, *operands: Tensor) -> Tensor:
    terms, arrow, result = node.attribute("equation").replace(" ", "").partition("->")
    labels = terms.split(",")
    if "." in terms or len(labels) != len(operands):
        return einsum_of(f"{terms}{arrow}{result}", *operands)
    if not arrow:
        result = "".join(sorted([c for c in set(terms) if terms.count(c) == 1 and c != ","]))
    labels, operands = _without_unit_axes(labels, operands)
    return einsum_of(f"{','.join(labels)}->{result}", *operands)


def _without_unit_axes(labels: list[str], xs: Sequence[Tensor]) -> tuple[list[str], tuple[Tensor, ...]]:
    """Terms and operands without axes of length one whose label is longer elsewhere: NumPy broadcasts them."""
    shapes = [x.shape.sizes or () for x in xs]
    longer = {
        c for term, shape in zip(labels, shapes, strict=True) for c, n in zip(term, shape, strict=False) if n != 1
    }
    for k, (term, shape) in enumerate(zip(labels, shapes, strict=True)):
        units = [i for i, (c, n) in enumerate(zip(term, shape, strict=False)) if n == 1 and c in longer]
        if units:
            labels = [*labels[:k], "".join([c for i, c in enumerate(term) if i not in units]), *labels[k + 1 :]]
            xs = [*xs[:k], squeeze(xs[k], units), *xs[k + 1 :]]
    return labels, tuple(xs)
