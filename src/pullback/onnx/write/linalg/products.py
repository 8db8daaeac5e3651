"""ONNX export of matrix products, einsum and biases."""

from __future__ import annotations

from typing import Any

from ....core.dtypes import bfloat16, float16, float32, float64, int64
from ....core.operation import Operation
from ....core.shape import same_length
from ....primitives.linalg.einsum import Einsum, split_equation
from ....primitives.linalg.matmul import BatchMatMul, MatMul
from ...pairs import trace_kernel
from ...records import Value
from ...registry import writer
from ...writing import Writer


@writer(MatMul)
def matmul(w: Writer, p: Any, a: Value, b: Value) -> Value:
    """Gemm takes transposed matrices of floats: one node less."""
    plain = a.type.dtype in (float32, float64) and not _is_transposed(w, a) and not _is_transposed(w, b)
    if plain and (p.transpose_a or p.transpose_b):
        flags = ({"transA": 1} if p.transpose_a else {}) | ({"transB": 1} if p.transpose_b else {})
        return w.node("Gemm", a, b, **flags)
    return _product(w, _turned(w, a, p.transpose_a), _turned(w, b, p.transpose_b))


def _is_transposed(w: Writer, x: Value) -> bool:
    """Whether `x` is a transposed value: a second transposition undoes the first."""
    record = w.model.producers.get(x.name)
    return record is not None and record.op_type == "Transpose"


@writer(BatchMatMul)
def batch_matmul(w: Writer, p: Any, a: Value, b: Value) -> Value:
    if p.adj_y and not p.adj_x and _has_rows(w.op, a, b) and not _is_transposed(w, b):
        rows = w.reshape(a, [-1, a.type.shape.known[-1]])
        made = w.node("Gemm", rows, b, transB=1)
        return w.reshape(made, [*a.type.shape.known[:-1], b.type.shape.known[0]])
    return _product(w, _turned(w, a, p.adj_x), _turned(w, b, p.adj_y))


def _has_rows(op: Operation, a: Value, b: Value) -> bool:
    """Whether `a` is a stack of floats whose rows, as one matrix, are needed for the cotangent of a matrix too."""
    known = a.type.shape.is_fully_defined() and b.type.shape.is_fully_defined()
    if not known or a.type.dtype not in (float32, float64) or b.type.shape.rank != 2:
        return False
    if 0 in (*a.type.shape.known, *b.type.shape.known):
        return False
    return any(isinstance(reader.primitive, Einsum) for reader in op.inputs[0].consumers())


def _product(w: Writer, a: Value, b: Value) -> Value:
    """onnxruntime makes one node of a transposition and a MatMul."""
    dtype = w.op.outputs[0].dtype
    turned = _is_transposed(w, a) or _is_transposed(w, b)
    if _may_repeat_nothing(a, b):
        a, b = _repeated(w, a, b), _repeated(w, b, a)
    if dtype in (float16, bfloat16):
        a, b = w.cast(a, float32), w.cast(b, float32)
    y = w.node("MatMul", a, b)
    return w.cast(_zero_of_nothing(w, a, b, y) if turned else y, dtype)


def _zero_of_nothing(w: Writer, a: Value, b: Value, y: Value) -> Value:
    """The product, 0 where an inner length is: that of transposed stacks onnxruntime leaves as the memory was."""
    mine, other = a.type.shape.sizes, b.type.shape.sizes
    if mine is None or other is None or min(len(mine), len(other)) < 2 or max(len(mine), len(other)) < 3:
        return y
    if not _may_be_nothing(mine[-1], other[-2]):
        return y
    some = w.node("Greater", w.lengths(a, [-1]), w.vector([0]))
    return w.where(some, y, w.scalar(0, y))


def _may_repeat_nothing(a: Value, b: Value) -> bool:
    """Whether stacks of two lengths may meet with an inner length of 0: onnxruntime does not repeat the shorter."""
    mine, other = a.type.shape.lengths, b.type.shape.lengths
    if mine is None or other is None or not (len(mine) > 2 and len(other) > 2):
        return False
    alike = len(mine) == len(other) and all(map(same_length, mine[:-2], other[:-2]))
    return not alike and _may_be_nothing(mine[-1], other[-2])


def _may_be_nothing(*inner: Any) -> bool:
    """Whether the inner length of a product may be 0, as its two factors know it."""
    return not any(isinstance(n, int) and n > 0 for n in inner)


def _repeated(w: Writer, x: Value, like: Value) -> Value:
    """Matrices as often as those of another stack."""
    stacks = w.lengths(like, list(range(len(like.type.shape.sizes or ()) - 2)))
    return w.expand(x, w.concat([stacks, w.vector([1, 1])], 0))


