"""Functions of TensorFlow 1 on ragged tensors: what TensorFlow 2.21 dispatches to them. Values are TensorFlow's."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

X = [[1.0, -2.0, 3.0], [], [0.5, 4.0]]
P = [[0.1, 0.2, 0.3], [], [0.5, 0.4]]
N = [[1, 2, 0], [], [3, 1]]
B = [[True, False, True], [], [False, False]]
S = [["a", "bca"], [], ["x "]]
BY_ELEMENTS = {
    "nn": """
        bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift
    """,
    "n": """
        bitwise.invert strings.as_string
    """,
    "xp": """
        div dtypes.complex floor_div math.add math.atan2 math.divide_no_nan math.divide math.equal math.floordiv
        math.floormod math.greater_equal math.greater math.less_equal math.less math.maximum math.minimum
        math.multiply_no_nan math.multiply math.nextafter math.not_equal math.pow math.squared_difference
        math.subtract math.truediv math.xdivy math.xlog1py math.xlogy realdiv truncatediv truncatemod
    """,
    "s": """
        io.decode_compressed io.encode_base64 strings.length strings.lower strings.strip strings.upper
    """,
    "x": """
        math.abs math.acosh math.angle math.atan math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e
        math.ceil math.conj math.cos math.cosh math.digamma math.erf math.erfc math.exp math.expm1 math.floor
        math.imag math.is_finite math.is_inf math.is_nan math.lgamma math.log1p math.log_sigmoid math.log
        math.negative math.real math.reciprocal_no_nan math.reciprocal math.rint math.round math.rsqrt
        math.sigmoid math.sign math.sin math.sinh math.softplus math.special.bessel_j0 math.special.bessel_j1
        math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e
        math.special.bessel_y0 math.special.bessel_y1 math.special.dawsn math.special.expint
        math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.sqrt math.square math.tan
        math.tanh nn.elu nn.leaky_relu nn.log_softmax nn.relu6 nn.relu nn.selu nn.silu nn.softsign ones_like
        to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64 zeros_like nn.gelu
    """,
    "p": """
        math.acos math.asin math.asinh math.atanh math.erfcinv math.erfinv math.ndtri
    """,
    "bb": """
        math.logical_and math.logical_or math.logical_xor
    """,
    "b": """
        math.logical_not
    """,
}
"""Functions of elements, by what they are given of the above."""
CASES = [
    line.rpartition(" -> ")[::2] for line in (Path(__file__).parent / "ragged_results.txt").read_text().splitlines()
]
"""Expressions, and what TensorFlow gives for them."""


def given() -> dict[str, Any]:
    rows = tf.RaggedTensor.from_row_splits
    return {
        "tf": tf,
        "np": np,
        "RT": tf.RaggedTensor,
        "x": tf.ragged.constant(X),
        "p": tf.ragged.constant(P),
        "n": tf.ragged.constant(N),
        "b": tf.ragged.constant(B),
        "s": tf.ragged.constant(S),
        "nested": tf.ragged.constant([[[1.0, 2.0], []], [], [[3.0]]]),
        "nesteds": tf.ragged.constant([[["a", "b"], []], [["c"]]]),
        "uni": rows(np.arange(8, dtype="f").reshape(4, 2), [0, 1, 1, 4]),
        "uni3": rows(np.arange(12, dtype="f").reshape(6, 2), [0, 2, 3, 6]),
        "one": tf.RaggedTensor.from_uniform_row_length(np.arange(3, dtype="f"), 1),
        "imgs": tf.RaggedTensor.from_nested_row_splits(
            np.arange(36, dtype="f").reshape(12, 3), [[0, 2, 4], [0, 3, 6, 9, 12]]
        ),
    }


def shown(value: Any) -> Any:
    """Lists of Python's numbers and texts, these in one list."""
    if hasattr(value, "to_list"):
        return shown(value.to_list())
    if isinstance(value, list | tuple):
        return [shown(x) for x in value]
    if isinstance(value, bytes | str):
        return value if isinstance(value, str) else value.decode()
    array = np.asarray(value)
    return shown(array.ravel().tolist()) if array.dtype == object else np.round(array.astype("d"), 4).tolist()


