"""TensorFlow's parameters with their defaults, those of today or of version 1 where only that has the function."""

from __future__ import annotations

import inspect
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
