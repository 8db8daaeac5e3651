"""Keras' metrics of right and wrong predictions, and more means: values and messages of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

M = tf.keras.metrics
_random = np.random.RandomState(3)
T, P, W = (_random.rand(7, 3) > 0.5).astype("f"), _random.rand(7, 3).astype("f"), _random.rand(7).astype("f") * 2
P[0], P[1] = [0, 1, 0.5], [0.25, 0.75, 0.3]
B, Q, V = (_random.rand(9) > 0.4).astype("f"), _random.rand(9).astype("f"), _random.rand(9).astype("f")
N, R = np.array([0, 2, 1, 1, 0, 2, 2], "f"), np.array([0, 1, 1, 1, 2, 2, 0], "f")
CASES: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("Precision", {}, (B, Q), 0.75),
    ("Precision", {}, (B, Q, V), 0.630526),
    ("Precision", {"thresholds": [0.2, 0.5, 0.9]}, (T, P), [0.368421, 0.444444, 0.25]),
    ("Precision", {"thresholds": [0, 0.5, 1.0]}, (T, P), [0.4, 0.444444, 0.0]),
    (
        "Precision",
        {"thresholds": [0, 0.25, 0.5, 0.75, 1.0]},
        (T, P, W[:, None]),
        [0.327304, 0.278697, 0.30099, 0.281945, 0.0],
    ),
    ("Precision", {"thresholds": [0.25]}, (T, P, W), 0.278697),
    ("Precision", {"top_k": 2}, (T, P), 0.357143),
    ("Precision", {"top_k": 2, "class_id": 1}, (T, P), 0.333333),
    ("Precision", {"class_id": 2}, (T, P), 0.0),
    ("Precision", {"top_k": 2, "thresholds": [0.0, 0.5, 1.0]}, (T, P), [0.357143, 0.5, 0.0]),
    ("Recall", {}, (B, Q, V), 0.714164),
    ("Recall", {"thresholds": [0.2, 0.5, 0.9]}, (T, P, W[:, None]), [0.728703, 0.453733, 0.0853813]),
    ("Recall", {"top_k": 1}, (T, P), 0.444444),
    ("Recall", {"class_id": 0, "thresholds": 0.3}, (T, P), 0.5),
    ("TruePositives", {}, (T, P), 4.0),
    ("TruePositives", {"thresholds": [0.1, 0.6]}, (B, Q, V), [2.25476, 0.934153]),
    ("TrueNegatives", {}, (B, Q[:, None]), 3.0),
    ("FalsePositives", {}, (T, P), 5.0),
    ("FalseNegatives", {"thresholds": [0, 0.5, 1]}, (T, P), [1.0, 5.0, 9.0]),
    ("AUC", {}, (B, Q), 0.625),
    ("AUC", {}, (B, Q, V), 0.58761),
    ("AUC", {"num_thresholds": 3}, (T, P), 0.513889),
    ("AUC", {"curve": "PR"}, (T, P), 0.456324),
    ("AUC", {"curve": "PR", "summation_method": "majoring"}, (T, P), 0.483185),
    ("AUC", {"summation_method": "minoring"}, (B, Q), 0.6),
    ("AUC", {"thresholds": [0.3, 0.1, 0.8]}, (T, P), 0.365741),
    ("AUC", {"thresholds": [0.5]}, (T, P, W[:, None]), 0.446585),
    ("AUC", {"from_logits": True}, (T, P * 4 - 2), 0.407407),
    ("AUC", {"multi_label": True, "num_labels": 3}, (T, P), 0.5),
    ("AUC", {"multi_label": True, "num_labels": 3, "label_weights": [1.0, 2.0, 0.5]}, (T, P), 0.714286),
    ("AUC", {"multi_label": True, "num_labels": 3, "curve": "PR"}, (T, P, W[:, None]), 0.534943),
    ("AUC", {"label_weights": [1.0, 2.0, 0.5]}, (T, P), 0.589474),
    ("AUC", {"multi_label": True, "num_labels": 3, "thresholds": [0.2, 0.3]}, (T, P, W[:, None]), 0.371017),
    ("AUC", {"thresholds": [0.2, 0.3], "label_weights": [1.0, 2.0, 0.5]}, (T, P), 0.398246),
    ("SensitivityAtSpecificity", {"specificity": 0.5}, (B, Q), 0.8),
    ("SpecificityAtSensitivity", {"sensitivity": 0.5, "num_thresholds": 5}, (B, Q, V), 0.5826),
    ("SpecificityAtSensitivity", {"sensitivity": 0.5, "num_thresholds": 1}, (B, Q, V), 0.5826),
    ("PrecisionAtRecall", {"recall": 0.7}, (B, Q), 0.8),
    ("RecallAtPrecision", {"precision": 0.8}, (T, P), 0.111111),
    ("RecallAtPrecision", {"precision": 1.0}, (1 - np.ones_like(B), Q), 0.0),
    ("MeanIoU", {"num_classes": 3}, (N, R), 0.416667),
    ("MeanIoU", {"num_classes": 4}, (N, R, W), 0.417743),
    ("MeanRelativeError", {"normalizer": [1.0, 0.0, 3.0]}, (T[0], P[0]), 0.388889),
    ("RootMeanSquaredError", {}, (T, P, W), 0.664074),
    ("RootMeanSquaredError", {}, (T, P), 0.614385),
    ("CosineSimilarity", {}, (T, P), 0.428924),
    ("CosineSimilarity", {"axis": 0}, (T, P), 0.535045),
    ("KLDivergence", {}, (T, P), 3.28429),
    ("LogCoshError", {}, (T, P), 0.171422),
    ("Poisson", {}, (T, P, W), 1.35378),
    ("Hinge", {}, (T, P), 1.11338),
    ("SquaredHinge", {}, (T, P), 1.5807),
    ("CategoricalHinge", {}, (T, P), 0.980602),
    ("MeanAbsolutePercentageError", {}, (T, P), 315899000.0),
    ("MeanSquaredLogarithmicError", {}, (T, P), 0.188425),
    ("SparseCategoricalCrossentropy", {}, (N, P), 3.35306),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, (N, P), 1.21556),
]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("kind", "options", "arguments", "expected"), CASES)
def test_values_are_those_of_tensorflow(kind: str, options: Any, arguments: Any, expected: Any, engine: str) -> None:
    metric = getattr(M, kind)(**options)
    update, result = metric.update_state(*arguments), metric.result()
    with tf.Session(engine=engine) as session:
        session.run(tf.variables_initializer(metric.variables))
        session.run(update)
        np.testing.assert_allclose(session.run(result), expected, rtol=6e-6, atol=1e-7)
        session.run(update)
        twice = 2.0 if hasattr(metric, "accumulator") else 1.0
        np.testing.assert_allclose(session.run(result), twice * np.array(expected), rtol=6e-6, atol=1e-7)
        metric.reset_state()
        assert not any(session.run(v).any() for v in metric.weights)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_batch_may_have_any_number_of_examples(engine: str) -> None:
    y, x = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
    metrics = [M.Precision([0.3, 0.5]), M.AUC(), M.AUC(thresholds=[0.5]), M.AUC(multi_label=True), M.Recall(top_k=2)]
    updates = [metric.update_state(y, x) for metric in metrics]
    with tf.Session(engine=engine) as session:
        session.run(tf.variables_initializer([v for metric in metrics for v in metric.variables]))
        for part in (slice(0, 2), slice(2, 7)):
            session.run(updates, {y: T[part], x: P[part]})
        found = session.run([metric.result() for metric in metrics])
    whole = [(M.Precision, {"thresholds": [0.3, 0.5]}), (M.AUC, {}), (M.AUC, {"thresholds": [0.5]}),
             (M.AUC, {"multi_label": True, "num_labels": 3}), (M.Recall, {"top_k": 2})]  # fmt: skip
    for value, (kind, options) in zip(found, whole, strict=True):
        metric = kind(**options)
        update, result = metric.update_state(T, P), metric.result()
        with tf.Session(engine="numpy") as session:
            session.run(tf.variables_initializer(metric.variables))
            session.run(update)
            np.testing.assert_allclose(value, session.run(result), rtol=1e-6)


def test_the_mean_of_tensors_is_one() -> None:
    metric = M.MeanTensor()
    weighted, plain = metric.update_state(P, W[:, None]), metric.update_state(2.0 * P)
    with tf.Session(engine="numpy") as session:
        session.run(tf.variables_initializer(metric.variables))
        session.run(weighted)
        np.testing.assert_allclose(session.run(metric.result()), P, rtol=1e-6)
        session.run(plain)
        np.testing.assert_allclose(session.run(metric.result()), P * (W[:, None] + 2) / (W[:, None] + 1), rtol=1e-6)


def test_names_and_variables_are_those_of_tensorflow() -> None:
    precision, again, share = M.Precision(), M.Precision(), M.MeanIoU(2)
    assert (precision.name, again.name, share.name) == ("precision", "precision_1", "mean_io_u")
    assert [v.op.name for v in precision.variables] == ["true_positives", "false_positives"]
    assert precision.true_positives is precision.variables[0]
    assert M.TruePositives().accumulator.op.name == "accumulator"
    with pytest.raises(AttributeError, match=r"^'Precision' object has no attribute 'false_negatives'$"):
        _ = precision.false_negatives


@pytest.mark.parametrize(
    "make",
    [
        lambda: M.AUC(curve="PR", thresholds=[0.2, 0.4], label_weights=[1.0, 2.0]),
        lambda: M.Precision([0.2, 0.4], top_k=3, class_id=1),
        lambda: M.RecallAtPrecision(0.3, num_thresholds=7),
        lambda: M.FalseNegatives(0.25),
        lambda: M.MeanIoU(3),
        lambda: M.CosineSimilarity(axis=0),
        lambda: M.SparseCategoricalCrossentropy(from_logits=True),
        lambda: M.BinaryAccuracy(threshold=0.25),
    ],
)
def test_a_metric_is_made_again_of_what_it_says(make: Callable[[], Any]) -> None:
    metric = make()
    again = M.deserialize(M.serialize(metric))
    assert type(again) is type(metric)
    assert str(again.get_config()) == str(metric.get_config())
    assert M.get(again) is again


def test_metrics_are_found_by_their_names() -> None:
    assert (M.get("accuracy"), M.get("mse")) == (M.accuracy, M.mean_squared_error)
    assert isinstance(M.get("AUC"), M.AUC)
    assert M.deserialize(M.serialize(M.binary_accuracy)) is M.binary_accuracy
    for name in ("foo", "get", "_weighted", "annotations"):
        with pytest.raises(ValueError, match=f"^Unknown metric function: {name}"):
            M.get(name)
    with pytest.raises(ValueError, match=r"^Could not interpret metric function identifier: 3$"):
        M.get(3)


def test_what_cannot_be_is_refused() -> None:
    for error, text, make in (
        (ValueError, "`num_thresholds` must be > 1", lambda: M.AUC(num_thresholds=1)),
        (ValueError, 'Invalid AUC curve value "x"', lambda: M.AUC(curve="x")),
        (ValueError, 'Invalid AUC summation method value "x"', lambda: M.AUC(summation_method="x")),
        (ValueError, "`num_labels` is needed only when `multi_label` is True.", lambda: M.AUC(num_labels=3)),
        (ValueError, "Threshold values must be in [0, 1]. Invalid values: [2.0]", lambda: M.Precision([2.0])),
        (ValueError, "`specificity` must be in the range [0, 1]", lambda: M.SensitivityAtSpecificity(2.0)),
        (ValueError, "`num_thresholds` must be > 0", lambda: M.RecallAtPrecision(0.5, num_thresholds=0)),
        (tf.errors.InvalidArgumentError, "AUC: `label_weights` must be non-neg", lambda: M.AUC(label_weights=[-1.0])),
        (
            ValueError,
            "AUC: predictions have 3 labels",
            lambda: M.AUC(multi_label=True, num_labels=2).update_state(T, P),
        ),
        (ValueError, "AUC: with `multi_label` predictions", lambda: M.AUC(multi_label=True).update_state(B, Q)),
        (ValueError, "MeanTensor: there is no result", lambda: M.MeanTensor().result()),
        (ValueError, "MeanTensor: the values have the shape", lambda: M.MeanTensor(shape=[2]).update_state(P)),
        (ValueError, "metrics: labels float32[7,3] and pred", lambda: M.Precision().update_state(T, Q)),
        (ValueError, "SparseCategoricalCrossentropy: axis", lambda: M.SparseCategoricalCrossentropy(axis=0)),
    ):
        with pytest.raises(error) as caught:
            make()
        assert str(caught.value).startswith(text)
    precision = M.Precision()
    update = precision.update_state(B, Q + 1.0)
    with tf.Session(engine="numpy") as session:
        session.run(tf.variables_initializer(precision.variables))
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be >= 0 and <= 1"):
            session.run(update)
