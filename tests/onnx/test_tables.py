"""Operators of ai.onnx.ml for tables: values are those of onnxruntime; derivatives of trees are zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import pullback as pb

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.normal(size=(7, 3)).astype(np.float32)
WITH_GAPS = np.where(RANDOM.random((7, 3)) < 0.3, np.nan, ROWS).astype(np.float32)
TWO_TREES = {
    "nodes_treeids": [0] * 5 + [4] * 3,
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0],
    "nodes_values": [0.1, -0.2, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0],
    "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 1, 0, 0],
}
LEAVES = {"treeids": [0, 0, 0, 4, 4], "nodeids": [2, 3, 4, 1, 2], "weights": [0.5, -1.0, 2.0, 0.25, -0.75]}


def weighted(what: str, ids: list[int], weights: Any = None) -> dict[str, Any]:
    found = {f"{what}_{key}": value for key, value in LEAVES.items()} | {f"{what}_ids": ids}
    return found if weights is None else {**found, f"{what}_weights": weights}


def of_classes(count: int) -> dict[str, Any]:
    """A weight of each leaf for each class, as forests have them."""
    found = {f"class_{key}": [x for x in LEAVES[key] for _ in range(count)] for key in ("treeids", "nodeids")}
    weights = [x for row in CHANCES for x in row[:count]]
    return {**found, "class_ids": [*range(count)] * 5, "class_weights": weights}


NEW = {
    "nodes_featureids": [0, 2, 1],
    "nodes_splits": numpy_helper.from_array(np.array([0.1, -0.3, 0.2], np.float32)),
    "nodes_modes": numpy_helper.from_array(np.array([0, 3, 1], np.uint8)),
    "nodes_truenodeids": [1, 0, 2],
    "nodes_falsenodeids": [1, 3, 4],
    "nodes_trueleafs": [0, 1, 1],
    "nodes_falseleafs": [1, 1, 1],
    "leaf_targetids": [0, 1, 0, 1, 1],
    "leaf_weights": numpy_helper.from_array(np.array([1.0, 2.0, -0.5, 0.25, 4.0], np.float32)),
    "tree_roots": [0, 2],
    "n_targets": 2,
}
LABELS = {"classlabels_int64s": [5, 9], "post_transform": "NONE"}
CHANCES = [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.0, 0.9, 0.1], [0.4, 0.1, 0.5], [0.2, 0.6, 0.2]]
TREES: dict[str, tuple[str, dict[str, Any]]] = {
    "regressor": (
        "TreeEnsembleRegressor",
        {**TWO_TREES, **weighted("target", [0] * 5), "n_targets": 1, "base_values": [0.5]},
    ),
    "of two targets": (
        "TreeEnsembleRegressor",
        {**TWO_TREES, **weighted("target", [0, 1, 0, 1, 0]), "n_targets": 2},
    ),
    "averages": (
        "TreeEnsembleRegressor",
        {**TWO_TREES, **weighted("target", [0] * 5), "n_targets": 1, "aggregate_function": "AVERAGE"},
    ),
    "the largest": (
        "TreeEnsembleRegressor",
        {**TWO_TREES, **weighted("target", [0] * 5), "n_targets": 1, "aggregate_function": "MAX"},
    ),
    "classifier": (
        "TreeEnsembleClassifier",
        {**TWO_TREES, **of_classes(3), "classlabels_int64s": [5, 9, 4], "post_transform": "NONE"},
    ),
    "boosted": (
        "TreeEnsembleClassifier",
        {**TWO_TREES, **weighted("class", [0] * 5), **LABELS, "post_transform": "LOGISTIC"},
    ),
    "of opset 5": ("TreeEnsemble", NEW),
}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "largest": ("Normalizer", {"norm": "MAX"}),
    "sum": ("Normalizer", {"norm": "L1"}),
    "length": ("Normalizer", {"norm": "L2"}),
    "threshold": ("Binarizer", {"threshold": 0.2}),
    "means": ("Imputer", {"imputed_value_floats": [1.0, 2.0, 3.0], "replaced_value_float": float("nan")}),
    "one": ("Imputer", {"imputed_value_floats": [1.5], "replaced_value_float": 0.0}),
}


def model_of(op_type: str, attributes: dict[str, Any]) -> ModelProto:
    is_classifier = op_type.endswith("Classifier")
    outputs = ["label", "y"] if is_classifier else ["y"]
    node = helper.make_node(op_type, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    made = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    if is_classifier:
        made.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, None))
    graph = helper.make_graph([node], "one", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])], made)
    version = 5 if op_type == "TreeEnsemble" else 3 if op_type.startswith("Tree") else 1
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8)


@pytest.mark.parametrize("name", [*TREES, *OTHERS])
def test_values_are_those_of_onnxruntime(name: str) -> None:
    op_type, attributes = {**TREES, **OTHERS}[name]
    model = model_of(op_type, attributes)
    run = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run
    graph = pb.onnx.load(model)
    tracks = op_type in ("TreeEnsembleRegressor", "Imputer")
    for x in (ROWS, WITH_GAPS) if tracks else (ROWS, ROWS * 0):
        with pb.Session(graph=graph, engine="numpy") as session:
            found = session.run(list(graph.outputs), {graph["x"]: x})
        for a, b in zip(found, run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(a.reshape(np.shape(b)), b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TREES)
def test_what_trees_give_has_derivative_zero(name: str) -> None:
    graph = pb.onnx.load(model_of(*TREES[name]))
    with graph.as_default():
        assert pb.gradients(graph["y"], graph["x"]) == [None]
        (zero,) = pb.gradients(graph["y"] * 2.0 + pb.reduce_sum(graph["x"]) * 0.0, graph["x"])
    assert not pb.Session(graph=graph, engine="numpy").run(zero, {graph["x"]: ROWS}).any()


def test_the_derivatives_of_norms() -> None:
    for name in ("largest", "sum", "length"):
        graph = pb.onnx.load(model_of(*OTHERS[name]))
        with graph.as_default():
            y = pb.reduce_sum(pb.square(graph["y"] + 1.0))
            (dx,) = pb.gradients(y, graph["x"])
        session, x = pb.Session(graph=graph, engine="numpy"), graph["x"]
        step = 1e-2 * np.sin(np.arange(21.0)).reshape(7, 3)
        slope = (session.run(y, {x: ROWS + step}) - session.run(y, {x: ROWS - step})) / 2
        assert abs(float(slope) - np.sum(session.run(dx, {x: ROWS}) * step)) < 1e-2 * abs(float(slope)) + 1e-2


def test_trees_in_a_circle_are_refused() -> None:
    circle = {**TWO_TREES, "nodes_truenodeids": [0, 3, 0, 0, 0, 1, 0, 0]}
    with pytest.raises(pb.errors.InvalidArgumentError, match="its nodes follow each other in a circle"):
        pb.onnx.load(model_of("TreeEnsembleRegressor", {**circle, **weighted("target", [0] * 5), "n_targets": 1}))
