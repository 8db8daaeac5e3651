"""Einstein summation: einsum, whose derivative is einsum, and what is thinly written with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ...core.dtypes import bfloat16, float16, float32
from ...core.lengths import Dimension, known_to_differ
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.shape import TensorShape, broadcast_static_shape
from ...core.traits import IGNORES_ZEROS, Link, Links, Meeting, bilinear
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.broadcasting import operands
from ..complex.complex import conj
from ..creation.fill import ones_like
from ..reduction.sum import sum_kernel, sum_like
from .contraction import check_numbers, contract

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(equation: str, *inputs: TensorLike, name: str | None = None, optimize: object = "greedy") -> Tensor:
    """The sum of products that `equation` says, such as "bij,bjk->bik": labels that are not in the result are summed.

    Without "->" the result has the labels that occur once, in alphabetical order, after the `...`. A label that is
    repeated in one input means its diagonal, in the result that the values are put on a diagonal. `...` stands for
    axes that broadcast. Three inputs or more are multiplied in pairs, in an order that NumPy finds by `optimize`.

    Shapes: one axis for each label, equal labels of equal length. Dtypes: any number, all the same.

    Derivative: dx_i = the einsum of dy and the other inputs with the equation turned round.

    Raises:
        ValueError: the equation does not parse or does not fit the shapes. TypeError: the dtypes differ.

    Convention: Einstein 1916.

    >>> import pullback as pb
    >>> pb.Session().run(pb.einsum("ij,ij->i", [[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 2.0]]))
    array([3., 8.], dtype=float32)
    """
    xs = operands(*inputs) if inputs else []
    labels, result = _parse(equation, len(xs))
    if len(xs) == 1 and set(labels[0]) == set(result):
        return Einsum(f"{labels[0]}->{result}")(*xs, name=name)
    xs = [_diagonals(x, term) for x, term in zip(xs, labels, strict=True)]
    labels, once = [_unrepeated(term) for term in labels], _unrepeated(result)
    if once == result:
        return _product(labels, result, xs, optimize, name)
    return Einsum(f"{once}->{result}")(_product(labels, once, xs, optimize), name=name)


def _diagonals(x: Tensor, term: str) -> Tensor:
    """What `x` has on the diagonals that repeated labels mean: taken first, each element depends on those alone."""
    once = _unrepeated(term)
    return x if once == term else Einsum(f"{term}->{once}")(x)


def _product(labels: list[str], result: str, xs: list[Tensor], optimize: object, name: str | None = None) -> Tensor:
    """The sum of products, in pairs."""
    if len(xs) > 1:
        reduced = [_reduce_first(x, i, labels, result) for i, x in enumerate(xs)]
        labels, xs = [term for term, _ in reduced], [x for _, x in reduced]
    while len(xs) > 2:
        i, j = _next_pair(labels, result, xs, optimize)
        rest = {c for k, other in enumerate(labels) if k not in (i, j) for c in other} | set(result)
        both = labels[i] + labels[j]
        dots = "..." if "." in both else ""
        kept = dots + "".join(sorted({c for c in both if c in rest and c != "."}))
        product = Einsum(f"{labels[i]},{labels[j]}->{kept}")(xs[i], xs[j])
        xs = [x for k, x in enumerate(xs) if k not in (i, j)] + [product]
        labels = [x for k, x in enumerate(labels) if k not in (i, j)] + [kept]
    return Einsum(f"{','.join(labels)}->{result}")(*xs, name=name)


class Einsum(Primitive):
    traits = (bilinear(0, 1), IGNORES_ZEROS)

    equation: str
    """Of one or two inputs, with `->`, without spaces."""

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        check_numbers("einsum", *types)
        labels, result = split_equation(self.equation)
        lengths: dict[str, Dimension | None] = {}
        dots = TensorShape.SCALAR
        for term, x in zip(labels, types, strict=True):
            dots = self._read(term, x, types, lengths, dots)
        if "." in result and dots.lengths is None:
            return (TensorType(types[0].dtype, TensorShape.UNKNOWN),)
        before, _, after = result.partition("...")
        middle = dots.lengths or () if "." in result else ()
        dims = [*[lengths[c] for c in before], *middle, *[lengths[c] for c in after]]
        return (TensorType(types[0].dtype, TensorShape(dims)),)

    def _read(
        self,
        term: str,
        x: TensorType,
        types: Sequence[TensorType],
        lengths: dict[str, Dimension | None],
        dots: TensorShape,
    ) -> TensorShape:
        """What `...` stands for, given `dots` of the inputs before; puts the lengths of the labels in `lengths`."""
        dims = x.shape.lengths
        before, dotted, after = term.partition("...")
        if dims is None:
            for c in before + after:
                lengths.setdefault(c, None)
            return TensorShape.UNKNOWN if dotted else dots
        count = len(before) + len(after)
        if len(dims) < count or (not dotted and len(dims) != count):
            raise ValueError(f"einsum: '{term}' of '{self.equation}' does not fit {x}")
        end = len(dims) - len(after)
        for c, n in zip(before + after, dims[: len(before)] + dims[end:], strict=True):
            known = lengths.setdefault(c, n)
            if known is None or (isinstance(n, int) and not isinstance(known, int)):
                lengths[c] = n
            elif known_to_differ(n, known):
                shown = ", ".join(map(str, types))
                raise ValueError(f"einsum: '{c}' of '{self.equation}' has lengths {known} and {n} in {shown}")
        if not dotted:
            return dots
        try:
            return broadcast_static_shape(dots, TensorShape(dims[len(before) : end]))
        except ValueError:
            shown = ", ".join(map(str, types))
            raise ValueError(
                f"einsum: what '...' of '{self.equation}' stands for does not broadcast: {shown}"
            ) from None

    def links(self, i: int, *types: TensorType) -> Links | None:
        ranks = [x.shape.rank for x in types]
        if None in ranks:
            return None
        labels, result = undotted(self.equation, tuple([n for n in ranks if n is not None]))
        pairs = [(o, a) for o, c in enumerate(result) for a, own in enumerate(labels[i]) if c == own]
        return tuple(
            [Link(o, a) for o, a in pairs if types[i].shape.as_list()[a] != 1 or labels[i][a] in self.equation]
        )

    def meets(self, i: int, j: int, *types: TensorType) -> Meeting:
        ranks = [x.shape.rank for x in types]
        if None in ranks:
            return {}
        labels, _ = undotted(self.equation, tuple([n for n in ranks if n is not None]))
        return {k: labels[i].index(c) for k, c in enumerate(labels[j]) if c in labels[i]}

    def kernel(self, xp: Any, *xs: Any) -> Any:
        return einsum_kernel(xp, contract, self.equation, *xs)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return [partial(self._by, i, op, dy) for i in range(len(op.inputs))]

    def _by(self, i: int, op: Operation, dy: Tensor) -> Tensor:
        """The product of `dy` and the other input, on the diagonals and along the axes that were summed over."""
        x = op.inputs[i]
        labels, result = split_equation(self.equation)
        mine = labels[i]
        if len(labels) == 1:
            if set(mine) - set(result):
                return Einsum(f"{result},{mine}->{mine}")(dy, ones_like(x))
            return dy if mine == result else Einsum(f"{result}->{mine}")(dy)
        dx = Einsum(f"{result},{labels[1 - i]}->{mine}")(dy, conj(op.inputs[1 - i]))
        return sum_like(dx, x) if "." in mine and "." in labels[1 - i] else dx


@lru_cache(maxsize=4096)
def split_equation(equation: str) -> tuple[list[str], str]:
    """The terms of the inputs and that of the result."""
    terms, _, result = equation.partition("->")
    return terms.split(","), result


def _parse(equation: str, count: int) -> tuple[list[str], str]:
    """The terms of an equation as users write it; the result's is worked out where it is left out."""
    text = equation.replace(" ", "")
    terms, arrow, result = text.partition("->")
    labels = terms.split(",")
    if len(labels) != count:
        raise ValueError(f"einsum: '{equation}' has {len(labels)} inputs, but {count} are given")
    for term in [*labels, result]:
        rest = term.replace("...", "", 1)
        if any(c not in LETTERS for c in rest):
            raise ValueError(f"einsum: '{equation}' does not parse: '{term}' is not made of letters and one '...'")
    if not arrow:
        once = sorted(c for c in set(terms) if c in LETTERS and terms.count(c) == 1)
        result = ("..." if "." in terms else "") + "".join(once)
    unknown = sorted(set(result) - set(terms))
    if unknown:
        raise ValueError(f"einsum: '{equation}' has '{unknown[0]}' in its result, but in no input")
    if "." in terms and "." not in result:
        raise ValueError(f"einsum: '{equation}' has '...' in an input, so its result needs it too")
    return labels, result


