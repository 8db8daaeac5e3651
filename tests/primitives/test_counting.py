"""Counts: classes that a confusion matrix has no place for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.mark.parametrize("labels", [[0, 2], [0, -1], [0, 1 << 32]])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_class_outside_the_matrix_is_refused(labels: list[int], swapped: bool, engine: str) -> None:
    x = pb.placeholder(pb.int64, [2])
    given = (np.int64([0, 1]), x) if swapped else (x, np.int64([0, 1]))
    matrix = pb.math.confusion_matrix(*given, num_classes=2)
    what = "predictions" if swapped else "labels"
    with pytest.raises(pb.errors.InvalidArgumentError, match=f"confusion_matrix: `{what}` out of bound"):
        pb.Session(engine=engine).run(matrix, {x: labels})


@pytest.mark.parametrize("given", [([0, 1], [1.0, 1.0]), (np.int64([0, 1]), np.int32([1, 1])), ([[0], [1]], [1, 1])])
def test_classes_may_be_floats_or_stand_in_a_column(given: Any) -> None:
    found = pb.Session(engine="numpy").run(pb.math.confusion_matrix(*given))
    assert found.tolist() == [[0, 1], [0, 1]]


def test_labels_and_predictions_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="must have one shape"):
        pb.math.confusion_matrix([0, 1], [1, 1, 0])


@pytest.mark.parametrize("ends", [[1.0, 1.0], [2.0, 1.0], [float("nan"), 1.0]])
@pytest.mark.parametrize("count", [pb.histogram_fixed_width, pb.histogram_fixed_width_bins])
def test_ranges_of_histograms_grow(count: Any, ends: list[float]) -> None:
    x = pb.placeholder(pb.float32, [2])
    found = count([0.0, 1.0], x, 3)
    with pytest.raises(pb.errors.InvalidArgumentError, match="histogram_fixed_width: value_range must grow, not be"):
        pb.Session(engine="numpy").run(found, {x: ends})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_shapes_that_do_not_broadcast_together_are_refused_by_a_run(engine: str) -> None:
    x = pb.placeholder(pb.int32, [2])
    found = pb.broadcast_dynamic_shape(x, [3])
    with pytest.raises(pb.errors.InvalidArgumentError, match="arrays of these shapes do not broadcast together"):
        pb.Session(engine=engine).run(found, {x: [2, 2]})
    assert pb.Session(engine=engine).run(found, {x: [2, 1]}).tolist() == [2, 3]
