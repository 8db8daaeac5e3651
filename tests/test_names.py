"""Programs that come from TensorFlow: names, the order of arguments, defaults, and what is taken or refused."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb

SIGNATURES = {
    "Session": "target='', graph=None, config=None",
    "Variable": (
        "initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None, "
        "variable_def=None, dtype=None, import_scope=None, constraint=None, synchronization=None, "
        "aggregation=None, shape=None"
    ),
    "abs": "x, name=None",
    "add": "x, y, name=None",
    "add_n": "inputs, name=None",
    "argmax": "input, axis=None, output_type=int64, name=None",
    "argmin": "input, axis=None, output_type=int64, name=None",
    "argsort": "values, axis=-1, direction='ASCENDING', stable=False, name=None",
    "assert_equal": "x, y, message=None, summarize=None, name=None",
    "assert_positive": "x, data=None, summarize=None, message=None, name=None",
    "assert_scalar": "tensor, name=None, message=None",
    "assign": "ref, value, validate_shape=None, use_locking=None, name=None",
    "assign_add": "ref, value, use_locking=None, name=None",
    "assign_sub": "ref, value, use_locking=None, name=None",
    "batch_to_space_nd": "input, block_shape, crops, name=None",
    "boolean_mask": "tensor, mask, axis=None, name='boolean_mask'",
    "broadcast_to": "input, shape, name=None",
    "case": "pred_fn_pairs, default=None, exclusive=False, strict=False, name='case'",
    "cast": "x, dtype, name=None",
    "clip_by_global_norm": "t_list, clip_norm, use_norm=None, name=None",
    "clip_by_norm": "t, clip_norm, axes=None, name=None",
    "clip_by_value": "t, clip_value_min, clip_value_max, name=None",
    "concat": "values, axis, name='concat'",
    "cond": "pred, true_fn=None, false_fn=None, name=None",
    "confusion_matrix": "labels, predictions, num_classes=None, dtype=int32, name=None, weights=None",
    "constant": "value, dtype=None, shape=None, name='Const'",
    "control_dependencies": "control_inputs",
    "convert_to_tensor": "value, dtype=None, dtype_hint=None, name=None",
    "cumsum": "x, axis=0, exclusive=False, reverse=False, name=None",
    "depth_to_space": "input, block_size, name=None, data_format='NHWC'",
    "dynamic_partition": "data, partitions, num_partitions, name=None",
    "dynamic_stitch": "indices, data, name=None",
    "einsum": "equation, *inputs",
    "expand_dims": "input, axis, name=None",
    "eye": "num_rows, num_columns=None, batch_shape=None, dtype=float32, name=None",
    "fill": "dims, value, name=None",
    "foldl": "fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None",
    "foldr": "fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None",
    "gather": "params, indices, validate_indices=None, axis=None, batch_dims=0, name=None",
    "gather_nd": "params, indices, batch_dims=0, name=None, bad_indices_policy=''",
    "get_collection": "key, scope=None",
    "get_variable": (
        "name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None, "
        "caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None, "
        "constraint=None, synchronization=None, aggregation=None"
    ),
    "gradients": (
        "ys, xs, grad_ys=None, name='gradients', colocate_gradients_with_ops=False, gate_gradients=False, "
        "aggregation_method=None, stop_gradients=None, unconnected_gradients=<UnconnectedGradients.NONE: 'none'>"
    ),
    "greater": "x, y, name=None",
    "hessians": (
        "ys, xs, name='hessians', colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None"
    ),
    "identity": "input, name=None",
    "linalg.cholesky": "input, name=None",
    "linalg.inv": "input, adjoint=False, name=None",
    "linalg.norm": "tensor, ord='euclidean', axis=None, keepdims=None, name=None",
    "linalg.solve": "matrix, rhs, adjoint=False, name=None",
    "linalg.svd": "tensor, full_matrices=False, compute_uv=True, name=None",
    "linalg.triangular_solve": "matrix, rhs, lower=True, adjoint=False, name=None",
    "linspace": "start, stop, num, name=None, axis=0",
    "logical_and": "x, y, name=None",
    "losses.mean_squared_error": (
        "labels, predictions, weights=1.0, scope=None, loss_collection='losses', "
        "reduction='weighted_sum_by_nonzero_weights'"
    ),
    "losses.softmax_cross_entropy": (
        "onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection='losses', "
        "reduction='weighted_sum_by_nonzero_weights'"
    ),
    "map_fn": (
        "fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, "
        "name=None, fn_output_signature=None"
    ),
    "math.confusion_matrix": "labels, predictions, num_classes=None, weights=None, dtype=int32, name=None",
    "math.top_k": "input, k=1, sorted=True, index_type=int32, name=None",
    "math.unsorted_segment_sum": "data, segment_ids, num_segments, name=None",
    "matmul": (
        "a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False, "
        "b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None"
    ),
    "maximum": "x, y, name=None",
    "meshgrid": "*args",
    "multinomial": "logits, num_samples, seed=None, name=None, output_dtype=None",
    "multiply": "x, y, name=None",
    "nest.flatten": "structure, expand_composites=False",
    "nest.map_structure": "func, *structure",
    "nest.pack_sequence_as": "structure, flat_sequence, expand_composites=False",
    "nn.avg_pool": "input, ksize, strides, padding, data_format=None, name=None",
    "nn.batch_normalization": "x, mean, variance, offset, scale, variance_epsilon, name=None",
    "nn.bias_add": "value, bias, data_format=None, name=None",
    "nn.conv2d": "input, filters, strides, padding, data_format='NHWC', dilations=None, name=None",
    "nn.conv2d_transpose": (
        "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, name=None"
    ),
    "nn.dropout": "x, rate, noise_shape=None, seed=None, name=None",
    "nn.embedding_lookup": "params, ids, max_norm=None, name=None",
    "nn.l2_normalize": "x, axis=None, epsilon=1e-12, name=None",
    "nn.log_softmax": "logits, axis=None, name=None",
    "nn.max_pool": "input, ksize, strides, padding, data_format=None, name=None",
    "nn.moments": "x, axes, shift=None, keepdims=False, name=None",
    "nn.relu": "features, name=None",
    "nn.sigmoid_cross_entropy_with_logits": "labels=None, logits=None, name=None",
    "nn.softmax": "logits, axis=None, name=None",
    "nn.softmax_cross_entropy_with_logits": "labels, logits, axis=-1, name=None",
    "nn.sparse_softmax_cross_entropy_with_logits": "labels, logits, name=None",
    "nn.top_k": "input, k=1, sorted=True, index_type=int32, name=None",
    "one_hot": "indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None",
    "ones": "shape, dtype=float32, name=None",
    "ones_like": "input, dtype=None, name=None",
    "pad": "tensor, paddings, mode='CONSTANT', constant_values=0, name=None",
    "placeholder": "dtype, shape=None, name=None",
    "placeholder_with_default": "input, shape, name=None",
    "pow": "x, y, name=None",
    "random.categorical": "logits, num_samples, dtype=None, seed=None, name=None",
    "random.stateless_uniform": "shape, seed, minval=0, maxval=None, dtype=float32, name=None, alg='auto_select'",
    "random_normal": "shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None",
    "random_poisson": "lam, shape, dtype=float32, seed=None, name=None",
    "random_shuffle": "value, seed=None, name=None",
    "random_uniform": "shape, minval=0, maxval=None, dtype=float32, seed=None, name=None",
    "range": "start, limit=None, delta=1, dtype=None, name='range'",
    "reduce_all": "input_tensor, axis=None, keepdims=False, name=None",
    "reduce_logsumexp": "input_tensor, axis=None, keepdims=False, name=None",
    "reduce_max": "input_tensor, axis=None, keepdims=False, name=None",
    "reduce_mean": "input_tensor, axis=None, keepdims=False, name=None",
    "reduce_prod": "input_tensor, axis=None, keepdims=False, name=None",
    "reduce_sum": "input_tensor, axis=None, keepdims=False, name=None",
    "repeat": "input, repeats, axis=None, name=None",
    "reshape": "tensor, shape, name=None",
    "reverse": "tensor, axis, name=None",
    "reverse_sequence": "input, seq_lengths, seq_axis=None, batch_axis=None, name=None",
    "roll": "input, shift, axis, name=None",
    "scan": (
        "fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, "
        "infer_shape=True, reverse=False, name=None"
    ),
    "scatter_nd": "indices, updates, shape, bad_indices_policy='', name=None",
    "scatter_update": "ref, indices, updates, use_locking=True, name=None",
    "sequence_mask": "lengths, maxlen=None, dtype=bool, name=None",
    "shape": "input, out_type=None, name=None",
    "size": "input, out_type=None, name=None",
    "slice": "input_, begin, size, name=None",
    "sort": "values, axis=-1, direction='ASCENDING', name=None",
    "sparse.segment_sum": "data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False",
    "sparse_segment_sum": "data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False",
    "split": "value, num_or_size_splits, axis=0, num=None, name='split'",
    "squeeze": "input, axis=None, name=None",
    "stack": "values, axis=0, name='stack'",
    "stop_gradient": "input, name=None",
    "strided_slice": (
        "input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, "
        "shrink_axis_mask=0, var=None, name=None"
    ),
    "tensor_scatter_nd_add": "tensor, indices, updates, bad_indices_policy='', name=None",
    "tensordot": "a, b, axes, name=None",
    "tile": "input, multiples, name=None",
    "to_float": "x, name='ToFloat'",
    "train.AdagradOptimizer": "learning_rate, initial_accumulator_value=0.1, use_locking=False, name='Adagrad'",
    "train.ExponentialMovingAverage": "decay, num_updates=None, zero_debias=False, name='ExponentialMovingAverage'",
    "train.GradientDescentOptimizer": "learning_rate, use_locking=False, name='GradientDescent'",
    "train.MomentumOptimizer": "learning_rate, momentum, use_locking=False, name='Momentum', use_nesterov=False",
    "train.RMSPropOptimizer": (
        "learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, name='RMSProp'"
    ),
    "train.Saver": (
        "var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0, "
        "name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False, "
        "allow_empty=False, write_version=None, pad_step_number=False, save_relative_paths=False, filename=None"
    ),
    "train.cosine_decay": "learning_rate, global_step, decay_steps, alpha=0.0, name=None",
    "train.exponential_decay": "learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None",
    "train.piecewise_constant": "x, boundaries, values, name=None",
    "train.polynomial_decay": (
        "learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None"
    ),
    "transpose": "a, perm=None, conjugate=False, name='transpose'",
    "truncated_normal": "shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None",
    "tuple": "tensors, control_inputs=None, name=None",
    "unique": "x, out_idx=int32, name=None",
    "unstack": "value, num=None, axis=0, name='unstack'",
    "variable_scope": (
        "name_or_scope, default_name=None, values=None, initializer=None, regularizer=None, caching_device=None, "
        "partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None, "
        "auxiliary_name_scope=True"
    ),
    "where": "condition, x=None, y=None, name=None",
    "while_loop": (
        "cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, "
        "maximum_iterations=None, name=None"
    ),
    "zeros": "shape, dtype=float32, name=None",
}
"""The parameters of TensorFlow's functions: today's, or of version 1 where only that has them. Ours may have more."""


def named(path: str) -> Any:
    value: Any = pb
    for part in path.split("."):
        value = getattr(value, part)
    return value


def parameters(function: Any) -> str:
    return ", ".join(shown(p) for p in inspect.signature(function).parameters.values())


def shown(p: inspect.Parameter) -> str:
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    default = p.default.name if isinstance(p.default, np.dtype) else repr(p.default)
    return f"{star}{p.name}" if p.default is p.empty else f"{p.name}={default}"


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_function_begins_with_the_parameters_of_tensorflow(name: str) -> None:
    assert f"{parameters(named(name))}, ".startswith(f"{SIGNATURES[name]}, ")


# The same names by another import


def test_a_program_that_imports_version_1_runs_with_another_import() -> None:
    program = """
