"""For `make_fixtures.py`: a graph with one node of each op type."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
random = np.random.RandomState(7)


def values(*shape: int, low: float = -1.0) -> np.ndarray[Any, Any]:
    return random.uniform(low, 1.0, shape).astype(np.float32)


def operations() -> Mapping[str, Any]:
    """One node of each op type, called as its type, and its derivative where TensorFlow has one."""
    ops = tf.raw_ops
    x = v1.placeholder(tf.float32, [3, 4], name="x")
    s = v1.placeholder(tf.float32, [2, 3, 3], name="s")
    i = v1.placeholder(tf.float32, [1, 6, 6, 2], name="i")
    ids, pairs = tf.constant([2, 0, 2]), tf.constant([[0, 1], [2, 3]])
    spd = tf.matmul(s, s, transpose_b=True) + 3.0 * tf.eye(3)
    c, whole = tf.complex(x, x * x), tf.constant([[5, 3, 2, 7], [1, 9, 4, 2], [6, 6, 0, 3]])
    filters, volume = tf.constant(values(2, 2, 2, 3)), tf.reshape(i, [1, 3, 4, 3, 2])
    unary = (
        "Abs Acos Acosh Asin Asinh Atan Atanh BesselI0e BesselI1e Ceil Cos Cosh Digamma Elu Erf Erfc Erfinv Exp Expm1 "
        "Floor Inv IsFinite IsInf IsNan Lgamma Log Log1p Ndtri Neg Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh "
        "Sqrt Square Tan Tanh OnesLike ZerosLike StopGradient Size Rank Shape Snapshot L2Loss BesselI0 BesselI1 "
        "BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Dawsn Expint "
        "FresnelCos FresnelSin Spence"
    )
    binary = (
        "Add AddV2 Atan2 DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual Igamma Igammac Less LessEqual Maximum "
        "Minimum Mul MulNoNan NextAfter NotEqual Pow RealDiv Div SquaredDifference Sub TruncateMod Xdivy Xlog1py Xlogy"
    )
    ys = {
        name: getattr(ops, name)(x=x + 1.2 if name == "Acosh" else x) for name in unary.split() if "x" in _inputs(name)
    }
    ys |= {name: getattr(ops, name)(input=x) for name in unary.split() if "input" in _inputs(name)}
    ys |= {name: getattr(ops, name)(t=x) for name in unary.split() if "t" in _inputs(name)}
    for name in ["Elu", "Relu", "Relu6", "Selu", "Softplus", "Softsign", "LeakyRelu"]:
        ys[name] = getattr(ops, name)(features=x - 0.5)
    for name in binary.split():
        first, second = _inputs(name)[:2]
        ys[name] = getattr(ops, name)(**{first: x, second: tf.constant(0.3) + x[:1]})
    for name in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]:
        ys[name] = getattr(ops, name)(input=x, axis=[1], keep_dims=name == "Max")
    for name in ["Cumsum", "Cumprod", "CumulativeLogsumexp"]:
        ys[name] = getattr(ops, name)(x=x, axis=1, exclusive=name == "Cumsum", reverse=name == "Cumprod")
    for name in ["SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"]:
        ys[name] = getattr(ops, name)(data=x, segment_ids=[0, 0, 2])
    for name in ["UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax"]:
        ys[name] = getattr(ops, name)(data=x, segment_ids=[1, 0, 1], num_segments=2)
    for name in ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]:
        ys[name] = getattr(ops, name)(data=x, indices=ids, segment_ids=[0, 0, 1])
    for name in ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"]:
        ys[name] = getattr(ops, name)(x=whole, y=tf.constant(2))
    for name in ["TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate", "TensorScatterMax", "TensorScatterMin"]:
        ys[name] = getattr(ops, name)(tensor=x, indices=pairs, updates=x[0, :2] * 2.0)
    for name in ["MatrixInverse", "MatrixDeterminant", "Cholesky", "MatrixSquareRoot"]:
        ys[name] = getattr(ops, name)(input=spd)
    for name in ["FFT", "IFFT"]:
        ys[name] = ops.Real(input=getattr(ops, name)(input=c))
    for name in ["ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"]:
        ys[name] = getattr(ops, name)(images=i, size=[4, 9])
    strided = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    pooled = {"ksize": [1, 2, 2, 1], **strided}
    ys |= {
        "AddN": ops.AddN(inputs=[x, x * 2.0]),
        "Angle": ops.Angle(input=c),
        "ArgMax": ops.ArgMax(input=x, dimension=1),
        "ArgMin": ops.ArgMin(input=x, dimension=0, output_type=tf.int32),
        "AvgPool": ops.AvgPool(value=i, **pooled),
        "AvgPool3D": ops.AvgPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding="VALID"),
        "BatchMatMulV2": ops.BatchMatMulV2(x=s, y=s, adj_y=True),
        "BatchToSpaceND": ops.BatchToSpaceND(input=tf.reshape(i, [2, 36]), block_shape=[2], crops=[[3, 1]]),
        "Betainc": ops.Betainc(a=tf.constant(1.5), b=tf.constant(2.0), x=x),
        "BiasAdd": ops.BiasAdd(value=i, bias=x[0, :2]),
        "Bincount": ops.Bincount(arr=ids, size=4, weights=x[:, 0]),
        "BroadcastTo": ops.BroadcastTo(input=x, shape=[2, 3, 4]),
        "Cast": ops.Cast(x=x * 3.0, DstT=tf.int32),
        "ClipByValue": ops.ClipByValue(t=x, clip_value_min=0.3, clip_value_max=0.6),
        "ComplexAbs": ops.ComplexAbs(x=c),
        "ConcatV2": ops.ConcatV2(values=[x, x * x], axis=1),
        "Conj": ops.Real(input=ops.Conj(input=c) * c),
        "Conv2D": ops.Conv2D(input=i, filter=filters, dilations=[1, 1, 1, 1], **strided),
        "CropAndResize": ops.CropAndResize(image=i, boxes=[[0.1, 0.2, 0.9, 0.7]], box_ind=[0], crop_size=[3, 4]),
        "Cross": ops.Cross(a=x[:, :3], b=x[:, 1:]),
        "DepthToSpace": ops.DepthToSpace(input=tf.reshape(i, [1, 3, 3, 8]), block_size=2),
        "DepthwiseConv2dNative": ops.DepthwiseConv2dNative(input=i, filter=filters, **strided),
        "Diag": ops.Diag(diagonal=x[0]),
        "DiagPart": ops.DiagPart(input=x[:, :3]),
        "Dilation2D": ops.Dilation2D(input=i, filter=filters[..., 0], rates=[1, 1, 1, 1], **strided),
        "DynamicStitch": ops.DynamicStitch(indices=[[0, 2, 3], [1]], data=[x, x[:1] * 3.0]),
        "Einsum": ops.Einsum(inputs=[s, x[:, :2]], equation="bij,jk->bik"),
        "EnsureShape": ops.EnsureShape(input=x, shape=[3, 4]),
        "ExpandDims": ops.ExpandDims(input=x, axis=1),
        "ExtractImagePatches": ops.ExtractImagePatches(images=i, ksizes=[1, 2, 2, 1], rates=[1, 1, 1, 1], **strided),
        "FakeQuantWithMinMaxVars": ops.FakeQuantWithMinMaxVars(inputs=x, min=0.1, max=0.7, num_bits=4),
        "FakeQuantWithMinMaxArgs": ops.FakeQuantWithMinMaxArgs(inputs=x, min=-0.5, max=0.5),
        "Fill": ops.Fill(dims=[2, 3], value=x[0, 0]),
        "Gather": ops.Gather(params=x, indices=ids),
        "GatherNd": ops.GatherNd(params=x, indices=pairs),
        "GatherV2": ops.GatherV2(params=x, indices=[[3, 0], [1, 1]], axis=1),
        "Imag": ops.Imag(input=c),
        "InTopKV2": ops.InTopKV2(predictions=x, targets=ids, k=2),
        "Invert": ops.Invert(x=whole),
        "InvertPermutation": ops.InvertPermutation(x=[2, 0, 1]),
        "IRFFT": ops.IRFFT(input=c, fft_length=[6]),
        "LinSpace": ops.LinSpace(start=x[0, 0], stop=2.0, num=5),
        "LogSoftmax": ops.LogSoftmax(logits=x),
        "LogicalAnd": ops.LogicalAnd(x=x > 0.3, y=x < 0.6),
        "LogicalNot": ops.LogicalNot(x=x > 0.3),
        "LogicalOr": ops.LogicalOr(x=x > 0.3, y=x < 0.2),
        "LRN": ops.LRN(input=i, depth_radius=1),
        "MatMul": ops.MatMul(a=x, b=x, transpose_b=True),
        "MatrixBandPart": ops.MatrixBandPart(input=s, num_lower=1, num_upper=0),
        "MatrixDiag": ops.MatrixDiag(diagonal=x),
        "MatrixDiagV3": ops.MatrixDiagV3(diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=0.5),
        "MatrixDiagPart": ops.MatrixDiagPart(input=s),
        "MatrixDiagPartV3": ops.MatrixDiagPartV3(input=s, k=[-1, 1], padding_value=0.0),
        "MatrixSetDiag": ops.MatrixSetDiag(input=s, diagonal=x[:2, :3]),
        "MatrixSetDiagV3": ops.MatrixSetDiagV3(input=s, diagonal=x[:2, :2], k=1),
        "MatrixSolve": ops.MatrixSolve(matrix=spd, rhs=s, adjoint=True),
        "MatrixTriangularSolve": ops.MatrixTriangularSolve(matrix=spd, rhs=s, lower=False),
        "MaxPool": ops.MaxPool(input=i, **pooled),
        "MaxPoolV2": ops.MaxPoolV2(input=i, **pooled),
        "MirrorPad": ops.MirrorPad(input=x, paddings=[[1, 2], [0, 1]], mode="REFLECT"),
        "NthElement": ops.NthElement(input=x, n=2),
        "OneHot": ops.OneHot(indices=ids, depth=4, on_value=x[0, 0], off_value=-1.0),
        "Pack": ops.Pack(values=[x, x * 2.0], axis=1),
        "Pad": ops.Pad(input=x, paddings=[[1, 0], [0, 2]]),
        "PadV2": ops.PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=3.0),
        "Polygamma": ops.Polygamma(a=tf.constant(2.0), x=x),
        "QuantizeAndDequantizeV2": ops.QuantizeAndDequantizeV2(
            input=x, input_min=-1.0, input_max=1.0, range_given=True
        ),
        "Range": ops.Range(start=1, limit=9, delta=3),
        "Real": ops.Real(input=c),
        "Reshape": ops.Reshape(tensor=x, shape=[-1, 6]),
        "ReverseSequence": ops.ReverseSequence(input=x, seq_lengths=[1, 3, 4], seq_dim=1),
        "ReverseV2": ops.ReverseV2(tensor=x, axis=[1]),
        "RFFT": ops.ComplexAbs(x=ops.RFFT(input=x, fft_length=[4])),
        "Roll": ops.Roll(input=x, shift=[1, 2], axis=[0, 1]),
        "ScatterNd": ops.ScatterNd(indices=pairs, updates=x[0, :2], shape=[3, 4]),
        "Select": ops.Select(condition=[True, False, True], x=x, y=x * x),
        "SelectV2": ops.SelectV2(condition=[[True], [False], [True]], t=x, e=x[:1]),
        "Slice": ops.Slice(input=x, begin=[1, 0], size=[2, -1]),
        "Softmax": ops.Softmax(logits=x),
        "SpaceToBatchND": ops.SpaceToBatchND(input=i, block_shape=[2, 3], paddings=[[0, 0], [0, 0]]),
        "SpaceToDepth": ops.SpaceToDepth(input=i, block_size=2),
        "SparseTensorDenseMatMul": ops.SparseTensorDenseMatMul(
            a_indices=tf.constant([[0, 1], [1, 2]], tf.int64), a_values=x[0, :2], a_shape=[2, 3], b=x
        ),
        "SparseToDense": ops.SparseToDense(
            sparse_indices=[[0, 1], [1, 2]], output_shape=[2, 3], sparse_values=x[0, :2], default_value=0.5
        ),
        "Squeeze": ops.Squeeze(input=x[None], axis=[0]),
        "StridedSlice": ops.StridedSlice(
            input=i, begin=[0, 5, 1, 1], end=[1, 0, 5, 2], strides=[1, -2, 2, 1], shrink_axis_mask=8, begin_mask=1
        ),
        "Tile": ops.Tile(input=x, multiples=[2, 1]),
        "Transpose": ops.Transpose(x=i, perm=[3, 0, 2, 1]),
        "TruncateDiv": ops.TruncateDiv(x=whole, y=tf.constant(2)),
        "UnravelIndex": ops.UnravelIndex(indices=[7, 3], dims=[3, 4]),
        "Zeta": ops.Zeta(x=tf.constant(2.5), q=x),
        "Where": ops.Where(condition=x > 0.5),
    }
    several = {
        "DynamicPartition": ops.DynamicPartition(data=x, partitions=ids, num_partitions=3),
        "LogMatrixDeterminant": ops.LogMatrixDeterminant(input=spd),
        "MaxPoolWithArgmax": ops.MaxPoolWithArgmax(input=i, **pooled),
        "SelfAdjointEigV2": ops.SelfAdjointEigV2(input=spd)[:1],
        "Split": ops.Split(axis=1, value=x, num_split=2),
        "SplitV": ops.SplitV(value=x, size_splits=[1, 3], axis=1, num_split=2),
        "Svd": ops.Svd(input=s, compute_uv=False)[:1],
        "TopKV2": ops.TopKV2(input=x, k=2),
        "Unique": ops.Unique(x=ids),
        "UniqueWithCounts": ops.UniqueWithCounts(x=ids),
        "Unpack": ops.Unpack(value=x, num=4, axis=1),
        "ListDiff": ops.ListDiff(x=[1, 2, 3, 4], y=[2, 4]),
        "SoftmaxCrossEntropyWithLogits": ops.SoftmaxCrossEntropyWithLogits(features=x, labels=tf.nn.softmax(x))[:1],
        "SparseSoftmaxCrossEntropyWithLogits": ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=ids)[:1],
        "BroadcastGradientArgs": ops.BroadcastGradientArgs(s0=[2, 1], s1=[1]),
        "ConcatOffset": ops.ConcatOffset(concat_dim=1, shape=[[2, 3], [2, 4]]),
    }
    names = [tf.identity(y, name=f"of/{name}").name for name, y in ys.items()]
    names += [
        tf.identity(y, name=f"of/{name}_{n}").name for name, all_ys in several.items() for n, y in enumerate(all_ys)
    ]
    feed = {"x:0": values(3, 4, low=0.05) * 0.9, "s:0": values(2, 3, 3), "i:0": values(1, 6, 6, 2)}
    feed["x:0"] = np.abs(feed["x:0"]) + 0.05
    return {"feed": feed, "ys": names, "xs": ["x:0", "s:0", "i:0"]}


def _inputs(name: str) -> list[str]:
    return list(inspect.signature(getattr(tf.raw_ops, name)).parameters)
