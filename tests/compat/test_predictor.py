"""Predictors of `tf.contrib.predictor`."""

from __future__ import annotations

from pathlib import Path

import pytest

import pullback.compat.v1 as tf
from pullback.core.errors import NotFoundError

predictor = tf.contrib.predictor


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder_with_default([1.0, 2.0], [None], name="x")
        y = tf.multiply(x, tf.get_variable("w", initializer=3.0), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": y})
    return path


def test_a_model_is_a_function_of_arrays(model: str) -> None:
    predict = predictor.from_saved_model(model)
    assert predict({"x": [5.0]})["y"].tolist() == [15.0]
    assert predict({})["y"].tolist() == predict({"x": None})["y"].tolist() == [3.0, 6.0]
    assert (predict.graph is predict.session.graph, list(predict.feed_tensors)) == (True, ["x"])
    assert predict.fetch_tensors["y"].name == "y:0"
    with pytest.raises(ValueError, match=r"^Got unexpected keys in input_dict: \['z'\]; expected: \['x'\]$"):
        predict({"z": 1.0})


def test_inputs_and_outputs_may_be_named(model: str) -> None:
    graph = tf.Graph()
    predict = predictor.from_saved_model(model, input_names={"a": "x:0"}, output_names={"b": "y:0"}, graph=graph)
    assert (predict({"a": [2.0]})["b"].tolist(), predict.graph) == ([6.0], graph)
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.load(session, ["serve"], model).signature_def["serving_default"]
    assert predictor.from_saved_model(model, signature_def=signature)({"x": [1.0]})["y"].tolist() == [3.0]


def test_what_cannot_be_is_refused(model: str) -> None:
    for text, options in (
        (
            r'Got signature_def_key "other"\. Available signatures are \[\'serving_default',
            {"signature_def_key": "other"},
        ),
        ("input_names and output_names must both be", {"input_names": {"a": "x:0"}}),
        ("Only one of signature_def_key or signature_def", {"signature_def_key": "a", "signature_def": object()}),
        (
            "You may not specify input_names and output_names if you specify a signature",
            {"input_names": {}, "output_names": {}, "signature_def_key": "a"},
        ),
    ):
        with pytest.raises(ValueError, match=text):
            predictor.from_saved_model(model, **options)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        predictor.from_saved_model(model, tags="gpu")
