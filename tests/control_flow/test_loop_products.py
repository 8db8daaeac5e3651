"""What a derivative keeps of the steps of a loop: products, which cost most to compute again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.control_flow.loop import Loop

RANDOM = np.random.default_rng(0)
WEIGHTS, INPUTS = (RANDOM.standard_normal(shape) for shape in ((4, 4), (6, 3, 4)))


def recurrent(w: pb.Tensor, step: Any = pb.tanh) -> pb.Tensor:
    return pb.foldl(lambda h, x: step(pb.matmul(h, w) + x), pb.constant(INPUTS), pb.zeros([3, 4], pb.float64))


def products(dx: Any) -> int:
    """The matrix products of a step of the loop that computes `dx`."""
    loop = dx.op.primitive
    assert isinstance(loop, Loop)
    return sum(op.type == "MatMul" for op in loop.body.pure_operations)


@pytest.mark.parametrize(
    ("memory", "count"), [(None, 2), (pb.Memory(), 2), (pb.Memory(intermediates=True), 2), (pb.Memory(every=1), 3)]
)
def test_a_backward_step_computes_no_product_of_the_step_again(memory: pb.Memory | None, count: int) -> None:
    w = pb.constant(WEIGHTS)
    (dw,) = pb.gradients(recurrent(w, pb.sin), w, memory=memory)
    assert products(dw) == count


@pytest.mark.parametrize("memory", [None, pb.Memory(), pb.Memory(every=1), pb.Memory(budget="1KB")])
@pytest.mark.parametrize("step", [pb.tanh, pb.sigmoid, pb.exp])
def test_a_backward_step_carries_what_the_step_after_began_with(step: Any, memory: pb.Memory | None) -> None:
    w = pb.constant(WEIGHTS)
    y = recurrent(w, step)
    (dw,) = pb.gradients(y, w, memory=memory)
    assert [op for op in y.op.inputs[-1].consumers() if op.type == "Loop"] == [y.op, dw.op]
    assert products(dw) == 2
    assert not {op.type for op in dw.op.primitive.body.pure_operations}.intersection(["Tanh", "Sigmoid", "Exp"])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("steps", [0, 1, 5])
def test_of_several_states_each_is_carried_from_its_own_step(steps: int, engine: str) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    n, v, w = pb.placeholder(pb.int32, []), pb.constant(WEIGHTS), pb.constant(-0.5 * WEIGHTS)

    def step(i: Any, a: Any, b: Any, c: Any) -> Any:
        return i + 1, pb.tanh(pb.matmul(b, v)), pb.sigmoid(pb.matmul(a, w) + b), c + a * b

    starts = [pb.constant(x) for x in INPUTS[:3]]
    looped = pb.while_loop(lambda i, *_: i < n, step, [0, *starts])[1:]
    written = [0, *starts]
    for _ in range(steps):
        written = step(*written)
    results = []
    for a, b, c in (looped, written[1:]):
        y = pb.reduce_sum(a * b + c)
        firsts = pb.gradients(y, [v, w, *starts], unconnected_gradients="zero")
        square = pb.add_n([pb.reduce_sum(dx * dx) for dx in firsts])
        results.append([*firsts, *pb.gradients(square, [v, *starts], unconnected_gradients="zero")])
    for one, other in zip(*pb.Session(engine=engine).run(results, {n: steps}), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_what_is_only_added_up_is_kept_as_the_sum() -> None:
    w = pb.constant(WEIGHTS)
    y = recurrent(w, pb.sin)
    pb.gradients(y, w)
    longer = next(op.primitive for op in y.op.inputs[-1].consumers() if op is not y.op and op.type == "Loop")
    kept = longer.body.results[len(y.op.primitive.body.results) :]
    assert [z.op.type for z in kept] == ["AddV2"]


def sliced(z: pb.Tensor) -> list[pb.Tensor]:
    return [z[:, :1], z[:, 1:2], z[:, 2:3], z[:, 3:]]


GATES: dict[str, tuple[Any, list[str]]] = {
    "split": (lambda z: gated(pb.split(z, 4, axis=1)), ["Sigmoid", "Tanh", "Sigmoid", "Exp"]),
    "slices": (lambda z: gated(sliced(z)), ["Sigmoid", "Tanh", "Sigmoid", "Exp"]),
    "sums": (lambda z: gated([z + 1.0 for z in sliced(z)]), ["Sigmoid", "Tanh", "Sigmoid", "Exp"]),
    "another dtype": (lambda z: pb.cast(pb.cast(z, pb.float32), pb.float64) * 2.0, ["Cast"]),
    "wider": (lambda z: pb.abs(pb.cast(pb.complex(z, z), pb.complex128)), ["AddV2"]),
    "whole": (lambda z: pb.sigmoid(z) * 2.0, ["Sigmoid"]),
    "by its argument": (lambda z: gated([pb.sin(z) for z in sliced(z)]), ["AddV2"]),
    "read twice": (lambda z: pb.sigmoid(z) * z, ["AddV2"]),
    "larger": (lambda z: pb.sigmoid(z) * pb.exp(z), ["AddV2"]),
}


def gated(gates: list[pb.Tensor]) -> pb.Tensor:
    i, g, o, e = [f(z) for f, z in zip([pb.sigmoid, pb.tanh, pb.sigmoid, pb.exp], gates, strict=True)]
    return pb.concat([i * g, o * e, i, g], 1)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("rows", [3, None])
@pytest.mark.parametrize("gates", GATES)
def test_gates_are_kept_in_place_of_what_they_are_made_of(gates: str, rows: int | None, engine: str) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    step, kept = GATES[gates]
    x = pb.placeholder(pb.float64, [6, rows, 4])
    w = pb.constant(WEIGHTS)
    y = pb.foldl(lambda h, x: step(pb.matmul(h, w) + x), x, pb.zeros_like(x[0]))
    (dw,) = pb.gradients(pb.reduce_sum(y * y), w)
    longer = next(op.primitive for op in y.op.inputs[-1].consumers() if op is not y.op and op.type == "Loop")
    assert [z.op.type for z in longer.body.results[len(y.op.primitive.body.results) :]] == kept
    (expected,) = pb.gradients(pb.reduce_sum(y * y), w, memory=pb.Memory(every=1))
    found = pb.Session(engine=engine).run([dw, expected], {x: INPUTS})
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("step", [pb.tanh, lambda z: pb.matmul(pb.sin(z), WEIGHTS) * pb.cos(z)], ids=["one", "two"])
def test_derivatives_are_those_of_the_steps_written_out(engine: str, step: Any) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    w = pb.constant(WEIGHTS)
    h = pb.zeros([3, 4], pb.float64)
    for x in INPUTS:
        h = step(pb.matmul(h, w) + x)
    results = []
    for y in (recurrent(w, step), h):
        (dw,) = pb.gradients(pb.reduce_sum(y * y), w)
        results.append([dw, *pb.gradients(pb.reduce_sum(dw * dw), w)])
    found, expected = pb.Session(engine=engine).run(results)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


CURVES = {"Tanh": pb.tanh, "Sigmoid": pb.sigmoid, "Exp": lambda z: pb.exp(-z), "Sqrt": lambda z: pb.sqrt(z + 9.0)}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("known", "multiplied", "carried"), [(True, False, 1), (True, True, 2), (False, False, 2), (False, True, 2)]
)
@pytest.mark.parametrize("name", CURVES)
def test_functions_of_elements_are_not_computed_again(
    name: str, known: bool, multiplied: bool, carried: int, engine: str
) -> None:
    """They are carried; of a known number of steps, where the derivative reads nothing else, rows are kept."""
    if engine == "xla":
        pytest.importorskip("jax")

    def step(h: pb.Tensor, row: pb.Tensor) -> pb.Tensor:
        return CURVES[name]((h * row if multiplied else h * 0.5) + row)

    x = pb.placeholder(pb.float64, INPUTS.shape if known else [None, *INPUTS.shape[1:]])
    looped = written = pb.constant(INPUTS[0])
    looped = pb.foldl(step, x, looped)
    for i in range(len(INPUTS)):
        written = step(written, x[i])
    results = []
    for y in (looped, written):
        (dx,) = pb.gradients(pb.reduce_sum(y * y), x)
        results.append([y, dx, *pb.gradients(pb.reduce_sum(dx * dx), x)])
    backward = results[0][1].op.primitive
    assert isinstance(backward, Loop)
    assert name not in {op.type for op in backward.body.pure_operations}
    assert backward.carried == carried
    for one, other in zip(*pb.Session(engine=engine).run(results, {x: INPUTS}), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("step", "again"), [(pb.nn.relu, "Relu"), (pb.sin, "Cos")])
def test_choices_of_numbers_and_functions_of_arguments_are_computed_again(step: Any, again: str) -> None:
    x = pb.placeholder(pb.float64, INPUTS.shape)
    y = pb.foldl(lambda h, row: step(h * 0.5 + row), x, pb.constant(INPUTS[0]))
    (dx,) = pb.gradients(y, x)
    backward = dx.op.primitive
    assert isinstance(backward, Loop)
    assert backward.carried == 1
    assert again in {op.type for op in backward.body.pure_operations}
