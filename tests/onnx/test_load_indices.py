"""Indices of elements in ONNX files: what does not fit what it indexes is refused where it is read."""

from __future__ import annotations

import onnx
import pytest

import pullback as pb

OF_ELEMENTS = {
    "y = GatherElements <axis = 1> (x, i)": "(float[4, 5] x, int64[2] i, float[1, 2] u)",
    "y = GatherElements (x, i)": "(float[4] x, int64[2, 1] i, float[1, 2] u)",
    "y = ScatterElements <axis = 1> (x, i, u)": "(float[4, 5] x, int64[2] i, float[1, 2] u)",
    "y = ScatterElements (x, i, u)": "(float[4, 5] x, int64[1, 2] i, float[2, 2] u)",
}


@pytest.mark.parametrize("node", OF_ELEMENTS)
def test_indices_of_elements_have_the_axes_of_what_they_index(node: str) -> None:
    model = f'<ir_version: 10, opset_import: ["" : 18]> g {OF_ELEMENTS[node]} => (float[N, M] y) {{ {node} }}'
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"have . axes, and|have not the shape of"):
        pb.onnx.load(onnx.parser.parse_model(model))