def _reduce_first(x: Tensor, i: int, labels: list[str], result: str) -> tuple[str, Tensor]:
    """Input `i` and its term, summed over what nothing else has, its `...` in front where another has it too."""
    term = labels[i]
    others = [*labels[:i], *labels[i + 1 :], result]
    seen = {c for other in others for c in other}
    shared_dots = "." in term and any("." in other for other in labels[:i] + labels[i + 1 :])
    plain = "".join(c for c in term if c != ".")
    if all(c in seen for c in plain) and not (shared_dots and not term.startswith("...")):
        return term, x
    kept = "".join(c for c in dict.fromkeys(plain) if c in seen)
    dots = "..." if "." in term else ""
    return dots + kept, Einsum(f"{term}->{dots}{kept}")(x)


def _next_pair(labels: Sequence[str], result: str, xs: Sequence[Tensor], optimize: Any) -> tuple[int, int]:
    """The numbers of the two inputs to multiply first; unknown lengths count as 8."""
    if any(x.shape.rank is None for x in xs):
        return 0, 1
    lengths: dict[str, int] = {}
    stand_ins = []
    for term, x in zip(labels, xs, strict=True):
        before, dotted, after = term.partition("...")
        dims = x.shape.as_list()
        end = len(dims) - len(after)
        for c, n in zip(before + after, dims[: len(before)] + dims[end:], strict=True):
            lengths[c] = lengths.get(c, 8) if n is None else n
        middle = [1 if n is None else n for n in dims[len(before) : end]] if dotted else []
        stand_ins.append((before, middle, after))
    shapes = [[*[lengths[c] for c in b], *m, *[lengths[c] for c in a]] for b, m, a in stand_ins]
    views = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    target = _unrepeated(result)
    path, _ = np.einsum_path(f"{','.join(labels)}->{target}", *views, optimize=optimize)
    i, j = sorted([*path[1], 0, 1][:2]) if len(path[1]) > 1 else (0, 1)
    return i, j


