"""TensorFlow's parameters: what is called there by position or by name is called here alike."""

from __future__ import annotations

import ast
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
    "defaults",
    "dim",
    "encoding",
    "experimental_enable_variable_lifting",
    "layout",
    "skip_gradients_aggregation",
    "support_partition",
    "use_pybind11_proto",
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


OTHER_PARAMETERS = {
    "made by functions; programs do not call them": "data.Iterator",
    "the operator's own name of a matrix": """
        linalg.LinearOperatorIdentity.add_to_tensor linalg.LinearOperatorScaledIdentity.add_to_tensor
        linalg.LinearOperatorZeros.add_to_tensor""",
    "a scale of losses is told whether numbers are finite, which TensorFlow asks of the gradients": """
        mixed_precision.DynamicLossScale.update mixed_precision.FixedLossScale.update
        mixed_precision.LossScale.update mixed_precision.MixedPrecisionLossScaleOptimizer""",
    "by a session": "saved_model.save train.Checkpoint.save train.Checkpoint.write",
}
"""Names of version 1 whose parameters are others here, and why."""
OTHER_DEFAULTS = {
    "what None stands for there": "nn.conv1d.data_format random_uniform_initializer.maxval string_split.delimiter",
    "the name of the operation": "parallel_stack.name",
}
"""Those with other defaults, and why."""


def members() -> Iterator[tuple[str, list[inspect.Parameter], list[str]]]:
    """Functions, classes and methods of version 1 that both have: ours, and TensorFlow's parameters with defaults."""
    for line in (Path(__file__).parent / "signatures" / "defaults.txt").read_text().splitlines():
        name, *theirs = line.split()
        place, _, last = name.rpartition(".")
        try:
            owner: Any = reduce(getattr, place.split("."), v1) if place else v1
            ours = list(inspect.signature(getattr(owner, last)).parameters.values())
        except (AttributeError, TypeError, ValueError):
            continue
        ours = ours[1:] if inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, last)) else ours
        if not any(p.kind is p.VAR_POSITIONAL for p in ours):
            yield name, ours, theirs


def test_methods_and_deeper_namespaces_take_the_parameters_of_tensorflows() -> None:
    wrong = {}
    for name, parameters, theirs in members():
        named = any(p.kind is p.VAR_KEYWORD for p in parameters)
        ours = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        wanted = [part.partition("=")[0] for part in theirs]
        while wanted and wanted[-1] in WITHOUT_EFFECT and wanted[-1] not in ours:
            wanted.pop()
        if ours[: len(wanted)] != wanted[: len(ours) if named else None]:
            wrong[name] = f"{' '.join(ours)}; TensorFlow: {' '.join(wanted)}"
    exempt = {name for names in OTHER_PARAMETERS.values() for name in names.split()} | EXEMPT
    assert {name: found for name, found in wrong.items() if name not in exempt} == {}


def test_defaults_are_those_of_tensorflow() -> None:
    compared, wrong = 0, {}
    for name, parameters, theirs in members():
        ours = {p.name: p.default for p in parameters}
        for part in theirs:
            parameter, literal, default = part.partition("=")
            found = ours.get(parameter)
            if literal and type(found) in (bool, int, float, str) and default.lstrip("-") not in ("inf", "nan"):
                compared += 1
                if found != ast.literal_eval(default):
                    wrong[f"{name}.{parameter}"] = f"{found!r}; TensorFlow: {default}"
    exempt = {name for names in OTHER_DEFAULTS.values() for name in names.split()}
    assert {name: found for name, found in wrong.items() if name not in exempt} == {}
    assert compared > 500


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