import pullback.compat.v1 as tf
tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_or_create_global_step())
config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([step, loss], feed_dict={x: [[1.0, 0.0]]})[1], sess.run("w:0").tolist())
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out == "1.0 [[1.0], [0.0]]\n"


def test_compat_v1_is_pullback_itself() -> None:
    assert pb.compat.v1.placeholder is pb.placeholder
    assert pb.compat.v1.train.Saver is pb.train.Saver
    assert pb.compat.v1.__all__ == pb.__all__
    with pytest.raises(AttributeError, match="module 'pullback' has no attribute 'queue'"):
        _ = pb.compat.v1.queue


def test_dtypes_have_their_namespace_and_their_old_names() -> None:
    assert pb.dtypes.as_dtype("half") is pb.half is pb.dtypes.float16
    assert pb.double is pb.float64
    assert pb.to_bfloat16(1.0).dtype == pb.bfloat16


# Tensors


def test_set_shape_does_nothing_where_the_shape_says_it_already() -> None:
    x = pb.placeholder(pb.float32, [2, None])
    x.set_shape([2, None])
    x.set_shape(None)
    assert x.ndim == 2
    assert pb.placeholder(pb.float32).ndim is None


def test_set_shape_refuses_what_cannot_be() -> None:
    x = pb.placeholder(pb.float32, [2, None], name="x")
    with pytest.raises(ValueError, match=r"Shapes \(2, None\) and \(3, None\) are not compatible"):
        x.set_shape([3, None])
    with pytest.raises(ValueError, match=r"use pb.Variable\(..., shape=\)"):
        pb.Variable(np.zeros(2), validate_shape=False).set_shape([2])


