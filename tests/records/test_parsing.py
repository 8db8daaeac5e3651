"""Serialized examples as tensors: values, types and errors as in TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.core.errors import InvalidArgumentError, ResourceExhaustedError

WRITTEN = bytes.fromhex(
    "0a480a110a0161120c120a0a080000c03f000000c00a1a0a016212151a130a11ffffffffffffffffff01078080808080200a"
    "100a0163120b0a090a0200780a037ac3b60a050a01641200"
)
WRITTEN_SEQUENCE = bytes.fromhex(
    "0a0c0a0a0a016e12051a030a010212160a140a0177120f0a061a040a0201020a051a030a0103",
)
"""What TensorFlow writes: a float, an int64 and a string list and one of no kind; a number, and a list of lists."""


def example(**lists: Any) -> bytes:
    """A serialized example of lists of floats, integers or bytes."""
    kinds = {float: ("float_list", tf.train.FloatList), int: ("int64_list", tf.train.Int64List)}
    features = {}
    for key, values in lists.items():
        field, message = kinds.get(type(values[0]), ("bytes_list", tf.train.BytesList))
        features[key] = tf.train.Feature(**{field: message(value=values)})
    made: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(deterministic=True)
    return made


def parsed(texts: Any, **features: Any) -> dict[str, Any]:
    """The values of a run; of sparse tensors a list of three."""
    function = tf.parse_example if isinstance(texts, list) else tf.parse_single_example
    return shown(tf.Session(engine="numpy").run(function(texts, features)))


def shown(values: dict[str, Any]) -> dict[str, Any]:
    return {k: [a.tolist() for a in v] if isinstance(v, tuple) else np.asarray(v).tolist() for k, v in values.items()}


def refused(texts: Any, **features: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        parsed(texts, **features)
    return str(caught.value).split(" failed on ")[1].partition(": ")[2].partition("\n")[0]


def test_a_message_is_written_as_tensorflow_writes_it() -> None:
    made = tf.train.Example.FromString(example(a=[1.5, -2.0], b=[-1, 7, 2**40], c=[b"\x00x", "zö".encode()]))
    made.features.feature["d"].SetInParent()
    assert made.SerializeToString(deterministic=True) == WRITTEN
    step = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    last = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    lists = tf.train.FeatureLists(feature_list={"w": tf.train.FeatureList(feature=[step, last])})
    context = tf.train.Features(feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[2]))})
    sequence = tf.train.SequenceExample(context=context, feature_lists=lists)
    assert sequence.SerializeToString(deterministic=True) == WRITTEN_SEQUENCE


def test_lists_of_fixed_length_have_their_shape() -> None:
    found = parsed(
        WRITTEN,
        a=tf.FixedLenFeature([2, 1], tf.float32),
        b=tf.FixedLenFeature([3], tf.int64),
        c=tf.FixedLenFeature(2, tf.string),
    )
    assert found == {"a": [[1.5], [-2.0]], "b": [-1, 7, 2**40], "c": [b"\x00x", "zö".encode()]}


def test_a_default_stands_for_a_list_that_is_not_there_or_of_no_kind() -> None:
    default = tf.FixedLenFeature([2], tf.float32, [3.0, 4.0])
    assert parsed(WRITTEN, d=default, e=default, s=tf.FixedLenFeature([], tf.string, "x")) == {
        "d": [3.0, 4.0],
        "e": [3.0, 4.0],
        "s": b"x",
    }
    assert parsed(WRITTEN, d=tf.FixedLenFeature([2], tf.int64, 7)) == {"d": [7, 7]}
    assert parsed(WRITTEN, d=tf.FixedLenFeature([1], tf.int64, tf.zeros([1], tf.int64))) == {"d": [0]}
    with pytest.raises(ValueError, match=r"the default int64.* of feature 'd' must be a constant"):
        parsed(WRITTEN, d=tf.FixedLenFeature([1], tf.int64, tf.placeholder(tf.int64, [1])))


def test_lists_of_any_length_are_sparse() -> None:
    both = [WRITTEN, example(b=[5])]
    features = tf.VarLenFeature(tf.int64)
    assert parsed(both, b=features) == {"b": [[[0, 0], [0, 1], [0, 2], [1, 0]], [-1, 7, 2**40, 5], [2, 3]]}
    assert parsed(WRITTEN, b=features, e=features) == {"b": [[[0], [1], [2]], [-1, 7, 2**40], [3]], "e": [[], [], [0]]}
    assert parsed(both, s=tf.VarLenFeature(tf.string)) == {"s": [[], [], [2, 0]]}


def test_rows_are_filled_up_in_a_batch() -> None:
    both = [WRITTEN, example(b=[5])]
    rows = tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-9)
    assert parsed(both, b=rows) == {"b": [[-1, 7, 2**40], [5, -9, -9]]}
    assert parsed(WRITTEN, a=tf.FixedLenSequenceFeature([1], tf.float32, True)) == {"a": [[1.5], [-2.0]]}
    assert parsed(both, z=tf.FixedLenSequenceFeature([2], tf.string, True)) == {"z": [[], []]}


def test_places_and_values_become_one_sparse_tensor() -> None:
    text = example(i=[5, 1], v=[0.5, 0.25])
    feature = tf.SparseFeature("i", "v", tf.float32, 9)
    assert parsed([text], x=feature) == {"x": [[[0, 1], [0, 5]], [0.25, 0.5], [1, 9]]}
    assert parsed(text, x=feature) == {"x": [[[1], [5]], [0.25, 0.5], [9]]}
    assert parsed(text, x=tf.SparseFeature(["i", "i"], "v", tf.float32, [6, 9], True))["x"][0] == [[5, 5], [1, 1]]
    assert (
        refused(text, x=tf.SparseFeature("i", "v", tf.float32, 5)) == "SparseFeature: a place of 'v' lies outside of 5"
    )
    assert (
        refused(text, x=tf.SparseFeature("no", "v", tf.float32, 5))
        == "SparseFeature: 2 values of 'v' have 0 places of 'no'"
    )


def test_no_examples_are_an_empty_batch() -> None:
    texts = tf.placeholder(tf.string, [None])
    features = {
        "a": tf.FixedLenFeature([2], tf.float32),
        "b": tf.VarLenFeature(tf.int64),
        "c": tf.FixedLenSequenceFeature([], tf.int64, True),
        "x": tf.SparseFeature("i", "v", tf.float32, 9),
    }
    found = tf.Session(engine="numpy").run(tf.parse_example(texts, features), {texts: np.empty(0, object)})
    assert found["a"].shape == (0, 2)
    assert shown(found) == {"a": [], "b": [[], [], [0, 0]], "c": [], "x": [[], [], [0, 9]]}


def test_types_are_known_before_a_run() -> None:
    x = tf.placeholder(tf.string, [5])
    found = tf.parse_example(x, {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.VarLenFeature(tf.string)})
    assert (found["a"].dtype, found["a"].shape) == (tf.float32, [5, 2])
    assert (found["b"].dtype, found["b"].shape.rank) == (tf.string, 2)


def test_sequences_have_a_row_for_each_step() -> None:
    context, sequences = tf.parse_single_sequence_example(
        WRITTEN_SEQUENCE,
        {"n": tf.FixedLenFeature([], tf.int64)},
        {"w": tf.VarLenFeature(tf.int64), "q": tf.FixedLenSequenceFeature([3], tf.int64, allow_missing=True)},
    )
    run = tf.Session(engine="numpy").run
    assert run(context) == {"n": 2}
    assert shown(run(sequences)) == {"w": [[[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2]], "q": []}


def test_a_sequence_that_is_not_there_or_of_other_rows_is_refused() -> None:
    for key, text in (
        ("q", "Feature list 'q' is required but could not be found; pass allow_missing"),
        ("w", "Key: w. Can't parse serialized Example: it has 2 values, and shape [] asks for 1"),
    ):
        features = {key: tf.FixedLenSequenceFeature([], tf.int64)}
        _, found = tf.parse_single_sequence_example(WRITTEN_SEQUENCE, sequence_features=features)
        with pytest.raises(InvalidArgumentError) as caught:
            tf.Session(engine="numpy").run(found)
        assert text in str(caught.value)


def test_what_an_example_lacks_is_named() -> None:
    assert refused(WRITTEN, x=tf.FixedLenFeature([], tf.float32)) == (
        "Feature: x (data type: float32) is required but could not be found."
    )
    assert refused(WRITTEN, a=tf.FixedLenFeature([2], tf.int64)) == (
        "Key: a. Data types don't match: it has a float_list, and is to have a int64_list"
    )
    assert refused([WRITTEN], a=tf.FixedLenFeature([3], tf.float32)) == (
        "Key: a. Can't parse serialized Example: it has 2 values, and shape [3] asks for 3"
    )
    assert refused([WRITTEN], b=tf.FixedLenSequenceFeature([2], tf.int64, True)) == (
        "Key: b. Number of int64 values is not a multiple of stride length: 3 values for rows of shape [2]"
    )
    assert refused(b"xx\xff", a=tf.FixedLenFeature([], tf.float32)) == (
        "Could not parse Example input, value: b'xx\\xff'"
    )


def test_what_cannot_be_described_is_refused_when_the_graph_is_built() -> None:
    for features, error, text in (
        ({}, ValueError, "Missing: features was {}; parse_example needs a description of each"),
        ({"a": 3}, ValueError, "parse_example: 'a' must be a FixedLenFeature or one of its like, not 3"),
        (
            {"a": tf.FixedLenFeature([], tf.int32)},
            TypeError,
            "feature 'a': a feature is float32, int64 or string, not int32; cast() what is parsed",
        ),
        (
            {"a": tf.FixedLenSequenceFeature([], tf.int64)},
            ValueError,
            "Unsupported: FixedLenSequenceFeature requires allow_missing to be True. (key: a)",
        ),
    ):
        with pytest.raises(error) as caught:
            tf.parse_example([WRITTEN], features)
        assert str(caught.value) == text
    with pytest.raises(ValueError, match="serialized must be a vector of texts, not string"):
        tf.parse_example(WRITTEN, {"a": tf.VarLenFeature(tf.int64)})
    with pytest.raises(
        ValueError, match="'a' must be a FixedLenSequenceFeature or a VarLenFeature, not FixedLenFeature"
    ):
        tf.parse_single_sequence_example(WRITTEN, None, {"a": tf.FixedLenFeature([], tf.int64)})


def test_filling_up_is_limited() -> None:
    texts = [example(b=[1] * 1000), *[example(b=[1])] * 100]
    with pb.config.Limits(bytes=100_000), pytest.raises(ResourceExhaustedError, match="more than 100,000 bytes"):
        parsed(texts, b=tf.FixedLenSequenceFeature([], tf.int64, True))


def test_examples_are_parsed_in_a_compiled_program() -> None:
    found = tf.parse_example([WRITTEN, WRITTEN], {"a": tf.FixedLenFeature([2], tf.float32)})
    w = tf.Variable([2.0, 3.0])
    loss = tf.reduce_sum(w * found["a"])
    with tf.Session(engine="xla") as session:
        session.run(w.initializer)
        assert session.run([loss, tf.gradients(loss, w)[0]])[1].tolist() == [3.0, -4.0]
