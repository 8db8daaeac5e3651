"""ONNX nodes that name an axis which their operand has not: no other axis is taken in its place."""

from __future__ import annotations

import onnx
import pytest

import pullback as pb

NODES = {
    "ArgMax": "y = ArgMax <axis = {0}> (x)",
    "ArgMin": "y = ArgMin <axis = {0}, keepdims = 0> (x)",
    "CenterCropPad": "l = Constant <value_ints = [3]> () y = CenterCropPad <axes = [{0}]> (x, l)",
    "Concat": "y = Concat <axis = {0}> (x, x)",
    "CumSum": "a = Constant <value_int = {0}> () y = CumSum (x, a)",
    "DequantizeLinear": "y = DequantizeLinear <axis = {0}> (i, v)",
    "Flatten": "y = Flatten <axis = {0}> (x)",
    "Gather": "y = Gather <axis = {0}> (x, n)",
    "GatherElements": "y = GatherElements <axis = {0}> (x, m)",
    "Hardmax": "y = Hardmax <axis = {0}> (x)",
    "LayerNormalization": "y = LayerNormalization <axis = {0}> (x, v)",
    "LogSoftmax": "y = LogSoftmax <axis = {0}> (x)",
    "LpNormalization": "y = LpNormalization <axis = {0}> (x)",
    "MeanVarianceNormalization": "y = MeanVarianceNormalization <axes = [{0}]> (x)",
    "OneHot": "d = Constant <value_ints = [3]> () y = OneHot <axis = {0}> (n, d, w)",
    "Pad": "p = Constant <value_ints = [1, 1]> () a = Constant <value_ints = [{0}]> () y = Pad (x, p, , a)",
    "RMSNormalization": "y = RMSNormalization <axis = {0}> (x, v)",
    "ReduceMax": "a = Constant <value_ints = [{0}]> () y = ReduceMax (x, a)",
    "ReduceSum": "a = Constant <value_ints = [{0}]> () y = ReduceSum (x, a)",
    "Resize": "l = Constant <value_ints = [8]> () y = Resize <axes = [{0}]> (x, , , l)",
    "ScatterElements": "y = ScatterElements <axis = {0}> (x, m, x)",
    "Slice": "f = Constant <value_ints = [1]> () a = Constant <value_ints = [{0}]> () y = Slice (x, f, f, a)",
    "Softmax": "y = Softmax <axis = {0}> (x)",
    "Split": "y, z = Split <axis = {0}, num_outputs = 2> (x)",
    "SplitToSequence": "l = SplitToSequence <axis = {0}> (x) y = ConcatFromSequence <axis = 0> (l)",
    "ConcatFromSequence": "l = SequenceConstruct (x, x) y = ConcatFromSequence <axis = {0}> (l)",
    "Squeeze": "a = Constant <value_ints = [{0}]> () y = Squeeze (x, a)",
    "TensorScatter": "y = TensorScatter <axis = {0}> (t, t)",
    "TopK": "k = Constant <value_ints = [1]> () y, z = TopK <axis = {0}> (x, k)",
    "Unique": "y = Unique <axis = {0}> (x)",
    "Unsqueeze": "a = Constant <value_ints = [{0}]> () y = Unsqueeze (x, a)",
}
INPUTS = "float[4, 4] x, float[4] v, float[2] w, float[2, 3, 4, 4] t, int8[4, 4] i, int64[3] n, int64[4, 4] m"


@pytest.mark.parametrize("axis", [7, -8])
@pytest.mark.parametrize("op", NODES)
def test_an_axis_that_there_is_not_is_refused(op: str, axis: int) -> None:
    text = f"<ir_version: 10, opset_import: ['' : 24]> f ({INPUTS}) => (float[a] y) {{ {NODES[op].format(axis)} }}"
    model = onnx.parser.parse_model(text.replace("'", '"'))
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"axis|axes"):
        pb.onnx.load(model)