def test_a_reference_stands_for_a_tensor_or_a_variable_in_sets() -> None:
    x, v = pb.constant(1.0), pb.Variable(1.0)
    assert {x.ref(), x.ref(), v.ref()} == {x.ref(), v.ref()}
    assert x.ref().deref() is x
    assert v.ref().deref() == v


def test_is_tensor_tells_tensors_from_arrays() -> None:
    sparse = pb.SparseTensor([[0]], [1.0], [2])
    tensors = [pb.constant(1.0), pb.Variable(1.0), sparse, pb.IndexedSlices(pb.constant([1.0]), pb.constant([0]))]
    assert all(pb.is_tensor(x) for x in tensors)
    assert not any(pb.is_tensor(x) for x in [1.0, np.ones(2), [pb.constant(1.0)]])


def test_a_static_value_is_a_copy() -> None:
    x = pb.constant([1, 2])
    value = pb.get_static_value(x)
    assert value is not None
    value[0] = 5
    assert pb.Session(engine="numpy").run(x).tolist() == [1, 2]


# Sessions


def test_the_name_of_a_variable_is_fetched_as_the_variable_is() -> None:
    v = pb.Variable(3.0, name="v")
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(["v:0", v]) == [3.0, 3.0]


def test_soft_placement_can_be_asked_for_by_a_config() -> None:
    with pb.device("/job:far"):
        x = pb.constant(1.0) + 1.0
    config = pb.ConfigProto(allow_soft_placement=False)
    with pytest.raises(ValueError, match="/job:far"):
        pb.Session(config=config, engine="xla").run(x)
    assert pb.Session(config=pb.ConfigProto(), engine="xla").run(x) == 2.0


