"""What a derivative needs to be fed: not what it only has the shape of."""

from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor

Build = Callable[[Tensor, Tensor], Tensor]

IMAGES, FILTERS = [2, 40, 40, 3], [3, 3, 3, 4]
BILINEAR: dict[str, tuple[list[int], list[int], Build]] = {
    "matmul": ([200, 30], [30, 40], pb.matmul),
    "mul": ([200, 30], [200, 30], pb.multiply),
    "conv2d": (IMAGES, FILTERS, lambda x, f: pb.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")),
    "depthwise_conv2d": (IMAGES, FILTERS, lambda x, f: pb.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME")),
    "conv2d_transpose": (
        [2, 20, 20, 4],
        FILTERS,
        lambda x, f: pb.nn.conv2d_transpose(x, f, [2, 40, 40, 3], [1, 2, 2, 1]),
    ),
    "einsum": ([200, 30], [30, 40], lambda a, b: pb.einsum("ij,jk->ik", a, b)),
}


@pytest.mark.parametrize("name", BILINEAR)
@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("i", [0, 1])
def test_a_bilinear_function_is_differentiated_by_one_input_without_its_value(name: str, engine: str, i: int) -> None:
    *shapes, function = BILINEAR[name]
    inputs = [pb.placeholder(pb.float32, shape) for shape in shapes]
    (dx,) = pb.gradients(function(*inputs), inputs[i])
    other = {inputs[1 - i]: np.ones(shapes[1 - i], np.float32)}
    assert pb.Session(engine=engine).run(dx, other).shape == tuple(shapes[i])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("like", [pb.zeros_like, pb.ones_like])
@pytest.mark.parametrize("length", [3, 3000])
def test_what_has_a_known_shape_needs_no_value_to_be_like(
    like: Callable[..., Tensor], length: int, engine: str
) -> None:
    x = pb.placeholder(pb.float32, [length])
    assert pb.Session(engine=engine).run(like(x)).shape == (length,)


def test_the_zeros_of_what_no_y_depends_on_need_no_value() -> None:
    x, z = pb.placeholder(pb.float32, [3000]), pb.constant(1.0)
    (dx,) = pb.gradients(z * z, x, unconnected_gradients="zero")
    assert not pb.Session(engine="numpy").run(dx).any()


def test_a_shape_that_only_the_run_knows_is_that_of_the_value() -> None:
    x = pb.placeholder(pb.float32, [None])
    (dx,) = pb.gradients(pb.reduce_sum(3.0 * x), x)
    with pytest.raises(pb.errors.InvalidArgumentError, match="what is fetched needs a placeholder that was not fed"):
        pb.Session(engine="numpy").run(dx)
