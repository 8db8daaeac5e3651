"""ONNX export by tracing kernels: of primitives whose lengths must all be known.

These are data, not code: what is written in another way where lengths are unknown has a writer of its own.
"""

from __future__ import annotations

from typing import Any

from ...core.operation import Operation
from ...primitives.convolution import morphology
from ...primitives.elementwise import sign
from ...primitives.image import patches, resizing, sampling
from ...primitives.linalg import (
    blocks_of_matrices,
    corners,
    determinants,
    eigen,
    inverses,
    lu,
    matrices,
    qr,
    stacks,
    svd,
    triangular,
    tridiagonal,
)
from ...primitives.linalg.cross import Cross
from ...primitives.losses import ctc, ctc_alignments
from ...primitives.normalization import normalization as normalisation
from ...primitives.pooling import fractional as fractional_pooling
from ...primitives.quantization import fake_quant as quantize
from ...primitives.random import discrete as random_discrete
from ...primitives.random import gamma as random_gamma
from ...primitives.random import stateless as stateless_random
from ...primitives.segment import products as segment_product
from ...primitives.shape import reverse_sequence as sequences
from ...primitives.signal import dct as cosine
from ...primitives.signal import fft as transforms
from ...primitives.signal import fourier
from ...primitives.signal import frames as framing
from ...primitives.sorting import order_statistics
from ...primitives.sorting.permutation import InvertPermutation
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
    *(inverses.MatrixInverse, inverses.MatrixSolve, inverses.PositiveSolve, inverses.PseudoInverse, Cross),
    *(lu.UnitLower, lu.MoveRows),
    *(matrices.MatrixDiagPart, matrices.MatrixDiag, matrices.MatrixSetDiag, matrices.MatrixBandPart),
    *(morphology.Dilation2D, morphology.Dilation2DBackpropInput, morphology.Dilation2DPick),
    *(morphology.Dilation2DBackpropFilter, morphology.Dilation2DPickFilter),
    normalisation.Neighbours,
    *(order_statistics.NthElement, order_statistics.PieceMeans, InvertPermutation, sequences.ReverseSequence),
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