def test_modes_that_are_not_there_are_refused() -> None:
    with pytest.raises(RuntimeError) as error:
        pb.enable_eager_execution()
    assert str(error.value) == (
        "enable_eager_execution: functions of pullback add to a graph; run it with pb.Session, or wrap them in "
        "pb.function"
    )


# Collections and scopes


def test_values_go_to_several_collections_once() -> None:
    graph = pb.get_default_graph()
    pb.add_to_collections(["a", "b", "a"], 1)
    assert (graph.get_collection("a"), graph.get_collection("b")) == ([1], [1])
    graph.get_collection_ref("a").append(2)
    assert graph.get_collection("a") == [1, 2]
    assert graph.get_all_collection_keys() == ["a", "b"]
    graph.clear_collection("a")
    assert graph.get_collection("a") == []


def test_reuse_variables_holds_to_the_end_of_the_block() -> None:
    with pb.variable_scope("layer"):
        v = pb.get_variable("v", [2])
        pb.get_variable_scope().reuse_variables()
        assert pb.get_variable("v") == v
    with pb.variable_scope("layer"), pytest.raises(ValueError, match="already exists"):
        pb.get_variable("v", [2])


def test_reuse_variables_of_another_scope_is_refused() -> None:
    with pb.variable_scope("layer") as scope:
        pass
    with pytest.raises(ValueError, match="'layer' is not the innermost scope; pass reuse=True"):
        scope.reuse_variables()


def test_a_scope_knows_its_variables() -> None:
    other = pb.get_variable("layer_2", [2])
    with pb.variable_scope("layer") as scope:
        v = pb.get_variable("v", [2])
        local = pb.get_local_variable("n", [])
    assert (scope.global_variables(), scope.trainable_variables(), scope.local_variables()) == ([v], [v], [local])
    assert pb.global_variables() == [other, v]


# Arguments that are honoured or refused


