"""What tutorials of TensorFlow 1 import: their data, moving averages, the names of estimators."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf
from pullback.compat.v1 import mnist
from pullback.compat.v1.moving_averages import assign_moving_average


def write(folder: Path, name: str, values: np.ndarray) -> None:
    header = np.array([2048 + values.ndim, *values.shape], ">u4").tobytes()
    with gzip.open(folder / name, "wb") as file:
        file.write(header + values.astype(np.uint8).tobytes())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, count in (("train", 10), ("t10k", 4)):
        write(tmp_path, f"{name}-images-idx3-ubyte.gz", np.arange(count * 4).reshape(count, 2, 2))
        write(tmp_path, f"{name}-labels-idx1-ubyte.gz", np.arange(count) % 10)
    return tmp_path


def test_images_and_labels_are_read(folder: Path) -> None:
    data = mnist.read_data_sets(str(folder), one_hot=True, validation_size=3)
    assert [part.num_examples for part in data] == [7, 3, 4]
    np.testing.assert_allclose(data.validation.images, np.arange(12).reshape(3, 4) / 255.0, rtol=1e-6)
    np.testing.assert_array_equal(data.train.labels.argmax(1), np.arange(3, 10))


def test_batches_go_on_from_epoch_to_epoch(folder: Path) -> None:
    data = mnist.read_data_sets(str(folder), validation_size=3, reshape=False, seed=1).train
    labels = np.concatenate([data.next_batch(4)[1] for _ in range(7)])
    assert data.epochs_completed == 3
    np.testing.assert_array_equal(np.bincount(labels), [0, 0, 0, 4, 4, 4, 4, 4, 4, 4])
    assert data.next_batch(2)[0].shape == (2, 2, 2, 1)


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"^read_data_sets: there is no .*; nothing is downloaded, "):
        mnist.read_data_sets(str(tmp_path))


@pytest.mark.parametrize("data", [b"", b"\0\0\x08\x03", b"\0\0\x08\x03" + b"\xff" * 12 + b"abc"])
def test_a_broken_file_is_refused(folder: Path, data: bytes) -> None:
    with gzip.open(folder / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(data)
    with pytest.raises(ValueError, match=r"^read_data_sets: .*train-images"):
        mnist.read_data_sets(str(folder))


def test_the_module_is_found_where_tutorials_import_it() -> None:
    pb.compat.install()
    from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets  # type: ignore[import-not-found]
    from tensorflow.examples.tutorials.mnist import input_data  # type: ignore[import-not-found]

    pb.compat.uninstall()
    datasets = tf.contrib.learn.datasets
    assert input_data.read_data_sets is read_data_sets is datasets.mnist.read_data_sets is mnist.read_data_sets
    assert datasets.load_dataset("mnist", test_with_fake_data=True).train.num_examples == 10000
    with pytest.raises(ValueError, match=r"^learn.datasets.load_dataset: there is 'mnist' only, not 'dbpedia'; read"):
        datasets.load_dataset("dbpedia")


@pytest.mark.parametrize(("zero_debias", "expected"), [(False, [2.0, 4.0]), (True, [4.0, 16.0 / 3.0])])
def test_a_moving_average(zero_debias: bool, expected: list[float]) -> None:
    v, x = tf.get_variable("v", initializer=0.0), tf.placeholder(tf.float32, [])
    step = assign_moving_average(v, x, 0.5, zero_debias)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose([session.run(step, {x: value}) for value in (4.0, 6.0)], expected, rtol=1e-6)
        np.testing.assert_allclose(session.run(v), expected[-1], rtol=1e-6)


def test_an_estimator_is_refused_with_what_to_do() -> None:
    assert tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.TRAIN, loss=1.0).mode == "train"
    with pytest.raises(AttributeError) as raised:
        _ = tf.estimator.Estimator
    assert str(raised.value) == (
        "module 'tensorflow.estimator' has no attribute 'Estimator': call the model function yourself, with the "
        "tensors of tf.data, and run its train_op in tf.train.MonitoredTrainingSession"
    )
