"""The digits and the batches made of them."""

from __future__ import annotations

import numpy as np
import pytest

from pullback.cli.data import Digits, load_digits, training_batch


@pytest.fixture(scope="module")
def digits() -> Digits:
    pytest.importorskip("sklearn")
    return load_digits()


def test_every_digit_is_trained_on_or_held_out(digits: Digits) -> None:
    assert digits.train_images.shape == (1437, 8, 8, 1)
    assert digits.test_images.shape == (360, 8, 8, 1)
    assert len({image.tobytes() for image in (*digits.train_images, *digits.test_images)}) == 1797


def test_images_go_from_zero_to_one(digits: Digits) -> None:
    assert digits.train_images.dtype == np.float32
    assert (digits.train_images.min(), digits.train_images.max()) == (0.0, 1.0)


def test_all_ten_digits_are_held_out(digits: Digits) -> None:
    assert min(np.bincount(digits.test_labels, minlength=10)) >= 20


def test_a_step_has_the_same_batch_every_time_and_another_step_another(digits: Digits) -> None:
    images, labels = training_batch(digits, 64, seed=3, step=7)
    again, labels_again = training_batch(digits, 64, seed=3, step=7)
    np.testing.assert_array_equal(images, again)
    np.testing.assert_array_equal(labels, labels_again)
    assert not np.array_equal(images, training_batch(digits, 64, seed=3, step=8)[0])


def test_a_batch_holds_training_digits_shifted_by_at_most_a_pixel(digits: Digits) -> None:
    images, labels = training_batch(digits, 32, seed=0, step=0)
    assert images.shape == (32, 8, 8, 1)
    padded = np.pad(digits.train_images[..., 0], ((0, 0), (1, 1), (1, 1)))
    known = {
        (padded[:, i : i + 8, j : j + 8][n].tobytes(), int(digits.train_labels[n]))
        for i in range(3)
        for j in range(3)
        for n in range(len(padded))
    }
    assert all((image[..., 0].tobytes(), int(label)) in known for image, label in zip(images, labels, strict=True))
