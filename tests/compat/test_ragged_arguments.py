"""Functions of TensorFlow 1 take ragged tensors where each value counts by itself. Values are TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pullback.compat.v1 as tf

BY_VALUES: dict[str, tuple[Callable[[Any, Any, Any], Any], Any]] = {
    "where": (lambda x, n, s: tf.where(x > 0, x, -x), [[1.0, 2.0, 3.0], [], [0.5]]),
    "one_hot": (lambda x, n, s: tf.one_hot(n, 2), [[[1.0, 0.0], [0.0, 1.0]], [], [[0.0, 0.0]]]),
    "leaky_relu": (lambda x, n, s: tf.nn.leaky_relu(x, 0.5), [[1.0, -1.0, 3.0], [], [0.5]]),
    "bitcast": (lambda x, n, s: tf.bitcast(tf.bitcast(x, tf.int32), tf.float32), [[1.0, -2.0, 3.0], [], [0.5]]),
    "as_string": (lambda x, n, s: tf.as_string(n), [[b"0", b"1"], [], [b"2"]]),
    "length": (lambda x, n, s: tf.strings.length(s), [[1, 3], [2]]),
    "upper": (lambda x, n, s: tf.strings.upper(s), [[b"A", b"BCA"], [b"X "]]),
    "join": (lambda x, n, s: tf.strings.join([s, s]), [[b"aa", b"bcabca"], [b"x x "]]),
    "substr": (lambda x, n, s: tf.strings.substr(s, 0, 1), [[b"a", b"b"], [b"x"]]),
    "regex_replace": (lambda x, n, s: tf.strings.regex_replace(s, "a", "b"), [[b"b", b"bcb"], [b"x "]]),
    "strip": (lambda x, n, s: tf.strings.strip(s), [[b"a", b"bca"], [b"x"]]),
    "to_hash_bucket_fast": (lambda x, n, s: tf.strings.to_hash_bucket_fast(s, 9), [[3, 5], [8]]),
}


@pytest.mark.parametrize("name", BY_VALUES)
def test_values_are_worked_on_in_their_rows(name: str) -> None:
    make, expected = BY_VALUES[name]
    x, n, s = [
        tf.ragged.constant(rows) for rows in ([[1.0, -2.0, 3.0], [], [0.5]], [[0, 1], [], [2]], [["a", "bca"], ["x "]])
    ]
    assert tf.Session().run(make(x, n, s)).to_list() == expected


def test_places_of_what_is_true_and_counts_of_numbers() -> None:
    x = tf.ragged.constant([[1.0, -2.0, 3.0], [], [0.5]])
    session = tf.Session()
    assert session.run(tf.where(x > 0.7)).tolist() == [[0, 0], [0, 2]]
    assert session.run(tf.math.bincount(tf.ragged.constant([[0, 1], [1]]))).tolist() == [1, 2]
