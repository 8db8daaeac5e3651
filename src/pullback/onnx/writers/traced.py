"""ONNX export by tracing kernels: of primitives whose lengths must all be known.

These are data, not code: what is written in another way where lengths are unknown has a writer of its own.
"""

from __future__ import annotations

from typing import Any

from ...core.operation import Operation
from ...primitives import (
    blocks_of_matrices,
    corners,
    cosine,
    ctc,
    ctc_alignments,
    determinants,
    eigen,
    fourier,
    fractional_pooling,
    framing,
    inverses,
    lu,
    matrices,
    morphology,
    normalisation,
    order_statistics,
    patches,
    qr,
    quantize,
    random_discrete,
    random_gamma,
    resizing,
    sampling,
    segment_product,
    sequences,
    sets,
    sign,
    stacks,
    stateless_random,
    svd,
    transforms,
    triangular,
    tridiagonal,
)
from ..pairs import trace_kernel
from ..registry import writer
from ..writing import Writer


@writer(
    *(blocks_of_matrices.UpperBlocks, blocks_of_matrices.DiagonalBlocks),
    *(blocks_of_matrices.UpperRight, blocks_of_matrices.AtUpperRight),
    *(corners.Corner, corners.InCorner, cosine.Dct),
    *(ctc.CtcUniqueLabels, ctc_alignments.CtcStates),
    *(determinants.CofactorChange, determinants.LogMatrixDeterminant),
    *(eigen.SelfAdjointEig, eigen.InverseGaps, eigen.Eig),
    *(fourier.FitLengths, transforms.FftShift),
    *(fractional_pooling.PoolingSequence, fractional_pooling.WindowMeans, fractional_pooling.FractionalMaxPool),
    *(fractional_pooling.PutPixels, fractional_pooling.PickPixels),
    *(framing.Frame, framing.OverlapAndAdd, framing.FrameLike),
    *(inverses.MatrixInverse, inverses.MatrixSolve, inverses.PositiveSolve, inverses.PseudoInverse, inverses.Cross),
    *(lu.UnitLower, lu.MoveRows),
    *(matrices.MatrixDiagPart, matrices.MatrixDiag, matrices.MatrixSetDiag, matrices.MatrixBandPart),
    *(morphology.Dilation2D, morphology.Dilation2DBackpropInput, morphology.Dilation2DPick),
    *(morphology.Dilation2DBackpropFilter, morphology.Dilation2DPickFilter),
    normalisation.Neighbours,
    *(order_statistics.NthElement, order_statistics.PieceMeans, sets.InvertPermutation, sequences.ReverseSequence),
    *(patches.ExtractImagePatches, patches.ExtractVolumePatches, patches.PatchesBack),
    *(qr.Qr, svd.Svd, svd.InverseOrZero, triangular.Cholesky, stacks.LowerPart, stacks.HermitianPart),
    stacks.IdentityLike,
    *(quantize.FakeQuant, quantize.SumToBound, quantize.SpreadBound, quantize.FakeQuantPart),
    *(quantize.QuantizeAndDequantize, quantize.RangePart),
    *(random_discrete.StatelessRandomPoisson, random_gamma.StatelessRandomGammaV3),
    *(stateless_random.StatelessRandomUniform, stateless_random.StatelessRandomNormal),
    *(stateless_random.StatelessTruncatedNormal, stateless_random.StatelessRandomUniformInt),
    stateless_random.StatelessMultinomial,
    *(resizing.Resize, resizing.ResizeGrad, resizing.SpanWeights),
    *(sampling.CropPlaces, sampling.ReadImages, sampling.PutImages, sampling.PixelGrid, sampling.ImageNumbers),
    *(sampling.FoldPlaces, sampling.FoldSlopes),
    *(segment_product.ProductOfOthers, segment_product.RowsInOrder, segment_product.RowsBack),
    *(segment_product.SameAsBefore, segment_product.StartOfSegment),
    *(sign.ComplexAbs, tridiagonal.TridiagonalMatMul, tridiagonal.TridiagonalTranspose, tridiagonal.TridiagonalOuter),
    pairs=True,
)
def traced(w: Writer, op: Operation, *inputs: Any) -> list[Any]:
    return trace_kernel(w, op.primitive, inputs, op.outputs)
