"""Names that programs of TensorFlow 1 use here and there: of files, rows, images, messages, data sets."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.compat.v1 import flags, inplace
from pullback.compat.v1.keras import backend, datasets, utils

X = np.arange(6.0, dtype=np.float32).reshape(3, 2)
V = np.array([[10.0, 20.0], [30.0, 40.0]], np.float32)


def test_files_beside_a_module_are_found() -> None:
    here = Path(__file__)
    assert tf.resource_loader.get_data_files_path() == str(here.parent)
    assert tf.resource_loader.get_path_to_datafile(here.name) == str(here)
    assert tf.resource_loader.load_resource(here.name) == here.read_bytes()
    assert tf.resource_loader.readahead_file_path(here) == str(here)


@pytest.mark.parametrize(
    ("function", "whole", "row", "rows"),
    [
        (inplace.alias_inplace_update, X[::-1], [[0, 1], [10, 20], [4, 5]], [[30, 40], [2, 3], [10, 20]]),
        (inplace.alias_inplace_add, X + X[::-1], [[0, 1], [12, 23], [4, 5]], [[30, 41], [2, 3], [14, 25]]),
        (inplace.alias_inplace_sub, X - X[::-1], [[0, 1], [-8, -17], [4, 5]], [[-30, -39], [2, 3], [-6, -15]]),
    ],
)
def test_rows_take_the_place_of_others(function: object, whole: object, row: object, rows: object) -> None:
    assert callable(function)
    results = [function(X, None, X[::-1].copy()), function(X, 1, V[0]), function(X, [2, 0], V)]
    for got, wanted in zip(tf.Session(engine="numpy").run(results), [whole, row, rows], strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_images_are_cut_or_framed_by_the_older_name() -> None:
    image = tf.image.resize_image_with_crop_or_pad(np.ones([2, 4, 1], np.float32), 4, 2)
    assert tf.Session(engine="numpy").run(image)[..., 0].tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]


def test_slim_has_modules_of_what_its_layers_take() -> None:
    slim = tf.contrib.slim
    assert slim.initializers.xavier_initializer is slim.xavier_initializer
    assert slim.regularizers.l1_l2_regularizer is slim.l1_l2_regularizer
    assert slim.layers.conv2d is slim.conv2d


def test_a_message_says_how_a_saver_saves() -> None:
    pytest.importorskip("tensorboard")
    assert tf.train.SaverDef(max_to_keep=3).max_to_keep == 3


def test_classes_become_rows() -> None:
    assert utils.np_utils.to_categorical([[1], [0]], 3).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_data_sets_are_read_where_keras_has_put_them(tmp_path: Path) -> None:
    arrays = {name: np.full(2, i) for i, name in enumerate(("x_train", "y_train", "x_test", "y_test"))}
    np.savez(tmp_path / "digits.npz", **arrays)
    (x, _), (_, y) = datasets.mnist.load_data(str(tmp_path / "digits.npz"))
    assert (x.tolist(), y.tolist()) == ([0, 0], [3, 3])
    with pytest.raises(FileNotFoundError, match=r"/no\.npz, and nothing is downloaded; put it there$"):
        datasets.mnist.load_data("no.npz")
    with pytest.raises(FileNotFoundError, match=r"^keras\.datasets\.cifar10: nothing is downloaded; read the arrays"):
        datasets.cifar10.load_data()


class Size(Enum):
    SMALL = 1
    LARGE = 2


def test_a_flag_is_a_member_of_an_enumeration() -> None:
    values = flags.FlagValues()
    flags.DEFINE_enum_class("size", Size.SMALL, Size, flag_values=values)
    flags.DEFINE_string("name", None, flag_values=values)
    flags.DEFINE_multi_enum_class("sizes", ["small"], Size, flag_values=values)
    assert values(["program"]) == ["program"]
    assert (values.size, values.sizes) == (Size.SMALL, [Size.SMALL])
    assert values(["program", "--size=large", "--sizes=large", "--sizes=small"]) == ["program"]
    assert (values.size, values.sizes) == (Size.LARGE, [Size.LARGE, Size.SMALL])
    with pytest.raises(ValueError, match=r"^the flag --name must be given$"):
        flags.mark_flags_as_required(["size", "name"], values)
    with pytest.raises(ValueError, match=r"^flag --size=huge: it is one of SMALL, LARGE$"):
        values(["program", "--size=huge"])


def test_the_backend_has_a_session_a_phase_and_the_form_of_images() -> None:
    assert (backend.image_data_format(), backend.floatx(), backend.epsilon()) == ("channels_last", "float32", 1e-7)
    session = tf.Session(engine="numpy")
    backend.set_session(session)
    assert backend.get_session() is session
    assert backend.get_value(backend.repeat(tf.constant([[1.0, 2.0]]), 2)).tolist() == [[[1.0, 2.0], [1.0, 2.0]]]
    backend.clear_session()
    backend.set_learning_phase(1)
    assert backend.learning_phase() == 1
    backend.set_learning_phase(0)
    with pytest.raises(ValueError, match=r"^keras\.backend\.set_learning_phase: the phase is 0 or 1, not 2$"):
        backend.set_learning_phase(2)