@pytest.mark.parametrize(
    "call",
    [
        lambda policy: pb.scatter_nd([[0]], [1.0], [2], policy),
        lambda policy: pb.tensor_scatter_nd_add([1.0], [[0]], [1.0], policy),
        lambda policy: pb.tensor_scatter_nd_sub([1.0], [[0]], [1.0], policy),
        lambda policy: pb.tensor_scatter_nd_max([1.0], [[0]], [1.0], policy),
        lambda policy: pb.tensor_scatter_nd_min([1.0], [[0]], [1.0], policy),
    ],
)
def test_a_policy_for_bad_indices_stands_before_the_name(call: Any) -> None:
    assert call("DEFAULT").shape.rank == 1
    with pytest.raises(ValueError, match="bad_indices_policy must be '' or 'DEFAULT', not 'IGNORE'"):
        call("IGNORE")


def test_other_random_algorithms_are_refused() -> None:
    run = pb.Session(engine="numpy").run
    a, b = (pb.random.stateless_uniform([2], [1, 2], alg=alg) for alg in ("auto_select", "threefry"))
    assert run(a).tolist() == run(b).tolist()
    with pytest.raises(ValueError, match="stateless_normal: alg must be 'auto_select' or 'threefry', not 'philox'"):
        pb.random.stateless_normal([2], [1, 2], alg="philox")


def test_composites_are_leaves_of_nests() -> None:
    assert pb.nest.flatten([1, [2]], False) == [1, 2]
    with pytest.raises(NotImplementedError) as error:
        pb.nest.flatten([1], expand_composites=True)
    assert str(error.value) == "nest.flatten: expand_composites=True is not supported; IndexedSlices are leaves"


def test_the_data_of_an_old_assertion_is_shown_in_place_of_what_is_compared() -> None:
    x = pb.placeholder(pb.float32, [])
    check = pb.assert_positive(x, [pb.constant(7), "seven"])
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"x > 0 did not hold\. x: seven 7"):
        pb.Session(engine="numpy").run(check, {x: -1.0})


def saved(saver: Any, session: Any, folder: Path, steps: int) -> list[str]:
    for step in range(steps):
        saver.save(session, folder / "model", step)
    return sorted(path.name for path in folder.iterdir() if path.suffix)


def initialized() -> Any:
    pb.Variable(1.0)
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session


def test_a_saver_pads_the_step_and_keeps_as_many_files_as_it_is_told(tmp_path: Path) -> None:
    session = initialized()
    saver = pb.train.Saver(max_to_keep=2, pad_step_number=True)
    assert saved(saver, session, tmp_path, 3) == ["model-00000001.npz", "model-00000002.npz"]


def test_a_saver_lets_a_file_stay_for_each_of_the_hours_it_is_told(tmp_path: Path) -> None:
    session = initialized()
    saver = pb.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=-1.0)
    assert saved(saver, session, tmp_path, 3) == ["model-0.npz", "model-1.npz", "model-2.npz"]
    with pytest.raises(ValueError, match="saver_def, builder and defer_build are not supported"):
        pb.train.Saver(defer_build=True)


# Moving averages


def test_averages_of_tensors_start_from_zero_and_move_faster_at_first() -> None:
    count = pb.Variable(0.0, trainable=False)
    x = pb.placeholder_with_default(8.0, [])
    averages = pb.train.ExponentialMovingAverage(0.9, num_updates=count)
    update = averages.apply([x])
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    session.run(update)
    np.testing.assert_allclose(session.run(averages.average(x)), 8.0 * 0.9)
    assert averages.average(pb.constant(1.0)) is None


def test_averages_are_restored_in_place_of_what_they_are_averages_of() -> None:
    w, n = pb.Variable(1.0, name="w"), pb.Variable(0, trainable=False, name="n")
    averages = pb.train.ExponentialMovingAverage(0.9)
    averages.apply()
    assert averages.variables_to_restore() == {"w/ExponentialMovingAverage": w, "n": n}


def test_averages_without_bias_are_refused() -> None:
    with pytest.raises(ValueError, match=r"zero_debias=True is not supported; divide the average by 1 - decay"):
        pb.train.ExponentialMovingAverage(0.9, zero_debias=True)


# Small functions


def test_division_of_python_2_rounds_integers_down() -> None:
    run = pb.Session(engine="numpy").run
    assert run([pb.div(-7, 2), pb.div(-7.0, 2.0)]) == [-4, -3.5]


