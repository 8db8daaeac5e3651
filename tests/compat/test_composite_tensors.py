"""Composite tensors of programs, and smaller names inside TensorFlow 1: operators, lengths, modes, staging areas."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1 import inner_names
from pullback.core.composite import AbstractComposite

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


def test_tensors_have_the_operators_of_python_2_by_name() -> None:
    x, z = tf.constant([7, -7]), tf.constant([7.0])
    found = pb.Session(engine="numpy").run([x.__div__(2), x.__rdiv__(20), z.__div__(2), z.__rdiv__(2)])
    assert [y.tolist() for y in found] == [[3, -4], [2, -3], [3.5], [pytest.approx(2 / 7)]]
    assert {"__div__", "__rdiv__"} <= pb.Tensor.OVERLOADABLE_OPERATORS
    with pytest.raises(TypeError, match=r"^the truth of int32"):
        x.__nonzero__()


@pytest.mark.usefixtures("installed")
def test_signatures_are_those_of_functions_without_annotations() -> None:
    tf_inspect = importlib.import_module("tensorflow.python.util.tf_inspect")
    assert tf_inspect.getfullargspec(pb.concat) == tf_inspect.getfullargspec(lambda values, axis, name="concat": None)
    assert tf_inspect.getargspec(pb.concat).args == ["values", "axis", "name"]
    assert tf_inspect.getdoc(pb.concat) is not None
    assert tf_inspect.isclass(pb.Tensor)


class Pair(inner_names.CompositeTensor):
    """Two tensors."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def _to_components(self) -> list[Any]:
        return [self.first, self.second]

    @classmethod
    def _from_components(cls, components: Any) -> Any:
        return cls(*components)


@ENGINES
def test_composites_of_programs_go_through_loops_and_branches(engine: str) -> None:
    x = tf.constant(2.0)
    _, last = tf.while_loop(
        lambda i, pair: i < 3,
        lambda i, pair: (i + 1, Pair(pair.second, pair.first * x)),
        (0, Pair(x, tf.constant(1.0))),
    )
    chosen = tf.cond(last.first > 1.0, lambda: last, lambda: Pair(x, x))
    found = [chosen.first, chosen.second, tf.gradients(chosen.second, x)[0]]
    assert pb.Session(engine=engine).run(found) == [2.0, 8.0, 12.0]
    assert isinstance(tf.SparseTensor([[0]], [1.0], [2]), inner_names.CompositeTensor)


def test_a_composite_of_a_program_has_no_one_shape() -> None:
    pair = Pair(tf.constant(1.0), tf.constant(2.0))
    message = r"^while_loop: a shape invariant \(2,\) says nothing of a Pair; leave it out$"
    with pytest.raises(ValueError, match=message):
        tf.while_loop(lambda pair: True, lambda pair: pair, [pair], shape_invariants=[tf.TensorShape([2])])


def test_lengths_as_numbers() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert [tf.compat.dimension_value(n) for n in (x.shape[1], x.shape[0], 4, None)] == [3, None, 4, None]
    assert tf.compat.dimension_at_index(x.shape, 1).value == 3
    assert tf.compat.dimension_at_index(tf.placeholder(tf.float32).shape, 5).value is None
    assert tf.compat.forward_compatible(2019, 1, 1)


@pytest.mark.usefixtures("installed")
def test_modes_are_graphs() -> None:
    context = importlib.import_module("tensorflow.python.eager.context")
    test_util = importlib.import_module("tensorflow.python.framework.test_util")
    with context.graph_mode():
        assert (context.in_eager_mode(), context.in_graph_mode()) == (False, True)
    plain = ["run_all_in_graph_and_eager_modes", "run_deprecated_v1", "deprecated_graph_mode_only"]
    for name in [*plain, "with_control_flow_v2", "enable_control_flow_v2", "enable_output_all_intermediates"]:
        assert getattr(test_util, name)(Pair) is Pair
    for name in ["run_v1_only", "disable_control_flow_v2", "disable_xla"]:
        assert getattr(test_util, name)("a reason")(Pair) is Pair
    with test_util.use_gpu():
        assert test_util.gpu_device_type() == "GPU"
    assert test_util.TensorFlowTestCase is tf.test.TestCase
    assert tf.test.mock.Mock


def test_a_staging_area_gives_structures_in_order() -> None:
    area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], [[2], []], names=["x", "n"])
    x = tf.placeholder(tf.float32, [2])
    put, taken = area.put({"x": x, "n": 7}), area.get()
    assert taken["x"].shape == [2]
    with pb.Session(engine="numpy") as session:
        session.run(put, {x: [1.0, 2.0]})
        session.run(put, {x: [3.0, 4.0]})
        assert session.run(area.size()) == 2
        assert [session.run(taken)["x"].tolist() for _ in range(2)] == [[1.0, 2.0], [3.0, 4.0]]
    (one,) = tf.contrib.staging.StagingArea([tf.float32]).get()
    assert one.shape.rank is None
    with pytest.raises(NotImplementedError, match=r"^StagingArea: memory_limit is not there; give a capacity$"):
        tf.contrib.staging.StagingArea([tf.float32], memory_limit=1)


def test_confusion_matrix_among_contributed_metrics() -> None:
    found = tf.contrib.metrics.confusion_matrix([1, 0], [1, 1], weights=[2, 3])
    assert pb.Session(engine="numpy").run(found).tolist() == [[0, 3], [0, 2]]


def test_a_template_says_whether_its_variables_are_made() -> None:
    template = tf.make_template("t", lambda: tf.get_variable("v", []), create_scope_now_=True)
    assert not template._variables_created
    template()
    assert template._variables_created


def test_what_is_registered_has_the_methods_of_a_composite() -> None:
    slices = pb.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]))
    assert not isinstance(slices, AbstractComposite)
    assert pb.Session(engine="numpy").run(
        tf.cond(tf.constant(True), lambda: slices, lambda: slices)
    ).indices.tolist() == [1]
