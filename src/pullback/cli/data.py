"""Data set of the demo: scikit-learn's 1797 handwritten digits of 8x8 pixels, a fifth of them held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .failure import USAGE, CommandError

HELD_OUT = 360
NEEDS = 'pullback demo needs scikit-learn and matplotlib: pip install "pullback[demo]"'

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Digits:
    """Images [n, 8, 8, 1] from 0 to 1 and labels [n] from 0 to 9, to train on and held out."""

    train_images: Array
    train_labels: Array
    test_images: Array
    test_labels: Array


def load_digits() -> Digits:
    """The digits, divided the same way every time.

    Raises:
        CommandError: scikit-learn is not installed.
    """
    try:
        from sklearn import datasets
    except ImportError:
        raise CommandError(NEEDS, USAGE) from None
    images, labels = datasets.load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8, 1) / 16.0).astype(np.float32)
    labels = labels.astype(np.int32)
    order = np.random.default_rng(1797).permutation(len(labels))
    test, train = order[:HELD_OUT], order[HELD_OUT:]
    return Digits(images[train], labels[train], images[test], labels[test])


def training_batch(digits: Digits, size: int, seed: int, step: int) -> tuple[Array, Array]:
    """Images for one step, each shifted by at most one pixel, and their labels: the same for the same arguments."""
    random = np.random.default_rng([seed, step])
    picked = random.integers(0, len(digits.train_labels), size)
    images = np.pad(digits.train_images[picked], ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, columns = random.integers(0, 3, (2, size, 1)) + np.arange(8)
    shifted = images[np.arange(size)[:, None, None], rows[:, :, None], columns[:, None, :]]
    return shifted, digits.train_labels[picked]