def test_shapes_broadcast_while_a_graph_runs() -> None:
    x = pb.placeholder(pb.int32, [None])
    y = pb.broadcast_dynamic_shape(x, [4, 1, 3])
    run = pb.Session(engine="numpy").run
    assert [run(y, {x: dims}).tolist() for dims in ([1], [2, 3], [5, 1, 1, 1])] == [[4, 1, 3], [4, 2, 3], [5, 4, 1, 3]]


def test_positions_become_coordinates() -> None:
    found = pb.Session(engine="numpy").run([pb.unravel_index(5, [2, 3]), pb.unravel_index([5, 1], [2, 3])])
    assert [x.tolist() for x in found] == [[1, 2], [[1, 0], [2, 1]]]


def test_a_tuple_waits_for_all_and_keeps_none_and_slices() -> None:
    v = pb.Variable(1.0)
    slices = pb.IndexedSlices(pb.constant([2.0]), pb.constant([0]))
    x, nothing, kept = pb.tuple([pb.constant(3.0), None, slices], control_inputs=[v.assign(5.0).op])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    assert session.run(x) == 3.0
    assert session.run(v) == 5.0
    assert nothing is None
    assert isinstance(kept, pb.IndexedSlices)


def test_matrices_are_orthogonal_whichever_side_is_longer() -> None:
    session = pb.Session(engine="numpy")
    wide = session.run(pb.initializers.orthogonal(2.0)([2, 5], pb.float64))
    tall = session.run(pb.initializers.orthogonal()([2, 3, 4], pb.float64)).reshape(6, 4)
    np.testing.assert_allclose(wide @ wide.T, 4.0 * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(tall.T @ tall, np.eye(4), atol=1e-12)


def test_images_are_resized_by_the_number_of_the_method() -> None:
    image = np.arange(16.0, dtype=np.float32).reshape(4, 4, 1)
    run = pb.Session(engine="numpy").run
    assert run(pb.image.resize_images(image, [2, 2], 1)).reshape(-1).tolist() == [0.0, 2.0, 8.0, 10.0]
    with pytest.raises(ValueError, match="method must be one of"):
        pb.image.resize_images(image, [2, 2], 4)


def test_a_polynomial_has_derivatives_by_its_coefficients() -> None:
    x, a = pb.constant(3.0), pb.constant(2.0)
    y = pb.math.polyval([a, 1.0, 5.0], x)
    assert pb.Session(engine="numpy").run([y, *pb.gradients(y, [x, a])]) == [26.0, 13.0, 9.0]


# Sparse tensors and templates


def test_a_sparse_tensor_is_fed_by_its_three_arrays() -> None:
    x = pb.sparse_placeholder(pb.float32, [None, 2])
    y = pb.sparse_tensor_to_dense(pb.sparse_retain(2.0 * x, x.values > 1.0))
    run = pb.Session(engine="numpy").run
    value = pb.SparseTensorValue([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    assert run(y, {x: value}).tolist() == [[0.0, 0.0], [0.0, 0.0], [4.0, 0.0]]
    assert pb.sparse_placeholder(pb.float32, [3, 2]).shape == [3, 2]
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        run(y, {x: np.ones(2)})
    assert str(error.value) == (
        "cannot feed ndarray to SparseTensor(float32[?,?], ? values). "
        "Give SparseTensorValue(indices, values, dense_shape), or a tuple of the three."
    )


def test_a_template_makes_its_variables_once() -> None:
    layer = pb.make_template("layer", lambda x, units: x * pb.get_variable("w", [units]), units=2)
    other = pb.make_template("layer", lambda x: x * pb.get_variable("w", [3]))
    layer(layer(1.0))
    other(1.0)
    assert [v.name for v in pb.global_variables()] == ["layer/w:0", "layer_1/w:0"]
    assert layer.trainable_variables == layer.variables == pb.global_variables()[:1]


def test_a_template_refuses_variables_that_its_first_call_has_not_made() -> None:
    layer = pb.make_template("layer", lambda name: pb.get_variable(name, []), create_scope_now_=True)
    layer("v")
    with pytest.raises(ValueError, match="Variable layer/w does not exist"):
        layer("w")


@pytest.mark.parametrize("used", ["", "pb.get_variable; "])
def test_the_layers_of_tensorflow_are_not_there_whatever_was_used_before(used: str) -> None:
    program = f"import pullback as pb\n{used}pb.layers.dense"
    error = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert "make variables with pb.get_variable, and layers of the functions of pb.nn" in error.splitlines()[-1]
