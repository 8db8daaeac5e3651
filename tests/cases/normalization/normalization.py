"""Rows: means and variances, and what is normalised with them."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, normal, positive

RANK_IS_NEEDED = "the rank says which axes stand where"


def _standard(x: np.ndarray, axis: tuple[int, ...], epsilon: float) -> np.ndarray:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


CASES = [
    Case(
        "batch_normalization",
        lambda x, m, v, o, s: pb.nn.batch_normalization(x, m, v, o, s, 1e-3),
        [normal(2, 3, 4), normal(4, seed=1), positive(4), normal(4, seed=2), normal(4, seed=3)],
        expected=lambda x, m, v, o, s: (x - m) / np.sqrt(v + 1e-3) * s + o,
    ),
    Case(
        "batch_normalization_plain",
        lambda x, m, v: pb.nn.batch_normalization(x, m, v, None, None, 1e-3),
        [normal(2, 4), normal(4, seed=1), positive(4)],
    ),
    Case(
        "fused_batch_norm",
        lambda x, s, o: pb.nn.fused_batch_norm(x, s, o),
        [normal(2, 3, 3, 2), normal(2, seed=1), normal(2, seed=2)],
        expected=lambda x, s, o: [
            _standard(x, (0, 1, 2), 1e-3) * s + o,
            x.mean((0, 1, 2)),
            x.var((0, 1, 2), ddof=1),
        ],
        tolerance=1e-5,
        third_order=True,
    ),
    Case(
        "fused_batch_norm_images_only",
        lambda x, s, o: pb.nn.fused_batch_norm(x, s, o, data_format="NCHW")[0],
        [normal(2, 3, 2, 2), normal(3, seed=1), normal(3, seed=2)],
        tolerance=1e-5,
    ),
    Case(
        "fused_batch_norm_running",
        lambda x, s, o, m, v: pb.nn.fused_batch_norm(x, s, o, m, v, exponential_avg_factor=0.1),
        [normal(2, 2, 2, 3), normal(3, seed=1), normal(3, seed=2), normal(3, seed=3), positive(3)],
        tolerance=1e-5,
    ),
    Case(
        "fused_batch_norm_inference",
        lambda x, s, o, m, v: pb.nn.fused_batch_norm(x, s, o, m, v, is_training=False),
        [normal(2, 2, 2, 3), normal(3, seed=1), normal(3, seed=2), normal(3, seed=3), positive(3)],
    ),
    Case(
        "fused_batch_norm_inference_channels_first",
        lambda x, s, o, m, v: pb.nn.fused_batch_norm(x, s, o, m, v, data_format="NCHW", is_training=False)[0],
        [normal(2, 3, 2, 2), normal(3, seed=1), normal(3, seed=2), normal(3, seed=3), positive(3)],
    ),
    Case(
        "fused_batch_norm_float16",
        lambda x, s, o: pb.nn.fused_batch_norm(pb.cast(x, pb.float16), pb.cast(s, pb.float32), pb.cast(o, pb.float32))[
            0
        ],
        [normal(2, 2, 2, 3), normal(3, seed=1), normal(3, seed=2)],
        not_differentiable="differences are lost in float16",
        float32_tolerance=1e-3,
    ),
    Case(
        "layer_normalization",
        lambda x, o, s: pb.nn.layer_normalization(x, o, s),
        [normal(2, 3, 4), normal(4, seed=1), normal(4, seed=2)],
        expected=lambda x, o, s: _standard(x, (-1,), 1e-3) * s + o,
        tolerance=1e-5,
    ),
    Case(
        "layer_normalization_two_axes",
        lambda x, o, s: pb.nn.layer_normalization(x, o, s, axis=[1, 2]),
        [normal(2, 3, 4), normal(3, 4, seed=1), normal(3, 4, seed=2)],
        tolerance=1e-5,
    ),
    Case(
        "layer_normalization_first_axis",
        lambda x, o, s: pb.nn.layer_normalization(x, o, s, axis=0, epsilon=1e-5),
        [normal(3, 4), normal(3, seed=1), normal(3, seed=2)],
        not_erased_rank=RANK_IS_NEEDED,
        tolerance=1e-5,
    ),
    Case("layer_normalization_plain", lambda x: pb.nn.layer_normalization(x), [normal(3, 4)], tolerance=1e-5),
    Case("layer_normalization_no_rows", lambda x: pb.nn.layer_normalization(x), [normal(0, 4)]),
    Case(
        "layer_normalization_float16",
        lambda x: pb.nn.layer_normalization(pb.cast(x, pb.float16)),
        [normal(3, 4)],
        not_differentiable="differences are lost in float16",
        float32_tolerance=1e-3,
    ),
    Case(
        "l2_normalize",
        lambda x: pb.nn.l2_normalize(x, 1),
        [normal(3, 4)],
        expected=lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
    ),
    Case("l2_normalize_zeros", lambda x: pb.nn.l2_normalize(x), [np.zeros(3)], tolerance=1e-5, wrt=[]),
    Case("normalize", lambda x: pb.linalg.normalize(x, axis=0), [normal(3, 4)]),
    Case("normalize_ones", lambda x: pb.linalg.normalize(x, ord=1), [normal(3)]),
    Case(
        "local_response_normalization",
        lambda x: pb.nn.local_response_normalization(x, depth_radius=1, alpha=0.5, beta=0.75),
        [normal(2, 1, 2, 4)],
        third_order=True,
    ),
    Case(
        "batch_norm_with_global_normalization",
        lambda x, m, v, b, g: pb.nn.batch_norm_with_global_normalization(x, m, v, b, g, 1e-3, True),
        [normal(2, 2, 2, 3), normal(3, seed=1), positive(3), normal(3, seed=2), normal(3, seed=3)],
    ),
    Case(
        "local_response_normalization_of_any_channels",
        lambda x: pb.nn.local_response_normalization(pb.placeholder_with_default(x, [2, 1, 2, None]), 1, 1, 0.5, 0.75),
        [normal(2, 1, 2, 4)],
        not_erased="the row erases a length itself",
    ),
]
