"""TensorFlow's parameters: what is called there by position or by name is called here alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1

DIFFERENCES = {
    "today's has the parameters that only version 1 has too, in their order": "gradients hessians",
    "of graphs, where today's are eager": "summary.audio summary.histogram summary.image summary.scalar summary.text",
    "made by functions; programs derive from them, but do not call them": """
        RaggedTensor ReaderBase VariableScope distributions.Distribution linalg.LinearOperator""",
    "as in TensorFlow 1.15, which had one more before them": """
        nn.sigmoid_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits
        nn.sparse_softmax_cross_entropy_with_logits""",
    "Python's own": "test.main",
    "a primitive, not the declaration that one has no gradient": "no_gradient",
    "variables of slim take what `get_variable` takes by name": """
        contrib.framework.model_variable contrib.framework.variable contrib.framework.zero_initializer""",
    "the layer, not the operation of that name": "contrib.cudnn_rnn.CudnnLSTM",
    "checkpoints by the name that the parameter has today": """
        contrib.framework.list_variables contrib.framework.load_checkpoint contrib.framework.load_variable""",
    "`tf.metrics` under its first names": """
        contrib.metrics.streaming_accuracy contrib.metrics.streaming_auc
        contrib.metrics.streaming_false_negatives contrib.metrics.streaming_false_negatives_at_thresholds
        contrib.metrics.streaming_false_positives contrib.metrics.streaming_false_positives_at_thresholds
        contrib.metrics.streaming_mean_absolute_error contrib.metrics.streaming_mean_cosine_distance
        contrib.metrics.streaming_mean_iou contrib.metrics.streaming_mean_relative_error
        contrib.metrics.streaming_mean_squared_error contrib.metrics.streaming_precision
        contrib.metrics.streaming_precision_at_thresholds contrib.metrics.streaming_recall
        contrib.metrics.streaming_recall_at_thresholds contrib.metrics.streaming_root_mean_squared_error
        contrib.metrics.streaming_sensitivity_at_specificity
        contrib.metrics.streaming_sparse_average_precision_at_k
        contrib.metrics.streaming_sparse_precision_at_k contrib.metrics.streaming_sparse_recall_at_k
        contrib.metrics.streaming_specificity_at_sensitivity contrib.metrics.streaming_true_negatives
        contrib.metrics.streaming_true_negatives_at_thresholds contrib.metrics.streaming_true_positives
        contrib.metrics.streaming_true_positives_at_thresholds""",
}
EXEMPT = {name for names in DIFFERENCES.values() for name in names.split()}
WITHOUT_EFFECT = {
    "allow_fast_lookup",
    "bad_indices_policy",
    "dim",
    "experimental_enable_variable_lifting",
    "layout",
    "support_partition",
    "use_own_namescope_for_non_slot_vars",
}
"""Last parameters that we may leave out: new ones that would change nothing here, and an old name of `axis`."""


def functions(file: str, root: ModuleType) -> Iterator[tuple[str, Callable[..., Any], list[str]]]:
    """The functions that both have: TensorFlow's name, ours, and the parameters of TensorFlow's."""
    for line in (Path(__file__).parent / "signatures" / f"{file}.txt").read_text().splitlines():
        name, *parameters = line.split()
        function = reduce(lambda value, part: getattr(value, part, None), name.split("."), root)
        if callable(function) and name not in EXEMPT:
            yield name, function, parameters


@pytest.mark.parametrize(("file", "root", "least"), [("today", pb, 500), ("v1", v1, 500), ("contrib", v1, 100)])
def test_functions_take_the_parameters_of_tensorflows_in_their_order(file: str, root: ModuleType, least: int) -> None:
    compared, wrong = 0, []
    for name, function, theirs in functions(file, root):
        parameters = list(inspect.signature(function).parameters.values())
        ours = [p.name for p in takewhile(lambda p: p.kind is not p.VAR_POSITIONAL, parameters)]
        theirs = theirs[: len(ours)] if len(ours) < len(parameters) else theirs
        while theirs and theirs[-1] in WITHOUT_EFFECT and theirs[-1] not in ours:
            theirs.pop()
        compared += 1
        if ours[: len(theirs)] != theirs:
            wrong.append(f"{name}: {' '.join(ours)}; TensorFlow: {' '.join(theirs)}")
    assert not wrong
    assert compared > least


IMAGES = np.arange(32, dtype="f").reshape(1, 4, 4, 2) / 10
NONE: dict[str, tuple[Callable[[], Any], float]] = {
    "lrn": (lambda: v1.nn.lrn(IMAGES, depth_radius=None, bias=None, alpha=None, beta=None), 17.822),
    "leaky_relu": (lambda: v1.nn.leaky_relu(IMAGES - 1, alpha=None), 24.2),
    "unique": (lambda: v1.unique(np.array([1, 2, 1]), out_idx=None)[1], 1.0),
    "space_to_depth": (lambda: v1.space_to_depth(IMAGES, 2, data_format=None), 49.6),
    "max_pool": (lambda: v1.nn.max_pool(IMAGES, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", data_format=None), 16.4),
}
"""Sums of magnitudes are TensorFlow 2.21's."""


@pytest.mark.parametrize("name", NONE)
def test_none_is_an_argument_that_was_not_given(name: str) -> None:
    make, expected = NONE[name]
    assert abs(pb.Session(engine="numpy").run(make())).sum() == pytest.approx(expected, rel=1e-4)


def test_the_slope_of_a_leaky_rectifier_may_be_a_tensor() -> None:
    slope = v1.Variable(0.5)
    y = v1.nn.leaky_relu(np.array([-2.0, 3.0], "f"), slope)
    with pb.Session(engine="numpy") as session:
        session.run(slope.initializer)
        assert session.run(y).tolist() == [-1.0, 3.0]
        assert session.run(v1.gradients(y, slope))[0] == -2.0


def test_a_resource_variable_needs_no_known_shape() -> None:
    first = v1.placeholder_with_default(v1.zeros([2, 3]), shape=None)
    v = v1.Variable(first, use_resource=True)
    with pb.Session(engine="numpy") as session:
        session.run(v.initializer)
        assert session.run(v1.assign(v, v1.ones([4]), validate_shape=False)).tolist() == [1.0] * 4
    assert v.shape.rank is None
    with pytest.raises(ValueError, match=r"^Variable: initial_value must have a shape specified"):
        v1.Variable(first)


def test_operations_are_put_where_a_variable_is() -> None:
    v = v1.Variable(1.0, name="v")
    with v1.colocate_with(v):
        assert v1.constant(2.0).op.colocation_groups() == [b"loc:@v"]
