"""Shapes that only a run knows are refused as they would have been while the graph was built, on both engines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def a(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


def _scattered(x: pb.Tensor) -> pb.Tensor:
    table = pb.Variable(pb.zeros([4]), name="table")
    return pb.scatter_nd_update(table, [[0], [2]], x)


REFUSED: dict[str, tuple[Callable[..., pb.Tensor], list[Any]]] = {
    "sum of unequal shapes": (lambda x, y: pb.add_n([x, y]), [a(2, 3), a(1, 3)]),
    "bias for other channels": (pb.nn.bias_add, [a(2, 3), a(1)]),
    "cumulative sum of a scalar": (lambda x: pb.cumsum(x, 0), [a()]),
    "position of the largest in a scalar": (lambda x: pb.argmax(x, 0), [a()]),
    "more copies than axes": (lambda x: pb.tile(x, [2]), [a()]),
    "padding of more axes than there are": (lambda x: pb.pad(x, [[1, 1]]), [a()]),
    "a window that does not fit": (lambda x, w: pb.nn.conv2d(x, w, 1, "VALID"), [a(1, 2, 2, 1), a(3, 3, 1, 1)]),
    "filters for other channels": (
        lambda x, w: pb.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
        [a(1, 4, 4, 1), a(2, 2, 3, 1)],
    ),
    "segments of a scalar": (lambda x: pb.segment_sum(x, [0]), [a()]),
    "labels for other rows": (
        lambda x, y: pb.nn.softmax_cross_entropy_with_logits(labels=x, logits=y),
        [a(1, 2, 3), a(2, 3)],
    ),
    "updates that are fewer than their places": (_scattered, [a(1)]),
}

SAID_BY_INFERENCE = {
    "sum of unequal shapes",
    "bias for other channels",
    "more copies than axes",
    "a window that does not fit",
    "filters for other channels",
}


@pytest.mark.parametrize("unknown", ["lengths", "ranks"])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("what", REFUSED)
def test_a_run_refuses_what_inference_would_have(what: str, engine: str, unknown: str) -> None:
    build, arrays = REFUSED[what]
    with pytest.raises(ValueError, match=r"\w") as told:
        build(*[pb.placeholder(x.dtype, x.shape) for x in arrays])
    given = [pb.placeholder(x.dtype, None if unknown == "ranks" else [None] * x.ndim) for x in arrays]
    try:
        y = build(*given)
    except ValueError:
        assert unknown == "lengths", "the ranks alone do not fit"
        return
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        with pytest.raises(pb.errors.InvalidArgumentError) as found:
            session.run(y, dict(zip(given, arrays, strict=True)))
    if what in SAID_BY_INFERENCE:
        assert str(told.value) in str(found.value)


def test_shapes_that_fit_are_looked_at_once() -> None:
    met = []

    class Looking(pb.Primitive):
        type = "Looking"

        def infer(self, x: Any) -> Any:
            met.append(x.shape.as_list())
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            return x

    x = pb.placeholder(pb.float32, [None])
    y = Looking()(x)
    with pb.Session(engine="numpy") as session:
        for n in (2, 3, 2, 3):
            session.run(y, {x: a(n)})
    assert met == [[None], [2], [3]]
