"""Classifiers, categories and dictionaries of ONNX: values are those of onnxruntime, derivatives differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

import pullback as pb
from pullback import errors
from pullback.cli import main

Array = np.ndarray[Any, Any]
NAN, ML = float("nan"), "ai.onnx.ml"
ELEMENTS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "O": TensorProto.STRING}
ROWS = np.array([[1.0, -2.0], [0.0, 0.5], [-1.0, 2.0], [0.0, 0.0], [-0.1, 0.0]], np.float32)
WORDS = np.array(["a", "z", "b"], object)
LINEAR = {"coefficients": [1.0, 0.5], "intercepts": [0.1], "classlabels_ints": [3, 7]}
MACHINES = {
    "coefficients": [1.0, -0.5, 0.7, 0.3, 0.2, -1.0, 0.4, 0.5],
    "support_vectors": [1.0, 2.0, 0.0, 1.0, -1.0, 0.5, 0.3, 0.4],
    "vectors_per_class": [1, 2, 1],
    "rho": [0.2, -0.1, 0.05],
    "kernel_params": [0.5, 0.1, 3.0],
    "classlabels_strings": ["x", "y", "z"],
}
CHANCES = {"prob_a": [-1.0, -0.5, -2.0], "prob_b": [0.1, 0.0, -0.2]}
PAIR = {
    **MACHINES,
    "coefficients": [1.0, -0.5, 0.7],
    "support_vectors": [1.0, 2.0, 0.0, 1.0, -1.0, 0.5],
    "vectors_per_class": [1, 2],
    "rho": [0.2],
    "classlabels_strings": ["x", "y"],
}
TREE = {
    "nodes_treeids": [0] * 5,
    "nodes_nodeids": [0, 1, 2, 3, 4],
    "nodes_featureids": [0] * 5,
    "nodes_values": [0.5, -0.5, 0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 3, 0, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0],
    "class_treeids": [0] * 3,
    "class_nodeids": [3, 4, 2],
    "class_ids": [0] * 3,
    "classlabels_strings": ["no", "yes"],
}
SMOOTH: dict[str, tuple[str, dict[str, Any], str]] = {
    **{
        f"one score, {kind}": ("LinearClassifier", {**LINEAR, "post_transform": kind}, "if")
        for kind in ("NONE", "LOGISTIC", "SOFTMAX")
    },
    **{
        f"two scores, {kind}": (
            "LinearClassifier",
            {**LINEAR, "coefficients": [1.0, 0.5, 0.3, 0.2], "intercepts": [0.3, 0.2], "post_transform": kind},
            "if",
        )
        for kind in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
    },
    "two targets": (
        "LinearRegressor",
        {"coefficients": [1.0, 0.5, 0.2, 0.1], "intercepts": [0.0, 0.2], "targets": 2, "post_transform": "SOFTMAX"},
        "f",
    ),
    **{
        f"machines, {kind}": ("SVMClassifier", {**MACHINES, "kernel_type": kind}, "Of")
        for kind in ("LINEAR", "RBF", "POLY", "SIGMOID")
    },
    "machines with probabilities": ("SVMClassifier", {**MACHINES, **CHANCES, "kernel_type": "RBF"}, "Of"),
    "two classes": ("SVMClassifier", {**PAIR, "kernel_type": "RBF"}, "Of"),
    "two classes, LOGISTIC": ("SVMClassifier", {**PAIR, "kernel_type": "RBF", "post_transform": "LOGISTIC"}, "Of"),
    "two classes, SOFTMAX": ("SVMClassifier", {**PAIR, "kernel_type": "RBF", "post_transform": "SOFTMAX"}, "Of"),
    "two classes with probabilities": (
        "SVMClassifier",
        {**PAIR, "prob_a": [-1.0], "prob_b": [0.1], "kernel_type": "RBF"},
        "Of",
    ),
    "a machine for numbers": (
        "SVMRegressor",
        {**{k: PAIR[k] for k in ("coefficients", "support_vectors", "rho", "kernel_params")}, "n_supports": 3}
        | {"kernel_type": "RBF"},
        "f",
    ),
}
FLAT: dict[str, tuple[str, dict[str, Any], list[Array], str, int]] = {
    "one class": ("SVMRegressor", {**SMOOTH["a machine for numbers"][1], "one_class": 1}, [ROWS], "f", 1),
    **{
        f"a tree of one score, {kind}, {weights}": (
            "TreeEnsembleClassifier",
            {**TREE, "class_weights": weights, "post_transform": kind},
            [ROWS],
            "Of",
            3,
        )
        for kind in ("NONE", "LOGISTIC", "SOFTMAX")
        for weights in ([0.0, 0.5, 0.9], [0.5, -1.0, 2.0])
    },
    "columns of numbers": ("OneHotEncoder", {"cats_int64s": [5, 1], "zeros": 1}, [np.array([[1, 5], [9, 1]])], "f", 1),
    "columns of texts": ("OneHotEncoder", {"cats_strings": ["b", "a"], "zeros": 1}, [WORDS], "f", 1),
    "numbers of texts": ("CategoryMapper", {"cats_int64s": [5, 6], "cats_strings": ["a", "b"]}, [WORDS], "i", 1),
    "texts of numbers": (
        "CategoryMapper",
        {"cats_int64s": [5, 6], "cats_strings": ["a", "b"], "default_string": "?"},
        [np.array([[6, 9]])],
        "O",
        1,
    ),
    "labels of texts": ("LabelEncoder", {"keys_strings": ["a", "b"], "values_floats": [5.0, 6.0]}, [WORDS], "f", 2),
    "labels of numbers": (
        "LabelEncoder",
        {"keys_floats": [NAN, -0.0], "values_int64s": [5, 6], "default_int64": 3},
        [np.array([NAN, 0.0, 1.0], np.float32)],
        "i",
        2,
    ),
    "equal keys": (
        "LabelEncoder",
        {"keys_int64s": [1, 1], "values_strings": ["p", "q"]},
        [np.array([1, 2])],
        "O",
        2,
    ),
    "places in a list": ("LabelEncoder", {"classes_strings": ["b", "a"]}, [WORDS], "i", 1),
    "columns cut and filled": ("FeatureVectorizer", {"inputdimensions": [3, 1]}, [ROWS, ROWS], "f", 1),
    "vectors beside each other": ("FeatureVectorizer", {"inputdimensions": [2, 2]}, [ROWS[0], ROWS[1]], "f", 1),
    "parts by a matrix of places": ("ArrayFeatureExtractor", {}, [ROWS, np.array([[1], [0], [1]])], "f", 1),
    "parts of a vector": ("ArrayFeatureExtractor", {}, [ROWS[0], np.array([[1], [0]])], "f", 1),
    "parts by a number": ("ArrayFeatureExtractor", {}, [ROWS, np.array(1)], "f", 1),
    "labels by place": ("ArrayFeatureExtractor", {}, [WORDS, np.array([2, 0])], "O", 1),
    "norms with gaps": ("Normalizer", {"norm": "MAX"}, [np.array([[NAN, 2.0], [-3.0, 1.0]], np.float32)], "f", 1),
}


def model_of(op_type: str, attributes: dict[str, Any], arrays: list[Array], outputs: str, version: int) -> ModelProto:
    names = [f"x{i}" for i in range(len(arrays))]
    made = ["label", "y"] if len(outputs) == 2 else ["y"]
    node = helper.make_node(op_type, names, made, domain=ML, **attributes)
    given = [
        helper.make_tensor_value_info(n, ELEMENTS[a.dtype.kind], [None] * (a.ndim - 1) + list(a.shape[-1:]))
        for n, a in zip(names, arrays, strict=True)
    ]
    results = [helper.make_tensor_value_info(n, ELEMENTS[k], None) for n, k in zip(made, outputs, strict=True)]
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(ML, version)]
    return helper.make_model(helper.make_graph([node], "one", given, results), opset_imports=sets, ir_version=8)


def on_onnxruntime(model: ModelProto, arrays: list[Array]) -> list[Any]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, {f"x{i}": a for i, a in enumerate(arrays)})
    return found


def on_numpy(graph: Any, arrays: list[Array], fetches: Any) -> Any:
    given = {
        x: a.astype("S").astype(object) if a.dtype == object else a for x, a in zip(graph.inputs, arrays, strict=True)
    }
    return pb.Session(graph=graph, engine="numpy").run(fetches, given)


def require_same(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == b.shape
        if b.dtype == object:
            assert [text.decode() for text in np.asarray(a).flat] == b.reshape(-1).tolist()
        else:
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FLAT)
def test_values_are_those_of_onnxruntime(name: str) -> None:
    op_type, attributes, arrays, outputs, version = FLAT[name]
    model = model_of(op_type, attributes, arrays, outputs, version)
    graph = pb.onnx.load(model)
    require_same(on_numpy(graph, arrays, list(graph.outputs)), on_onnxruntime(model, arrays))


@pytest.mark.parametrize("name", SMOOTH)
def test_scores_are_those_of_onnxruntime_and_their_derivatives_differences(name: str) -> None:
    op_type, attributes, outputs = SMOOTH[name]
    model = model_of(op_type, attributes, [ROWS], outputs, 1)
    graph = pb.onnx.load(model)
    with graph.as_default():
        y = pb.reduce_sum(graph["y"] * np.array([1.0, -2.0, 0.5], np.float32)[: graph["y"].shape[1]])
        (dx,) = pb.gradients(y, graph["x0"])
    require_same(on_numpy(graph, [ROWS], list(graph.outputs)), on_onnxruntime(model, [ROWS]))
    require_same(on_numpy(graph, [ROWS[0][None]], list(graph.outputs)), on_onnxruntime(model, [ROWS[:1]]))
    u = np.cos(np.arange(10.0)).reshape(5, 2).astype(np.float32) * np.float32(1e-2)
    ends = [float(on_numpy(graph, [ROWS + s * u], y)) for s in (1, -1)]
    slope = float(np.vdot(on_numpy(graph, [ROWS], dx), u))
    assert abs((ends[0] - ends[1]) / 2 - slope) < 2e-2 * abs(slope) + 1e-4
    written = pb.onnx.export({"y": graph["y"], "dx": dx}, {"x0": graph["x0"]})
    np.testing.assert_allclose(on_onnxruntime(written, [ROWS])[1], on_numpy(graph, [ROWS], dx), rtol=1e-3, atol=1e-5)


def classifier() -> ModelProto:
    """As scikit-learn's exporter writes one: dictionaries of probabilities, and a version that is said twice."""
    model = model_of("LinearClassifier", {**LINEAR, "post_transform": "LOGISTIC"}, [ROWS], "if", 1)
    model.graph.node.append(helper.make_node("ZipMap", ["y"], ["chances"], domain=ML, classlabels_int64s=[3, 7]))
    of = model.graph.output[1]
    of.name = "chances"
    of.type.Clear()
    of.type.sequence_type.elem_type.map_type.key_type = TensorProto.INT64
    of.type.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    model.opset_import.add(domain="", version=17)
    return model


