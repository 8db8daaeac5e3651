"""Windows of datasets, and the transformations that are methods of datasets."""

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

from .test_data import Dataset, numbers


def pairs() -> Any:
    return Dataset.from_tensor_slices((np.arange(5), np.arange(5) * 10))


def batches(window: Any) -> Any:
    return window.batch(9)


DATASETS: dict[str, tuple[Any, list[Any]]] = {
    "window": (lambda: Dataset.range(7).window(3).flat_map(batches), [[0, 1, 2], [3, 4, 5], [6]]),
    "whole_windows": (
        lambda: Dataset.range(7).window(3, drop_remainder=True).flat_map(batches),
        [[0, 1, 2], [3, 4, 5]],
    ),
    "shift": (lambda: Dataset.range(4).window(3, 1).flat_map(batches), [[0, 1, 2], [1, 2, 3], [2, 3], [3]]),
    "gaps": (lambda: Dataset.range(9).window(2, shift=5).flat_map(batches), [[0, 1], [5, 6]]),
    "stride": (
        lambda: Dataset.range(6).window(2, 1, 3, drop_remainder=True).flat_map(batches),
        [[0, 3], [1, 4], [2, 5]],
    ),
    "window_of_pairs": (
        lambda: pairs().window(2, 2, 1, True).flat_map(lambda a, b: Dataset.zip((a.batch(2), b.batch(2)))),
        [[[0, 1], [0, 10]], [[2, 3], [20, 30]]],
    ),
    "window_of_names": (
        lambda: Dataset.from_tensor_slices({"a": np.arange(2)}).window(2).flat_map(lambda d: d["a"].batch(2)),
        [[0, 1]],
    ),
    "interleaved_windows": (
        lambda: Dataset.range(6).window(3).interleave(lambda w: w.map(lambda x: -x), cycle_length=2),
        [0, -3, -1, -4, -2, -5],
    ),
    "kept_windows": (
        lambda: (
            Dataset.range(3)
            .window(2)
            .shuffle(2, seed=1)
            .cache()
            .repeat(2)
            .flat_map(batches)
            .filter(lambda x: tf.equal(tf.size(x), 1))
        ),
        [[2], [2]],
    ),
    "group_by_window": (
        lambda: Dataset.range(5).group_by_window(lambda i: i % 2, lambda key, w: w.batch(2), 2),
        [[0, 2], [1, 3], [4]],
    ),
    "buckets": (
        lambda: (
            Dataset.range(1, 5)
            .map(lambda i: tf.fill([i], i))
            .bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
        ),
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]],
    ),
    "scan": (lambda: Dataset.range(4).scan(np.int64(0), lambda total, i: (total + i, total)), [0, 0, 1, 3]),
    "take_while": (lambda: Dataset.range(9).take_while(lambda i: i < 2), [0, 1]),
    "unique": (lambda: Dataset.from_tensor_slices([1, 2, 1]).unique(), [1, 2]),
    "counter": (lambda: Dataset.counter(2, 3).take(2), [2, 5]),
    "without_errors": (
        lambda: (
            Dataset.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.check_numerics(1.0 / x, "")).ignore_errors()
        ),
        [1.0, 0.25],
    ),
    "chosen_until_one_is_empty": (
        lambda: Dataset.choose_from_datasets(
            [Dataset.range(3), Dataset.range(10, 11)], Dataset.from_tensor_slices(np.array([0, 1, 1, 0]))
        ),
        [0, 10],
    ),
    "chosen_from_all": (
        lambda: Dataset.choose_from_datasets(
            [Dataset.range(3), Dataset.range(10, 11)],
            Dataset.from_tensor_slices(np.array([0, 1, 1, 0])),
            stop_on_empty_dataset=False,
        ),
        [0, 10, 1],
    ),
}


@pytest.mark.parametrize("name", DATASETS)
def test_elements(name: str) -> None:
    build, wanted = DATASETS[name]
    assert numbers(build().with_options(Dataset.range(1).options())) == wanted


def test_drawn_datasets_stop_with_the_first_that_is_empty_if_asked_to() -> None:
    parts = [Dataset.range(2), Dataset.range(100, 200)]
    assert len(numbers(Dataset.sample_from_datasets(parts, seed=1))) == 102
    assert len(numbers(Dataset.sample_from_datasets(parts, seed=1, stop_on_empty_dataset=True))) < 102


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_dataset_is_reduced_to_tensors_of_each_run(engine: str) -> None:
    count, start = tf.placeholder(tf.int64, []), tf.placeholder(tf.float64, [])
    total, number = (
        Dataset.range(count)
        .batch(2)
        .reduce((start, 0), lambda state, x: (state[0] + tf.reduce_sum(tf.cast(x, tf.float64)), state[1] + 1))
    )
    single = Dataset.range(count - 1, count).get_single_element()
    with tf.Session(engine=engine) as session:
        assert session.run([total * 2.0, number, single], {count: 5, start: 1.0}) == [22.0, 3, 4]
        assert session.run([total, number], {count: 0, start: 1.0}) == [1.0, 0]
