"""Names that programs take from modules inside TensorFlow 1: resource variables, unknown shapes, tests."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1 import inner_names, moving_averages, python_util, test_decorators
from pullback.compat.v1 import nn as ctc_ops
from pullback.compat.v1.defun import Defun

ENGINES = pytest.mark.parametrize("engine", ["numpy", "xla"])


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("framework.function", "Defun", Defun),
        ("eager.function", "defun", tf.contrib.eager.defun),
        ("ops.resource_variable_ops", "ResourceVariable", tf.Variable),
        ("ops.variables", "VariableV1", tf.Variable),
        ("ops.logging_ops", "print_v2", pb.print),
        ("ops.array_ops", "squeeze_v2", pb.squeeze),
        ("ops.linalg.linalg_impl", "matrix_exponential", pb.linalg.expm),
        ("ops.linalg_ops", "log_matrix_determinant", pb.linalg.slogdet),
        ("framework.test_util", "disable_control_flow_v2", test_decorators.disable_control_flow_v2),
        ("eager.function", "defun", tf.function),
        ("framework.test_util", "TensorFlowTestCase", tf.test.TestCase),
        ("ops.gen_math_ops", "mul", pb.multiply),
        ("ops.random_ops", "random_poisson_v2", pb.random.poisson),
        ("ops.data_flow_ops", "parallel_dynamic_stitch", pb.dynamic_stitch),
        ("ops.array_ops", "tensor_scatter_max", pb.tensor_scatter_nd_max),
        ("ops.array_ops", "tensor_scatter_min", pb.tensor_scatter_nd_min),
        ("ops.ragged.ragged_factory_ops", "constant", pb.ragged.constant),
    ],
)
def test_names_of_inner_modules(module: str, name: str, expected: object) -> None:
    assert getattr(importlib.import_module(f"tensorflow.python.{module}"), name) is expected


@pytest.mark.usefixtures("installed")
def test_what_is_in_no_module_is_named() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tensorflow.python.ops.array_ops' has no attribute 'squash_v2'"):
        _ = importlib.import_module("tensorflow.python.ops.array_ops").squash_v2


@pytest.mark.usefixtures("installed")
def test_shapes_of_which_nothing_is_known() -> None:
    from tensorflow.python.framework import tensor_shape  # type: ignore[import-not-found]

    assert tensor_shape.unknown_shape().ndims is None
    assert tensor_shape.unknown_shape(2).as_list() == tensor_shape.unknown_shape(ndims=2).as_list() == [None, None]


@pytest.mark.usefixtures("installed")
def test_operations_on_the_handles_of_variables() -> None:
    from tensorflow.python.ops import resource_variable_ops as ops  # type: ignore[import-not-found]

    v = ops.ResourceVariable([1.0, 2.0], trainable=False)
    assert ops.is_resource_variable(v)
    steps = [ops.assign_variable_op(v.handle, [5.0, 6.0]), ops.assign_add_variable_op(v.handle, [1.0, 1.0])]
    with pb.control_dependencies(steps):
        y = ops.read_variable_op(v.handle, tf.float32)
    np.testing.assert_array_equal(pb.Session(engine="numpy").run(y), [6.0, 7.0])


def test_arguments_and_lengths_by_the_names_of_modules_inside() -> None:
    class Model:
        def call(self, x: Any, training: bool = False) -> None: ...

    assert inner_names.fn_args(Model().call) == inner_names.fn_args(Model.call) == ("x", "training")
    lengths = inner_names.shape_internal(tf.zeros([2, 3]), optimize=False, out_type=tf.int64)
    assert (lengths.dtype, pb.Session(engine="numpy").run(lengths).tolist()) == (tf.int64, [2, 3])


def test_sessions_fetch_and_feed_objects_of_a_class_that_is_registered() -> None:
    class Interval:
        def __init__(self, low: Any, high: Any) -> None:
            self.low, self.high = low, high

    register = inner_names.register_session_run_conversion_functions
    register(
        Interval,
        lambda interval: ([interval.low, interval.high], tuple),
        lambda interval, value: [(interval.low, value[0]), (interval.high, value[1])],
    )
    given = Interval(tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, []))
    wider = Interval(given.low - 1.0, given.high + 1.0)
    found = pb.Session(engine="numpy").run({"wider": [wider, given.low]}, {given: (2.0, 3.0)})
    assert found == {"wider": [(1.0, 4.0), 2.0]}
    with pytest.raises(ValueError, match="has already been registered so ignore it"):
        register(Interval, lambda interval: ([interval.low], tuple))


def test_what_stands_for_a_tensor_can_copy_its_operators() -> None:
    class Doubled:
        def __init__(self, x: Any) -> None:
            self.x = x

    def copied(name: str) -> Any:
        return lambda self, *others: getattr(pb.Tensor, name)(2.0 * self.x, *others)

    for name in pb.Tensor.OVERLOADABLE_OPERATORS:
        setattr(Doubled, name, copied(name))
    two: Any = Doubled(tf.constant([1.0]))
    assert pb.Session(engine="numpy").run([two + 1.0, 1.0 - two, -two, two[0]]) == [[3.0], [-1.0], [-2.0], 2.0]


def test_hooks_have_their_names_among_estimators_too() -> None:
    assert tf.estimator.SessionRunHook is tf.train.SessionRunHook
    assert tf.estimator.StopAtStepHook is tf.train.StopAtStepHook


@ENGINES
def test_segments_of_a_given_number(engine: str) -> None:
    rows, given = tf.constant([[1.0], [2.0], [4.0]]), ([0, 2, 2, 1], [0, 0, 2, 2], 4)
    found = [
        getattr(inner_names, f"sparse_segment_{how}_with_num_segments")(rows, *given)
        for how in ("sum", "mean", "sqrt_n")
    ]
    wanted = [[5.0, 0.0, 6.0, 0.0], [2.5, 0.0, 3.0, 0.0], [5.0 / 2**0.5, 0.0, 6.0 / 2**0.5, 0.0]]
    for x, expected in zip(pb.Session(engine=engine).run(found), wanted, strict=True):
        np.testing.assert_allclose(x[:, 0], expected, rtol=1e-6)


@ENGINES
def test_bools_are_added_at_indices(engine: str) -> None:
    found = inner_names.scatter_nd_non_aliasing_add([True, False, False], [[1], [1], [2]], [True, True, False])
    assert pb.Session(engine=engine).run(found).tolist() == [True, True, False]


def test_where_joined_tensors_begin() -> None:
    found = inner_names.concat_offset(tf.constant(1), [tf.constant([2, n, 5]) for n in (3, 7, 20)])
    assert [x.tolist() for x in pb.Session(engine="numpy").run(found)] == [[0, 0, 0], [0, 3, 0], [0, 10, 0]]

    found = inner_names.concat_offset(tf.constant(-3), [tf.constant([n, 3]) for n in (1, 2)] * 2)
    for engine in ("numpy", "xla"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Concat dim is out of range: -3 vs. 2"):
            pb.Session(engine=engine).run(found)


@ENGINES
def test_joined_tensors_are_counted_along_an_axis_from_the_end(engine: str) -> None:
    found = inner_names.concat_offset(tf.constant(-2), [tf.constant([2, n, 5]) for n in (3, 7, 20)])
    assert [x.tolist() for x in pb.Session(engine=engine).run(found)] == [[0, 0, 0], [0, 3, 0], [0, 10, 0]]
    differ = inner_names.concat_offset(tf.constant(1), [tf.constant([2, 7, n]) for n in (5, 10)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="All dimensions except"):
        pb.Session(engine=engine).run(differ)


@ENGINES
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([[2], [[2, 7]]], r"concat_offset: input 1 should be a vector, but has the shape \[1, 2\]"),
        ([[[2, 3]], [[2, 7]]], "concat_offset: input [01] should be a vector"),
        ([[2, 3, 5], [2, 7, 5, 10]], "concat_offset: input 1 should contain 3 elements, but has 4"),
    ],
)
def test_a_run_joins_shapes_of_one_rank_only(shapes: list[Any], message: str, engine: str) -> None:
    found = inner_names.concat_offset(tf.constant(1), shapes)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        pb.Session(engine=engine).run(found)


@ENGINES
def test_normal_numbers_are_drawn_between_bounds(engine: str) -> None:
    draw = inner_names.parameterized_truncated_normal
    rows = draw([3, 4000], [0.0, 1.0, -2.0], [1.0, 2.0, 0.5], [-1.0, 9.0, -9.0], [1.0, 9.5, -4.0], seed=3)
    far = draw([1000], 0.0, 1.0, 20.0, 21.0, dtype=tf.float64)
    first, second, (y, z) = *[pb.Session(engine=engine).run(rows) for _ in range(2)], pb.Session().run([far, far])
    np.testing.assert_array_equal(first, second)
    for row, low, high, mean in zip(first, (-1.0, 9.0, -9.0), (1.0, 9.5, -4.0), (0.0, 9.20, -4.12), strict=True):
        assert low <= row.min() < row.max() <= high
        assert abs(row.mean() - mean) < 0.05
    assert 20.0 <= y.min() < y.max() < 21.0
    assert abs(y.mean() - 20.05) < 0.01
    np.testing.assert_array_equal(y, z)


@ENGINES
def test_operations_that_branches_return_stand_for_their_predicates(engine: str) -> None:
    v, p, q = tf.Variable(0.0), tf.placeholder(tf.bool), tf.placeholder(tf.bool, [])
    add = lambda: tf.group(v.assign_add(1.0))  # noqa: E731  (a branch)
    one, some = tf.cond(p, add, tf.no_op), tf.case([(p, add), (q, tf.no_op)], tf.no_op)
    assert [one.dtype, one.shape.rank, tf.cond(q, add, lambda: tf.constant(True)).shape] == [tf.bool, None, []]
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        found = [session.run([one, some], {p: a, q: b}) for a, b in ((True, False), (False, True), (False, False))]
        assert found == [[True, True], [False, True], [False, False]]
        assert session.run(v) == 2.0


def test_the_variables_between_tensors() -> None:
    u, v, w = tf.Variable(1.0), tf.Variable(1.0), tf.Variable(1.0)
    fixed = tf.Variable(1.0, trainable=False)
    x = tf.identity(u)
    assert inner_names._get_dependent_variables([x], [w * x, v + 1.0]) == [v, w]
    assert inner_names._get_dependent_variables([x], [x * 2.0]) == []
    assert inner_names._get_dependent_variables({"x": x}, {"y": (x * v, fixed * 2.0)}) == [v]


@pytest.mark.parametrize(
    ("lengths", "axes", "expected"),
    [([5, 3], [], [5, 3]), ([0, 3], [0], [1, 3]), ([7, 8, 9], [-1, 2, -3], [1, 8, 1]), ([4], 0, [1])],
)
def test_the_shape_of_a_reduction_that_keeps_its_axes(lengths: list[int], axes: Any, expected: list[int]) -> None:
    found = inner_names.reduced_shape(lengths, axes)
    assert pb.Session(engine="numpy").run(found).tolist() == expected


def test_a_weighted_average_begins_without_bias() -> None:
    x, w = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    mean = moving_averages.weighted_moving_average(x, 0.5, w, collections=["averages"])
    assert [v.op.name for v in tf.get_collection("averages")] == [
        "WeightedMovingAvg/value_x_weight",
        "WeightedMovingAvg/weight",
    ]
    session = pb.Session(engine="numpy")
    session.run(tf.variables_initializer(tf.get_collection("averages")))
    assert session.run(mean, {x: 3.0, w: 4.0}) == 3.0
    assert session.run(mean, {x: 9.0, w: 2.0}) == pytest.approx((1.5 * 4.0 + 9.0 * 2.0) / (0.5 * 4.0 + 2.0))


@pytest.mark.parametrize("beside", [True, False])
def test_slots_are_named_after_what_they_belong_to(beside: bool) -> None:
    with tf.device("/device:CPU:1"):
        v = tf.Variable([1.0, 2.0], name="v")
    copy = moving_averages.create_slot(v, v.initialized_value(), "copy", beside)
    other = moving_averages.create_zeros_slot(tf.constant([1, 2], name="c"), "zeros", tf.float64)
    assert (copy.name, copy.trainable, other.name) == ("v/copy:0", False, "c/zeros:0")
    assert copy.device == (v.device if beside else "")
    session = pb.Session(engine="numpy")
    session.run(tf.variables_initializer([copy, other]))
    assert [x.tolist() for x in session.run([copy, other])] == [[1.0, 2.0], [0.0, 0.0]]


def test_scattered_sums_and_rows_in_place_take_the_dtype_of_what_they_change() -> None:
    x = tf.constant([1.0, 2.0])
    made = [
        inner_names.scatter_nd_non_aliasing_add(input=x, indices=[[0], [0]], updates=[3, 4]),
        inner_names.inplace_update(x, 1, 5),
        inner_names.inplace_sub(x, [0], [5]),
    ]
    assert [y.tolist() for y in pb.Session(engine="numpy").run(made)] == [[8.0, 2.0], [1.0, 5.0], [-4.0, 2.0]]


def test_functions_of_version_2_are_those_of_its_namespaces() -> None:
    named = [inner_names.moments_v2, inner_names.dropout_v2, inner_names.concat_v2, inner_names.log_softmax_v2]
    assert named == [pb.nn.moments, pb.nn.dropout, pb.concat, pb.nn.log_softmax]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("random_poisson_v2", "shape lam dtype"),
        ("transpose_v2", "a perm"),
        ("depth_to_space_v2", "input block_size data_format"),
        ("space_to_depth_v2", "input block_size data_format"),
        ("extract_image_patches_v2", "images sizes strides"),
        ("sparse_segment_sum_v2", "data indices segment_ids num_segments"),
        ("assert_rank_at_least_v2", "x rank message"),
        ("assert_near_v2", "x y rtol atol message"),
        ("resize_images_v2", "images size method"),
        ("string_split_v2", "input sep"),
        ("string_length_v2", "input unit"),
        ("substr_v2", "input pos len"),
        ("norm_v2", "tensor ord axis"),
        ("confusion_matrix_v2", "labels predictions num_classes weights"),
    ],
)
def test_parameters_of_functions_of_version_2_are_in_its_order(name: str, parameters: str) -> None:
    found = list(inspect.signature(getattr(inner_names, name)).parameters)
    assert found[: len(parameters.split())] == parameters.split()


def test_an_evaluation_runs_from_a_checkpoint_until_its_hook_stops_it(tmp_path: Path) -> None:
    v = tf.Variable(2.0, name="v")
    saved = tf.train.Saver()
    with tf.Session() as session:
        session.run(v.assign(5.0))
        path = saved.save(session, str(tmp_path / "model"))
    seen = tf.Variable(0.0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    hook = inner_names._StopAfterNEvalsHook(3, log_progress=False)
    found = inner_names._evaluate_once(path, eval_ops=seen.assign_add(v), final_ops={"seen": seen}, hooks=[hook])
    assert found == {"seen": 15.0}
    assert inner_names._get_or_create_eval_step().op.name == "eval_step"


def test_counts_at_thresholds_come_by_short_names() -> None:
    values, updates = inner_names._confusion_matrix_at_thresholds([1, 0], [0.9, 0.6], [0.5, 0.7], includes=["tp", "fp"])
    session = pb.Session(engine="numpy")
    session.run(tf.local_variables_initializer())
    assert {key: x.tolist() for key, x in session.run(updates).items()} == {"tp": [1.0, 1.0], "fp": [1.0, 0.0]}
    assert sorted(values) == ["fp", "tp"]


def test_inputs_of_two_graphs_have_no_graph() -> None:
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(2.0)
    assert inner_names.get_graph_from_inputs([x, [x, 3.0]]) is x.graph
    with pytest.raises(ValueError, match="must be from the same graph"):
        inner_names.get_graph_from_inputs([x, y])


def test_tensors_take_attributes_of_programs() -> None:
    x: Any = tf.constant(1.0)
    x.aliases = ["first"]
    assert (x.aliases, hasattr(x + 1.0, "aliases")) == (["first"], False)


def test_values_of_sparse_tensors_become_such() -> None:
    value = tf.SparseTensorValue([[0, 1]], [2.0], [1, 2])
    assert tf.convert_to_tensor_or_sparse_tensor(value).shape == [1, 2]
    assert tf.SparseTensor.from_value(value).eval(session=pb.Session(engine="numpy")).values.tolist() == [2.0]


def test_a_variable_is_no_part_of_another() -> None:
    v = tf.Variable(1.0)
    assert v._save_slice_info is None
    assert not isinstance(v, inner_names.PartitionedVariable)
    assert isinstance(
        tf.get_variable("w", [2], partitioner=tf.fixed_size_partitioner(2)), inner_names.PartitionedVariable
    )


def test_slots_begin_with_the_shape_of_the_first_value_where_no_other_is_known() -> None:
    n = tf.placeholder_with_default(3, [])
    v = tf.get_variable("v", initializer=tf.ones(tf.stack([n, 2])), validate_shape=False)
    slots = [moving_averages.create_zeros_slot(x, "slot", dtype) for x, dtype in ((v, tf.float64), (v, None))]
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        found = session.run(slots)
    assert [(x.shape, x.dtype.name, x.any()) for x in found] == [((3, 2), "float64", False), ((3, 2), "float32", False)]


def test_the_average_of_a_tensor_is_where_the_program_says() -> None:
    with tf.device("/device:CPU:1"):
        v = tf.Variable(1.0)
    y = v * 2.0
    averages = tf.train.ExponentialMovingAverage(0.5)
    with tf.device("/device:CPU:2"):
        averages.apply([v, y])
    found = [averages.average(x) for x in (v, y)]
    assert [x.device for x in found if x is not None] == ["/device:CPU:1", "/device:CPU:2"]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_labels_of_ctc_may_be_dense_or_sparse(engine: str) -> None:
    logits = tf.constant(np.random.default_rng(3).normal(size=[5, 2, 4]), tf.float32)
    labels, lengths, steps = tf.constant([[1, 2, 1], [3, 0, 0]]), tf.constant([3, 1]), tf.constant([5, 4])
    sparse = ctc_ops.dense_labels_to_sparse(labels, lengths)
    with tf.Session(engine=engine) as session:
        kept = session.run(sparse)
        one, other = session.run(
            [
                ctc_ops.ctc_loss_dense(labels, logits, lengths, steps),
                ctc_ops.ctc_loss_v3(sparse, logits, None, steps, blank_index=0),
            ]
        )
    assert (kept.values.tolist(), kept.dense_shape.tolist()) == ([1, 2, 1, 3], [2, 3])
    np.testing.assert_allclose(one, other, 1e-6)


def test_an_exported_graph_has_what_its_saver_says() -> None:
    pytest.importorskip("tensorboard")
    with tf.device("/device:CPU:0"):
        v = tf.Variable(1.0, name="v")
    tf.add_to_collection("kept", v.value())
    said = tf.train.Saver(max_to_keep=3).as_saver_def()
    made = tf.train.export_meta_graph(clear_devices=True, saver_def=said, collection_list=["kept"])
    assert (made.saver_def, list(made.collection_def)) == (said, ["kept"])
    assert not any(node.device for node in made.graph_def.node)
    assert any(node.device for node in tf.train.export_meta_graph().graph_def.node)


def test_what_is_computed_after_others_is_where_it_is_itself() -> None:
    with tf.device("/job:ps"):
        placed = tf.Variable(1.0)
        slices = tf.IndexedSlices(placed.value(), [0])
    free = tf.Variable(1.0, name="free")
    with tf.device("/job:worker/device:GPU:1"):
        y, z = (python_util.with_dependencies([v.assign(2.0)], v) for v in (placed, free))
        rows = python_util.with_dependencies([placed.assign(2.0)], slices)
        number = python_util.with_dependencies([free.assign(3.0)], 4, name="number")
    assert (y.op.name, z.op.name, number.op.name) == ("control_dependency", "control_dependency_1", "number")
    assert (y.device, z.device, rows.values.device) == ("/job:ps", "", "/job:ps")
    assert z.op.colocation_groups() == [b"loc:@free"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(x) for x in (number, free, z)] == [4, 3.0, 2.0]


def test_a_module_may_ask_for_its_public_names() -> None:
    assert {"Defun", "Path"} <= set(python_util.make_all(__name__))
    assert not any(name.startswith("_") for name in python_util.make_all(__name__))
