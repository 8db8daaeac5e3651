"""Operations of the case table, with the arrays that they were given: what random programs are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import pullback as pb
from pullback.core.dtypes import TokenType
from pullback.core.function import AbstractFunctional
from pullback.core.operation import Operation
from pullback.core.primitive import Primitive, primitive_class
from pullback.core.traits import ADDS, ELEMENTWISE, MOVES, SURROGATE

from ..cases.case import Case
from ..cases.table import Built, building, differentiable, families
from ..test_closure import NO_GRADIENT

MOST_ELEMENTS = 48
FITTING: dict[str, tuple[str, ...]] = {
    "places, numbers of rows and their ends, as other operations give them": (
        *(
            "CustomGradient",
            "MoveRows",
            "RangePart",
            "TakeAlong",
            "FromFront",
            "MaxPoolPlaces",
            "IRFFTND",
            "SumEqualRows",
        ),
        *("TensorListGetItem", "TensorListSetItem", "TensorListAddItems", "CtcAlignments", "VectorsFromFront"),
    ),
    "matrices that are symmetric": ("PositiveSolve",),
    "shapes that other operations have made fit": (
        *("Mask", "SumLike", "MaxLike", "MinLike", "ProdLike", "Recurrence", "SpreadBound", "UnitLower", "TieShares"),
        *("TieSharesLike", "SegmentHits"),
        *("DepthwiseConv2dNativeBackpropFilter", "Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "MeanGrad"),
        *(
            "MaskUnseen",
            "FakeQuantPart",
            "IdentityLike",
            "ShapeOnly",
            "SumToBound",
            "Filled",
            "Tile",
            "TileGrad",
            "MergeLeading",
        ),
    ),
}
"""The operations that only others of ours use, which see to it that their inputs fit together, by what must fit."""
_MOST_OF_A_ROW = 400


@dataclass(frozen=True, eq=False)
class Sample:
    """An operation of a row, or of its derivative, and the arrays that it was given."""

    case: Case
    primitive: Primitive
    arrays: tuple[np.ndarray[Any, Any], ...]
    derived: bool
    """Whether it is of a type that only derivatives have: these rely on shapes and numbers that fit together."""


OTHER_DERIVATIVES = (
    "it stops derivatives by definition",
    "it takes the bits of its input for those of something else",
    "images are differentiated by their pixels; how they are scaled counts as constant",
    "which boxes it picks changes in jumps; gather() picks what is to be differentiated",
)
"""The reasons of `test_closure.NO_GRADIENT` for none where there is one, strictly speaking."""
UNDETERMINED = ("Eig", "SelfAdjointEigV2", "Svd", "Qr")
"""The operations that leave signs, or phases, open, which engines choose otherwise."""
SILENT_OF_NAN = ("IsotonicRegression", "SearchSorted", "StatelessRandomPoisson")
"""The operations that are given numbers: what they make of NaN is not said."""
PARTIAL = {
    "it reads one triangle, and its derivative is symmetric": ("Cholesky", "PositiveSolve"),
    "its results have a sign, or phase, that is not determined": UNDETERMINED,
    "its matrices have a rank, or roots, that do not change nearby": (
        "PseudoInverse",
        "MatrixSquareRoot",
        "MatrixLogarithm",
    ),
    "what it pads with counts as constant": ("MatrixDiagV3", "MatrixDiagPartV3"),
}
"""Operations whose derivative is not that of each element of each input, by what is different."""


def is_smooth(sample: Sample) -> bool:
    """Whether the derivative by each input is that of what is computed, the other inputs held."""
    p = sample.primitive
    listed = [*[NO_GRADIENT[reason] for reason in OTHER_DERIVATIVES], *PARTIAL.values()]
    other = any(p.type in types for types in listed)
    return not (sample.derived or sample.case.not_differentiable or SURROGATE in p.traits or other)


class Index(NamedTuple):
    """Which rows, by number, have operations of each type, and the types that only derivatives have."""

    rows: dict[str, list[int]]
    derived: frozenset[str]


@cache
def index() -> Index:
    """All rows built with their first derivatives; nothing is run."""
    rows: dict[str, dict[int, None]] = {}
    forward: set[str] = set()
    for number, case in enumerate(_cases()):
        with building(case) as built:
            own = _operations(built)
            forward.update(op.type for op in own)
            for op in [*own, *_derivatives(built)]:
                rows.setdefault(op.type, {})[number] = None
    return Index({name: sorted(found, key=_reasons) for name, found in rows.items()}, frozenset(rows.keys() - forward))


@cache
def type_names() -> list[str]:
    """The types of operations, those of most rows last; what takes many shapes, by its traits, three times."""
    names: list[str] = []
    for name in sorted(index().rows, key=row_count):
        cls = primitive_class(name)
        assert cls is not None
        names += [name] * (1 if {ELEMENTWISE, MOVES, ADDS}.isdisjoint(cls.traits) else 3)
    return names


@cache
def samples(dtype: str, type_name: str, row: int) -> tuple[Sample, ...]:
    """The different operations of a type in one of its rows, whose floats are of `dtype`."""
    number = index().rows[type_name][row]
    return tuple([s for s in _samples_of_row(number, dtype) if s.primitive.type == type_name])


def row_count(type_name: str) -> int:
    """How many rows have operations of that type."""
    return len(index().rows[type_name])


@cache
def _cases() -> list[Case]:
    return [case for cases in families().values() for case in cases if not (case.not_on_numpy or case.slow)]


def _reasons(number: int) -> int:
    """How much does not work in a row: those where all does come first."""
    case = _cases()[number]
    return sum(map(bool, (case.not_differentiable, case.not_second_order, case.not_compiled, case.not_onnx)))


def _operations(built: Built) -> list[Operation]:
    """What is computed from arrays alone."""
    return [op for op in built.graph.operations[:_MOST_OF_A_ROW] if op.inputs and op.outputs and _is_pure(op)]


def _derivatives(built: Built) -> list[Operation]:
    """What the derivatives of a row add to it."""
    case, ys = built.case, differentiable(built.ys)
    xs = [built.xs[i] for i in case.differentiated()]
    before = set(_operations(built))
    if ys and xs and not case.not_differentiable:
        with pb.densify_policy("allow"):
            pb.gradients(ys, xs, grad_ys=[pb.ones_like(y) for y in ys])
    return [op for op in _operations(built) if op not in before]


def _is_pure(op: Operation) -> bool:
    p = op.primitive
    tokens = any(isinstance(x.dtype, TokenType) for x in (*op.inputs, *op.outputs))
    fitting = any(op.type in types for types in FITTING.values())
    return not (p.stateful or p.acts or tokens or fitting or isinstance(p, AbstractFunctional))


@cache
def _samples_of_row(number: int, dtype: str) -> tuple[Sample, ...]:
    case = _cases()[number]
    with building(case, dtype=dtype) as built:
        ops = [*_operations(built), *_derivatives(built)]
        values = built.run([list(op.inputs) for op in ops])
    derived = index().derived
    found: dict[Any, Sample] = {}
    for op, arrays in zip(ops, values, strict=True):
        arrays = tuple(map(np.asarray, arrays))
        if all(a.size <= MOST_ELEMENTS for a in arrays):
            found.setdefault(
                (repr(op.primitive), *[(a.dtype, a.shape) for a in arrays]),
                Sample(case, op.primitive, arrays, op.type in derived),
            )
    return tuple(found.values())
