"""Every layer of `test_nets.py` and its gradients as an exported model: onnxruntime gives what NumPy gives.

With all lengths known, and with none. What cannot be is data, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import pullback as pb
import pullback.onnx

from .gradient_suite import run
from .test_nets import LAYERS, Layer, feeds_of, model_of, numbers_of, rand

NOT_EXPORTED_UNKNOWN: dict[str, str] = {
    "resize_cubic_antialias": "onnxruntime does not load the node where the length of `sizes` is not declared",
}
"""The layers that cannot be exported where lengths are unknown."""


def _layers(without: Mapping[str, str]) -> list[Any]:
    return [pytest.param(layer, id=name) for name, layer in LAYERS.items() if name not in without]


def _compare(layer: Layer, erased: bool) -> None:
    graph = pullback.onnx.load(model_of(layer, TensorProto.FLOAT, erased))
    feeds = dict(zip(graph.inputs, feeds_of(layer, np.float32), strict=True))
    session = pb.Session(graph=graph, engine="numpy")
    with graph.as_default(), pb.densify_policy("allow"):
        ys = [y for y in graph.outputs if y.dtype == pb.float32]
        weights = [rand(*np.shape(y), seed=7).astype(np.float32) for y in session.run(ys, feeds)]
        numbers = zip(graph.inputs, numbers_of(layer), strict=True)
        xs = [x for x, i in numbers if x.dtype == pb.float32 and i not in layer.fixed]
        dxs = [pb.convert_to_tensor(dx) for dx in pb.gradients(ys, xs, weights) if dx is not None]
    expected = session.run([*ys, *dxs], feeds)
    outputs = {f"out_{i}": y for i, y in enumerate([*ys, *dxs])}
    model = pb.onnx.export(outputs, {f"in_{i}": x for i, x in enumerate(feeds)})
    found = run(model, {f"in_{i}": a for i, a in enumerate(feeds.values())})
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5 * max(1.0, float(np.abs(b).max(initial=0.0))))


@pytest.mark.parametrize("layer", _layers(without={}))
def test_gradients_are_those_of_numpy(layer: Layer) -> None:
    _compare(layer, erased=False)


@pytest.mark.parametrize("layer", _layers(without=NOT_EXPORTED_UNKNOWN))
def test_gradients_are_those_of_numpy_where_lengths_are_unknown(layer: Layer) -> None:
    _compare(layer, erased=True)
