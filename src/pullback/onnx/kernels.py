"""onnxruntime kernel coverage: what it has no kernel for, and in which dtype it computes that instead.

The data are the kernels of the CPU provider of onnxruntime 1.31 for the opsets 18 to 26, as its registry lists them:
operator, first and last version, and the dtypes of each type variable, a letter each; `*` for all. GRU and LSTM, which
are there for float64 too, say in a run that they are not, and have only float32 here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from onnx import defs

from ..core import dtypes
from ..core.dtypes import DType

_LETTERS: dict[str, DType] = {
    "h": dtypes.float16,
    "g": dtypes.bfloat16,
    "f": dtypes.float32,
    "d": dtypes.float64,
    "b": dtypes.int8,
    "B": dtypes.uint8,
    "s": dtypes.int16,
    "S": dtypes.uint16,
    "i": dtypes.int32,
    "I": dtypes.uint32,
    "l": dtypes.int64,
    "L": dtypes.uint64,
    "?": dtypes.bool,
}
_INSTEAD = {
    "h": "fd",
    "g": "fd",
    "d": "f",
    "f": "d",
    "b": "ilfd",
    "B": "ilfd",
    "s": "ilfd",
    "S": "ilfd",
    "i": "ldf",
    "I": "ld",
    "l": "",
    "L": "l",
    "?": "ilBf",
}
"""In which dtypes something is computed instead, the best first: float64 does not hold all numbers of 64 bits."""
_BY_DTYPE = {dtype: letter for letter, dtype in _LETTERS.items()}
_CAST_BY_ITSELF = _LETTERS["h"]
"""onnxruntime itself computes in float32 where it has no kernel for float16."""
_NOT_BY_ITSELF = frozenset(["Range", "ScatterElements", "ScatterND", "CumSum", "TopK"])
_COMBINING = {"ScatterElements": "fdil", "ScatterND": "fdil"}
"""The dtypes in which these can add up, multiply, and so on."""


class Signature(NamedTuple):
    """The type variables of an operator's inputs and outputs; the last one of each is that of all further ones."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    allowed: Mapping[str, frozenset[str]]
    """For each type variable the letters of the dtypes that have a kernel; all where there is none to be found."""


@cache
def signature(op_type: str, opset: int) -> Signature:
    """What the standard and onnxruntime say of an operator of the default domain."""
    schema = defs.get_schema(op_type, opset, "")
    allowed: dict[str, frozenset[str]] = {}
    for first, last, variables in _kernels().get(op_type, ()):
        if first <= schema.since_version <= last:
            allowed = {name: frozenset(letters) for name, letters in variables.items()}
    for constraint in schema.type_constraints:
        known = allowed.get(constraint.type_param_str)
        legal = frozenset(_letter(t) for t in constraint.allowed_type_strs)
        allowed[constraint.type_param_str] = legal if known is None else (known & legal or legal)
    inputs = tuple([x.type_str for x in schema.inputs])
    return Signature(inputs, tuple([y.type_str for y in schema.outputs]), allowed)


@cache
def _kernels() -> dict[str, list[tuple[int, int, dict[str, str]]]]:
    found: dict[str, list[tuple[int, int, dict[str, str]]]] = {}
    for line in _DATA.strip().splitlines():
        op_type, versions, *variables = line.split()
        first, _, last = versions.partition("-")
        pairs = [v.split("=") for v in variables]
        letters = {name: "".join(_LETTERS) if dtypes == "*" else dtypes for name, dtypes in pairs}
        found.setdefault(op_type, []).append((int(first), int(last or 1 << 30), letters))
    return found


def _letter(type_string: str) -> str:
    """The letter of `tensor(float)` and its kin; empty for what is none of ours."""
    name = type_string.removeprefix("tensor(").removesuffix(")")
    name = {"float": "float32", "double": "float64"}.get(name, name)
    return next((letter for letter, dtype in _LETTERS.items() if dtype.name == name), "")


def letter_of(dtype: DType) -> str | None:
    """The letter of a dtype."""
    return _BY_DTYPE.get(dtype)


def legal_dtypes(
    op_type: str, opset: int, inputs: Sequence[DType | None], outputs: Sequence[DType], attributes: Mapping[str, Any]
) -> tuple[tuple[DType | None, ...], tuple[DType, ...]]:
    """The dtypes to compute a node in whose inputs and outputs have the dtypes given; these where there is a kernel."""
    combines = bool(attributes) and attributes.get("reduction", "none") != "none"
    return _legal_dtypes(op_type, opset, tuple(inputs), tuple(outputs), combines)