def test_dictionaries_of_probabilities() -> None:
    graph = pb.onnx.load(classifier())
    chances = graph["chances"]
    found = chances.arrays(*on_numpy(graph, [ROWS], list(chances.tensors)))
    for a, b in zip(found, on_onnxruntime(classifier(), [ROWS])[1], strict=True):
        assert a == pytest.approx(b)


def test_the_command_differentiates_a_classifier(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "classifier.onnx"
    path.write_bytes(classifier().SerializeToString())
    assert main.main(["grad", str(path), "--check"]) == 0
    assert "gradients/x0" in capsys.readouterr().out


def test_probabilities_of_one_score_by_quantiles_are_refused() -> None:
    model = model_of("LinearClassifier", {**LINEAR, "post_transform": "PROBIT"}, [ROWS], "if", 1)
    with pytest.raises(errors.UnimplementedError) as error:
        pb.onnx.load(model)
    assert str(error.value) == (
        "onnx.load: node 'label' (ai.onnx.ml::LinearClassifier, opset 1): post_transform 'PROBIT' of one score for two "
        "classes is not defined"
    )


def test_quantiles_are_those_of_the_normal_distribution() -> None:
    attributes = {"coefficients": [1.0], "targets": 1, "post_transform": "PROBIT"}
    model = model_of("LinearRegressor", attributes, [ROWS[:, :1]], "f", 1)
    graph, x = pb.onnx.load(model), np.array([[0.5], [0.841344746]], np.float32)
    np.testing.assert_allclose(on_numpy(graph, [x], graph["y"]), [[0.0], [1.0]], atol=1e-6)
