"""Lookup tables of `tf.lookup` and `tf.contrib.lookup`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.compat.v1.defun import Defun
from pullback.core.errors import InvalidArgumentError, NotFoundError

lookup = tf.contrib.lookup
WHOLE_LINE, LINE_NUMBER = lookup.TextFileIndex.WHOLE_LINE, lookup.TextFileIndex.LINE_NUMBER


def run(fetches: Any, feeds: Any = None, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as session:
        session.run(tf.tables_initializer(), feeds)
        return session.run(fetches, feeds)


def found(table: Any, keys: Any) -> list[Any]:
    values, count = run([table.lookup(tf.constant(keys, table.key_dtype)), table.size()])
    return [*values.tolist(), int(count)]


def of_file(path: Path, text: str, key: int, value: int, types: tuple[Any, Any], **options: Any) -> Any:
    path.write_text(text)
    contents = tf.lookup.TextFileInitializer(str(path), types[0], key, types[1], value, **options)
    return tf.lookup.StaticHashTable(contents, "UNK" if types[1] == tf.string else -1)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_keys_are_found_whatever_their_shape(engine: str) -> None:
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1.5, 2.5]), 0.0, shared_name="x", name="y")
    text = tf.placeholder(tf.string, [2, None])
    y = 2.0 * table.lookup(text)
    assert y.shape.as_list() == [2, None]
    assert run(y, {text: [["a"], ["z"]]}, engine).tolist() == [[3.0], [0.0]]
    assert run(table.lookup(tf.constant("b")), None, engine) == 2.5


def test_a_sparse_tensor_has_its_values_looked_up() -> None:
    words = tf.string_split(["a b", "b"])
    ids = lookup.index_table_from_tensor(["b", "a"]).lookup(words)
    assert run(tf.sparse_tensor_to_dense(ids, default_value=-1)).tolist() == [[1, 0], [0, -1]]


def test_a_table_is_used_inside_a_dataset() -> None:
    table = lookup.index_table_from_tensor(tf.constant(["a", "b"]))
    dataset = tf.data.Dataset.from_tensor_slices(["b", "a"]).map(table.lookup)
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session(engine="numpy") as session:
        session.run([tf.tables_initializer(), iterator.initializer])
        assert [session.run(following), session.run(following)] == [1, 0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("kind", ["list", "file", "buckets", "reverse"])
def test_a_table_is_not_there_before_it_is_initialized(kind: str, engine: str, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("a\nb\n")
    table = {
        "list": lambda: lookup.index_table_from_tensor(["a", "b"]),
        "file": lambda: lookup.index_table_from_file(str(file)),
        "buckets": lambda: lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=3),
        "reverse": lambda: lookup.index_to_string_table_from_file(str(file)),
    }[kind]()
    asked = tf.constant([1], tf.int64) if kind == "reverse" else tf.constant(["b"])
    found, size = table.lookup(asked), table.size()
    for _ in range(2):
        with tf.Session(engine=engine) as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized: "):
                session.run(found)
            before = session.run(size)
            session.run(tf.tables_initializer())
            assert session.run(found) == ([b"b"] if kind == "reverse" else [1])
            assert session.run(size) - before == 2
    assert tf.global_variables() == tf.local_variables() == []


def of_defun(table: Any, words: Any) -> Any:
    return Defun(tf.string)(lambda x: table.lookup(x))(words)


def of_a_dataset(table: Any, words: Any) -> Any:
    return tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(words).map(table.lookup))


def of_a_loop(table: Any, words: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 1, lambda i, _: (i + 1, table.lookup(words)), [0, tf.zeros([2], tf.int64)])[1]


def of_reduce(table: Any, words: Any) -> Any:
    dataset = tf.data.Dataset.from_tensors(words)
    return dataset.reduce(tf.zeros([2], tf.int64), lambda state, x: state + table.lookup(x))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    "look_up",
    [
        of_defun,
        of_a_dataset,
        of_a_loop,
        of_reduce,
        lambda table, words: tf.function(table.lookup)(words),
        lambda table, words: tf.map_fn(table.lookup, words, tf.int64),
        lambda table, words: tf.cond(tf.size(words) > 1, lambda: table.lookup(words), lambda: tf.zeros([2], tf.int64)),
    ],
)
@pytest.mark.parametrize("buckets", [0, 1])
def test_functions_ask_whether_a_table_is_initialized(look_up: Any, buckets: int, engine: str) -> None:
    table = lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=buckets)
    found = look_up(table, tf.placeholder_with_default(["b", "z"], [2]))
    for _ in range(2):
        with tf.Session(engine=engine) as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized: "):
                session.run(found)
            session.run(tf.tables_initializer())
            assert session.run(found).tolist() == [1, 2 if buckets else -1]


def test_only_the_branch_that_is_taken_asks_whether_its_table_is_initialized() -> None:
    table = lookup.index_table_from_tensor(["a", "b"])
    taken = tf.placeholder(tf.bool, [])
    found = tf.cond(taken, lambda: table.lookup(tf.constant("a")), lambda: tf.constant(5, tf.int64))
    with tf.Session(engine="numpy") as session:
        assert session.run(found, {taken: False}) == 5


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_lookup_may_follow_the_initializer_in_one_run(engine: str) -> None:
    table = lookup.index_table_from_tensor(["a", "b"])
    with tf.control_dependencies([table.init]):
        found = table.lookup(tf.constant(["b"]))
    assert tf.Session(engine=engine).run(found) == [1]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_table_keeps_what_its_first_initialization_was_given(engine: str) -> None:
    keys, values = tf.placeholder(tf.string, [None]), tf.Variable([4, 5], dtype=tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    words = tf.constant(["b", "z"])
    found, count, kept = table.lookup(words), table.size(), table.export()
    mapped = tf.map_fn(table.lookup, words, tf.int64)
    with tf.Session(engine=engine) as session:
        assert session.run(count) == 0
        session.run(values.initializer)
        for given in (["a", "b"], ["b", "a"]):
            session.run(table.initializer, {keys: given})
            session.run(values.assign([6, 7]))
            assert [x.tolist() for x in session.run([found, mapped, count, *kept])] == [
                [5, -1],
                [5, -1],
                2,
                [b"a", b"b"],
                [4, 5],
            ]
    assert tf.global_variables() == [values]


@pytest.mark.parametrize(
    ("text", "key", "value", "types", "options", "keys", "expected"),
    [
        ("x\ny z\n\n", WHOLE_LINE, LINE_NUMBER, (tf.string, tf.int64), {}, ["x", "", "y z", "q"], [0, 2, 1, -1, 3]),
        ("x\r\ny z", WHOLE_LINE, LINE_NUMBER, (tf.string, tf.int64), {}, ["x", "y z"], [0, 1, 2]),
        ("x\ny z\n", LINE_NUMBER, WHOLE_LINE, (tf.int64, tf.string), {}, [1, 5], [b"y z", b"UNK", 2]),
        ("a\t1\nx\t2\n", 0, 1, (tf.string, tf.int64), {}, ["x", "q"], [2, -1, 2]),
        ("a,1.5\n", 0, 1, (tf.string, tf.float32), {"delimiter": ","}, ["a"], [1.5, 1]),
        ("a\nb\nc\n", WHOLE_LINE, LINE_NUMBER, (tf.string, tf.int64), {"vocab_size": 2}, ["c"], [-1, 2]),
    ],
)
def test_a_file_is_a_table(
    text: str, key: int, value: int, types: Any, options: Any, keys: Any, expected: Any, tmp_path: Path
) -> None:
    assert found(of_file(tmp_path / "x", text, key, value, types, **options), keys) == expected


def test_vocabularies_go_both_ways(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("one\ntwo\n")
    path = str(tmp_path / "x")
    assert found(lookup.index_table_from_file(path), ["two", "three"]) == [1, -1, 2]
    assert found(lookup.index_to_string_table_from_file(path), [1, 2]) == [b"two", b"UNK", 2]
    assert found(lookup.index_to_string_table_from_tensor(["a", "b"], "?"), [1, 2]) == [b"b", b"?", 2]
    assert run(lookup.string_to_index(tf.constant(["b"]), ["a", "b"])).tolist() == [1]
    assert run(lookup.index_to_string(tf.constant([1]), ["a", "b"])).tolist() == [b"b"]


def test_keys_that_are_not_there_have_buckets_behind_the_others() -> None:
    table = lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=3)
    buckets = tf.string_to_hash_bucket_fast(["q1", "q2"], 3)
    values, expected = run([table.lookup(tf.constant(["b", "q1", "q2"])), buckets])
    assert values.tolist() == [1, *(2 + expected)]
    assert run(table.size()) == 5
    strong = lookup.IdTableWithHashBuckets(None, 4, lookup.StrongHashSpec([1, 2]))
    keys = tf.constant(["q1"])
    values, expected = run([strong.lookup(keys), tf.strings.to_hash_bucket_strong(keys, 4, [1, 2])])
    assert values == expected
    contents = tf.lookup.KeyValueTensorInitializer([5, 7], np.array([0, 1]), tf.int64)
    assert found(tf.lookup.StaticVocabularyTable(contents, 1), [7, 8]) == [1, 2, 3]


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    table = lookup.index_table_from_tensor(["a"])
    with pytest.raises(TypeError, match=r"^lookup: keys of the table are string, not int32\[1\] 'Const_3:0'"):
        table.lookup(tf.constant([1]))
    types = (tf.string, tf.int64)
    for make, text in (
        (
            lambda: of_file(tmp_path / "x", "a\t1\nx\n", 0, 1, types),
            "Invalid number of columns in line 1 (b'x'): column 1 is asked for",
        ),
        (
            lambda: of_file(tmp_path / "x", "a\tq\n", 0, 1, types),
            "a table of int64 cannot hold what its file says: invalid literal for int() with base 10: b'q'",
        ),
        (
            lambda: of_file(tmp_path / "x", "a\n", WHOLE_LINE, LINE_NUMBER, types, vocab_size=2),
            "has 1 lines, and vocab_size is 2",
        ),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            tf.Session(engine="numpy").run(make().initializer)
        assert text in str(caught.value)
    twice = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)
    with pytest.raises(tf.errors.FailedPreconditionError, match="HashTable has different value for same key"):
        tf.Session(engine="numpy").run(twice.initializer)
    with pytest.raises(NotFoundError, match="there is no file /nowhere/x"):
        tf.Session(engine="numpy").run(lookup.index_table_from_file("/nowhere/x").init)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("kind", ["MutableHashTable", "MutableDenseHashTable"])
def test_keys_are_put_in_and_taken_out(kind: str, engine: str) -> None:
    marks = {} if kind == "MutableHashTable" else {"empty_key": "", "deleted_key": "-"}
    table = getattr(lookup, kind)(tf.string, tf.float32, 0.5, **marks)
    keys, values = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None])
    put, out, asked = table.insert(keys, values), table.remove(keys), table.lookup(keys) * 2.0
    sparse = table.lookup(tf.SparseTensor([[0, 1]], tf.constant(["a"]), [1, 2])).values
    with tf.Session(engine=engine) as session:
        session.run([tf.tables_initializer(), table.init])
        assert session.run(table.size()) == 0
        session.run(put, {keys: ["a", "b", "a"], values: [1.0, 2.0, 3.0]})
        assert session.run(asked, {keys: ["b", "a", "z"]}).tolist() == [4.0, 6.0, 1.0]
        assert dict(zip(*session.run(table.export()), strict=True)) == {b"a": 3.0, b"b": 2.0}
        session.run(out, {keys: ["b", "z"]})
        assert (session.run(table.size()), session.run(sparse).tolist()) == (1, [3.0])
    with tf.Session(engine=engine) as other:
        assert other.run(table.size()) == 0


def test_what_a_run_puts_in_first_is_found() -> None:
    table = lookup.MutableHashTable(tf.int64, tf.int64, -1, name="counts")
    key = tf.constant([3, 4], tf.int64)
    with tf.control_dependencies([table.insert(key, table.lookup(key) + 1)]):
        after = table.lookup(key)
    with tf.Session(engine="numpy") as session:
        assert [session.run(after).tolist() for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    assert (table.name, after.name) == ("counts", "counts_Lookup_1:0")


def test_values_may_be_vectors() -> None:
    table = lookup.MutableHashTable(tf.int64, tf.string, ["x", "y"])
    keys = tf.constant([[1, 2], [3, 1]], tf.int64)
    put = table.insert(tf.constant([1, 2], tf.int64), [["a", "b"], ["c", "d"]])
    found = table.lookup(keys)
    assert (found.shape, table.export()[1].shape.as_list()) == ([2, 2, 2], [None, 2])
    with tf.Session(engine="numpy") as session:
        session.run(put)
        assert session.run(found).tolist() == [[[b"a", b"b"], [b"c", b"d"]], [[b"x", b"y"], [b"a", b"b"]]]
    with pytest.raises(TypeError, match=r"^MutableHashTable: keys of the table are int64, not string\[1\]"):
        table.insert(["a"], [["a", "b"]])
    with pytest.raises(ValueError, match=r"^insert: keys int64\[1\].* have values of shape \(1, 2\), not string\[1\]"):
        table.insert(tf.constant([1], tf.int64), ["a"])
