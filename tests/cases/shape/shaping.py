"""Rows: axes added, removed, exchanged; repetition, padding; shapes as values."""

from __future__ import annotations

import numpy as np

import pullback as pb
from pullback.primitives.shape.reshape_keeping import ReshapeKeeping

from ..case import Case, cubed, normal

X = normal(2, 3, 4)
PADS = [[1, 2], [0, 1]]


def _hidden(x: pb.Tensor) -> pb.Tensor:
    """`x`, of which nothing is known while the graph is built."""
    return pb.placeholder_with_default(x, None)


CASES = [
    Case("reshape", lambda x: pb.reshape(x, [4, -1]), [X], expected=lambda x: x.reshape(4, -1)),
    Case("reshape_scalar", lambda x: pb.reshape(x, []), [normal(1, 1)], expected=lambda x: x[0, 0]),
    Case("reshape_empty", lambda x: pb.reshape(x, [3, 0]), [normal(0, 5)], expected=np.zeros((3, 0))),
    Case("reshape_no_rows", lambda x: pb.reshape(x, [0, -1]), [normal(0, 2, 3)], expected=np.zeros((0, 6))),
    Case("reshape_rows", lambda x: pb.reshape(x, [pb.shape(x)[0], -1]), [normal(0, 2, 3)], expected=np.zeros((0, 6))),
    Case("reshape_fed", lambda x, s: pb.reshape(x, s), [X, np.array([6, -1])], wrt=[0]),
    Case(
        "reshape_partly_known", lambda x: pb.reshape(x, [pb.shape(x)[0], 12]), [X], expected=lambda x: x.reshape(2, 12)
    ),
    Case("broadcast_to", lambda x: pb.broadcast_to(x, [2, 3, 4]), [normal(3, 1)]),
    Case("broadcast_to_lengths_of_one", lambda x: pb.broadcast_to(x, [2, 1, 1]), [normal(1, 1)]),
    Case("broadcast_to_nothing", lambda x: pb.broadcast_to(x, [2, 0]), [normal(1)]),
    Case("broadcast_to_fed", lambda x, s: pb.broadcast_to(x, s), [normal(3, 1), np.array([2, 3, 4])], wrt=[0]),
    Case("expand_dims", lambda x: pb.expand_dims(x, 1), [X], expected=lambda x: x[:, None]),
    Case("expand_dims_last", lambda x: pb.expand_dims(x, -1), [X], expected=lambda x: x[..., None]),
    Case("expand_dims_before_last", lambda x: pb.expand_dims(x, -2), [X], expected=lambda x: x[..., None, :]),
    Case("expand_dims_scalar", lambda x: pb.expand_dims(x, 0), [np.float64(2.0)], expected=lambda x: x[None]),
    Case("squeeze", pb.squeeze, [normal(1, 3, 1)], expected=lambda x: x[0, :, 0]),
    Case("squeeze_axis", lambda x: pb.squeeze(x, [-1]), [normal(1, 3, 1)], expected=lambda x: x[..., 0]),
    Case("transpose", pb.transpose, [X], expected=lambda x: x.T),
    Case("transpose_perm", lambda x: pb.transpose(x, [2, 0, 1]), [X], expected=lambda x: x.transpose(2, 0, 1)),
    Case("transpose_negative", lambda x: pb.transpose(x, [0, -1, 1]), [X], expected=lambda x: x.transpose(0, 2, 1)),
    Case(
        "transpose_fed",
        lambda x, p: pb.transpose(pb.transpose(x, p) * np.arange(3.0)[:, None, None], p),
        [normal(2, 3, 3), np.array([1, 2, -3])],
        wrt=[0],
        expected=lambda x, p: (x.transpose(p) * np.arange(3.0)[:, None, None]).transpose(p),
        not_onnx="the order of the axes is an attribute there",
    ),
    Case(
        "transpose_conjugate",
        lambda x: pb.transpose(x, conjugate=True),
        [normal(2, 3) + 1j],
        expected=lambda x: x.T.conj(),
    ),
    Case("transpose_scalar", pb.transpose, [np.float64(1.0)], expected=lambda x: x),
    Case("rank", pb.rank, [X], expected=np.int32(3), wrt=[]),
    Case("size", lambda x: pb.size(x, pb.int64), [X], expected=np.int64(24), wrt=[]),
    Case("shape", pb.shape, [X], expected=np.array([2, 3, 4], np.int32), wrt=[]),
    Case(
        "shape_n",
        lambda x, y: pb.shape_n([x, y], pb.int64),
        [X, normal(2)],
        wrt=[],
        expected=[np.array([2, 3, 4]), np.array([2])],
    ),
    Case("rank_unknown", lambda x: pb.rank(_hidden(x)), [X], expected=np.int32(3), wrt=[]),
    Case("size_unknown", lambda x: pb.size(_hidden(x)), [X], expected=np.int32(24), wrt=[]),
    Case("shape_n_unknown", lambda x: pb.shape_n([_hidden(x), x[0]]), [X], wrt=[]),
    Case("tile", lambda x: pb.tile(x, [2, 1, 3]), [X], expected=lambda x: np.tile(x, [2, 1, 3])),
    Case(
        "tile_none",
        lambda x: pb.tile(x, [0, 2]),
        [normal(2, 3)],
        expected=np.zeros((0, 6)),
    ),
    Case("tile_none_fed", lambda x, n: pb.tile(x, n), [normal(2, 3), np.array([0, 2])], expected=np.zeros((0, 6))),
    Case("tile_fed", lambda x, n: pb.tile(x, n), [normal(2, 3), np.array([2, 3])], wrt=[0]),
    Case("repeat", lambda x: pb.repeat(x, 3, axis=1), [X], expected=lambda x: np.repeat(x, 3, 1)),
    Case("repeat_none", lambda x: pb.repeat(x, 0, axis=1), [X], expected=lambda x: np.repeat(x, 0, 1)),
    Case("repeat_flat", lambda x: pb.repeat(x, 2), [normal(2, 3)], expected=lambda x: np.repeat(x, 2)),
    Case(
        "repeat_each",
        lambda x: pb.repeat(x, [2, 0, 1], axis=-1),
        [normal(2, 3)],
        expected=lambda x: np.repeat(x, [2, 0, 1], -1),
    ),
    Case(
        "repeat_fed",
        lambda x, n: pb.repeat(x, n, axis=0),
        [normal(2, 3), np.array([2, 3])],
        wrt=[0],
        expected=lambda x, n: np.repeat(x, n, 0),
        not_erased_rank="repeats is a scalar or a vector, which must be known",
    ),
    Case("reverse", lambda x: pb.reverse(x, [0, -1]), [X], expected=lambda x: x[::-1, :, ::-1]),
    Case("roll", lambda x: pb.roll(x, 1, 1), [X], expected=lambda x: np.roll(x, 1, 1)),
    Case("roll_fed", lambda x, n: pb.roll(x, n, 1), [X, np.array(-1)], expected=lambda x, n: np.roll(x, n, 1)),
    Case(
        "roll_two_fed",
        lambda x, n: pb.roll(x, n, [0, 2]),
        [X, np.array([-1, 5])],
        expected=lambda x, n: np.roll(x, n, [0, 2]),
    ),
    Case("roll_two", lambda x: pb.roll(x, [-1, 5], [0, 2]), [X], expected=lambda x: np.roll(x, [-1, 5], [0, 2])),
    Case("pad", lambda x: pb.pad(x, PADS), [normal(2, 3)], expected=lambda x: np.pad(x, PADS)),
    Case(
        "pad_value",
        lambda x: pb.pad(x, PADS, constant_values=2.5),
        [normal(2, 3)],
        expected=lambda x: np.pad(x, PADS, constant_values=2.5),
    ),
    Case("pad_int", lambda x: pb.pad(x, [[1, 0]], constant_values=7), [np.array([1, 2])], expected=np.array([7, 1, 2])),
    Case(
        "pad_fed",
        lambda x, p: pb.pad(x, p),
        [normal(2, 3), np.array(PADS)],
        wrt=[0],
        expected=lambda x, p: np.pad(x, p),
    ),
    Case("pad_fed_value", lambda x, v: pb.pad(x, PADS, constant_values=v), [normal(2, 3), np.float64(2.0)]),
    Case(
        "pad_fed_value_and_widths",
        lambda x, v, p: pb.pad(x, p, constant_values=v),
        [normal(2, 3), np.float64(2.0), np.array(PADS)],
    ),
    Case(
        "pad_reflect",
        lambda x: pb.pad(x, [[1, 2], [2, 0]], "REFLECT"),
        [normal(3, 4)],
        expected=lambda x: np.pad(x, [[1, 2], [2, 0]], "reflect"),
    ),
    Case(
        "pad_symmetric",
        lambda x: pb.pad(x, [[3, 2], [2, 4]], "symmetric"),
        [normal(3, 4)],
        expected=lambda x: np.pad(x, [[3, 2], [2, 4]], "symmetric"),
    ),
    Case(
        "pad_reflect_fed",
        lambda x, widths: pb.pad(x, widths, "REFLECT"),
        [normal(3, 4), np.array([[2, 0], [1, 3]])],
        expected=lambda x, widths: np.pad(x, widths, "reflect"),
    ),
    Case("pad_nothing", lambda x: pb.pad(x, [[0, 0]], "REFLECT"), [normal(3)], expected=lambda x: x),
    Case(
        "space_to_depth",
        lambda x: pb.nn.space_to_depth(x, 2),
        [normal(2, 4, 6, 3)],
        expected=lambda x: x.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12),
    ),
    Case("space_to_depth_nchw", lambda x: pb.nn.space_to_depth(x, 2, "NCHW"), [normal(1, 3, 2, 4)]),
    Case("depth_to_space", lambda x: pb.nn.depth_to_space(x, 2), [normal(1, 2, 1, 8)]),
    Case("depth_to_space_nchw", lambda x: pb.nn.depth_to_space(x, 2, "NCHW"), [normal(1, 8, 2, 1)]),
    Case(
        "depth_undoes_space",
        lambda x: pb.nn.depth_to_space(pb.nn.space_to_depth(x, 3, "NCHW"), 3, "NCHW"),
        [normal(1, 2, 3, 6)],
        expected=lambda x: x,
    ),
    Case("cube_of_pad", cubed(lambda x: pb.pad(pb.transpose(x), PADS)), [normal(2, 3)], third_order=True),
    Case("reshape_keeping", lambda x: ReshapeKeeping((0, -1))(x), [normal(2, 3, 2)], lambda x: x.reshape(2, 6)),
    Case(
        "reshape_keeping_by_a_vector",
        lambda x: ReshapeKeeping(None)(x, pb.constant([0, 1, -1])),
        [normal(2, 3)],
        lambda x: x.reshape(2, 1, 3),
    ),
]