@pytest.mark.parametrize(("expression", "result"), CASES, ids=[expression for expression, _ in CASES])
def test_functions_take_ragged_tensors(expression: str, result: str) -> None:
    y = eval(expression, given())
    assert shown(tf.Session(engine="numpy").run(y)) == shown(json.loads(result))


@pytest.mark.parametrize("names", BY_ELEMENTS)
def test_functions_of_elements_work_on_the_values_in_their_rows(names: str) -> None:
    found = {}
    for name in BY_ELEMENTS[names].split():
        function = reduce(getattr, name.split("."), tf)
        ragged = [given()[letter] for letter in names]
        try:
            found[name] = function(*ragged), function(*[x.flat_values for x in ragged])
        except Exception as error:
            error.add_note(name)
            raise
    values = tf.Session(engine="numpy").run(found)
    for name, (ragged, dense) in values.items():
        np.testing.assert_array_equal(ragged.values, dense, err_msg=name)
        assert ragged.row_splits.tolist() == [0, len(X[0]), len(X[0]), len(dense)] or names == "s", name


def test_assertions_compare_values() -> None:
    x = given()["x"]
    for check in (tf.debugging.assert_equal, tf.debugging.assert_less_equal, tf.debugging.assert_near):
        tf.Session(engine="numpy").run(check(x, x))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Session(engine="numpy").run(
            tf.debugging.assert_less(x, tf.placeholder_with_default([[0.0], [0.0], [9.0]], [3, 1]))
        )


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda g: tf.split(g["x"], 2), ValueError, "3 rows cannot be divided into 2 equal parts"),
        (lambda g: tf.split(g["x"], 2, axis=1), ValueError, "rows of different lengths cannot be divided"),
        (lambda g: tf.squeeze(g["x"]), ValueError, "the axes must be given"),
        (lambda g: g["x"][:, ::0], ValueError, "a step other than 0"),
        (lambda g: g["x"].with_row_splits_dtype(tf.float32), ValueError, "row splits are int32 or int64"),
        (lambda g: tf.matmul(g["x"], g["x"]), NotImplementedError, "must have the shape"),
        (lambda g: tf.dynamic_partition([1.0], g["n"], 2), ValueError, "partitions are ragged"),
        (lambda g: tf.ragged.cross([]), ValueError, "ragged.cross: the list of inputs is empty"),
        (lambda g: tf.ragged.cross_hashed([g["s"]], -1), ValueError, "num_buckets must not be negative"),
    ],
)
def test_what_cannot_be_done_is_said(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        make(given())


@pytest.mark.parametrize(
    "make",
    [
        lambda x: tf.squeeze(x, 1),
        lambda x: tf.gather(x, [0, 3], axis=1),
        lambda x: tf.batch_gather(x, [[0], [0], [7]]),
        lambda x: tf.split(x, [1, 1], axis=1)[0],
    ],
)
def test_rows_that_are_too_short_or_too_long_are_found_by_the_run(make: Any) -> None:
    lengths = tf.placeholder_with_default(np.array([3, 0, 2]), [3])
    x = tf.RaggedTensor.from_row_lengths(tf.constant([1.0, -2.0, 3.0, 0.5, 4.0]), lengths)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.Session(engine="numpy").run(make(x))


def test_derivatives_go_through_maps_with_ragged_results() -> None:
    x, scale = tf.ragged.constant(X), tf.constant([1.0, 2.0, 3.0])
    spec = tf.RaggedTensorSpec([None], tf.float32)
    y = tf.map_fn(lambda given: given[0] * given[0] * given[1], (x, scale), fn_output_signature=spec)
    dx, dscale = tf.gradients(y.flat_values, [x.flat_values, scale])
    found = tf.Session(engine="numpy").run([y, dx, dscale])
    assert shown(found) == [[[1.0, 4.0, 9.0], [], [0.75, 48.0]], [2.0, -4.0, 6.0, 3.0, 24.0], [14.0, 0.0, 16.25]]


def test_the_value_of_nested_lists() -> None:
    assert tf.ragged.constant_value([[1, 2], []]).to_list() == [[1, 2], []]
    assert tf.ragged.constant_value([[[1.0]], []], ragged_rank=1, inner_shape=[1]).values.shape == (1, 1)
