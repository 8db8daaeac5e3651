"""TensorFlow 1 parameters for `pullback.nn`.

>>> import pullback.compat.v1 as tf
>>> nn, session = tf.nn, tf.Session()
>>> logits = tf.constant([[0.0, 0.0]])
>>> [round(float(loss), 4) for loss in session.run([
...     nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=logits)[0],
...     nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)[0],
...     nn.sigmoid_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=logits)[0, 0],
... ])]
[0.6931, 0.6931, 0.6931]
>>> session.run([nn.dropout(tf.ones([2]), keep_prob=1.0), nn.leaky_relu(tf.constant([-1, 2]))])
[array([1., 1.], dtype=float32), array([-0.2,  2. ], dtype=float32)]
>>> tables = [tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [3.0]])]
>>> ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 3], tf.int64), [1, 2])
>>> [x.ravel().tolist() for x in session.run([
...     nn.embedding_lookup(tables, [0, 1, 2, 3]),
...     nn.embedding_lookup_sparse(tables, ids, None, combiner="sum"),
...     nn.safe_embedding_lookup_sparse(tables, ids, combiner="mean", partition_strategy="mod"),
... ])]
[[0.0, 1.0, 2.0, 3.0], [4.0], [2.0]]
>>> weights, biases, inputs = tf.zeros([9, 4]), tf.zeros([9]), tf.zeros([2, 4])
>>> nn.nce_loss(weights, biases, [[1], [2]], inputs, 3, 9).shape
TensorShape([2])
>>> nn.sampled_softmax_loss(weights, biases, [[1], [2]], inputs, 3, 9).shape
TensorShape([2])
>>> labels = tf.SparseTensor([[0, 0]], tf.constant([1]), [1, 1])
>>> steps = tf.zeros([2, 1, 3])
>>> [round(float(x), 4) for x in session.run(nn.ctc_loss(labels, steps, [2]))]
[1.0986]
>>> session.run(nn.ctc_beam_search_decoder(steps, [2], beam_width=2)[0][0]).values.shape
(1,)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pullback as pb

from ... import nn as today
from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import INTEGER
from ...core.typing import TensorLike
from ...layers.losses.ctc_search import searched
from ...primitives.losses.ctc import without_repeats
from ...primitives.sparse.lookup import Lookup, bags_looked_up, bags_looked_up_safely
from .arguments import older
from .backprop import conv2d_backprop_filter as conv2d_backprop_filter
from .backprop import conv2d_backprop_input as conv2d_backprop_input
from .backprop import conv3d_backprop_filter as conv3d_backprop_filter
from .bidirectional import static_bidirectional_rnn as static_bidirectional_rnn
from .composites import of_composites_too, on_composites_too
from .dealt_tables import in_turn, is_dealt_out, of_dtype, places_of, tables_of
from .dilation import with_space_to_batch as with_space_to_batch
from .functions import space_to_batch as space_to_batch
from .raw_rnn import raw_rnn as raw_rnn
from .replica_losses import compute_average_loss as compute_average_loss
from .replica_losses import scale_regularization_loss as scale_regularization_loss
from .row_sums import each_once
from .state_saving_rnn import static_state_saving_rnn as static_state_saving_rnn

conv3d_backprop_filter_v2 = conv3d_backprop_filter
_SOFTMAX = "logits, axis, name, dim:axis"
_POOL = "value:input, ksize, strides, padding, data_format, name, input"
_CONVOLUTION = "input, filter:filters, strides, padding, use_cudnn_on_gpu:, data_format, dilations, name, filters"
_VOLUME = "input, filter:filters, strides, padding, data_format, dilations, name, filters"
_TRANSPOSED = (
    "value:input, filter:filters, output_shape, strides, padding, data_format, name, input, filters, dilations"
)
_LRN = "input, depth_radius, bias, alpha, beta, name"
_BLOCKS = "input, block_size, name, data_format"
_FRACTIONAL = "value, pooling_ratio, pseudo_random, overlapping, deterministic:, seed, seed2:, name"

PARAMETERS = {
    "avg_pool": _POOL,
    "avg_pool2d": _POOL,
    "batch_norm_with_global_normalization": (
        "t:input, m:mean, v:variance, beta, gamma, variance_epsilon, scale_after_normalization, name, input, mean, "
        "variance"
    ),
    "conv1d": "value:input, filters, stride, padding, use_cudnn_on_gpu:, data_format, name, input, dilations",
    "conv2d": _CONVOLUTION,
    "conv2d_transpose": _TRANSPOSED,
    "conv3d": _VOLUME,
    "conv3d_transpose": _TRANSPOSED,
    "convolution": (
        "input, filter:filters, padding, strides, dilation_rate:dilations, name, data_format, filters, dilations"
    ),
    "crelu": "features, name, axis",
    "depth_to_space": _BLOCKS,
    "depthwise_conv2d": "input, filter, strides, padding, rate:dilations, name, data_format, dilations",
    "dilation2d": "input, filter:filters, strides, rates:dilations, padding, name, filters, dilations",
    "erosion2d": "value, kernel:filters, strides, rates:dilations, padding, name",
    "fractional_avg_pool": _FRACTIONAL,
    "fractional_max_pool": _FRACTIONAL,
    "in_top_k": "predictions, targets, k, name",
    "l2_normalize": "x, axis, epsilon, name, dim:axis",
    "local_response_normalization": _LRN,
    "log_softmax": _SOFTMAX,
    "lrn": _LRN,
    "max_pool": _POOL,
    "max_pool_with_argmax": (
        "input, ksize, strides, padding, data_format, Targmax:output_dtype, name, output_dtype, include_batch_in_index"
    ),
    "moments": "x, axes, shift, name, keep_dims:keepdims, keepdims",
    "pool": (
        "input, window_shape, pooling_type, padding, dilation_rate:dilations, strides, name, data_format, dilations"
    ),
    "separable_conv2d": (
        "input, depthwise_filter, pointwise_filter, strides, padding, rate:dilations, name, data_format, dilations"
    ),
    "softmax": _SOFTMAX,
    "softmax_cross_entropy_with_logits_v2": "labels, logits, axis, name, dim:axis",
    "space_to_depth": _BLOCKS,
    "sufficient_statistics": "x, axes, shift, keep_dims:keepdims, name, keepdims",
    "weighted_cross_entropy_with_logits": "labels, logits, pos_weight, name, targets:labels",
    "weighted_moments": "x, axes, frequency_weights, name, keep_dims:keepdims, keepdims",
}


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """As `pb.nn.dropout`, which is given the probability that an element stays; of ragged tensors too.

    Raises:
        ValueError: neither or both of `keep_prob` and `rate` are given.
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError("dropout: give keep_prob, or rate, which is 1 - keep_prob")
    kept: Any = np.asarray(keep_prob) if isinstance(keep_prob, list | tuple) else keep_prob
    if isinstance(x, pb.RaggedTensor):
        return x.with_flat_values(dropout(x.flat_values, kept, noise_shape, seed, name, rate))
    return today.dropout(x, 1 - kept if rate is None else rate, noise_shape, seed, name)


