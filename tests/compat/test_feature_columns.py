"""Feature columns: buckets, numbers, names of variables and messages are those of TensorFlow 2.21's `compat.v1`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.compat.v1.feature_column.columns import Features

fc = tf.feature_column
PAIRS = [[0, 0], [0, 2], [2, 0]]
EMBEDDED = [
    [1.0, -4.0, -2.0, -1.0, 3.0, -3.0, -2.5, -1.5, -0.5, -0.4036037, 0.7010734],
    [-2.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, -5.0, 0.5, -2.0, 0.0, 1.0, -3.0, -2.0, -1.0, 0.0, 0.0],
]
SLOPES = [18.0, 43.0, 48.0, 21.045666]
LOSSES = [0.69314718, 1.3303119, 1.5181156, 2.1223013]
PREDICTED = [[2.1377501, -0.41512656], [3.1631346, 1.5183926], [6.3978229, 2.4049668]]


def features() -> dict[str, Any]:
    return {
        "age": tf.constant([[17.0], [30.5], [70.0]]),
        "city": tf.constant([["x"], ["y"], ["hello world this is longer"]]),
        "day": tf.constant([[1, 7], [-1, 2], [3, 4]]),
        "far": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "number": tf.constant([[10], [-1], [12]]),
        "tag": tf.SparseTensor(PAIRS, ["x", "y", "zz"], [3, 3]),
        "rate": tf.SparseTensor(PAIRS, [0.5, 2.0, -1.0], [3, 3]),
        "word": tf.constant([["a", "z"], ["", "c"], ["y", "b"]]),
        "pair": tf.constant([["k", "l"], ["", "m"], ["n", "o"]]),
    }


def columns() -> dict[str, Any]:
    age = fc.bucketized_column(fc.numeric_column("age"), [18, 30.5, 60])
    day = fc.categorical_column_with_identity("day", 5, default_value=0)
    tag = fc.categorical_column_with_hash_bucket("tag", 100)
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c"], num_oov_buckets=2)
    return {
        "age": age,
        "city_age": fc.crossed_column(["city", age, "pair"], 1000),
        "day": day,
        "far": fc.numeric_column("far", (2,), normalizer_fn=lambda x: x * 2.0),
        "number": fc.categorical_column_with_hash_bucket("number", 100, tf.int64),
        "rated": fc.weighted_categorical_column(tag, "rate"),
        "tag": tag,
        "word": word,
        "word_day": fc.crossed_column([word, day], 50, hash_key=7),
    }


def run(fetches: Any, feeds: Any = None, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()], feeds)
        return session.run(fetches, feeds)


def ramp(*shape: int) -> Any:
    return tf.constant_initializer((np.arange(np.prod(shape)) % 7 - 3.0).reshape(shape))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("name", "rows", "buckets"),
    [
        ("age", [0, 1, 2], [0, 2, 3]),
        ("city_age", [0, 0, 1, 1, 2, 2], [962, 116, 774, 446, 805, 864]),
        ("day", [0, 0, 1, 2, 2], [1, 0, 2, 3, 4]),
        ("number", [0, 2], [62, 88]),
        ("rated", [0, 0, 2], [70, 5, 42]),
        ("tag", [0, 0, 2], [70, 5, 42]),
        ("word", [0, 0, 1, 2, 2], [0, 4, 2, 4, 1]),
        ("word_day", [0, 0, 0, 0, 1, 2, 2, 2, 2], [33, 18, 37, 46, 49, 35, 26, 19, 41]),
    ],
)
def test_examples_are_in_the_buckets_of_tensorflow(name: str, rows: Any, buckets: Any, engine: str) -> None:
    found = run(columns()[name].ids(Features(features())).id_tensor, engine=engine)
    assert (found.indices[:, 0].tolist(), found.values.tolist()) == (rows, buckets)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_numbers_stand_side_by_side_in_the_order_of_their_names(engine: str) -> None:
    own = columns()
    wanted = [own["far"], own["age"], fc.indicator_column(own["word"]), fc.indicator_column(own["day"])]
    outputs: dict[Any, Any] = {}
    y = fc.input_layer(features(), wanted, cols_to_output_tensors=outputs)
    assert (y.name, y.shape.as_list()) == ("input_layer/concat:0", [3, 16])
    assert [column.name for column in outputs] == ["age_bucketized", "day_indicator", "far", "word_indicator"]
    assert run(y, engine=engine).tolist() == [
        [1, 0, 0, 0, 1, 1, 0, 0, 0, 2, 4, 1, 0, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, 1, 0, 0, 6, 8, 0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 1, 1, 10, 12, 0, 1, 0, 0, 1],
    ]


def test_indicators_add_weights_up() -> None:
    y = run(fc.input_layer(features(), fc.indicator_column(columns()["rated"])))
    assert {(i, j): y[i, j] for i, j in np.argwhere(y).tolist()} == {(0, 5): 2.0, (0, 70): 0.5, (2, 42): -1.0}


def embeddings() -> Any:
    own = columns()
    return [
        fc.embedding_column(own["tag"], 3, initializer=ramp(100, 3)),
        fc.embedding_column(own["rated"], 2, combiner="sqrtn", initializer=ramp(100, 2), max_norm=2.0),
        fc.embedding_column(own["city_age"], 2, combiner="sum", initializer=ramp(1000, 2)),
        *fc.shared_embedding_columns(
            [fc.categorical_column_with_identity(key, 13) for key in ("number", "day")], 2, initializer=ramp(13, 2)
        ),
    ]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_embeddings_and_their_derivatives(engine: str) -> None:
    variables: dict[Any, Any] = {}
    y = fc.input_layer(features(), embeddings(), weight_collections=["mine"], cols_to_vars=variables)
    made = tf.trainable_variables()
    assert [v.op.name for v in made] == [
        "input_layer/age_bucketized_X_city_X_pair_embedding/embedding_weights",
        "input_layer/day_number_shared_embedding/embedding_weights",
        "input_layer/tag_embedding/embedding_weights",
        "input_layer/tag_weighted_by_rate_embedding/embedding_weights",
    ]
    assert made == tf.get_collection("mine") == tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)
    assert [len(v) for v in variables.values()] == [1, 1, 0, 1, 1]
    slopes = tf.gradients(tf.reduce_sum(y * tf.cumsum(tf.ones_like(y), 1)), made)
    assert all(isinstance(dy, tf.IndexedSlices) for dy in slopes)
    found = run([y, *[tf.reduce_sum(tf.abs(tf.convert_to_tensor(dy))) for dy in slopes]], engine=engine)
    np.testing.assert_allclose(found[0], EMBEDDED, 1e-5, 1e-6)
    np.testing.assert_allclose(found[1:], SLOPES, 1e-5)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_linear_model_learns(engine: str) -> None:
    own = columns()
    wanted = [own[name] for name in ("age", "day", "far", "rated", "word", "city_age")]
    y = fc.linear_model(features(), wanted, units=2, sparse_combiner="mean")
    loss = tf.losses.sigmoid_cross_entropy([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], y)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session(engine=engine) as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        losses = [session.run([loss, step])[0] for _ in range(4)]
        np.testing.assert_allclose(losses, LOSSES, 1e-5)
        np.testing.assert_allclose(session.run(y), PREDICTED, 1e-5)


def test_a_linear_model_has_the_variables_of_tensorflow() -> None:
    own, variables = columns(), {}
    y = fc.linear_model(features(), [own["tag"], own["far"]], cols_to_vars=variables)
    assert y.name == "linear_model_1/linear_model/weighted_sum:0"
    fc.linear_model(features(), [own["tag"]])
    assert [(v.op.name, v.shape.as_list()) for v in tf.global_variables()] == [
        ("linear_model/far/weights", [2, 1]),
        ("linear_model/tag/weights", [100, 1]),
        ("linear_model/bias_weights", [1]),
        ("linear_model_1/tag_1/weights", [100, 1]),
        ("linear_model_1/bias_weights", [1]),
    ]
    assert tf.get_collection(tf.GraphKeys.MODEL_VARIABLES) == tf.trainable_variables() == tf.global_variables()
    assert variables == dict(zip([own["far"], own["tag"], "bias"], [[v] for v in tf.global_variables()], strict=False))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_features_may_be_fed(engine: str) -> None:
    age, tag = tf.placeholder(tf.float32), tf.sparse_placeholder(tf.string)
    wanted = [fc.numeric_column("age"), fc.indicator_column(fc.categorical_column_with_hash_bucket("tag", 4))]
    y = fc.input_layer({"age": age, "tag": tag}, wanted)
    assert y.shape.as_list() == [None, 5]
    value = tf.SparseTensorValue([[1, 0]], ["x"], [2, 1])
    assert run(y, {age: [1.0, 2.0], tag: value}, engine).tolist() == [[1, 0, 0, 0, 0], [2, 0, 0, 1, 0]]


def test_columns_of_several_numbers_are_buckets_too() -> None:
    wide = fc.bucketized_column(fc.numeric_column("far", (2,)), [2, 5])
    found = run(wide.ids(Features(features())).id_tensor)
    assert (wide.num_buckets, found.values.tolist()) == (6, [0, 4, 1, 4, 2, 5])
    assert found.indices.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]


def test_a_vocabulary_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("b\na\nz\n")
    path = str(tmp_path / "words")
    column = fc.categorical_column_with_vocabulary_file("word", path, vocabulary_size=2)
    assert run(column.ids(Features(features())).id_tensor).values.tolist() == [1, -1, -1, -1, 0]
    more = fc.categorical_column_with_vocabulary_file("word", path, num_oov_buckets=1)
    assert (more.num_buckets, more.vocabulary_size, more.default_value) == (4, 3, -1)
    assert run(more.ids(Features(features())).id_tensor).values.tolist() == [1, 2, 3, 3, 0]
    numbers = fc.categorical_column_with_vocabulary_list("number", [12, 10])
    assert run(numbers.ids(Features(features())).id_tensor).values.tolist() == [1, 0]


def test_a_shared_table_is_one_of_its_graph() -> None:
    shared = embeddings()[3:]
    for column in shared:
        fc.input_layer(features(), column)
    assert [v.op.name for v in tf.trainable_variables()] == [
        "input_layer/day_number_shared_embedding/embedding_weights"
    ]
    with pytest.raises(ValueError, match=r"contains variable .* of shape \(13, 2\), expected shape is \(13, 3\)"):
        fc.input_layer(features(), fc.shared_embedding_columns([c.categorical_column for c in shared], 3))


def test_a_table_begins_as_in_a_checkpoint(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session(engine="numpy") as session:
        tf.get_variable("table", initializer=np.arange(10.0, dtype="f").reshape(5, 2))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    column = fc.embedding_column(columns()["day"], 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")
    assert run(fc.input_layer(features(), column)).tolist() == [[1.0, 2.0], [4.0, 5.0], [7.0, 8.0]]


def test_columns_say_what_they_read_of_examples() -> None:
    own = columns()
    spec = fc.make_parse_example_spec([own["far"], fc.embedding_column(own["rated"], 2), own["city_age"]])
    assert spec == {
        "far": tf.FixedLenFeature((2,), tf.float32),
        "tag": tf.VarLenFeature(tf.string),
        "rate": tf.VarLenFeature(tf.float32),
        "city": tf.VarLenFeature(tf.string),
        "age": tf.FixedLenFeature((1,), tf.float32),
        "pair": tf.VarLenFeature(tf.string),
    }
    with pytest.raises(ValueError, match=r"^feature_columns contain different parse_spec for key age"):
        fc.make_parse_example_spec([own["age"], fc.numeric_column("age", 2)])


IDENTITY, HASHED = fc.categorical_column_with_identity, fc.categorical_column_with_hash_bucket
LIST, FILE = fc.categorical_column_with_vocabulary_list, fc.categorical_column_with_vocabulary_file
AGE, DAY = fc.numeric_column("age"), IDENTITY("day", 3)
WRONG = [
    (lambda: fc.numeric_column(3), "key must be a string. Got: type <class 'int'>. Given key: 3."),
    (lambda: fc.numeric_column("a", 0), "shape dimensions must be greater than 0. shape: (0,), key: a"),
    (lambda: fc.numeric_column("a", (1.5,)), "shape dimensions must be integer. shape: (1.5,), key: a"),
    (lambda: fc.numeric_column("a", dtype=tf.string), "dtype must be convertible to float. dtype: string, key: a"),
    (
        lambda: fc.numeric_column("a", dtype=tf.int32, default_value=1.5),
        "default_value must be compatible with dtype. default_value: 1.5, dtype: int32, key: a",
    ),
    (
        lambda: fc.numeric_column("a", 2, [1, 2, 3]),
        "The shape of default_value must be equal to given shape. default_value: [1, 2, 3], shape: (2,), key: a",
    ),
    (lambda: fc.numeric_column("a", normalizer_fn=3), "normalizer_fn must be a callable. Given: 3"),
    (lambda: fc.bucketized_column(DAY, [1]), "source_column must be a column generated with numeric_column()."),
    (
        lambda: fc.bucketized_column(fc.numeric_column("a", (2, 2)), [1]),
        "source_column must be one-dimensional column.",
    ),
    (lambda: fc.bucketized_column(AGE, [1, 1]), "boundaries must be a sorted list. Given: [1, 1]"),
    (lambda: fc.bucketized_column(AGE, []), "boundaries must not be empty."),
    (lambda: IDENTITY("i", 0), "num_buckets 0 < 1, column_name i"),
    (lambda: IDENTITY("i", 3, 5), "default_value 5 not in range [0, 3), column_name i"),
    (lambda: HASHED("h", None), "hash_bucket_size must be set. key: h"),
    (lambda: HASHED("h", 0), "hash_bucket_size must be at least 1. hash_bucket_size: 0, key: h"),
    (lambda: HASHED("h", 3, tf.float32), "column_name: h dtype must be string or integer. dtype: float32."),
    (lambda: LIST("v", []), "vocabulary_list [] must be non-empty, column_name: v"),
    (lambda: LIST("v", ["a", "a"]), "Duplicate keys in vocabulary_list ['a', 'a'], column_name: v"),
    (lambda: LIST("v", [1.5]), "column_name: v vocabulary dtype must be string or integer. dtype: float64."),
    (
        lambda: LIST("v", ["a"], num_oov_buckets=2, default_value=0),
        "Can't specify both num_oov_buckets and default_value in v.",
    ),
    (lambda: LIST("v", ["a"], num_oov_buckets=-1), "Invalid num_oov_buckets -1 in v."),
    (
        lambda: LIST("v", ["a"], tf.int64),
        "dtype int64 and vocabulary dtype string do not match, column_name: v",
    ),
    (lambda: FILE("v", "/nowhere"), "vocabulary_file in v does not exist: /nowhere"),
    (lambda: FILE("v", None), "Missing vocabulary_file in v."),
    (lambda: FILE("v", __file__, 0), "Invalid vocabulary_size in v: 0."),
    (lambda: fc.weighted_categorical_column(DAY, "w", tf.string), "dtype string is not convertible to float."),
    (lambda: fc.crossed_column(["a"], 3), "keys must be a list with length > 1. Given: ['a']"),
    (lambda: fc.crossed_column(["a", "b"], 0), "hash_bucket_size must be > 1. hash_bucket_size: 0"),
    (
        lambda: fc.crossed_column(["a", HASHED("h", 3)], 3),
        "categorical_column_with_hash_bucket is not supported for crossing.",
    ),
    (lambda: fc.crossed_column(["a", AGE], 3), "Unsupported key type."),
    (
        lambda: fc.indicator_column(AGE),
        "Unsupported input type. Input must be a CategoricalColumn. Given: NumericColumn",
    ),
    (lambda: fc.embedding_column(DAY, 0), "Invalid dimension 0."),
    (
        lambda: fc.embedding_column(DAY, 2, initializer=3),
        "initializer must be callable if specified. Embedding of column_name: day",
    ),
    (
        lambda: fc.embedding_column(DAY, 2, ckpt_to_load_from="a"),
        "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.",
    ),
    (
        lambda: fc.shared_embedding_columns([DAY, IDENTITY("j", 4)], 2),
        "To use shared_embedding_column, all categorical_columns must have the same number of buckets.",
    ),
    (
        lambda: fc.shared_embedding_columns([DAY, HASHED("j", 3)], 2),
        "To use shared_embedding_column, all categorical_columns must have the same type",
    ),
    (lambda: fc.shared_embedding_columns([], 2), "shared_embedding_columns: categorical_columns must not be empty"),
]


@pytest.mark.parametrize(("make", "text"), WRONG, ids=[text[:40] for _, text in WRONG])
def test_a_column_that_cannot_be_is_refused(make: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert str(caught.value).startswith(text)


REFUSED = [
    ([DAY], "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an embedding_"),
    ([], "feature_columns must not be empty."),
    ({"age": AGE}, "Expected feature_columns to be iterable, found dict."),
    (["age"], "Items of feature_columns must be a _FeatureColumn. Given (type <class 'str'>): age."),
    ([AGE, AGE], "Duplicate feature column name found for columns: NumericColumn(key='age'"),
    ([fc.numeric_column("q")], "Feature q is not in features dictionary: it has ['age', 'city', 'day', 'far', 'num"),
    ([fc.numeric_column("rate")], "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not"),
    ([fc.indicator_column(IDENTITY("city", 3))], "Invalid input, not integer. key: city dtype: string"),
    ([fc.indicator_column(HASHED("day", 3))], "Column dtype and SparseTensors dtype must be compatible. key: day, col"),
    ([fc.indicator_column(HASHED("age", 3))], "column_name: age input_tensor dtype must be string or integer. dtype:"),
    (
        [fc.indicator_column(fc.weighted_categorical_column(DAY, "number"))],
        "Bad dtype, expected float32, but got int32.",
    ),
    (
        [fc.indicator_column(fc.crossed_column(["city", fc.weighted_categorical_column(DAY, "age")], 3))],
        "crossed_column does not support weight_tensor, but the given column populates weight_tensor. Given column:",
    ),
]


@pytest.mark.parametrize(("wanted", "text"), REFUSED, ids=[text[:40] for _, text in REFUSED])
def test_an_input_layer_that_cannot_be_is_refused(wanted: Any, text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the text is compared below
        fc.input_layer(features(), wanted)
    assert str(caught.value).startswith(text)


def test_features_have_one_number_of_examples() -> None:
    given = {"a": tf.constant([1.0]), "b": tf.constant([1.0, 2.0])}
    with pytest.raises(ValueError, match=r"Batch size of columns \(a, b\): \(1, 2\)$"):
        fc.input_layer(given, [fc.numeric_column("a"), fc.numeric_column("b")])
    with pytest.raises(ValueError, match=r"^Feature \(key: a\) cannot have rank 0\. Given: "):
        fc.input_layer({"a": 1.0}, [fc.numeric_column("a")])
