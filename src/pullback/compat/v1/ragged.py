"""`pullback.ragged`, and what TensorFlow 1 has beside it: values of nested lists, feature crosses of ragged rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ... import ragged as today
from ...core.typing import DTypeLike
from . import sparse_crosses


def constant_value(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> Any:
    """The value of a ragged tensor of nested lists, to feed one with; splits are of int64.

    >>> import pullback.compat.v1 as tf
    >>> tf.ragged.constant_value([[1, 2], [], [3]]).row_splits
    array([0, 2, 2, 3])
    """
    with pb.Graph().as_default():
        made = today.constant(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)
        return pb.Session(engine="numpy").run(made)


def cross(inputs: Sequence[Any], name: str | None = None) -> pb.RaggedTensor:
    """For each row all combinations of an element of each input, as texts with "_X_" between them.

    Shapes: `inputs` [rows, any], dense, sparse or ragged. Dtypes: string, or what is cast to int64.

    Raises:
        ValueError: there are no inputs, or one is no matrix. InvalidArgumentError: from a run, if the numbers of rows
            differ.

    >>> import pullback.compat.v1 as tf
    >>> rows = tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.constant([["d"], ["e"]])])
    >>> tf.Session(engine="numpy").run(rows).to_list()
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    return sparse_crosses.of_rows("ragged.cross", inputs, pb.string, sparse_crosses.texts_of(b"_X_"), name)


def cross_hashed(
    inputs: Sequence[Any], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> pb.RaggedTensor:
    """As `cross`, a number of int64 for each combination, below `num_buckets` unless that is 0; they are TensorFlow's.

    Raises:
        ValueError: `num_buckets` is negative, and as for `cross`.
    """
    combined = sparse_crosses.hashes_of("ragged.cross_hashed", num_buckets, hash_key)
    return sparse_crosses.of_rows("ragged.cross_hashed", inputs, pb.int64, combined, name)


def __getattr__(name: str) -> Any:
    return getattr(today, name)


def __dir__() -> list[str]:
    return [*dir(today), "constant_value", "cross", "cross_hashed"]