@cache
def _legal_dtypes(
    op_type: str, opset: int, inputs: tuple[DType | None, ...], outputs: tuple[DType, ...], combines: bool
) -> tuple[tuple[DType | None, ...], tuple[DType, ...]]:
    found = signature(op_type, opset)
    combining = _COMBINING.get(op_type) if combines else None
    changed: dict[str, DType] = {}
    for i, dtype in enumerate(inputs):
        name = found.inputs[min(i, len(found.inputs) - 1)]
        if dtype is None or name in changed:
            continue
        if name == "tensor(int64)" and dtype != dtypes.int64:
            changed[name] = dtypes.int64
        allowed = found.allowed.get(name) if combining is None or name != "T" else frozenset(combining)
        letter = _BY_DTYPE.get(dtype)
        if allowed is None or letter is None or letter in allowed:
            continue
        if dtype == _CAST_BY_ITSELF and op_type not in _NOT_BY_ITSELF and combining is None:
            continue
        changed[name] = next((_LETTERS[other] for other in _INSTEAD[letter] if other in allowed), dtype)
    if not changed:
        return inputs, outputs
    names = [found.inputs[min(i, len(found.inputs) - 1)] for i in range(len(inputs))]
    made = [found.outputs[min(i, len(found.outputs) - 1)] for i in range(len(outputs))]
    return (
        tuple([None if d is None else changed.get(name, d) for d, name in zip(inputs, names, strict=True)]),
        tuple([changed.get(name, d) for d, name in zip(outputs, made, strict=True)]),
    )


