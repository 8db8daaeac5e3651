"""The cost model: operations and bytes as one counts them by hand."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor
from pullback.core.lengths import named
from pullback.passes.costs import BYTE, flops, work
from pullback.passes.run_lengths import Lengths

KNOWN = Lengths()


def image(*shape: int) -> Tensor:
    return pb.placeholder(pb.float32, list(shape))


def test_a_matrix_product_takes_two_operations_for_each_product() -> None:
    a, b = image(5, 7, 11), image(5, 11, 13)
    assert flops(pb.matmul(a, b).op, KNOWN) == 2 * 5 * 7 * 11 * 13
    assert flops(pb.einsum("bij,bjk->ik", a, b).op, KNOWN) == 2 * 5 * 7 * 11 * 13


def test_a_convolution_and_its_derivatives_take_two_operations_for_each_product() -> None:
    x, w = image(4, 16, 12, 3), image(3, 3, 3, 8)
    y = pb.nn.conv2d(x, w, 1, "VALID")
    expected = 2 * 4 * 14 * 10 * 8 * 27
    assert [flops(z.op, KNOWN) for z in (y, *pb.gradients(y, [x, w]))] == [expected] * 3


def test_an_elementwise_operation_takes_one_an_element_and_what_moves_elements_none() -> None:
    x = image(3, 4)
    assert flops((x + image(4)).op, KNOWN) == 12
    assert flops(pb.reduce_sum(x, 0).op, KNOWN) == 12
    assert flops(pb.transpose(x).op, KNOWN) == 0


def test_what_works_on_matrices_takes_as_many_operations_as_its_axis_is_long_for_each_element() -> None:
    assert flops(pb.linalg.inv(image(2, 20, 20)).op, KNOWN) == 2 * 2 * 20**3


def test_a_loop_takes_its_steps_where_rows_tell_how_many_there_are() -> None:
    y = pb.map_fn(lambda row: pb.tanh(row), image(9, 5))
    assert flops(y.op, KNOWN) >= 9 * 5


def test_lengths_that_only_a_run_knows_are_those_given() -> None:
    x = pb.placeholder(pb.float32, ["batch", 3])
    lengths = Lengths({named("batch"): 8})
    y = pb.tanh(x)
    assert lengths.bytes(y) == 8 * 3 * 4
    assert work(y.op, lengths) == 24 + BYTE * 2 * 96


def test_a_length_that_is_not_given_is_named() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, ["batch", 3], name="x")
        with pytest.raises(pb.errors.InvalidArgumentError) as raised:
            KNOWN.bytes(x)
    message = str(raised.value)
    assert message.startswith("How many bytes float32[batch,3] 'x:0' takes (made at test_costs.py:")
    assert message.endswith(") depends on batch: give a number in `sizes`.")


def test_what_has_no_elements_takes_nothing() -> None:
    x, w = image(2, 4, 4, 0), image(3, 3, 0, 2)
    y = pb.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
    assert [flops(z.op, KNOWN) for z in (y, *pb.gradients(y, [x, w]))] == [0, 0, 0]


def summed(x: Tensor) -> Tensor:
    return pb.foldl(lambda a, row: a + pb.sin(row), x, pb.zeros([128, 128]))


def stacked(x: Tensor) -> Tensor:
    return pb.scan(lambda a, row: pb.tanh(a + row), x, pb.zeros([128, 128]))


def mapped(x: Tensor) -> Tensor:
    return pb.map_fn(lambda row: pb.reduce_sum(pb.exp(row @ row), 0), x)


def exchanged(x: Tensor) -> Tensor:
    start = [0, x, pb.cos(x)]
    return pb.add_n(pb.while_loop(lambda i, a, b: i < 5, lambda i, a, b: [i + 1, b, pb.sin(a)], start)[1:])


def with_products(x: Tensor) -> Tensor:
    def step(i: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
        return [i + 1, a + pb.sin(b), pb.tanh(b) @ b]

    return pb.add_n(pb.while_loop(lambda i, a, b: i < 5, step, [0, x, pb.cos(x)])[1:])


@pytest.mark.parametrize("net", [summed, stacked, mapped, exchanged, with_products], ids=lambda f: f.__name__)
def test_a_loop_takes_what_is_carried_and_what_a_step_makes(net: Callable[[Tensor], Tensor]) -> None:
    with pb.Graph().as_default():
        x = image(32, 128, 128)
        y = net(x)
        run = pb.Session(engine="numpy").make_callable(y, [x])
        peak = pb.rematerialize(y, "1GB").report.peak
    array = np.full([32, 128, 128], 0.01, np.float32)
    run(array)
    tracemalloc.start()
    run(array)
    _, measured = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert measured == pytest.approx(peak, rel=0.05)


@pytest.mark.parametrize("depth", [8, 32])
@pytest.mark.parametrize("multiplier", [None, 1, 3], ids=["dense", "depthwise", "depthwise of three"])
@pytest.mark.parametrize("wanted", ["result", "image", "filters"])
def test_a_convolution_takes_what_a_part_of_the_batch_does(multiplier: int | None, depth: int, wanted: str) -> None:
    with pb.Graph().as_default():
        x, w = image(8, 32, 32, depth), image(3, 3, depth, multiplier or depth)
        y = (pb.nn.depthwise_conv2d if multiplier else pb.nn.conv2d)(x, w, [1, 1, 1, 1], "SAME")
        found = {"result": [y], "image": pb.gradients(y, x, y), "filters": pb.gradients(y, w, y)}[wanted]
        run = pb.Session(engine="numpy").make_callable(found, [x, w])
        peak = pb.rematerialize(found, "1GB").report.peak
    arrays = [np.ones(z.shape.known, np.float32) for z in (x, w)]
    run(*arrays)
    tracemalloc.start()
    run(*arrays)
    _, measured = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert measured == pytest.approx(peak, rel=0.1)


STEPS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "softmax": ("float32", pb.nn.softmax),
    "logarithm of softmax": ("float64", pb.nn.log_softmax),
    "choice": ("float32", lambda x: pb.where(x > 0.0, x, 2.0 * x)),
    "error function": ("float32", pb.math.erf),
    "elu": ("float32", pb.nn.elu),
    "largest and smallest first": ("float64", pb.argsort),
    "products of 16 bits": ("float16", lambda x: pb.matmul(x, x)),
    "elementwise of 16 bits": ("float16", pb.nn.swish),
    "cross entropy": ("float32", lambda x: pb.nn.softmax_cross_entropy_with_logits(labels=x, logits=x)),
}


@pytest.mark.parametrize(("dtype", "f"), STEPS.values(), ids=STEPS)
def test_what_takes_several_steps_takes_what_is_said(dtype: str, f: Callable[[Any], Any]) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(dtype, [512, 512])
        y = f(x)
        run = pb.Session(engine="numpy").make_callable([y], [x])
        peak = pb.rematerialize(y, "1GB").report.peak
    array = np.random.default_rng(0).uniform(0.1, 0.9, [512, 512]).astype(x.dtype)
    run(array)
    tracemalloc.start()
    run(array)
    _, measured = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert measured == pytest.approx(peak, rel=0.12)
