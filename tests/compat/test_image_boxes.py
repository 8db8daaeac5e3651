"""Boxes and glimpses of `tf.image`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

ENGINES = ["numpy", "xla"]


def value(x: Any, engine: str = "numpy") -> Any:
    return pb.Session(engine=engine).run(x)


@pytest.mark.parametrize("engine", ENGINES)
def test_lines_beyond_the_image_are_left_out(engine: str) -> None:
    boxes = tf.constant([[[-0.5, 0.5, 0.5, 1.5], [1.3, 0.0, 1.5, 1.0]]])
    found = value(tf.image.draw_bounding_boxes(tf.zeros([1, 5, 5, 3]), boxes, colors=[[0.5, 1.0, 0.0]]), engine)[0]
    expected = np.zeros((5, 5))
    expected[:3, 2] = expected[2, 2:] = 1.0
    assert (found[..., 1] == expected).all()
    assert (found[..., 0] == expected / 2).all()


def test_boxes_are_drawn_in_colours_in_turn() -> None:
    boxes = tf.constant([[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]])
    found = value(tf.image.draw_bounding_boxes(tf.zeros([1, 2, 2, 3]), boxes))[0]
    assert (found[0, 0].tolist(), found[1, 1].tolist()) == ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_boxes_are_suppressed_by_class_and_the_best_of_all_classes_come_first(engine: str) -> None:
    boxes = tf.constant([[[[0.0, 0.0, 0.5, 0.5]], [[0.0, 0.0, 0.5, 0.45]], [[0.6, 0.6, 1.2, 1.0]]]])
    scores = tf.constant([[[0.9, 0.1], [0.8, 0.95], [0.3, 0.2]]])
    found = value(tf.image.combined_non_max_suppression(boxes, scores, 2, 5, score_threshold=0.15), engine)
    assert found[1].tolist() == [pytest.approx([0.95, 0.9, 0.3, 0.2, 0.0])]
    assert found[2].tolist() == [[1.0, 0.0, 0.0, 1.0, 0.0]]
    assert (found[3].tolist(), found[0][0, 2].tolist()) == ([4], pytest.approx([0.6, 0.6, 1.0, 1.0]))
    fewer = tf.image.combined_non_max_suppression(boxes, scores, 1, 5, pad_per_class=True, clip_boxes=False)
    assert fewer[0].shape == [1, 2, 4]


def test_the_number_of_boxes_is_told_beside_those_that_are_filled_up() -> None:
    boxes = [[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]
    kept, count = tf.image.non_max_suppression_padded(boxes, [0.5, 0.9], 4, pad_to_max_output_size=True)
    assert kept.shape == [4]
    assert [x.tolist() for x in value([kept, count])] == [[1, 0, 0, 0], 2]
    assert value(tf.image.non_max_suppression_padded(boxes, [0.5, 0.9], 4)[0]).tolist() == [1, 0]


def test_windows_cover_enough_of_a_box() -> None:
    box = np.float32([[[0.4, 0.4, 0.6, 0.6]]])
    size = tf.placeholder(tf.int32, [3])
    asked = tf.image.sample_distorted_bounding_box(
        size, box, seed=1, min_object_covered=1.0, aspect_ratio_range=[1.0, 1.0], area_range=[0.1, 0.5]
    )
    session = pb.Session(engine="numpy")
    windows = [session.run(asked, {size: [100, 100, 3]}) for _ in range(20)]
    assert len({tuple(begin) for begin, _, _ in windows}) > 10
    for begin, lengths, ends in windows:
        assert (begin[:2] <= 40).all()
        assert (begin[:2] + lengths[:2] >= 60).all()
        assert lengths[0] == lengths[1]
        assert 31 <= lengths[0] <= 71
        np.testing.assert_allclose(ends[0, 0], np.concatenate([begin[:2], begin[:2] + lengths[:2]]) / 100)


def test_where_no_window_fits_it_is_the_whole_image() -> None:
    box = np.float32([[[0.0, 0.0, 1.0, 1.0]]])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        [8, 8, 3], box, min_object_covered=1.0, area_range=[0.1, 0.2]
    )
    assert [x.tolist() for x in value([begin, size])] == [[0, 0, 0], [8, 8, -1]]
    nothing = tf.image.sample_distorted_bounding_box([8, 8, 3], np.zeros((1, 0, 4), np.float32))
    with pytest.raises(Exception, match="no boxes; pass use_image_if_no_bounding_boxes=True"):
        value(nothing)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_glimpse_shows_noise_beyond_the_edge_and_has_a_derivative_within(engine: str) -> None:
    x = tf.constant(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    y = tf.image.extract_glimpse(x, [2, 2], [[-1.0, 0.0]])
    found, dx = value([y, tf.gradients(y, x)[0]], engine)
    assert found[0, 1, :, 0].tolist() == [1.0, 2.0]
    assert (found[0, 0] >= 0.0).all()
    assert (found[0, 0] <= 15.0).all()
    assert dx[0, :, :, 0].sum(1).tolist() == [2.0, 0.0, 0.0, 0.0]


def test_a_glimpse_may_be_placed_by_pixels() -> None:
    x = tf.constant(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    by_pixel = tf.image.extract_glimpse(x, [2, 2], [[2.0, 3.0]], centered=False, normalized=False)
    assert value(by_pixel)[0, :, :, 0].tolist() == [[6.0, 7.0], [10.0, 11.0]]