def _turned(w: Writer, x: Value, swap: bool) -> Value:
    """`x` with its last two axes exchanged if `swap`."""
    rank = 2 if x.type.shape.rank is None else x.type.shape.rank
    return w.transpose(x, [*range(rank - 2), rank - 1, rank - 2]) if swap else x


@writer(Einsum)
def einsum(w: Writer, p: Any, *xs: Value) -> Any:
    """ONNX's own, and a mask for results that stand on a diagonal; matrix products of few axes as what they are."""
    labels, result = split_equation(p.equation)
    letters = result.replace("...", "")
    repeats = len(set(letters)) != len(letters)
    if _broadcasts(labels, result, xs) or (repeats and "..." in result[1:]):
        return trace_kernel(w, xs)
    if repeats:
        return _on_diagonals(w, labels, result, xs)
    found = _weights(w, labels, result, xs) if len(xs) == 2 else None
    found = _times_matrix(w, labels, result, xs) if found is None and len(xs) == 2 else found
    if found is not None:
        return found
    dtype = w.op.outputs[0].dtype
    wide = [w.cast(x, float32) if dtype in (float16, bfloat16) else x for x in xs]
    return w.cast(w.node("Einsum", *wide, shape=w.op.outputs[0].shape, equation=p.equation), dtype)


def _on_diagonals(w: Writer, labels: list[str], result: str, xs: tuple[Value, ...]) -> Value:
    """A result with one axis twice: what is computed for the axis once, and zeros beside the diagonal."""
    letters = result.replace("...", "")
    present = list(dict.fromkeys(letters))
    dtype, rank = w.op.outputs[0].dtype, w.op.outputs[0].shape.rank
    wide = [w.cast(x, float32) if dtype in (float16, bfloat16) else x for x in xs]
    shape = None if rank is None else [None] * (rank - len(letters) + len(present))
    equation = f"{','.join(labels)}->{'...' if '...' in result else ''}{''.join(present)}"
    value = w.node("Einsum", *wide, shape=shape, equation=equation)
    for place, letter in enumerate(letters):
        if place < len(present) and present[place] == letter:
            continue
        first = present.index(letter)
        n = w.reshape(w.lengths(value, [first - len(present)]), [])
        numbers = w.node("Range", w.constant(0, int64), n, w.constant(1, int64))
        present.insert(place, letter)
        columns = [w.reshape(numbers, [-1, *[1] * (len(present) - 1 - i)]) for i in (first, place)]
        value = w.where(w.node("Equal", *columns), w.unsqueeze(value, [place - len(present)]), w.scalar(0, value))
    return w.cast(value, dtype)


def _broadcasts(labels: list[str], result: str, xs: tuple[Value, ...]) -> bool:
    """Whether `...` stands for axes of which not all inputs have all: ONNX has no such equations."""
    if "." not in "".join(labels):
        return False
    depths = {(x.type.shape.rank or 0) - len(term) + 3 for term, x in zip(labels, xs, strict=True) if "." in term}
    return len(depths) > 1 or not all("." in term for term in [*labels, result])


def _times_matrix(w: Writer, labels: list[str], result: str, xs: tuple[Value, ...]) -> Value | None:
    """A stack of rows times a matrix, or times its transpose."""
    a, b = labels
    if "." in a + b or len(b) != 2 or len(a) < 2 or len(set(a)) != len(a) or result[:-1] != a[:-1]:
        return None
    if sorted(b) != sorted(a[-1] + result[-1]) or b[0] == b[1] or result[-1] in a:
        return None
    return _product(w, xs[0], _turned(w, xs[1], b[0] != a[-1]))


def _weights(w: Writer, labels: list[str], result: str, xs: tuple[Value, ...]) -> Value | None:
    """The cotangent of a matrix that a stack was multiplied with, as one product of two matrices."""
    a, b = labels
    if "." in a + b or len(a) != len(b) or len(a) < 3 or len(result) != 2 or a[:-1] != b[:-1]:
        return None
    if sorted(result) != sorted(a[-1] + b[-1]) or len(set(a + b)) != len(a) + 1:
        return None
    x, y = (xs[0], xs[1]) if result == a[-1] + b[-1] else (xs[1], xs[0])
    dims = [v.type.shape.sizes for v in (x, y)]
    if dims[0] is None or dims[1] is None or dims[0][-1] is None or dims[1][-1] is None:
        return None
    rows = [w.reshape(v, [-1, d[-1]]) for v, d in zip((x, y), dims, strict=True)]  # type: ignore[index]
    dtype = w.op.outputs[0].dtype
    if dtype in (float16, bfloat16):
        rows = [w.cast(v, float32) for v in rows]
    if dtype in (float32, float64):
        return w.node("Gemm", *rows, transA=1)
    product = w.node("MatMul", w.transpose(rows[0], [1, 0]), rows[1])
    return w.cast(product, dtype)
