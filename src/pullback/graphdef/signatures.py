"""Op signatures of TensorFlow: which attribute has the dtype of which input, and how the outputs are called.

One of each input: the attribute that has its dtype, "-" where that is fixed, "N*T" for N inputs, "T[]" for a list of
dtypes. Then the outputs, with their names, in the same way, but that a fixed dtype is said. TensorFlow tests that they
never change.
"""

from __future__ import annotations

_SIGNATURES = {
    "- ->": "PrintV2",
    "T -> y:T": (
        "Abs Acos Acosh Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 "
        "BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Ceil Cos Cosh Dawsn Digamma Erf Erfc Erfinv Exp Expint "
        "Expm1 Floor FresnelCos FresnelSin Invert InvertPermutation Lgamma Log Log1p Ndtri Neg OnesLike "
        "Reciprocal Rint Round Rsqrt Sigmoid Sign Sin Sinh Spence Sqrt Square Tan Tanh ZerosLike"
    ),
    "T T -> z:T": (
        "Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan FloorDiv FloorMod Igamma IgammaGradA "
        "Igammac LeftShift Maximum Minimum Mul MulNoNan Polygamma Pow RealDiv ReciprocalGrad RightShift RsqrtGrad "
        "SigmoidGrad SqrtGrad SquaredDifference Sub TanhGrad TruncateDiv TruncateMod Xdivy Xlog1py Xlogy Zeta"
    ),
    "T -> output:T": (
        "AvgPool AvgPool3D CheckNumerics Cholesky Conj DepthToSpace EnsureShape Identity L2Loss MatrixDeterminant "
        "MatrixInverse MatrixLogarithm MatrixSquareRoot MaxPool MaxPool3D PreventGradient RandomShuffle "
        "SpaceToDepth Squeeze StopGradient"
    ),
    "T T -> output:T": (
        "BatchMatMulV2 BiasAdd Conv2D Conv3D DepthwiseConv2dNative Dilation2D MatrixSolve MatrixTriangularSolve "
        "NextAfter TridiagonalSolve"
    ),
    "T Tidx -> output:T": "BroadcastTo EuclideanNorm Max Mean Min Prod ReverseV2 Sum",
    "- Tindices dtype ->": (
        "ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul "
        "ResourceScatterSub ResourceScatterUpdate"
    ),
    "T -> activations:T": "Elu LeakyRelu Relu Relu6 Selu Softplus Softsign",
    "T T -> backprops:T": "EluGrad LeakyReluGrad Relu6Grad ReluGrad SeluGrad SoftplusGrad SoftsignGrad",
    "T - -> resized_images:float32": "ResizeBicubic ResizeBilinear",
    "T - -> resized_images:T": "ResizeNearestNeighbor",
    "- T -> output:T": "AvgPool3DGrad AvgPoolGrad ResizeBicubicGrad ResizeBilinearGrad",
    "T T -> z:bool": "Equal Greater GreaterEqual Less LessEqual NotEqual",
    "T Tindices T -> output:T": (
        "TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate"
    ),
    "- T T -> output:T": "Conv2DBackpropInput DepthwiseConv2dNativeBackpropInput Select SelectV2",
    "T T T -> output:T": (
        "ClipByValue MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad QuantizeAndDequantizeV4"
    ),
    "T Tindices Tnumsegments -> output:T": (
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum"
    ),
    "- Tindices T ->": "ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate",
    "- dtype ->": "AssignAddVariableOp AssignSubVariableOp AssignVariableOp",
    "T - T -> output:T": "Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter",
    "T -> output:Tout": "Angle Imag Real",
    "T -> output:dtype": "RandomStandardNormal RandomUniform TruncatedNormal",
    "T -> y:bool": "IsFinite IsInf IsNan",
    "T Tidx -> out:T": "Cumprod Cumsum CumulativeLogsumexp",
    "T Tpaddings -> output:T": "MirrorPad MirrorPadGrad Pad",
    "T Tseed -> output:dtype": "StatelessRandomNormal StatelessRandomUniform StatelessTruncatedNormal",
    "T[] -> output:T[]": "IdentityN StatelessWhile While",
    "- - -> z:bool": "LogicalAnd LogicalOr",
    "- -> output:out_type": "StringToNumber VariableShape",
    "- Tidx -> output:bool": "All Any",
    "-> output:dtype": "Const Placeholder",
    "N*T -> output:T": "Einsum Pack",
    "T -> output:string": "AsString",
    "T -> output:int32": "Rank",
    "T -> output:out_type": "Shape Size",
    "T -> patches:T": "ExtractImagePatches ExtractVolumePatches",
    "T T -> product:T": "Cross MatMul",
    "T Tidx -> output:output_type": "ArgMax ArgMin",
    "Tcond Tin[] -> output:Tout[]": "If StatelessIf",
    "Tin[] -> output:Tout[]": "PartitionedCall StatefulPartitionedCall",
    "- - - - - -> selected_indices:int32": "NonMaxSuppressionWithOverlaps",
    "- - - -> outputs:float32": "FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel",
    "- -> is_initialized:bool": "VarIsInitializedOp",
    "- -> output:bool": "StaticRegexFullMatch",
    "- -> output:string": "StaticRegexReplace StringLower StringStrip StringUpper",
    "- - -> output:string": "ReduceJoin",
    "- - -> indices:int64 values:string shape:int64": "StringSplit StringSplitV2",
    "- -> output:int32": "StringLength",
    "- -> output:int64": "StringToHashBucket StringToHashBucketFast StringToHashBucketStrong",
    "- T T -> output:string": "Substr",
    "- -> value:dtype": "ReadVariableOp",
    "- -> y:bool": "LogicalNot",
    "- T -> output:num_split*T": "Split",
    "- T[] ->": "Assert",
    "- Tin[] -> output:Tout[]": "Case StatelessCase",
    "- Tindices -> output:dtype": "ResourceGather",
    "- element_dtype -> output_handle:variant": "TensorListPushBack",
    "- - element_dtype -> output_handle:variant": "TensorListSetItem",
    "- - -> tensor:element_dtype": "TensorListStack",
    "->": "NoOp",
    "-> resource:resource": "VarHandleOp",
    "Index Index Index Index T -> output:T": "StridedSliceGrad",
    "N*- -> output:string": "StringJoin",
    "N*T -> output:N*out_type": "ShapeN",
    "N*T -> sum:T": "AddN",
    "N*T Tidx -> output:T": "ConcatV2",
    "S R -> output:dtype": "RandomPoissonV2",
    "S T -> output:T": "RandomGamma",
    "SrcT -> y:DstT": "Cast",
    "T - - - T -> output:T": "MatrixDiagV3",
    "T - -> output:T": "ResizeNearestNeighborGrad TileGrad",
    "T - -> output:output_dtype": "Multinomial",
    "T - -> values:T": "NthElement",
    "T - T -> diagonal:T": "MatrixDiagPartV3",
    "T - Tseed -> output:output_dtype": "StatelessMultinomial",
    "T -> e:T v:T": "SelfAdjointEigV2",
    "T -> e:Tout v:Tout": "Eig",
    "T -> index:int64": "Where",
    "T -> logsoftmax:T": "LogSoftmax",
    "T -> lu:T p:output_idx_type": "Lu",
    "T -> output:T argmax:Targmax": "MaxPoolWithArgmax",
    "T -> output:T row_pooling_sequence:int64 col_pooling_sequence:int64": "FractionalMaxPool",
    "T -> output:num*T": "Unpack",
    "T -> output:type": "Bitcast",
    "T -> q:T r:T": "Qr",
    "T -> s:T u:T v:T": "Svd",
    "T T -> r0:T r1:T": "BroadcastGradientArgs",
    "T -> y:T idx:out_idx": "Unique",
    "T -> y:T idx:out_idx count:out_idx": "UniqueWithCounts",
    "T U[] -> output:T": "Print",
    "T -> sign:T log_abs_determinant:T": "LogMatrixDeterminant",
    "T -> softmax:T": "Softmax",
    "T -> y:Tout": "ComplexAbs",
    "T Index Index -> output:T": "Slice",
    "T Index Index Index -> output:T": "StridedSlice",
    "T T - -> output:T": "MatrixSetDiagV3",
    "T T - T T T -> selected_indices:int32 selected_scores:T valid_outputs:int32": "NonMaxSuppressionV5",
    "T T -> loss:T backprop:T": "SoftmaxCrossEntropyWithLogits",
    "T T -> out:Tout": "Complex",
    "T T T -> filter_backprop:T": "Dilation2DBackpropFilter",
    "T T T -> in_backprop:T": "Dilation2DBackpropInput",
    "T T T T -> output:T": "TridiagonalMatMul",
    "T Tblock_shape Tcrops -> output:T": "BatchToSpaceND",
    "T Tblock_shape Tpaddings -> output:T": "SpaceToBatchND",
    "T Tdim -> output:T": "ExpandDims",
    "T Tindex Tindex -> band:T": "MatrixBandPart",
    "T Tk -> values:T indices:index_type": "TopKV2",
    "T Tlabels -> loss:T backprop:T": "SparseSoftmaxCrossEntropyWithLogits",
    "T Tlen - -> output:num_split*T": "SplitV",
    "T Tlen -> output:T": "ReverseSequence",
    "T Tmultiples -> output:T": "Tile",
    "T Tout Tout -> output:Tout": "RandomUniformInt",
    "T Tpaddings T -> output:T": "PadV2",
    "T Tperm -> y:T": "Transpose",
    "T Tseed Rtype -> output:dtype": "StatelessRandomPoisson",
    "T Tseed dtype -> output:dtype": "StatelessRandomGammaV2",
    "T Tseed dtype dtype -> output:dtype": "StatelessRandomUniformInt",
    "T Tshape -> output:T": "Reshape",
    "T Tshift Taxis -> output:T": "Roll",
    "TI - T T -> output:T": "OneHot",
    "T[] -> output:string": "StringFormat",
    "Tcomplex -> output:Tcomplex": "FFT FFT2D FFT3D IFFT IFFT2D IFFT3D",
    "Tcomplex - - -> output:Tcomplex": "FFTND",
    "Tcomplex - - -> output:Treal": "IRFFTND",
    "Tidx Tidx Tidx -> output:Tidx": "Range",
    "Tindices T Tindices -> output:T": "ScatterNd",
    "Tparams Tindices -> output:Tparams": "GatherNd",
    "Tparams Tindices Taxis -> output:Tparams": "GatherV2",
    "Treal - - -> output:Tcomplex": "RFFTND",
    "Tshape T T -> output:T": "Conv3DBackpropInputV2",
    "dtype -> output:dtype": "PlaceholderWithDefault",
    "index_type T -> output:T": "Fill",
    "shape_dtype - - - dtype -> output:dtype": "StatelessRandomGammaV3",
    "shape_type - -> handle:variant": "EmptyTensorList TensorListReserve",
}


def _split(signature: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    inputs, outputs = signature.split("->")
    named = [output.partition(":") for output in outputs.split()]
    return tuple(inputs.split()), tuple([(name, kind) for name, _, kind in named])


SIGNATURES = {name: _split(signature) for signature, names in _SIGNATURES.items() for name in names.split()}
"""For each op type the kinds of its inputs, and the names and kinds of its outputs."""
