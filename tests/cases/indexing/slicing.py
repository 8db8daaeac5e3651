"""Rows: slices, elements, new axes; blocks."""

from __future__ import annotations

import numpy as np

import pullback as pb

from ..case import Case, cubed, normal

X = normal(4, 3, 5)


def _key(name: str, key: object, x: np.ndarray = X, **more: object) -> Case:
    return Case(f"key_{name}", lambda x: x[key], [x], expected=lambda x: x[key], **more)


CASES = [
    _key("int", 1),
    _key("negative", -1),
    _key("slice", np.s_[1:3]),
    _key("steps", np.s_[::2, :, ::-2]),
    _key("backwards", np.s_[3:0:-1, ::-1]),
    _key("nothing", np.s_[2:2]),
    _key("beyond", np.s_[1:100, -100:2]),
    _key("new_axes", np.s_[None, :, None, 0]),
    _key("ellipsis", np.s_[..., 1:]),
    _key("ellipsis_inside", np.s_[1, ..., None, 2]),
    _key("full", np.s_[:]),
    _key("scalar", np.s_[...], np.float64(2.0)),
    _key("list", np.s_[[2, 0, 2]]),
    _key("list_second", np.s_[:, [2, -1]]),
    _key("array", np.s_[:, np.array([[0, 1], [2, 2]])]),
    _key("apart", np.s_[0, :, [1, 3]], not_erased_rank="moving axes to the front needs known ranks"),
    _key("empty", np.s_[1:], normal(0, 3)),
    Case(
        "mask",
        lambda x: x[x > 0],
        [X],
        expected=lambda x: x[x > 0],
        not_compiled="the shape depends on values",
        not_erased_rank="a mask needs a known rank",
    ),
    Case(
        "tensor_index",
        lambda x, i: x[i],
        [X, np.array(2)],
        expected=lambda x, i: x[i],
        wrt=[0],
        not_erased_rank="a position of unknown rank is no scalar",
    ),
    Case(
        "tensor_index_second",
        lambda x, i: x[:, i],
        [X, np.array(-1)],
        expected=lambda x, i: x[:, i],
        wrt=[0],
        not_erased_rank="a position of unknown rank is no scalar",
    ),
    Case(
        "tensor_bounds",
        lambda x, a, b: x[a:b, ::b],
        [X, np.array(1), np.array(3)],
        expected=lambda x, a, b: x[a:b, ::b],
        wrt=[0],
    ),
    Case("tensor_indices", lambda x, i: x[..., i], [X, np.array([[1, 0], [-1, 1]])], expected=lambda x, i: x[..., i]),
    Case("same_tensor_twice", lambda x: x[0] * x[1:2], [X], expected=lambda x: x[0] * x[1:2]),
    Case(
        "strided_slice_masks",
        lambda x: pb.strided_slice(x, [1, 0, 1], [3, 0, 0], [1, 1, 1], begin_mask=1, end_mask=4, new_axis_mask=2),
        [X],
        expected=lambda x: x[:3, None, 1:],
    ),
    Case(
        "strided_slice_shrink",
        lambda x: pb.strided_slice(x, [1, 0, -1], [0, 0, 0], shrink_axis_mask=5, ellipsis_mask=2),
        [X],
        expected=lambda x: x[1, ..., -1],
    ),
    Case(
        "strided_slice_fed",
        lambda x, b, e: pb.strided_slice(x, b, e),
        [X, np.array([1, 0]), np.array([3, 2])],
        wrt=[0],
        expected=lambda x, b, e: x[1:3, 0:2],
        not_erased="the length of begin must be known",
    ),
    Case("slice", lambda x: pb.slice(x, [1, 0, 2], [2, 3, 2]), [X], expected=lambda x: x[1:3, :, 2:4]),
    Case("slice_rest", lambda x: pb.slice(x, [1, 0, 2], [-1, 2, -1]), [X], expected=lambda x: x[1:, :2, 2:]),
    Case(
        "slice_moving",
        lambda x, b: pb.slice(x, b, [2, 1, 3]),
        [X, np.array([1, 2, 0])],
        wrt=[0],
        expected=lambda x, b: x[1:3, 2:3, 0:3],
    ),
    Case(
        "slice_moving_rest",
        lambda x, b: pb.slice(x, b, [-1, 1, -1]),
        [X, np.array([1, 2, 3])],
        wrt=[0],
        expected=lambda x, b: x[1:, 2:3, 3:],
        not_erased_rank="what is left needs a known rank",
    ),
    Case(
        "slice_fed",
        lambda x, b, n: pb.slice(x, b, n),
        [X, np.array([1, 2, 0]), np.array([1, 1, 4])],
        wrt=[0],
        expected=lambda x, b, n: x[1:2, 2:3, 0:4],
    ),
    Case(
        "slice_fed_size",
        lambda x, n: pb.slice(x, [1, 0, 0], n),
        [X, np.array([1, 1, 4])],
        wrt=[0],
        expected=lambda x, n: x[1:2, 0:1, 0:4],
    ),
    Case("cube_of_slice", cubed(lambda x: x[::2, 1:]), [X], third_order=True),
]
