"""What only operations that nobody reads need of the graphs around a body is not needed by the body."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

_ENGINES = ["numpy", "xla"]


def _waits(unfed: pb.Tensor, x: pb.Tensor) -> None:
    with pb.control_dependencies([unfed]):
        pb.add(x, 1.0)


def _reads(unfed: pb.Tensor, x: pb.Tensor) -> None:
    pb.add(x, unfed)


def _reads_in_a_branch(unfed: pb.Tensor, x: pb.Tensor) -> None:
    pb.cond(x > 0.0, lambda: pb.add(x, unfed), lambda: x)


def _waits_in_a_branch(unfed: pb.Tensor, x: pb.Tensor) -> None:
    def branch() -> pb.Tensor:
        with pb.control_dependencies([unfed]):
            return pb.add(x, 1.0)

    pb.cond(x > 0.0, branch, lambda: x)


Body = Callable[[pb.Tensor], pb.Tensor]

_USES: dict[str, Callable[[Body, pb.Tensor], Any]] = {
    "cond": lambda body, x: pb.cond(x > 0.0, lambda: body(x), lambda: x),
    "switch_case": lambda body, x: pb.switch_case(pb.cast(x, pb.int32), [lambda: x, lambda: x, lambda: body(x)]),
    "while_loop": lambda body, x: pb.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, body(y)), [0, x])[1],
    "condition": lambda body, x: pb.while_loop(lambda y: body(y) < 7.0, lambda y: y + 3.0, [x])[0],
    "scan": lambda body, x: pb.scan(lambda y, _: body(y), pb.zeros([1]), x)[0],
    "map_fn": lambda body, x: pb.map_fn(body, pb.reshape(x, [1]))[0],
}


@pytest.mark.parametrize("engine", _ENGINES)
@pytest.mark.parametrize("aside", [_waits, _reads, _reads_in_a_branch, _waits_in_a_branch])
@pytest.mark.parametrize("use", _USES)
def test_what_nobody_reads_in_a_body_asks_for_no_placeholder(use: str, aside: Any, engine: str) -> None:
    unfed, x = pb.placeholder(pb.float32, []), pb.constant(2.0)

    def body(y: pb.Tensor) -> pb.Tensor:
        aside(unfed, y)
        return y + 3.0

    y = _USES[use](body, x)
    dx = pb.gradients(y, x)[0]
    assert pb.Session(engine=engine).run([y, dx]) == [5.0, 1.0]


@pytest.mark.parametrize("engine", _ENGINES)
@pytest.mark.parametrize("use", _USES)
def test_what_is_read_in_a_body_waits_for_operations_around(use: str, engine: str) -> None:
    v, x = pb.Variable(0.0), pb.constant(2.0)
    grown = v.assign_add(1.0)

    def body(y: pb.Tensor) -> pb.Tensor:
        with pb.control_dependencies([grown]):
            return y + 3.0

    y = _USES[use](body, x)
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        assert session.run(y) == 5.0
        assert session.run(v) == 1.0


@pytest.mark.parametrize("engine", _ENGINES)
def test_what_has_an_effect_is_run_though_nobody_reads_it(engine: str) -> None:
    v, added, x = pb.Variable(0.0), pb.placeholder(pb.float32, []), pb.constant(2.0)

    def branch() -> pb.Tensor:
        v.assign_add(added)
        return x

    y = pb.cond(x > 0.0, branch, lambda: x)
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        assert session.run(y, {added: 4.0}) == 2.0
        assert session.run(v) == 4.0
        with pytest.raises(pb.errors.InvalidArgumentError, match="needs a placeholder that was not fed"):
            session.run(y)


@pytest.mark.parametrize("engine", _ENGINES)
def test_a_function_waits_only_for_what_its_results_wait_for(engine: str) -> None:
    unfed, x = pb.placeholder(pb.float32, []), np.float32(2.0)

    @pb.function
    def f(y: pb.Tensor) -> pb.Tensor:
        _waits(unfed, y)
        return y + 3.0

    assert pb.Session(engine=engine).run(f(pb.constant(x))) == 5.0
