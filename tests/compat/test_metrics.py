"""`tf.metrics`: what was counted in the batches so far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

LABELS = [[1, 0, 1, 1], [0, 0, 1, 0]]
PREDICTIONS = [[1, 1, 0, 1], [0, 1, 1, 1]]
WEIGHTS = [[1.0, 2.0, 0.0, 1.0], [0.5, 1.0, 3.0, 1.0]]


def expected(name: str, count: int, weighted: bool) -> float:
    y, p = (np.concatenate(x[:count]).astype(float) for x in (LABELS, PREDICTIONS))
    w = np.concatenate(WEIGHTS[:count]) if weighted else np.ones_like(y)
    totals = {
        "accuracy": (w * (y == p), w),
        "mean_absolute_error": (w * abs(y - p), w),
        "mean_squared_error": (w * (y - p) ** 2, w),
        "root_mean_squared_error": (w * (y - p) ** 2, w),
        "precision": (w * y * p, w * p),
        "recall": (w * y * p, w * y),
    }[name]
    found = float(totals[0].sum() / totals[1].sum())
    return found**0.5 if name.startswith("root") else found


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name", ["accuracy", "mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "precision", "recall"]
)
def test_a_metric_is_of_all_batches_so_far(name: str, weighted: bool, engine: str) -> None:
    labels, predictions = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    weights = tf.placeholder(tf.float32, [None]) if weighted else None
    value, update = getattr(tf.metrics, name)(labels, predictions, weights)
    with pb.Session(engine=engine) as session:
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0.0
        for i in range(2):
            fed: dict[Any, Any] = {labels: LABELS[i], predictions: PREDICTIONS[i]}
            fed |= {} if weights is None else {weights: WEIGHTS[i]}
            np.testing.assert_allclose(session.run(update, fed), expected(name, i + 1, weighted), rtol=1e-6)
            np.testing.assert_allclose(session.run(value), expected(name, i + 1, weighted), rtol=1e-6)
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0.0


def test_counts_are_local_variables_by_the_names_of_tensorflow() -> None:
    tf.metrics.mean([1.0, 2.0], updates_collections="updates", metrics_collections=["a", "b"])
    tf.metrics.accuracy([1], [1])
    tf.metrics.recall([1], [1], name="r")
    names = ["mean/total", "mean/count", "accuracy/total", "accuracy/count", "r/true_positives/count"]
    names.append("r/false_negatives/count")
    assert [v.op.name for v in tf.local_variables()] == names
    assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == tf.local_variables()
    assert tf.global_variables() == []
    assert [len(tf.get_collection(key)) for key in ("updates", "a", "b")] == [1, 1, 1]


def test_one_weight_may_stand_for_all() -> None:
    _, update = tf.metrics.mean([[1.0, 3.0]], weights=2.0)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update) == 2.0


def area(labels: Any, chances: Any, weights: Any, curve: str) -> float:
    """The area under the curve through 200 points, by NumPy."""
    limits = np.array([-1e-7, *np.linspace(0.0, 1.0, 200)[1:-1], 1.0 + 1e-7], np.float32)[:, None]
    y, given = labels.astype(bool), chances > limits
    tp, fp = (weights * (y & given)).sum(1), (weights * (~y & given)).sum(1)
    fn, tn = (weights * (y & ~given)).sum(1), (weights * (~y & ~given)).sum(1)
    hits = (tp + 1e-6) / (tp + fn + 1e-6)
    x, z = (fp / (fp + tn + 1e-6), hits) if curve == "ROC" else (hits, (tp + 1e-6) / (tp + fp + 1e-6))
    return float(np.sum((x[:-1] - x[1:]) * (z[:-1] + z[1:]) / 2.0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("curve", ["ROC", "PR"])
def test_the_area_under_a_curve(curve: str, weighted: bool) -> None:
    labels, chances, weights = (tf.placeholder(tf.float32, [None]) for _ in range(3))
    value, update = tf.metrics.auc(labels, chances, weights if weighted else None, curve=curve)
    rng = np.random.RandomState(1)
    y = rng.randint(0, 2, [2, 20])
    p, w = np.clip(y * 0.3 + rng.rand(2, 20) * 0.7, 0, 1).astype("f"), rng.rand(2, 20) if weighted else np.ones([2, 20])
    with tf.Session(engine="numpy") as sess:
        sess.run(tf.local_variables_initializer())
        updates = [sess.run(update, {labels: y[i], chances: p[i], weights: w[i]}) for i in range(2)]
        assert updates[0] == pytest.approx(area(y[0], p[0], w[0], curve), rel=1e-5)
        assert updates[1] == sess.run(value) == pytest.approx(area(y.ravel(), p.ravel(), w.ravel(), curve), rel=1e-5)


def test_the_area_is_under_two_curves() -> None:
    with pytest.raises(ValueError, match=r"^metrics.auc: curve must be 'ROC' or 'PR', not 'roc'$"):
        tf.metrics.auc([1.0], [1.0], curve="roc")
    methods = "'trapezoidal', 'careful_interpolation', 'minoring', 'majoring'"
    with pytest.raises(ValueError, match=rf"^metrics.auc: summation_method must be one of {methods}, not 'simpson'$"):
        tf.metrics.auc([1.0], [1.0], summation_method="simpson")


@pytest.mark.parametrize("curve", ["ROC", "PR"])
def test_an_area_lies_between_those_of_steps_below_and_above_the_curve(curve: str) -> None:
    rng = np.random.RandomState(3)
    y = rng.randint(0, 2, 60)
    p = np.clip(y * 0.2 + rng.rand(60) * 0.8, 0, 1).astype("f")
    methods = ["minoring", "trapezoidal", "majoring", "careful_interpolation"]
    made = [tf.metrics.auc(y, p, curve=curve, summation_method=m, num_thresholds=9) for m in methods]
    with tf.Session(engine="numpy") as sess:
        sess.run(tf.local_variables_initializer())
        below, mean, above, careful = sess.run([metric.update_op for metric in made])
    assert below < mean < above
    assert mean == pytest.approx((below + above) / 2)
    if curve == "ROC":
        assert careful == mean
    else:
        assert careful == pytest.approx(area_of_even_growth(y, p, 9), rel=1e-4)


def area_of_even_growth(y: np.ndarray[Any, Any], p: np.ndarray[Any, Any], count: int) -> float:
    """Precision over recall, integrated numerically: between two thresholds hits and false alarms grow evenly."""
    limits = np.array([-1e-7, *np.linspace(0, 1, count)[1:-1], 1 + 1e-7])
    hits, alarms = (np.array([np.sum((y == kind) & (p > limit)) for limit in limits], float) for kind in (1, 0))
    steps, total = np.linspace(0, 1, 20001), 0.0
    for i in range(count - 1):
        tp = hits[i + 1] + steps * (hits[i] - hits[i + 1])
        fp = alarms[i + 1] + steps * (alarms[i] - alarms[i + 1])
        precision = np.where(tp > 0, tp / np.maximum(tp + fp, 1e-30), hits[i] / max(hits[i] + alarms[i], 1e-30))
        total += np.sum((precision[1:] + precision[:-1]) / 2 * np.diff(tp))
    return float(total / y.sum())


def test_metrics_name_their_value_and_their_update() -> None:
    x = [0.25, 0.5]
    made = {
        "accuracy": tf.metrics.accuracy([1, 0], [1, 1]),
        "mean": tf.metrics.mean(x),
        "auc": tf.metrics.auc([1, 0], x),
        "recall": tf.metrics.recall([1, 0], [1, 1]),
        "mine": tf.metrics.mean_squared_error(x, x, name="mine"),
    }
    for name, metric in made.items():
        assert [t.name for t in metric] == [f"{name}/value:0", f"{name}/update_op:0"]


@pytest.mark.parametrize("weighted", [False, True])
def test_accuracies_of_classes_have_a_mean(weighted: bool) -> None:
    labels, given, weights = (tf.placeholder(t, [None]) for t in (tf.int64, tf.int64, tf.float32))
    value, update = tf.metrics.mean_per_class_accuracy(labels, given, 3, weights if weighted else None)
    y, p, w = [0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 2, 0], [1.0, 3.0, 1.0, 1.0, 2.0, 1.0]
    with tf.Session(engine="numpy") as sess:
        sess.run(tf.local_variables_initializer())
        for i in (0, 3):
            last = sess.run(update, {labels: y[i : i + 3], given: p[i : i + 3], weights: w[i : i + 3]})
        wanted = [0.25, 0.5, 0.0] if weighted else [0.5, 2 / 3, 0.0]
        np.testing.assert_allclose(last, wanted, rtol=1e-6)
        assert sess.run(value) == pytest.approx(np.mean(wanted), rel=1e-6)


SCORES = [[0.1, 0.5, 0.4], [0.3, 0.2, 0.6]]
TRUE = [[1, 0], [1, 1]]
"""What is true of two examples; the second says it twice."""


def after_one(metric: Any, feeds: Any = None) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run(tf.local_variables_initializer())
        session.run(metric.update_op, feeds)
        return session.run(metric.value)


def test_classes_at_the_top_are_sets() -> None:
    m = tf.metrics
    assert after_one(m.precision_at_k(TRUE, SCORES, 2)) == 0.25
    assert after_one(m.recall_at_k(TRUE, SCORES, 2)) == pytest.approx(1 / 3)
    assert after_one(m.recall_at_top_k(TRUE, [[1, 2], [2, 0]])) == pytest.approx(1 / 3)
    assert after_one(m.precision_at_k(TRUE, SCORES, 2, class_id=1)) == 1.0
    assert after_one(m.recall_at_k(TRUE, SCORES, 2, class_id=1)) == 0.5
    assert after_one(m.average_precision_at_k(TRUE, SCORES, 2, weights=[1.0, 3.0])) == 0.125
    assert after_one(m.average_precision_at_k([1, 0], SCORES, 2)) == 0.75


def test_true_classes_may_be_of_any_number() -> None:
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 1, 2], tf.int64), [2, 2])
    assert after_one(tf.metrics.precision_at_k(labels, SCORES, 2)) == 0.5
    assert after_one(tf.metrics.recall_at_k(labels, SCORES, 2)) == pytest.approx(2 / 3)


def test_thresholds_are_chosen_by_what_is_asked() -> None:
    y, p = [1, 1, 1, 0, 0], [0.9, 0.7, 0.3, 0.6, 0.1]
    assert after_one(tf.metrics.sensitivity_at_specificity(y, p, 1.0)) == pytest.approx(2 / 3)
    assert after_one(tf.metrics.specificity_at_sensitivity(y, p, 1.0, weights=2.0)) == pytest.approx(0.5)
    with pytest.raises(
        ValueError, match=r"^metrics\.sensitivity_at_specificity: specificity must be from 0 to 1, not 2"
    ):
        tf.metrics.sensitivity_at_specificity(y, p, 2)


def test_classes_that_nothing_names_have_no_overlap() -> None:
    given = tf.placeholder(tf.int32, [None])
    metric = tf.metrics.mean_iou([0, 0, 1, 1], given, 3, weights=[1.0, 1.0, 2.0, 1.0])
    assert after_one(metric, {given: [0, 1, 1, 1]}) == pytest.approx((1 / 2 + 3 / 4) / 2)
    mean = after_one(tf.metrics.mean_tensor([[1.0, 2.0]], weights=[[1.0, 0.0]]))
    assert mean.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("accuracy", 0.5),
        ("mean_absolute_error", 0.5),
        ("mean_squared_error", 0.5),
        ("root_mean_squared_error", 0.5**0.5),
        ("precision", 0.5),
        ("recall", 0.5),
        ("true_positives", 1.0),
        ("auc", 0.5),
    ],
)
def test_a_last_axis_of_length_one_is_no_axis_of_its_own(name: str, wanted: float) -> None:
    y, p = np.array([1, 0, 1, 0]), np.array([1, 1, 0, 0])
    for labels, given in ((y[:, None], p), (y, p[:, None]), (y, p)):
        metric = getattr(tf.metrics, name)
        assert after_one(metric(labels, given)) == pytest.approx(wanted, abs=1e-4)
        assert after_one(metric(labels, given, weights=np.ones([4, 1]))) == pytest.approx(wanted, abs=1e-4)
    with pytest.raises(
        ValueError, match=r"^metrics: labels int64\[4\] and predictions int64\[4,4\] must have one shape$"
    ):
        metric(y, np.ones([4, 4], np.int64))


def test_weights_of_rows_are_of_whole_rows() -> None:
    x = [[1.0, 2.0], [5.0, 6.0]]
    assert after_one(tf.metrics.mean(x, weights=[1.0, 3.0])) == pytest.approx(4.5)
    assert after_one(tf.metrics.mean_relative_error([[1.0], [2.0]], [2.0, 4.0], [[1.0], [4.0]])) == 0.75
    with pytest.raises(ValueError, match=r"^metrics: weights float32\[1,1,3\] do not broadcast to float32\[3,2\]$"):
        tf.metrics.mean_tensor(np.ones([3, 2]), weights=np.ones([1, 1, 3]))


@pytest.mark.parametrize("columns", [("labels",), ("predictions",), ("weights",), ("labels", "predictions")])
@pytest.mark.parametrize("name", ["true_negatives", "mean_iou"])
def test_columns_count_as_the_vectors_that_they_hold(name: str, columns: tuple[str, ...]) -> None:
    given: dict[str, Any] = {"labels": LABELS[0], "predictions": PREDICTIONS[0], "weights": WEIGHTS[0]}
    if name == "mean_iou":
        given["num_classes"] = 2
    in_columns = given | {key: np.array(given[key])[:, None] for key in columns}
    updates = [getattr(tf.metrics, name)(**each).update_op for each in (given, in_columns)]
    session = pb.Session(engine="numpy")
    session.run(tf.local_variables_initializer())
    np.testing.assert_array_equal(*session.run(updates))


def test_predictions_are_compared_in_the_dtype_of_the_labels() -> None:
    assert after_one(tf.metrics.accuracy([1, 0, 2], [1.9, 0.4, 1.5])) == pytest.approx(2 / 3)


def test_predictions_that_are_no_probabilities_have_no_curve() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
        after_one(tf.metrics.auc([1, 0], tf.placeholder_with_default([0.5, 1.5], [2])))


@pytest.mark.parametrize("dtype", [tf.float16, tf.float64, tf.int32])
def test_losses_of_errors_are_float32_as_their_regularisers(dtype: Any) -> None:
    given = tf.constant([1, 3], dtype)
    for name in ("absolute_difference", "mean_squared_error", "huber_loss", "log_loss"):
        assert getattr(tf.losses, name)([1, 0], predictions=given).dtype == tf.float32
    assert tf.losses.hinge_loss(labels=[1, 0], logits=given).dtype == tf.float32
    assert tf.losses.get_total_loss().dtype == tf.float32


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("x", "y", "weights", "expected"),
    [
        ([1, 1, 1], [[1], [0], [0]], [[100], [1], [1]], 100 / 102),
        ([[1], [1], [1]], [1, 0, 0], [100, 1, 1], 100 / 102),
        ([[1], [1], [1]], [[1], [0], [0]], [100, 1, 1], 100 / 102),
        ([1, 1, 1], [1, 0, 0], [[100], [1], [1]], 100 / 102),
        ([1, 1, 1], [1, 0, 0], 7, 1 / 3),
        ([[1, 1], [1, 1]], [[1, 0], [0, 0]], [[3], [1]], 3 / 8),
    ],
)
def test_ranks_that_only_a_run_knows_are_made_to_fit(
    x: Any, y: Any, weights: Any, expected: float, engine: str
) -> None:
    given = [tf.placeholder(tf.int32) for _ in range(3)]
    _, update_op = tf.metrics.accuracy(given[1], given[0], given[2])
    session = tf.Session(engine=engine)
    session.run(tf.local_variables_initializer())
    found = session.run(update_op, dict(zip(given, [x, y, weights], strict=True)))
    np.testing.assert_allclose(found, expected, 1e-6)


def test_weights_that_do_not_fit_are_an_error_of_the_run() -> None:
    x, weights = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    _, update_op = tf.metrics.mean(x, weights)
    session = tf.Session(engine="numpy")
    session.run(tf.local_variables_initializer())
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        session.run(update_op, {x: [[1.0, 2.0]], weights: [[1.0, 2.0, 3.0]]})
    said = "assertion failed: metrics: weights do not broadcast to the values; the shapes of both are [1 3] [1 2]"
    assert said in str(caught.value)