def _unrepeated(term: str) -> str:
    """A term with each label once."""
    before, dots, after = term.partition("...")
    kept = "".join(dict.fromkeys(before))
    return kept + dots + "".join(c for c in dict.fromkeys(after) if c not in kept)


def einsum_kernel(xp: Any, multiply: Any, equation: str, *xs: Any) -> Any:
    """The value of `equation`; `multiply` is `contract`, or what an engine has in its place."""
    dtype = xs[0].dtype
    if dtype in (float16, bfloat16):
        return einsum_kernel(xp, multiply, equation, *[x.astype(float32) for x in xs]).astype(dtype)
    labels, result = undotted(equation, tuple([x.ndim for x in xs]))
    _check_lengths(equation, labels, xs)
    terms, arrays = [], []
    for term, x in zip(labels, xs, strict=True):
        term, x = _diagonal(xp, term, x)
        terms.append(term)
        arrays.append(x)
    once = "".join(dict.fromkeys(result))
    if len(arrays) == 1:
        y = _reduced(xp, terms[0], arrays[0], once)
    else:
        (term_a, a), (term_b, b) = _without_ones(terms, arrays)
        y = multiply(xp, a, b, term_a, term_b, once)
    return y if once == result else _on_diagonal(xp, once, y, result)


@lru_cache(maxsize=4096)
def undotted(equation: str, ranks: tuple[int, ...]) -> tuple[list[str], str]:
    """The terms with letters in place of `...`, the last axes aligned."""
    labels, result = split_equation(equation)
    free = [c for c in LETTERS if c not in equation]
    depths = [rank - len(term) + 3 if "." in term else 0 for term, rank in zip(labels, ranks, strict=True)]
    if min(depths) < 0 or any("." not in t and len(t) != n for t, n in zip(labels, ranks, strict=True)):
        raise ValueError(f"einsum: '{equation}' does not fit arrays of {', '.join(map(str, ranks))} axes")
    dots = "".join(free[: max(depths)])
    full = [t.replace("...", dots[len(dots) - depth :]) for t, depth in zip(labels, depths, strict=True)]
    return full, result.replace("...", dots)


