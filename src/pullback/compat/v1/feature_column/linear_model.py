"""Linear models of feature columns: a weight for each bucket and each number, added up, and a bias.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> wanted = [columns.numeric_column("age"), columns.categorical_column_with_identity("day", 7)]
>>> y = columns.linear_model({"age": [[30.0]], "day": [[2]]}, wanted)
>>> y.shape, [v.op.name for v in tf.trainable_variables()]
(TensorShape([1, 1]), ['linear_model/age/weights', 'linear_model/day/weights', 'linear_model/bias_weights'])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pullback as pb

from .columns import AbstractCategoricalColumn, AbstractColumn, AbstractDenseColumn, Features, check_of_examples
from .input_layer import check_batches, flat, sorted_columns, with_model


def linear_model(
    features: Mapping[str, Any],
    feature_columns: AbstractColumn | Iterable[AbstractColumn],
    units: int = 1,
    sparse_combiner: Any = "sum",
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> pb.Tensor:
    """The sum over the columns of the weights of an example's buckets, and of its numbers times theirs, plus a bias.

    All weights begin at 0; those of several buckets of one column are combined as `sparse_combiner` says. Shapes: the
    result [batch, units], float32. `cols_to_vars` is filled with the variables of each column, and of "bias".

    Raises:
        ValueError: something is no column, or its feature is not there, or not what it is to be.
    """
    columns = sorted_columns(feature_columns)
    for column in columns:
        check_of_examples(column)
    batch, collections = Features(features), with_model(weight_collections)
    scope, *scopes = [_unique(name) for name in ["linear_model", *[column.scope_name for column in columns]]]
    with pb.name_scope(scope), pb.variable_scope(scope):
        sums, variables = [], {}
        for column, inner in zip(columns, scopes, strict=True):
            with pb.variable_scope(inner):
                weights = _variable("weights", [_rows(column), units], collections, trainable)
                sums.append(_weighted(column, weights, batch, sparse_combiner))
                variables[column] = [weights]
        check_batches(columns, sums)
        bias = _variable("bias_weights", [units], collections, trainable)
        if cols_to_vars is not None:
            cols_to_vars |= {**variables, "bias": [bias]}
        return pb.nn.bias_add(pb.add_n(sums, name="weighted_sum_no_bias"), bias, name="weighted_sum")


def _unique(name: str) -> str:
    """A name that no variable scope had where the model is made; columns of a second model have others, as there."""
    with pb.variable_scope(None, name) as scope:
        return str(scope.name).rpartition("/")[2]


def _rows(column: Any) -> int:
    """How many weights there are for each unit."""
    if isinstance(column, AbstractCategoricalColumn):
        return column.num_buckets
    count: int = column.variable_shape.num_elements()
    return count


def _weighted(column: AbstractColumn, weights: Any, features: Features, combiner: Any) -> pb.Tensor:
    """The weighted sum of one column."""
    if isinstance(column, AbstractCategoricalColumn):
        ids, counted = column.ids(features)
        return pb.nn.safe_embedding_lookup_sparse(
            weights, _matrix(ids), None if counted is None else _matrix(counted), combiner, name="weighted_sum"
        )
    assert isinstance(column, AbstractDenseColumn)
    return pb.matmul(flat(column, column.dense(features, [], True)), weights, name="weighted_sum")


def _matrix(x: pb.SparseTensor) -> pb.SparseTensor:
    """A row for each example."""
    return x if x.shape.rank == 2 else pb.sparse.reshape(x, pb.stack([x.dense_shape[0], -1]))


def _variable(name: str, shape: list[int], collections: list[str], trainable: bool) -> Any:
    return pb.get_variable(
        name, shape, pb.float32, pb.zeros_initializer(), trainable=trainable, collections=collections
    )
