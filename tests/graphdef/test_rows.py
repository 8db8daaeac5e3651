"""Every row of the case table as a GraphDef: what is read again gives the values and derivatives that were there.

Each eighth row is among the quick tests. What TensorFlow has no op type for is data here, by the type of the operation.
"""

from __future__ import annotations

import re

import pytest

import pullback as pb
from pullback.core.errors import UnimplementedError
from pullback.primitives.random.stateful import AbstractDraw
from tests.cases.case import Case
from tests.cases.table import building, differentiable, differentiate
from tests.onnx.test_rows import quick_or_slow
from tests.test_cases import assert_close

_REFUSED = """
    Atan2Grad AvgPool AvgPoolGrad BatchToSpaceND BesselI1Slope BesselJ1Slope BetaDensity Betainc
    BetaincByParameters Cofactors Corner CropPlaces CtcStates CtcUniqueLabels Dilation2D EagerPyFunc Eig Erfcx
    Excess ExtractVolumePatches FFTND FakeQuantPart FakeQuantWithMinMaxVars FftShift FitLengths FlatPositions Frame
    GammaDensity GatherNd GaussSlope IRFFTND IgammaGradA IgammaRatio InverseGaps InverseOrZero IsotonicRegression
    LengthProduct ListDiffIndices MatrixExponential MaxLike MaxPool MaxPoolPlaces MergeLeading MinLike Neighbours
    NonMaxSuppressionByClass NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps NthElement OverlapAndAdd
    PatchesBack PixelGrid Polygamma PositiveSolve ProdLike ProductOfOthers PseudoInverse PyFunc PyFuncStateless
    QuantizeAndDequantizeV4 RFFTND RangePart Recurrence Repeat RepeatGrad RepeatIndices ReshapeKeeping Resize
    ResizeGrad RowCount RowNumbers RowsLike ScaledBesselSlope ScatterNd SearchSorted SoftmaxCrossEntropyWithLogits
    SpaceToBatchND SpanWeights SparseSoftmaxCrossEntropyWithLogits
    StraightThrough TakeGrad TensorListSetItem TensorScatterMul TileGrad
    TridiagonalMatMul TridiagonalOuter TridiagonalTranspose UniqueAlong UnitLower UpperBlocks VectorsFromFront
    Zeta
"""
REFUSED = frozenset(_REFUSED.split())
"""Operations that TensorFlow has no op type for, or, of some, none for all that they do here."""


@pytest.mark.parametrize("case", quick_or_slow(("not_on_numpy", "not_exact"), every=8))
def test_what_is_written_gives_equal_values_when_it_is_read_again(case: Case) -> None:
    with building(case) as built:
        if any(isinstance(op.primitive, AbstractDraw) for op in built.graph.operations):
            return
        fetches = list(built.ys)
        if not case.not_differentiable and case.differentiated():
            fetches += differentiate(built, differentiable(built.ys), 1)
        written = [y for y in fetches if _is_written(y)]
        if not written:
            return
        wanted = built.run(written)
        begun = [v.initializer for v in built.graph.get_collection("variables")]
        data = pb.graphdef.export(built.graph, None if begun else written).SerializeToString()
        feeds = {x.name: value for x, value in zip(built.xs, built.arrays, strict=True)}
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
        there = {y.name for op in graph.operations for y in op.outputs}
        session = pb.Session(engine="numpy")
        session.run([op.name for op in begun])
        found = session.run([y.name for y in written], {name: x for name, x in feeds.items() if name in there})
    for a, b in zip(found, wanted, strict=True):
        assert_close(a, b, 1e-6 if a.dtype.itemsize > 2 else 2e-3, case.name)


def _is_written(y: pb.Tensor) -> bool:
    try:
        pb.graphdef.export(y.graph, [y])
    except UnimplementedError as error:
        (kind,) = re.findall(r"^graphdef\.export: operation '.*' \((\w+), made at ", str(error))
        if kind not in REFUSED:
            raise
        return False
    return True
