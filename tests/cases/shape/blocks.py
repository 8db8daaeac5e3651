"""Rows: blocks of positions as batch entries, sequences turned round, patches."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, cubed, normal

CASES = [
    Case(
        "space_to_batch",
        lambda x: pb.space_to_batch(x, [2, 2], [[1, 0], [0, 1]]),
        [np.arange(15.0).reshape(1, 3, 5, 1)],
        expected=lambda x: (
            np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0))).reshape(2, 2, 3, 2).transpose(1, 3, 0, 2).reshape(4, 2, 3, 1)
        ),
    ),
    Case("space_to_batch_1d", lambda x: pb.space_to_batch_nd(x, [3], [[0, 1]]), [normal(2, 5, 2, 2)]),
    Case("space_to_batch_nothing", lambda x: pb.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [normal(0, 4, 2, 3)]),
    Case("batch_to_space", lambda x: pb.batch_to_space(x, [2, 2], [[1, 0], [0, 1]]), [normal(8, 2, 3, 2)]),
    Case(
        "batch_to_space_inverse",
        lambda x: pb.batch_to_space_nd(pb.space_to_batch(x, [2], [[2, 1]]), [2], [[2, 1]]),
        [normal(2, 3, 2)],
        expected=lambda x: x,
    ),
    Case(
        "space_to_batch_moving_paddings",
        lambda x, paddings: pb.space_to_batch(x, [2], paddings),
        [normal(2, 3, 2), np.array([[0, 1]])],
    ),
    Case(
        "reverse_sequence",
        lambda x, lengths: pb.reverse_sequence(x, lengths, seq_axis=1),
        [np.arange(8.0).reshape(2, 4), np.array([3, 0])],
        expected=np.array([[2.0, 1, 0, 3], [4, 5, 6, 7]]),
    ),
    Case(
        "reverse_sequence_batch_second",
        lambda x, lengths: pb.reverse_sequence(x, lengths, 0, 1),
        [normal(4, 3, 2), np.array([4, 1, 2], np.int32)],
    ),
    Case(
        "cube_of_space_to_batch",
        cubed(lambda x: pb.space_to_batch(x, [2], [[1, 0]])),
        [normal(1, 3, 2)],
        third_order=True,
    ),
]
