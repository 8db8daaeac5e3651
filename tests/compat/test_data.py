"""`tf.data`: datasets, and the iterators that hand their elements to runs."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

Dataset = tf.data.Dataset


def elements(dataset: Any) -> list[Any]:
    """All elements of a dataset, as a session hands them out."""
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session(engine="numpy") as sess:
        while True:
            try:
                found.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                return found


def numbers(dataset: Any) -> list[Any]:
    return [np.asarray(x).tolist() for x in elements(dataset)]


DATASETS: dict[str, tuple[Any, list[Any]]] = {
    "range": (lambda: Dataset.range(2, 8, 3), [2, 5]),
    "from_tensors": (lambda: Dataset.from_tensors([1, 2]), [[1, 2]]),
    "slices": (lambda: Dataset.from_tensor_slices([[1], [2]]), [[1], [2]]),
    "take_skip": (lambda: Dataset.range(9).skip(2).take(3), [2, 3, 4]),
    "take_all": (lambda: Dataset.range(3).take(-1).skip(-1), []),
    "repeat": (lambda: Dataset.range(2).repeat(2), [0, 1, 0, 1]),
    "repeat_of_nothing": (lambda: Dataset.range(0).repeat(), []),
    "concatenate": (lambda: Dataset.range(2).concatenate(Dataset.range(5, 6)), [0, 1, 5]),
    "shard": (lambda: Dataset.range(7).shard(3, 1), [1, 4]),
    "map": (lambda: Dataset.range(3).map(lambda i: i * i + 1), [1, 2, 5]),
    "filter": (lambda: Dataset.range(6).filter(lambda i: tf.equal(i % 2, 0)), [0, 2, 4]),
    "batch": (lambda: Dataset.range(5).batch(2), [[0, 1], [2, 3], [4]]),
    "whole_batches": (lambda: Dataset.range(5).batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
    "unbatch": (lambda: Dataset.range(5).batch(2).unbatch(), [0, 1, 2, 3, 4]),
    "flat_map": (lambda: Dataset.range(3).flat_map(lambda i: Dataset.range(i)), [0, 0, 1]),
    "flat_map_of_slices": (
        lambda: Dataset.range(2).flat_map(lambda i: Dataset.from_tensor_slices([i, i + 10]).map(lambda j: j + i)),
        [0, 10, 2, 12],
    ),
    "interleave": (
        lambda: Dataset.range(3).interleave(lambda i: Dataset.from_tensors(i).repeat(3), 2, 2),
        [0, 0, 1, 1, 0, 1, 2, 2, 2],
    ),
    "interleave_of_different_lengths": (
        lambda: Dataset.range(5).interleave(lambda i: Dataset.from_tensors(i).repeat(i), 3, 2),
        [1, 2, 2, 3, 3, 4, 4, 3, 4, 4],
    ),
    "padded_batch": (
        lambda: Dataset.range(1, 4).map(lambda i: tf.fill([i], i)).padded_batch(2, [None]),
        [[[1, 0], [2, 2]], [[3, 3, 3]]],
    ),
    "padded_to": (
        lambda: Dataset.range(1, 3).map(lambda i: tf.fill([i], i)).padded_batch(2, [-1], np.int64(-1)),
        [[[1, -1], [2, 2]]],
    ),
    "padded_scalars": (lambda: Dataset.range(3).padded_batch(2, []), [[0, 1], [2]]),
    "padded_texts": (
        lambda: (
            Dataset.from_tensor_slices(["a b", "c"]).map(lambda x: tf.string_split([x]).values).padded_batch(2, [None])
        ),
        [[[b"a", b"b"], [b"c", b""]]],
    ),
    "padded_with_texts": (
        lambda: (
            Dataset.from_tensor_slices(["a b", "c"])
            .map(lambda x: tf.string_split([x]).values)
            .padded_batch(2, [None], "<pad>")
        ),
        [[[b"a", b"b"], [b"c", b"<pad>"]]],
    ),
    "padded_with_a_tensor": (
        lambda: (
            Dataset.range(1, 3).map(lambda i: tf.fill([i], i)).padded_batch(2, [None], tf.constant(7, tf.int64) + 1)
        ),
        [[[1, 8], [2, 2]]],
    ),
    "apply": (
        lambda: Dataset.range(4).apply(tf.data.experimental.map_and_batch(lambda i: i + 1, 3)),
        [[1, 2, 3], [4]],
    ),
    "windows": (
        lambda: Dataset.range(7).apply(
            tf.data.experimental.group_by_window(lambda i: i % 3, lambda key, window: window.map(lambda i: i + key), 2)
        ),
        [0, 3, 2, 5, 4, 7, 6],
    ),
    "windows_by_key": (
        lambda: Dataset.range(6).apply(
            tf.data.experimental.group_by_window(
                lambda i: i % 2, lambda key, window: window.batch(9), window_size_func=lambda key: key + 1
            )
        ),
        [[0], [2], [1, 3], [4], [5]],
    ),
    "buckets": (
        lambda: (
            Dataset.range(1, 6)
            .map(lambda i: tf.fill([i], i))
            .apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [3, 5], [2, 2, 1]))
        ),
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]], [[5, 5, 5, 5, 5]]],
    ),
    "buckets_to_their_boundaries": (
        lambda: (
            Dataset.range(1, 4)
            .map(lambda i: tf.fill([i], i))
            .apply(
                tf.data.experimental.bucket_by_sequence_length(
                    tf.size, [3, 5], [2, 2, 1], [None], np.int64(-1), pad_to_bucket_boundary=True
                )
            )
        ),
        [[[1, -1], [2, 2]], [[3, 3, 3, -1]]],
    ),
    "buckets_without_remainder": (
        lambda: Dataset.range(5).apply(
            tf.data.experimental.bucket_by_sequence_length(
                lambda i: i, [3], [2, 3], no_padding=True, drop_remainder=True
            )
        ),
        [[0, 1]],
    ),
    "scan": (
        lambda: (
            Dataset.range(4)
            .apply(tf.data.experimental.scan(np.int64(10), lambda s, i: (s + i, (s, i))))
            .map(lambda s, i: s * 100 + i)
        ),
        [1000, 1001, 1102, 1303],
    ),
    "take_while": (lambda: Dataset.range(9).apply(tf.data.experimental.take_while(lambda i: i < 3)), [0, 1, 2]),
    "unique": (
        lambda: Dataset.from_tensor_slices([b"a", b"b", b"a"]).apply(tf.data.experimental.unique()),
        [b"a", b"b"],
    ),
    "choices": (
        lambda: tf.data.experimental.choose_from_datasets(
            [Dataset.range(3), Dataset.range(10, 20)], Dataset.from_tensor_slices([0, 1, 1, 0])
        ),
        [0, 10, 11, 1],
    ),
    "counter": (lambda: tf.data.experimental.Counter(5, 2).take(3), [5, 7, 9]),
    "parallel_interleave": (
        lambda: Dataset.range(2).apply(
            tf.data.experimental.parallel_interleave(lambda i: Dataset.from_tensors(i).repeat(2), cycle_length=2)
        ),
        [0, 1, 0, 1],
    ),
    "options": (lambda: Dataset.range(2).with_options(tf.data.Options()), [0, 1]),
    "cache": (lambda: Dataset.range(2).cache().repeat(2).prefetch(1), [0, 1, 0, 1]),
    "generator": (
        lambda: Dataset.from_generator(lambda n: ([i] * i for i in range(n)), tf.int32, [None], args=[3]),
        [[], [1], [2, 2]],
    ),
}


@pytest.mark.parametrize("name", DATASETS)
def test_elements(name: str) -> None:
    make, expected = DATASETS[name]
    assert numbers(make()) == expected


def test_samples_of_datasets_are_all_of_their_elements() -> None:
    both = [Dataset.range(4), Dataset.range(10, 14)]
    found = numbers(tf.data.experimental.sample_from_datasets(both, [0.7, 0.3], seed=1))
    assert [x for x in found if x < 10] == list(range(4))
    assert [x for x in found if x >= 10] == list(range(10, 14))


def test_a_single_element_is_that_of_each_run() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.data.experimental.get_single_element(Dataset.from_tensor_slices(x).map(lambda v: v * 2.0).batch(9)) + 1.0
    with tf.Session(engine="numpy") as sess:
        assert [sess.run(y, {x: [1.0, 2.0]}).tolist(), sess.run(y, {x: [3.0]}).tolist()] == [[3.0, 5.0], [7.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dataset was empty"):
            sess.run(y, {x: []})


def test_what_elements_are_is_known() -> None:
    dataset = Dataset.from_tensors(([1, 2], 3.0))
    assert tf.data.get_output_types(dataset) == (tf.int32, tf.float32)
    assert tf.data.get_output_shapes(dataset.make_one_shot_iterator()) == (tf.TensorShape([2]), tf.TensorShape([]))
    assert tf.data.get_output_classes(dataset) == (tf.Tensor, tf.Tensor)
    options = tf.data.Options()
    options.experimental_threading.max_intra_op_parallelism = 1
    assert options.experimental_threading.max_intra_op_parallelism == 1


def test_buckets_need_a_size_each() -> None:
    with pytest.raises(ValueError, match="1 boundaries need 2 batch sizes, not 1"):
        tf.data.experimental.bucket_by_sequence_length(lambda x: x, [3], [2])


def test_elements_are_nested() -> None:
    dataset = Dataset.from_tensor_slices({"b": np.zeros([2, 3]), "a": ([1, 2], [[0.5], [1.5]])})
    dataset = dataset.map(lambda x: {"sum": x["a"][0] + 1, "rest": (x["b"], x["a"][1])})
    assert dataset.output_shapes == {"sum": tf.TensorShape([]), "rest": (tf.TensorShape([3]), tf.TensorShape([1]))}
    assert dataset.output_types == {"sum": tf.int32, "rest": (tf.float64, tf.float32)}
    assert [x["sum"] for x in elements(dataset)] == [2, 3]


def test_several_parts_are_several_arguments() -> None:
    dataset = Dataset.zip((Dataset.range(3), Dataset.from_tensor_slices([10.0, 20.0]))).enumerate(5)
    mapped = dataset.map(lambda i, pair: (i, pair[0], pair[1]))
    assert [tuple(map(float, x)) for x in elements(mapped)] == [(5.0, 0.0, 10.0), (6.0, 1.0, 20.0)]


def test_a_shuffled_dataset_has_the_same_elements_in_another_order_each_time() -> None:
    found = numbers(Dataset.range(20).shuffle(20, seed=1).repeat(2))
    assert sorted(found[:20]) == sorted(found[20:]) == list(range(20))
    assert found[:20] != found[20:]
    assert found == numbers(Dataset.range(20).shuffle(20, seed=1).repeat(2))


def test_a_shuffled_dataset_may_keep_its_order() -> None:
    found = numbers(Dataset.range(20).shuffle(7, reshuffle_each_iteration=False).repeat(2))
    assert found[:20] == found[20:] != list(range(20))


def test_a_buffer_bounds_how_far_an_element_moves() -> None:
    found = numbers(Dataset.range(50).shuffle(5, seed=2))
    assert all(x < i + 5 for i, x in enumerate(found))


def test_a_cached_dataset_is_computed_once() -> None:
    calls: list[int] = []

    def source() -> Iterator[int]:
        calls.append(0)
        yield from range(3)

    assert numbers(Dataset.from_generator(source, tf.int64, []).cache().repeat(3)) == [0, 1, 2] * 3
    assert len(calls) == 1


# Iterators


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_loss_is_minimised_over_batches(engine: str) -> None:
    x = np.linspace(-1.0, 1.0, 32, dtype=np.float32)
    dataset = Dataset.from_tensor_slices((x, 3.0 * x)).shuffle(32, seed=0).batch(5).repeat(8)
    a, b = dataset.make_one_shot_iterator().get_next()
    w = tf.Variable(0.0)
    loss = tf.reduce_mean((w * a - b) ** 2)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session(engine=engine) as sess:
        sess.run(tf.global_variables_initializer())
        lengths = [len(sess.run([a, step])[0]) for _ in range(8 * 7)]
        assert set(lengths) == {5, 2}
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(step)
        assert sess.run(w) == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_one_run_sees_one_element_wherever_it_is_read(engine: str) -> None:
    x = Dataset.range(9).make_one_shot_iterator().get_next()
    y, z = x + 1, tf.cast(x, tf.float32) * 2.0
    with tf.Session(engine=engine) as sess:
        assert [sess.run([x, y, z]) for _ in range(2)] == [[0, 1, 0.0], [1, 2, 2.0]]
        call = sess.make_callable(z)
        assert [call(), call()] == [4.0, 6.0]
        assert sess.run(y, {x: 41}) == 42
        assert sess.run(x) == 4


def test_an_iterator_begins_where_its_initializer_puts_it() -> None:
    x = tf.placeholder(tf.int64, [None])
    iterator = tf.data.make_initializable_iterator(Dataset.from_tensor_slices(x * 10).map(lambda i: i + x[0]))
    y = iterator.get_next()
    with tf.Session(engine="numpy") as sess:
        with pytest.raises(
            tf.errors.FailedPreconditionError,
            match=r"^get_next: the iterator has no place yet; run its initializer first$",
        ):
            sess.run(y)
        sess.run(iterator.initializer, {x: [1, 2]})
        assert [sess.run(y), sess.run(y)] == [11, 21]
        with pytest.raises(
            tf.errors.OutOfRangeError, match=r"^End of sequence\n  operation 'IteratorGetNext', made at"
        ):
            sess.run(y)
        sess.run(iterator.initializer, {x: [3]})
        assert sess.run(y) == 33


def test_sessions_have_places_of_their_own() -> None:
    x = Dataset.range(3).make_one_shot_iterator().get_next()
    with tf.Session(engine="numpy") as one, tf.Session(engine="numpy") as other:
        assert [one.run(x), one.run(x), other.run(x)] == [0, 1, 0]


def test_one_iterator_reads_several_datasets() -> None:
    train, test = Dataset.range(3), Dataset.range(10, 12)
    iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
    x = iterator.get_next()
    starts = [iterator.make_initializer(train), iterator.make_initializer(test)]
    with tf.Session(engine="numpy") as sess:
        found = []
        for start in (*starts, starts[0]):
            sess.run(start)
            found.append(sess.run(x))
        assert found == [0, 10, 0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_handle_that_is_fed_says_which_iterator(engine: str) -> None:
    train, test = Dataset.range(3), Dataset.range(10, 12)
    iterators = [train.make_one_shot_iterator(), test.make_initializable_iterator()]
    handle = tf.placeholder(tf.string, [])
    x = tf.data.Iterator.from_string_handle(handle, train.output_types, train.output_shapes).get_next() * 2
    with tf.Session(engine=engine) as sess:
        first, second = sess.run([iterator.string_handle() for iterator in iterators])
        sess.run(iterators[1].initializer)
        assert [sess.run(x, {handle: h}) for h in (first, second, first, second)] == [0, 20, 2, 22]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^get_next: no iterator has the handle 'none'; feed"):
            sess.run(x, {handle: "none"})


def test_texts_are_elements() -> None:
    dataset = Dataset.from_tensor_slices((["a", "b", "c"], [1, 2, 3])).map(lambda name, i: (name, i * 2)).batch(2)
    assert dataset.output_types == (tf.string, tf.int32)
    assert [(x.tolist(), i.tolist()) for x, i in elements(dataset)] == [([b"a", b"b"], [2, 4]), ([b"c"], [6])]


def test_lines_of_files_are_elements(tmp_path: Path) -> None:
    for name, text in (("one", "a\nb\n"), ("two", "c\r\n")):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    files = [str(tmp_path / name) for name in ("one", "two")]
    assert numbers(tf.data.TextLineDataset(files).skip(1)) == [b"b", b"c"]
    assert numbers(Dataset.from_tensor_slices(files).flat_map(tf.data.TextLineDataset)) == [b"a", b"b", b"c"]


def test_the_length_of_batches_may_be_fed() -> None:
    n = tf.placeholder(tf.int64, [])
    iterator = Dataset.range(5).batch(n).make_initializable_iterator()
    batch = iterator.get_next()
    with tf.Session(engine="numpy") as sess:
        for length in (2, 4):
            sess.run(iterator.initializer, {n: length})
            assert sess.run(batch).tolist() == list(range(length))


def test_random_numbers_of_a_map_are_drawn_for_each_element() -> None:
    found = numbers(Dataset.range(8).map(lambda i: tf.random_uniform([], seed=1)))
    assert len(set(found)) == 8


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_loop_takes_batches_of_different_lengths(engine: str) -> None:
    iterator, start = Dataset.range(5).batch(2).make_one_shot_iterator(), tf.placeholder(tf.int64, [])
    total = tf.while_loop(lambda i: i < 9, lambda i: i + tf.reduce_sum(iterator.get_next()), [start])
    assert tf.Session(engine=engine).run(total, {start: 0}) == 10


# What goes wrong


def test_the_parts_of_a_dataset_have_equally_many_rows() -> None:
    text = r"^Dataset.from_tensor_slices: equally many rows are needed, of int32\[2\], float32\[\]$"
    with pytest.raises(ValueError, match=text):
        Dataset.from_tensor_slices(([1, 2], 1.0))


def test_a_generator_yields_what_it_is_declared_to() -> None:
    x = Dataset.from_generator(lambda: [[1, 2]], tf.int32, [3]).make_one_shot_iterator().get_next()
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"an array of shape \(2,\) was yielded, and int32\[3\] is"
    ):
        tf.Session(engine="numpy").run(x)


def nested(v: Any) -> Dataset:
    return Dataset.range(2).flat_map(lambda i: Dataset.range(3).map(lambda j: v * tf.cast(i + j, tf.float32)))


def of_a_window(v: Any) -> Dataset:
    key = lambda i: tf.cast(v * 0.0, tf.int64)  # noqa: E731
    windows = tf.data.experimental.group_by_window(key, lambda k, window: window.batch(4), 4)
    return (
        Dataset.range(4)
        .apply(windows)
        .flat_map(lambda i: Dataset.from_tensor_slices(i).map(lambda j: v * tf.cast(j, tf.float32)))
    )


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    "dataset",
    [
        lambda v: Dataset.range(4).map(lambda i: v * tf.cast(i, tf.float32)),
        lambda v: Dataset.range(4).map(lambda i: tf.cond(i > 0, lambda: v * tf.cast(i, tf.float32), lambda: 0.0 * v)),
        nested,
        of_a_window,
    ],
)
def test_functions_of_elements_read_variables_as_each_session_has_them(dataset: Any, engine: str) -> None:
    v = tf.Variable(1.0, use_resource=True)
    iterator = dataset(v).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session(engine=engine) as first, tf.Session(engine=engine) as second:
        for session in (first, second):
            session.run(iterator.initializer)
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
                session.run(following)
        for session in (first, second):
            session.run([v.initializer, iterator.initializer])
        assert first.run(following) == 0.0
        first.run(v.assign(10.0))
        assert [first.run(following), first.run(following)] == [10.0, 20.0]
        assert [second.run(following), second.run(following)] == [0.0, 1.0]


def test_functions_of_elements_change_variables_of_the_session() -> None:
    v = tf.Variable(2.0, use_resource=True)
    iterator = Dataset.range(3).map(lambda i: v.assign_add(1.0)).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session(engine="numpy") as session:
        session.run([v.initializer, iterator.initializer])
        assert [session.run(following), session.run(following), session.run(v)] == [3.0, 4.0, 4.0]


def test_a_place_in_a_dataset_does_not_keep_its_session() -> None:
    v = tf.Variable(2.0, use_resource=True)
    following = Dataset.range(3).map(lambda i: v * 2.0).make_one_shot_iterator().get_next()
    session = tf.Session(engine="numpy")
    session.run(v.initializer)
    session.run(following)
    kept = weakref.ref(session)
    session.close()
    del session
    gc.collect()
    assert kept() is None


def test_datasets_are_in_contrib_too() -> None:
    data = tf.contrib.data
    dataset = data.Dataset.from_tensor_slices([1, 2, 3, 4, 5]).apply(data.map_and_batch(lambda x: 10 * x, 2))
    assert numbers(dataset) == [[10, 20], [30, 40], [50]]