def _check_lengths(equation: str, labels: Sequence[str], xs: Sequence[Any]) -> None:
    lengths: dict[str, int] = {}
    for term, x in zip(labels, xs, strict=True):
        for c, n in zip(term, x.shape, strict=True):
            if lengths.setdefault(c, n) != n and c in equation:
                raise ValueError(f"einsum: '{c}' of '{equation}' has lengths {lengths[c]} and {n}")


def _diagonal(xp: Any, term: str, x: Any) -> tuple[str, Any]:
    """`x` with one axis, the last, for each label that its term repeats."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = xp.diagonal(x, axis1=i, axis2=j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    return term, x


def _reduced(xp: Any, term: str, x: Any, once: str) -> Any:
    axes = tuple([i for i, c in enumerate(term) if c not in once])
    y = sum_kernel(xp, x, axes, keepdims=False) if axes else x
    left = [c for c in term if c in once]
    order = tuple([left.index(c) for c in once])
    return y if order == tuple(range(len(order))) else xp.transpose(y, order)


def _without_ones(terms: Sequence[str], arrays: Sequence[Any]) -> list[tuple[str, Any]]:
    """Both arrays, without the axes of length one along which they are repeated for the other."""
    (term_a, term_b), (a, b) = terms, arrays
    if all(n == b.shape[term_b.index(c)] for c, n in zip(term_a, a.shape, strict=True) if c in term_b):
        return [(term_a, a), (term_b, b)]
    lengths = [dict(zip(term_a, a.shape, strict=True)), dict(zip(term_b, b.shape, strict=True))]
    kept = []
    for term, x, other in ((term_a, a, lengths[1]), (term_b, b, lengths[0])):
        stays = [not (n == 1 and other.get(c, 1) != 1) for c, n in zip(term, x.shape, strict=True)]
        shape = tuple([n for n, s in zip(x.shape, stays, strict=True) if s])
        kept.append(("".join(c for c, s in zip(term, stays, strict=True) if s), x.reshape(shape)))
    return kept


def _on_diagonal(xp: Any, once: str, y: Any, result: str) -> Any:
    """The values of `y` on the diagonals that a repeated label of the result means, zeros elsewhere."""
    lengths = dict(zip(once, y.shape, strict=True))
    first = [result.index(c) for c in once]
    shape = tuple([lengths[c] if i in first else 1 for i, c in enumerate(result)])
    in_order = sorted(range(len(once)), key=first.__getitem__)
    y = xp.transpose(y, tuple(in_order)).reshape(shape)
    mask = np.ones((), bool)
    for i, c in enumerate(result):
        if i not in first:
            index = np.arange(lengths[c])
            at, start = [1] * len(result), [1] * len(result)
            at[i], start[result.index(c)] = lengths[c], lengths[c]
            mask = mask & (index.reshape(at) == index.reshape(start))
    return xp.where(mask, y, xp.zeros((), y.dtype))