@in_graph_of_inputs
@of_composites_too
def leaky_relu(features: TensorLike, alpha: TensorLike | None = 0.2, name: str | None = None) -> pb.Tensor:
    """As `pb.nn.leaky_relu`; integers become float32, and `alpha` may be a tensor or a variable."""
    x = pb.convert_to_tensor(features)
    floats = pb.cast(x, np.float32) if x.dtype in INTEGER else x
    if isinstance(alpha, pb.Tensor | pb.Variable):
        return pb.maximum(alpha * floats, floats, name or "LeakyRelu")
    return today.leaky_relu(floats, 0.2 if alpha is None else float(np.asarray(alpha)), name)


def softmax_cross_entropy_with_logits(
    _sentinel: None = None,
    labels: Any = None,
    logits: Any = None,
    dim: int | None = None,
    name: str | None = None,
    axis: int | None = None,
) -> pb.Tensor:
    """As `pb.nn.softmax_cross_entropy_with_logits`, but no derivative goes to the labels.

    Raises:
        ValueError: arguments are given without their names.
    """
    _named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    given = [n for n in (axis, dim, -1) if n is not None]
    return today.softmax_cross_entropy_with_logits(pb.stop_gradient(labels), logits, given[0], name)


def sigmoid_cross_entropy_with_logits(
    _sentinel: None = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> pb.Tensor:
    """As `pb.nn.sigmoid_cross_entropy_with_logits`.

    Raises:
        ValueError: arguments are given without their names.
    """
    _named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    return today.sigmoid_cross_entropy_with_logits(labels, logits, name)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: None = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> pb.Tensor:
    """As `pb.nn.sparse_softmax_cross_entropy_with_logits`.

    Raises:
        ValueError: arguments are given without their names.
    """
    _named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return today.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def _named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None or labels is None or logits is None:
        raise ValueError(f"{function}: give labels= and logits= by name, for their order has changed over the years")


_TOO_LONG = "ctc_loss: more labels than steps; with ignore_longer_outputs_than_inputs=True their loss is 0"
_NEGATIVE = "ctc_loss: all labels must be nonnegative integers"
_BEHIND = "ctc_loss: a label stands behind one that is the blank, or beyond the classes, which ends the labels; found"


@in_graph_of_inputs
def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> pb.Tensor:
    """As `pb.nn.ctc_loss` of a SparseTensor of labels, with the last class as blank.

    With `preprocess_collapse_repeated` equal neighbours among the labels are one. More labels than steps are an error
    of the run, and with `ignore_longer_outputs_than_inputs` have the loss 0. Numbers of the blank and beyond end the
    labels of their sequence: a label behind them, or a negative one, is an error of the run.

    Raises:
        UnimplementedError: repeated labels are not to be merged in an alignment.
    """
    if not ctc_merge_repeated:
        raise pb.errors.UnimplementedError("ctc_loss: there are no alignments that do not merge repeated labels")
    given = pb.convert_to_tensor(inputs if logits is None else logits)
    steps, rows = pb.convert_to_tensor(sequence_length), labels.indices[:, 0]
    is_label = labels.values < pb.shape(given, labels.values.dtype)[-1] - 1
    behind = is_label[1:] & ~is_label[:-1] & pb.equal(rows[1:], rows[:-1])
    count, kept = [
        pb.unsorted_segment_sum(x, rows, pb.shape(steps)[0])
        for x in (pb.ones_like(rows), pb.cast(is_label, rows.dtype))
    ]
    available = pb.cast(steps, count.dtype)
    known = pb.sparse_tensor_to_dense(labels)
    if preprocess_collapse_repeated:
        known, kept = without_repeats(known, kept)
    checks = [
        pb.debugging.assert_non_negative(labels.values, message=_NEGATIVE),
        pb.debugging.Assert(pb.logical_not(pb.reduce_any(behind)), [_BEHIND, labels.values]),
    ]
    if not ignore_longer_outputs_than_inputs:
        checks.append(pb.debugging.assert_less_equal(count, available, message=_TOO_LONG))
    with steps.graph.control_dependencies(checks):
        loss = today.ctc_loss(known, given, kept, steps, time_major, blank_index=-1)
    return pb.where(count > available, pb.zeros_like(loss), loss) if ignore_longer_outputs_than_inputs else loss


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> Any:
    """As `pb.nn.ctc_beam_search_decoder`; with `merge_repeated` equal neighbours in the result are taken together."""
    return searched(inputs, sequence_length, beam_width, top_paths, merge_repeated=merge_repeated)


ctc_beam_search_decoder_v2 = today.ctc_beam_search_decoder
ctc_loss_v2 = ctc_loss_v3 = today.ctc_loss


@in_graph_of_inputs
def ctc_loss_dense(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    blank_index: int = 0,
    unique: object = None,
    logits_time_major: bool = True,
    name: str | None = None,
) -> pb.Tensor:
    """As `pb.nn.ctc_loss` of labels [batch, length], with the parameters of `ops.ctc_ops`."""
    return today.ctc_loss(labels, logits, label_length, logit_length, logits_time_major, unique, blank_index, name)


def dense_labels_to_sparse(dense: Any, length: Any) -> pb.SparseTensor:
    """The first `length` labels of each row of `dense` [batch, steps], as a SparseTensor [batch, steps].

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(dense_labels_to_sparse([[1, 3], [4, 0]], [2, 1])).values
    array([1, 3, 4], dtype=int32)
    """
    x = pb.convert_to_tensor(dense)
    places = pb.where(pb.sequence_mask(length, pb.shape(x)[1]))
    return pb.SparseTensor(places, pb.gather_nd(x, places), pb.shape(x, pb.int64))


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:
    """As `pb.nn.embedding_lookup`; several tables hold the rows in turn ("mod"), or one behind the other ("div").

    So do the parts of a variable with a partitioner.

    A list is one of tables, of numbers too: `[[1.0], [2.0]]` are two. Of ragged `ids` it is a ragged tensor of rows.

    Raises:
        ValueError: another strategy.

    >>> import pullback.compat.v1 as tf
    >>> rows = tf.nn.embedding_lookup(tf.constant([[1.0], [2.0]]), tf.ragged.constant([[1, 0], [1]]))
    >>> tf.Session().run(rows).to_list()
    [[[2.0], [1.0]], [[2.0]]]
    """
    if isinstance(ids, pb.RaggedTensor):
        flat = embedding_lookup(params, ids.flat_values, partition_strategy, name, validate_indices, max_norm)
        return ids.with_flat_values(flat)
    tables = tables_of("embedding_lookup", params, partition_strategy)
    if is_dealt_out(tables, partition_strategy):
        ids = places_of(tables, ids)
    return today.embedding_lookup(tables if len(tables) > 1 else tables[0], ids, max_norm, name)


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: Any = None,
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> pb.Tensor:
    """As `pb.nn.embedding_lookup_sparse`; several tables as in `embedding_lookup`.

    Raises:
        ValueError: another strategy.
    """
    del allow_fast_lookup
    tables = tables_of("embedding_lookup_sparse", params, partition_strategy)
    ids = _in_tables(tables, sp_ids, partition_strategy)
    return bags_looked_up(_lookup(tables, max_norm), ids, sp_weights, combiner, name)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: Any = "mean",
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> pb.Tensor:
    """As `pb.nn.safe_embedding_lookup_sparse`; several tables as in `embedding_lookup_sparse`.

    Raises:
        ValueError: another strategy; tables and weights of different dtypes.
    """
    del allow_fast_lookup
    tables = tables_of("safe_embedding_lookup_sparse", embedding_weights, partition_strategy)
    if sparse_weights is not None:
        tables = [of_dtype(table, sparse_weights.dtype) for table in tables]
    if is_dealt_out(tables, partition_strategy):
        if default_id is not None:
            default_id = places_of(tables, pb.convert_to_tensor(default_id, sparse_ids.values.dtype))
        sparse_ids = _in_tables(tables, sparse_ids, partition_strategy)
    lookup = _lookup(tables, max_norm)
    return bags_looked_up_safely(lookup, sparse_ids, sparse_weights, combiner, default_id, name)


def _lookup(tables: Sequence[Any], max_norm: Any) -> Lookup:
    """The rows of tables that stand one behind the other; their derivative has each row once."""
    return each_once(lambda ids: today.embedding_lookup(tables, ids, max_norm))


def _in_tables(tables: Sequence[Any], ids: Any, strategy: str) -> Any:
    """Sparse or ragged ids that count the rows of tables which stand one behind the other; those below 0 stay."""
    if not is_dealt_out(tables, strategy):
        return ids
    places = pb.where(ids.values < 0, ids.values, places_of(tables, ids.values))
    return ids.with_values(places)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
) -> pb.Tensor:
    """As `pb.nn.nce_loss`.

    Raises:
        ValueError: another strategy.
    """
    return today.nce_loss(
        in_turn("nce_loss", weights, partition_strategy, num_classes),
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        name=name or "nce_loss",
    )


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> pb.Tensor:
    """As `pb.nn.sampled_softmax_loss`.

    Raises:
        ValueError: another strategy.
    """
    return today.sampled_softmax_loss(
        in_turn("sampled_softmax_loss", weights, partition_strategy, num_classes),
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        seed=seed,
        name=name or "sampled_softmax_loss",
    )


def __getattr__(name: str) -> Any:
    return on_composites_too(name, older(getattr(today, name), PARAMETERS.get(name)), None)


def __dir__() -> list[str]:
    return dir(today)