_DATA = """
Abs 13- T=fdbBsSiIlL
Acos 7- T=f
Acosh 9- T=f
Add 14- T=fdbBsSiIlL
Affine 1- T=f
AffineGrid 20- T1=fd T2=l
And 7- T=? T1=?
ArgMax 13- T=fdbBil
ArgMin 13- T=fdbBil
Asin 7- T=f
Asinh 9- T=f
Atan 7- T=f
Atanh 9- T=f
Attention 23- T1=hf T2=hf U=hf?
AveragePool 11- T=f
BatchNormalization 15- T=fd T1=fd T2=fd
BitCast 26- T1=hgfdbBsSiIlL T2=hgfdbBsSiIlL
BitShift 11- T=BIL
BitwiseAnd 18- T=bBsSiIlL
BitwiseNot 18- T=bBsSiIlL
BitwiseOr 18- T=bBsSiIlL
BitwiseXor 18- T=bBsSiIlL
BlackmanWindow 17- T1=il T2=fdbBsSiIlL
Cast 13- T1=* T2=*
Ceil 13- T=fd
Celu 12- T=f
Clip 13- T=hfdbBiIlL
Col2Im 18- T=f
Compress 11- T=* T1=?
Concat 13- T=*
ConstantOfShape 9- T1=l T2=*
Conv 11- T=f
ConvInteger 10- T1=bB T2=bB T3=i
ConvTranspose 11- T=f
Cos 7- T=fd
Cosh 9- T=f
Crop 1- T=f
CumProd 26- T=fdiIlL T2=il
CumSum 14- T=fdil T2=il
DFT 17- T1=fd T2=il
DeformConv 19- T=fd
DepthToSpace 13- T=fdbB
DequantizeLinear 13-18 T=bBi
DequantizeLinear 19-20 T1=bBi T2=hf
DequantizeLinear 21-22 T1=bBsSi T2=hf
DequantizeLinear 23- T1=bBsSi T2=hf T3=hf
Det 11- T=f
Div 14- T=fdbBsSiIlL
Dropout 13- T=fd T1=fd T2=?
DynamicQuantizeLinear 11- T2=B
DynamicSlice 1- T=* Tind=il
Einsum 12- T=fdil
Elu 6- T=f
Equal 13- T=fdbBsSiIlL? T1=?
Erf 13- T=f
Exp 13- T=fd
Expand 13- T=hfdbBsSiIlL?
EyeLike 9- T1=fdilL T2=fdilL
Flatten 13- T=*
Floor 13- T=fd
GRU 14- T=f T1=i
Gather 13- T=* Tind=il
GatherElements 13- T=* Tind=il
GatherND 13- T=* indices=l
Gelu 20- T=f
Gemm 13- T=fd
GlobalAveragePool 1- T=f
GlobalLpPool 2- T=f
GlobalMaxPool 1- T=f
Greater 13- T=fdbBsSiIlL T1=?
GreaterOrEqual 16- T=fdbBsSiIlL T1=?
GridSample 16-19 T1=f T2=f
GridSample 20- T1=fd T2=fd
HammingWindow 17- T1=il T2=fdbBsSiIlL
HannWindow 17- T1=il T2=fdbBsSiIlL
HardSigmoid 6- T=f
Hardmax 13- T=f
Identity 16- V=*
If 16- B=? V=*
ImageScaler 1- T=f
InstanceNormalization 6- T=f
IsInf 10-19 T1=fd T2=?
IsInf 20- T1=hgfd T2=?
IsNaN 13-19 T1=hfd T2=?
IsNaN 20- T1=hgfd T2=?
LRN 13- T=f
LSTM 14- T=f T1=i
LayerNormalization 17- T=hgfd U=f
LeakyRelu 16- T=f
Less 13- T=fdbBsSiIlL T1=?
LessOrEqual 16- T=fdbBsSiIlL T1=?
Log 13- T=fd
LogSoftmax 13- T=fd
Loop 16- B=? I=l V=*
LpNormalization 1- T=fd
LpPool 18- T=f
MatMul 13- T=fdiIlL
MatMulInteger 10- T1=bB T2=bB T3=i
Max 13- T=hfdbBiIlL
MaxPool 12- I=l T=fdbB
MaxRoiPool 1- T=f
MaxUnpool 11- T1=f T2=l
Mean 13- T=f
MeanVarianceNormalization 13- T=f
MelWeightMatrix 17- T1=il T2=f T3=fdbBsSiIlL
MemcpyFromHost 1- T=*
MemcpyToHost 1- T=*
Min 13- T=hfdbBiIlL
Mod 13- T=hfdbBsSiIlL
Mul 14- T=fdbBsSiIlL
Multinomial 7- T1=f T2=il
Neg 13- T=fdbsil
NonZero 13- T=fBil?
Not 1- T=?
OneHot 11- T1=fil T2=fil T3=fil
Optional 15- V=*
OptionalGetElement 18- O=* V=*
OptionalHasElement 18- B=? O=*
Or 7- T=? T1=?
PRelu 16- T=f
Pad 18- T=fdbBiIlL?
ParametricSoftplus 1- T=f
Pow 15- T=fdil T1=fdil
QLinearConv 10- T1=bB T2=bB T3=bB T4=i
QLinearMatMul 10-20 T1=bB T2=bB T3=bB
QLinearMatMul 21- T1=bB T2=bB T3=bB TS=f
QuantizeLinear 13-18 T1=f T2=bB
QuantizeLinear 19-20 T1=hf T2=bB
QuantizeLinear 21-22 T1=hf T2=bBsS
QuantizeLinear 23- T1=hf T2=hf T3=bBsS
RMSNormalization 23- T=hfd V=hfd
RNN 14- T=f T1=i
RandomNormal 1- T=fd
RandomNormalLike 1- T1=* T2=fd
RandomUniform 1- T=fd
RandomUniformLike 1- T1=* T2=fd
Range 11-26 T=fdsil
Reciprocal 13- T=fd
ReduceL1 18- T=fdil
ReduceL2 18- T=fdil
ReduceLogSum 18- T=fdil
ReduceLogSumExp 18- T=fdil
ReduceMax 18-19 T=fdbBil
ReduceMax 20- T=fdbBil?
ReduceMean 18- T=fdil
ReduceMin 18-19 T=fdbBil
ReduceMin 20- T=fdbBil?
ReduceProd 18- T=fdil
ReduceSum 13- T=fdil
ReduceSumSquare 18- T=fdil
RegexFullMatch 20- T2=?
Relu 14- T=fdbi
Reshape 14- T=* shape=l
Resize 18- T1=fbBi
ReverseSequence 10- T=*
RoiAlign 16- T1=fd T2=l
RotaryEmbedding 23- M=l T=hf
Round 11- T=hfd
STFT 17- T1=fd T2=il
Scale 1- T=f
ScaledTanh 1- T=f
Scan 16- V=*
ScatterElements 18- T=* Tind=il
ScatterND 18- T=*
Selu 6- T=f
SequenceAt 11- I=il T=*
SequenceConstruct 11- T=*
SequenceErase 11- I=il
SequenceInsert 11- I=il
SequenceLength 11- I=l
Shape 15- T=* T1=l
Shrink 9- T=hgfdbBsSiIlL
Sigmoid 13- T=fd
Sign 13- T=hgfdbBsSiIlL
SimplifiedLayerNormalization 1- T=hgfd U=f V=hgfd
Sin 7- T=fd
Sinh 9- T=f
Size 13- T=fdbBsSiIlL? T1=l
Slice 13- T=* Tind=il
Softmax 13- T=fd
Softplus 1- T=f
Softsign 1- T=f
SpaceToDepth 13- T=fdbB
Split 18- T=*
SplitToSequence 11- I=il T=hfdil?
Sqrt 13- T=fd
Squeeze 13- T=*
StringSplit 20- T3=l
Sub 14- T=fdbBsSiIlL
Sum 13- T=fd
Tan 7- T=f
Tanh 13- T=fd
TensorScatter 24- T=*
TfIdfVectorizer 9- T=il T1=f
ThresholdedRelu 10- T=f
Tile 13- T=fdbBsSiIlL? T1=l
TopK 11- I=l T=fdbBsil
Transpose 13- T=*
Trilu 14- T=fdil?
Unique 11- T=fdbl
Unsqueeze 13- T=*
Where 16- T=fdbBiIl
Xor 7- T=? T1=?
"""
