"""Numbers of things and places of axes are integers: a float is refused, and not cut, wherever one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.arange(24.0, dtype=np.float32).reshape(4, 6)
IMAGES = np.ones([1, 4, 4, 4], np.float32)
BOXES = [[0.0, 0.0, 1.0, 1.0]]
TAKES: dict[str, Callable[[Any], Any]] = {
    "top_k": lambda n: pb.math.top_k(X, n),
    "in_top_k": lambda n: pb.math.in_top_k([0, 1, 2, 3], X, n),
    "nth_element": lambda n: pb.math.nth_element(X, n),
    "split": lambda n: pb.split(X, n),
    "split to sizes": lambda n: pb.split(X, [n, n]),
    "unstack": lambda n: pb.unstack(X, n * 2),
    "one_hot": lambda n: pb.one_hot([0, 1], n),
    "eye": lambda n: pb.eye(n),
    "fill": lambda n: pb.fill([n], 1.0),
    "zeros": lambda n: pb.zeros([n, 2]),
    "reshape": lambda n: pb.reshape(X, [n, -1]),
    "broadcast_to": lambda n: pb.broadcast_to(X, [n, 4, 6]),
    "tile": lambda n: pb.tile(X, [n, 1]),
    "pad": lambda n: pb.pad(X, [[n, 0], [0, 0]]),
    "mirrored pad": lambda n: pb.pad(X, [[n, 0], [0, 0]], "REFLECT"),
    "slice": lambda n: pb.slice(X, [0, 0], [n, 1]),
    "index": lambda n: pb.constant(X)[n],
    "index of a range": lambda n: pb.constant(X)[:n],
    "gather": lambda n: pb.gather(X, [n]),
    "roll": lambda n: pb.roll(X, n, 0),
    "linspace": lambda n: pb.linspace(0.0, 1.0, n),
    "segments": lambda n: pb.unsorted_segment_sum(X, [0, 1, 0, 1], n),
    "partitions": lambda n: pb.dynamic_partition(X, [0, 1, 0, 1], n),
    "bincount": lambda n: pb.math.bincount([0, 1], minlength=n),
    "confusion_matrix": lambda n: pb.math.confusion_matrix([0, 1], [1, 0], n),
    "histogram": lambda n: pb.histogram_fixed_width(X, [0.0, 1.0], n),
    "categorical": lambda n: pb.random.categorical(X, n),
    "stateless_categorical": lambda n: pb.random.stateless_categorical(X, n, [1, 2]),
    "random": lambda n: pb.random.normal([n]),
    "band_part": lambda n: pb.linalg.band_part(X, n, 0),
    "resize": lambda n: pb.image.resize(IMAGES, [n, n]),
    "crop": lambda n: pb.image.crop_to_bounding_box(IMAGES, 0, 0, n, n),
    "resize_with_crop_or_pad": lambda n: pb.image.resize_with_crop_or_pad(IMAGES, n, n),
    "pad_to_bounding_box": lambda n: pb.image.pad_to_bounding_box(IMAGES, n, n, 8, 8),
    "non_max_suppression": lambda n: pb.image.non_max_suppression(BOXES, [1.0], n),
    "lengths of CTC": lambda n: pb.nn.ctc_greedy_decoder(np.ones([3, 1, 4]), [n]),
    "axis of concat": lambda n: pb.concat([X, X], n),
    "axis of sum": lambda n: pb.reduce_sum(X, n),
    "axis of cumsum": lambda n: pb.cumsum(X, n),
    "axis of expand_dims": lambda n: pb.expand_dims(X, n),
    "axis of stack": lambda n: pb.stack([X, X], n),
    "axis of one_hot": lambda n: pb.one_hot([0], 3, axis=n),
    "axis of sort": lambda n: pb.sort(X, n),
    "axis of softmax": lambda n: pb.nn.softmax(X, n),
    "permutation": lambda n: pb.transpose(X, [n, 0]),
}


@pytest.mark.parametrize("n", [1.0, 1.5, np.float32(1)])
@pytest.mark.parametrize("what", TAKES)
def test_a_float_is_no_count(what: str, n: Any) -> None:
    with pytest.raises(TypeError):
        TAKES[what](n)


@pytest.mark.parametrize("n", [2.0, [2.0, 2.0], [1, 2.0, 2.0, 1]])
def test_windows_and_strides_may_be_whole_floats(n: Any) -> None:
    assert pb.nn.max_pool2d(IMAGES, n, n, "SAME").shape == [1, 2, 2, 4]
    with pytest.raises(TypeError, match="ksize must be integers, not "):
        pb.nn.max_pool2d(IMAGES, np.multiply(n, 0.75).tolist(), 1, "SAME")


def test_the_message_says_what_was_asked() -> None:
    with pytest.raises(TypeError, match=r"^top_k: k must be integers, not 1\.5$"):
        pb.math.top_k(X, 1.5)
    with pytest.raises(TypeError, match=r"^categorical: num_samples must be an integer, not \[2\]$"):
        pb.random.categorical(X, [2])
