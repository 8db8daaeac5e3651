"""Rows: tensors made from shapes and numbers."""

from __future__ import annotations

import numpy as np

import pullback as pb

from .case import Case, normal
from .identity.identity import X

CASES = [
    Case("constant", lambda: pb.constant([[1, 2], [3, 4]], pb.int64), expected=np.array([[1, 2], [3, 4]])),
    Case(
        "convert_to_tensor", lambda x: pb.convert_to_tensor([x, 2.0 * x]), [normal(3)], lambda x: np.stack([x, 2 * x])
    ),
    Case("zeros", lambda: pb.zeros([2, 3]), expected=np.zeros((2, 3), np.float32)),
    Case("zeros_large", lambda: pb.zeros([20, 30], pb.float64), expected=np.zeros((20, 30))),
    Case(
        "ones_fed",
        lambda n: pb.ones([n, 2], pb.int32),
        [np.array(3)],
        expected=np.ones((3, 2), np.int32),
        not_erased_rank="a length of unknown rank is no scalar",
    ),
    Case("ones_like", lambda x: pb.ones_like(x), [normal(2, 3)], expected=np.ones((2, 3)), wrt=[]),
    Case(
        "zeros_like_large",
        lambda x: pb.zeros_like(x, pb.int8),
        [normal(9, 9)],
        expected=np.zeros((9, 9), np.int8),
        wrt=[],
    ),
    Case(
        "zeros_fed",
        pb.zeros,
        [np.array(3)],
        expected=np.zeros(3, np.float32),
        not_erased_rank="a length of unknown rank is no scalar",
    ),
    Case("fill", lambda v: pb.fill([2, 3], v), [np.float64(2.0)], expected=np.full((2, 3), 2.0)),
    Case("fill_fed", lambda n, v: pb.fill(n, v), [np.array([2, 3]), np.float64(2.0)], expected=np.full((2, 3), 2.0)),
    Case("fill_int", lambda: pb.fill([2], 9), expected=np.array([9, 9], np.int32)),
    Case("range", lambda: pb.range(3, 18, 3), expected=np.arange(3, 18, 3, np.int32)),
    Case("range_floats", lambda: pb.range(1.0, 0.0, -0.25), expected=np.array([1, 0.75, 0.5, 0.25], np.float32)),
    Case("range_nothing", lambda: pb.range(0), expected=np.zeros(0, np.int32)),
    Case(
        "range_fed_floats",
        lambda a, b, c: pb.range(a, b, c) * pb.square(c),
        [np.array(0.5), np.array(3.0), np.array(0.7)],
        lambda a, b, c: np.arange(a, b, c) * c**2,
        third_order=True,
    ),
    Case("range_fed", lambda n: pb.range(n, 10, 2), [np.array(3)], expected=np.array([3, 5, 7, 9])),
    Case(
        "linspace",
        lambda a, b: pb.linspace(a, b, 5),
        [np.float64(1.0), np.float64(2.0)],
        expected=np.linspace(1, 2, 5),
        not_erased_rank="linspace needs a known rank",
    ),
    Case(
        "linspace_vectors",
        lambda a, b: pb.linspace(a, b, 4, axis=-1),
        [normal(2), normal(2, seed=1)],
        expected=lambda a, b: np.linspace(a, b, 4, axis=-1),
        not_erased_rank="linspace needs a known rank",
    ),
    Case(
        "linspace_one",
        lambda a, b: pb.linspace(a, b, 1),
        [np.float64(1.0), np.float64(2.0)],
        expected=np.array([1.0]),
        not_erased_rank="linspace needs a known rank",
    ),
    Case(
        "linspace_fed",
        lambda a, b, n: pb.linspace(a, b, n, axis=1),
        [normal(2), normal(2, seed=1), np.array(4)],
        expected=lambda a, b, n: np.linspace(a, b, n, axis=1),
        not_erased_rank="the rank of start says where another axis than the first is",
    ),
    Case("eye", lambda: pb.eye(2, 3), expected=np.eye(2, 3, dtype=np.float32)),
    Case(
        "eye_batch",
        lambda: pb.eye(2, batch_shape=[3], dtype=pb.int32),
        expected=np.stack([np.eye(2, dtype=np.int32)] * 3),
    ),
    Case(
        "eye_fed",
        lambda n: pb.eye(n),
        [np.array(3)],
        expected=np.eye(3, dtype=np.float32),
        not_erased_rank="a length of unknown rank is no scalar",
    ),
    Case(
        "one_hot",
        lambda i: pb.one_hot(i, 3),
        [np.array([[0, 2], [-1, 3]])],
        expected=lambda i: (i[..., None] == np.arange(3)).astype(np.float32),
    ),
    Case(
        "one_hot_axis",
        lambda i: pb.one_hot(i, 3, axis=0, dtype=pb.int32),
        [np.array([0, 2])],
        expected=np.array([[1, 0], [0, 0], [0, 1]], np.int32),
    ),
    Case(
        "one_hot_values",
        lambda i, a, b: pb.one_hot(i, 2, a, b),
        [np.array([0, 1]), np.float64(5.0), np.float64(-1.0)],
        expected=np.array([[5.0, -1.0], [-1.0, 5.0]]),
    ),
    Case(
        "one_hot_fed_depth",
        lambda i, n: pb.one_hot(i, n),
        [np.array([0, 2]), np.array(3)],
        expected=np.eye(3, dtype=np.float32)[[0, 2]],
        not_erased_rank="a length of unknown rank is no scalar",
    ),
    Case(
        "meshgrid",
        lambda x, y: pb.meshgrid(x, y),
        [normal(2), normal(3)],
        expected=lambda x, y: np.meshgrid(x, y),
        not_erased_rank="meshgrid takes vectors",
    ),
    Case(
        "meshgrid_ij",
        lambda x, y, z: pb.meshgrid(x, y, z, indexing="ij"),
        [normal(2), normal(3), normal(1)],
        expected=lambda *xs: np.meshgrid(*xs, indexing="ij"),
        not_erased_rank="meshgrid takes vectors",
    ),
    Case("placeholder_with_default", lambda x: pb.placeholder_with_default(x, [None, None]), [X], expected=lambda x: x),
    Case(
        "sequence_mask",
        lambda n: pb.sequence_mask(n, 4, pb.float32),
        [np.array([[1, 3], [0, 4]])],
        expected=lambda n: (np.arange(4) < n[..., None]).astype(np.float32),
    ),
    Case(
        "sequence_mask_longest",
        pb.sequence_mask,
        [np.array([1, 3])],
        expected=lambda n: np.arange(3) < n[..., None],
    ),
]
