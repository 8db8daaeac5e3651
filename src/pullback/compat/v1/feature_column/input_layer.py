"""Input layers of feature columns: their numbers side by side; what they read of serialized examples.

>>> import pullback.compat.v1 as tf
>>> columns = tf.feature_column
>>> wanted = [columns.numeric_column("price"), columns.numeric_column("age")]
>>> tf.Session().run(columns.input_layer({"price": [[5.0]], "age": [[30.0]]}, wanted))
array([[30.,  5.]], dtype=float32)
>>> columns.make_parse_example_spec(wanted)["age"]
FixedLenFeature(shape=(1,), dtype=dtype('float32'), default_value=None)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pullback as pb

from .columns import AbstractColumn, AbstractDenseColumn, Features, check_of_examples


def input_layer(
    features: Mapping[str, Any],
    feature_columns: AbstractDenseColumn | Iterable[AbstractDenseColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> pb.Tensor:
    """The numbers of the columns side by side, in the order of their names: [batch, any], float32.

    `cols_to_vars` and `cols_to_output_tensors` are filled with the variables and the numbers of each column.

    Raises:
        ValueError: a column is none of numbers, or its feature is not there, or not what it is to be.
    """
    columns = sorted_columns(feature_columns)
    for column in columns:
        check_of_examples(column)
        if not isinstance(column, AbstractDenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    batch = Features(features)
    with pb.variable_scope(None, "input_layer", values=list(features.values())):
        found = []
        for column in columns:
            with pb.variable_scope(None, column.scope_name):
                before = set(pb.global_variables())
                y = flat(column, column.dense(batch, with_model(weight_collections), trainable))
                found.append(y)
                if cols_to_vars is not None:
                    cols_to_vars[column] = [v for v in pb.global_variables() if v not in before]
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = y
        check_batches(columns, found)
        return pb.concat(found, 1)


def make_parse_example_spec(feature_columns: Iterable[AbstractColumn]) -> dict[str, Any]:
    """The features that the columns read of serialized examples, as `tf.parse_example` takes them.

    Raises:
        ValueError: two columns read one feature in different ways, or something is no column.
    """
    spec: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, AbstractColumn):
            raise ValueError(f"All feature_columns must be _FeatureColumn instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if spec.setdefault(key, value) != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {spec[key]}"
                )
    return spec


def sorted_columns(feature_columns: Any) -> list[Any]:
    """The columns in the order of their names; ValueError where something is none, or two have one name."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    columns = [feature_columns] if isinstance(feature_columns, AbstractColumn) else list(feature_columns)
    for column in columns:
        if not isinstance(column, AbstractColumn):
            raise ValueError(
                f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): {column}."
            )
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, AbstractColumn] = {}
    for column in columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually "
                "means that these columns refer to same base feature. Either one must be discarded or a duplicated but "
                "renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    return sorted(columns, key=lambda column: str(column.name))


def flat(column: AbstractDenseColumn, y: pb.Tensor) -> pb.Tensor:
    """The numbers of a column as one row for each example."""
    count = column.variable_shape.num_elements()
    known = y.shape.size(0) if y.shape.rank else None
    batch: Any = pb.shape(y)[0] if known is None else known
    return pb.reshape(y, [batch, count])


def with_model(collections: Sequence[str] | None) -> list[str]:
    """The collections that a variable of a column is in."""
    own = [pb.GraphKeys.GLOBAL_VARIABLES, pb.GraphKeys.MODEL_VARIABLES]
    return [*(collections or ()), *[key for key in own if key not in (collections or ())]]


def check_batches(columns: Sequence[AbstractColumn], found: Sequence[pb.Tensor]) -> None:
    """ValueError where the numbers of examples are known to differ."""
    sizes = [y.shape.size(0) for y in found]
    known = [i for i, n in enumerate(sizes) if n is not None]
    for i in known:
        if sizes[i] != sizes[known[0]]:
            names = f"{columns[known[0]].name}, {columns[i].name}"
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. "
                f"Batch size of columns ({names}): ({sizes[known[0]]}, {sizes[i]})"
            )
