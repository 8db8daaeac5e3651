"""Any order: what the derivatives of the rows are made of has derivatives, or a written reason for none."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from typing import Any, NamedTuple

import pullback as pb
import pullback.control_flow
import pullback.derivatives
import pullback.primitives
from pullback.core.primitive import Primitive, no_gradient, primitive_classes
from pullback.core.printing import functions_in
from pullback.primitives.base.broadcasting import AbstractElementwise

from .cases.case import Case
from .cases.table import Built, building, differentiable, families

NO_GRADIENT: dict[str, tuple[str, ...]] = {
    "its results are integers or truth values": (
        *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "IsNan", "IsInf", "IsFinite"),
        *("LogicalAnd", "LogicalOr", "LogicalXor", "LogicalNot", "Any", "All", "CountNonzero"),
        *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "LeftShift", "RightShift"),
        *("ArgMax", "ArgMin", "ArgSort", "Where", "TrueIndices", "RepeatIndices", "UniqueIndices", "ListDiffIndices"),
        *("SearchSorted", "InvertPermutation", "RowCount", "SegmentNumber", "SameAsBefore", "PoolingSequence"),
        *("FakeQuantPart", "RangePart", "ImageNumbers", "MaxPoolPlaces", "VarIsInitializedOp"),
        *("FlatPositions", "FromFront", "VectorsFromFront", "RowNumbers", "PlacesLike", "UniqueAlong"),
        *("CtcStates", "CtcUniqueLabels", "PartNumbers"),
    ),
    "it makes texts, or reads them": (
        *("AsString", "StringFormat", "StringJoin", "StringLength", "StringToNumber", "ReduceJoin", "Substr"),
        *("StringLower", "StringUpper", "StringStrip", "StringSplit", "StringSplitV2", "UnicodeSplit"),
        *("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"),
        *("StaticRegexReplace", "StaticRegexFullMatch"),
    ),
    "of inputs of float or complex dtype it reads the shape only": (
        *("Shape", "ShapeN", "Rank", "Size", "VariableShape", "FillLike", "LengthProduct", "Neighbours"),
        *("CropPlaces", "PixelGrid", "WindowMeans", "SegmentShares", "StartOfSegment", "RandomOrder"),
    ),
    "it has no inputs of float or complex dtype": (
        *("Const", "Parameter", "Placeholder", "Filled", "Eye", "OneHot", "VarHandleOp", "TensorListReserve", "Unmade"),
        "ShapeOnly",
        *("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt"),
        *("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal", "StatelessRandomUniformInt"),
    ),
    "it is constant between jumps": (
        *(
            "Floor",
            "Ceil",
            "Round",
            "Rint",
            "FloorDiv",
            "TruncateDiv",
            "TieShares",
            "TieSharesLike",
            "SegmentHits",
            "FoldSlopes",
            "Excess",
        ),
    ),
    "it draws whole numbers": ("Multinomial", "StatelessMultinomial", "RandomPoissonV2", "StatelessRandomPoisson"),
    "which boxes it picks changes in jumps; gather() picks what is to be differentiated": (
        *("NonMaxSuppressionV5", "NonMaxSuppressionWithOverlaps", "NonMaxSuppressionByClass"),
    ),
    "images are differentiated by their pixels; how they are scaled counts as constant": ("SpanWeights",),
    "it takes the bits of its input for those of something else": ("Bitcast",),
    "it has no outputs: it is run for what it does": (
        *("NoOp", "Assert", "PrintV2", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"),
        *("ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul"),
        *("ResourceScatterDiv", "ResourceScatterMin", "ResourceScatterMax", "ResourceScatterNdUpdate"),
        *("ResourceScatterNdAdd", "ResourceScatterNdSub"),
    ),
    "it stops derivatives by definition": ("StopGradient",),
    "derivatives do not look into Python code; py_function takes a gradient": ("PyFunc", "PyFuncStateless", "HostCall"),
}
"""The primitives declared to have no derivative, by reason."""


class Found(NamedTuple):
    """The op types of the case table, and for each that occurs in a derivative one row where it does."""

    used: frozenset[str]
    derived: dict[str, str]


@cache
def found() -> Found:
    """All rows built with their first and second derivatives; nothing is run."""
    used: set[str] = set()
    derived: dict[str, str] = {}
    for family, cases in families().items():
        for case in cases:
            with building(case) as built:
                forward = _operations(built.graph)
                _build_derivatives(built)
            made = _operations(built.graph)
            used |= set(made.values())
            for name in made.keys() - forward.keys():
                derived.setdefault(made[name], f"{family}-{case.name}")
    return Found(frozenset(used), derived)


def _operations(graph: pb.Graph) -> dict[Any, str]:
    """The type of each operation, those in functions too."""
    inside = [op for f in functions_in(graph.operations) for op in f.graph.operations]
    return {op: op.type for op in [*graph.operations, *inside]}


def _build_derivatives(built: Built) -> None:
    case: Case = built.case
    if case.not_differentiable or not case.differentiated():
        return
    xs = [built.xs[i] for i in case.differentiated()]
    ys = differentiable(built.ys)
    for _ in range(1 if case.not_second_order else 2):
        seeds = [pb.placeholder(y.dtype, y.shape) for y in ys]
        with pb.densify_policy("allow"):
            dxs = pb.gradients(ys, xs, grad_ys=seeds, unconnected_gradients="zero")
            ys = [pb.convert_to_tensor(dx) for dx in dxs]


def _ours() -> dict[str, type[Primitive]]:
    """The primitives that a file of the library defines; those of docstring examples only seem to be."""
    for package in (pullback.primitives, pullback.control_flow, pullback.derivatives):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
    return {
        name: cls
        for name, cls in primitive_classes().items()
        if cls.__module__.startswith("pullback.")
        and getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls
    }


ELSEWHERE = {
    "Primitive": "the base class",
    "PreventGradient": "has a test of its own: it refuses to be differentiated",
    "NoOp": "has no outputs",
    "HostCall": "is called before a run; has tests of its own, tests/compat/test_data.py",
    "ImplicitSolution": "has tests of its own, tests/derivatives/test_implicit.py",
    **dict.fromkeys(
        NO_GRADIENT["it makes texts, or reads them"],
        "is about texts, which are no numbers: has tests of its own, tests/primitives/test_strings*.py",
    ),
    "Substitute": "stands in a function only while its derivative is being made",
}


def test_every_primitive_has_rows() -> None:
    used = found().used
    missing = sorted(_ours().keys() - used - ELSEWHERE.keys())
    assert not missing, f"primitives without a row in tests/cases: {missing}"


def test_every_primitive_that_derivatives_use_has_a_derivative_or_a_reason_for_none() -> None:
    classes = primitive_classes()
    offenders = [
        f"{name} (in derivatives of {row})"
        for name, row in sorted(found().derived.items())
        if not _decided(classes[name])
    ]
    assert not offenders, f"derivatives use primitives that have no rule and no reason for none: {offenders}"


def test_every_primitive_has_a_derivative_or_a_reason_for_none() -> None:
    offenders = [name for name, cls in sorted(_ours().items()) if not _decided(cls) and name not in ELSEWHERE]
    assert not offenders, f"primitives that have no rule and no reason for none: {offenders}"


def _decided(cls: type[Primitive]) -> bool:
    if cls.gradient is no_gradient:
        return cls.type in REASONS
    if cls.gradient is AbstractElementwise.gradient:
        return cls.partials is not AbstractElementwise.partials
    return cls.gradient is not Primitive.gradient


REASONS = {name: reason for reason, names in NO_GRADIENT.items() for name in names}


def test_reasons_are_given_once_and_only_where_there_is_no_rule() -> None:
    classes = _ours()
    named = [name for names in NO_GRADIENT.values() for name in names]
    assert len(named) == len(set(named))
    stale = [name for name in named if name not in classes or classes[name].gradient is not no_gradient]
    assert not stale, f"reasons for primitives that are not declared to have no gradient: {stale}"
