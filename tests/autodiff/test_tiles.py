"""What is read slice by slice: the cotangent of the whole is the cotangents of the slices, joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.arange(1.0, 19.0).reshape(3, 6)
TILES: dict[str, tuple[Callable[[Any], list[Any]], str]] = {
    "slices": (lambda x: [x[:, 4:], x[:, :2], x[..., 2:-2]], "ConcatV2"),
    "blocks": (lambda x: [pb.slice(x, [0, 3], [-1, 3]), pb.slice(x, [0, 0], [-1, 3])], "ConcatV2"),
    "elements": (lambda x: [x[:, -1], x[:, 0], x[:, 2], x[:, 1], x[:, 3], x[:, 4]], "Pack"),
    "slices that come again": (lambda x: [x[:, 3:], x[:, :3], x[:, 3:], x[:, :3], x[:, 3:]], "ConcatV2"),
    "elements that come again": (lambda x: [x[:, i % 6] for i in range(9)], "Pack"),
    "one element": (lambda x: [column[:, 0] for column in [x[:, :1]] * 2], "StridedSliceGrad"),
    "again, with a gap": (lambda x: [x[:, :2], x[:, :2], x[:, 3:]], "AddN"),
    "again, with an overlap": (lambda x: [x[:, :3], x[:, :3], x[:, 2:]], "AddN"),
    "one block": (lambda x: [x[:, :6], x[:, :6]], "AddN"),
    "a gap": (lambda x: [x[:, :2], x[:, 3:]], "AddN"),
    "an overlap": (lambda x: [x[:, :4], x[:, 3:]], "AddN"),
    "steps": (lambda x: [x[:, ::2], x[:, 1::2]], "AddN"),
    "two axes": (lambda x: [x[:, :3], x[:, 3:], x[:1], x[1:]], "AddN"),
    "slices and elements": (lambda x: [x[:, :5], x[:, 5]], "AddN"),
    "other reads": (lambda x: [x[:, :3], x[:, 3:], pb.sin(x)], "AddN"),
    "new axes": (lambda x: [x[:, None, :3], x[:, None, 3:]], "AddN"),
}


@pytest.mark.parametrize("rows", [3, None])
@pytest.mark.parametrize("kind", TILES)
def test_slices_that_cover_an_axis_are_joined(kind: str, rows: int | None) -> None:
    parts, type_ = TILES[kind]
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [rows, 6])
        loss = pb.add_n([(i + 1.0) * pb.reduce_sum(pb.tanh(part) * part) for i, part in enumerate(parts(x))])
        (dx,) = pb.gradients(loss, x)
        (ddx,) = pb.gradients(pb.reduce_sum(dx * dx), x)
        alone = pb.add_n(
            [pb.gradients((i + 1.0) * pb.reduce_sum(pb.tanh(p) * p), x)[0] for i, p in enumerate(parts(x))]
        )
        (again,) = pb.gradients(pb.reduce_sum(alone * alone), x)
        found = pb.Session(engine="numpy").run([dx, alone, ddx, again], {x: X / 9})
    assert dx.op.type == type_
    np.testing.assert_allclose(found[0], found[1], rtol=1e-14)
    np.testing.assert_allclose(found[2], found[3], rtol=1e-12)


def test_a_term_that_comes_twice_counts_twice() -> None:
    x = pb.placeholder(pb.float64, [4])
    z = pb.add_n([x, x, pb.identity(x)])
    (dx,) = pb.gradients(3.0 * pb.reduce_sum(z[:2]) + pb.reduce_sum(z[2:]) + pb.reduce_sum(x[:1]), x)
    assert pb.Session(engine="numpy").run(dx, {x: np.zeros(4)}).tolist() == [10.0, 9.0, 3.0, 3.0]
