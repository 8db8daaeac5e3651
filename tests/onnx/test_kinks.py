"""Kinks in files: what is read again has the derivatives that were there, at 0 and at bounds too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from tests.primitives.test_hard_points import KINKS, POINTS

ROWS: dict[str, Callable[[Any], Any]] = {
    **{name: f for name, (f, _) in KINKS.items()},
    "softplus": pb.nn.softplus,
    "softsign": pb.nn.softsign,
    "norm_of_order_three": lambda x: pb.norm(pb.expand_dims(x, 1), 3, axis=1),
    "norm_of_order_one_and_a_half": lambda x: pb.norm(pb.stack([x, x]), 1.5, axis=0),
    "euclidean_norm": lambda x: pb.norm(pb.expand_dims(x, 1), axis=1),
    "largest": lambda x: pb.reduce_max(pb.stack([x, 0.0 * x, -x]), 0),
    "product": lambda x: pb.reduce_prod(pb.stack([x, x, x + 2.0]), 0),
}


def in_onnx(y: pb.Tensor, x: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
    graph = pb.onnx.load(pb.onnx.export([y], [x]))
    return graph.outputs[0], graph.inputs[0]


def in_a_graph_def(y: pb.Tensor, x: pb.Tensor) -> tuple[pb.Tensor, pb.Tensor]:
    data = pb.graphdef.export(y.graph, [y]).SerializeToString()
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
    return graph.get_tensor_by_name(y.name), graph.get_tensor_by_name(x.name)


def slope(y: pb.Tensor, x: pb.Tensor) -> Any:
    with y.graph.as_default():
        return pb.Session(engine="numpy").run(pb.gradients(y, x, unconnected_gradients="zero")[0], {x: POINTS})


@pytest.mark.parametrize("again", [in_onnx, in_a_graph_def])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ROWS)
def test_the_derivative_at_a_kink_is_the_same_when_it_is_read_again(name: str, dtype: str, again: Any) -> None:
    x = pb.placeholder(dtype, [len(POINTS)])
    y = pb.identity(ROWS[name](x))
    np.testing.assert_allclose(slope(*again(y, x)), slope(y, x), rtol=1e-6)
