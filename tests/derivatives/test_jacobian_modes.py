"""Jacobians by rows, by columns, by colours: the same values, and the one that takes the fewest products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

MODES = ["reverse", "forward", "coloured", "chained", "auto"]


def chosen(y: Any, x: Any) -> str:
    """What "auto" takes for `y` by `x`."""
    return str(pb.jacobian(y, x, mode="auto", name="modes").name.split("/")[-2].split("_")[0])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("mode", MODES)
def test_all_modes_give_the_same(mode: str, engine: str) -> None:
    x = pb.constant(np.linspace(0.1, 1.0, 6).reshape(2, 3))
    y = pb.matmul(pb.sin(x), x, transpose_b=True)
    found, expected = pb.Session(engine=engine).run([pb.jacobian(y, x, mode=mode), pb.jacobian(y, x)])
    assert found.shape == (2, 2, 2, 3)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("mode", [*MODES[:2], *MODES[3:]])
def test_lengths_that_a_run_decides(mode: str) -> None:
    x = pb.placeholder(pb.float64, [None, 2])
    found = pb.Session(engine="numpy").run(pb.jacobian(x * x, x, mode=mode), {x: [[1.0, 2.0], [3.0, 4.0]]})
    np.testing.assert_allclose(found.reshape(4, 4), np.diag([2.0, 4.0, 6.0, 8.0]))


@pytest.mark.parametrize("mode", MODES)
def test_inputs_may_be_several_variables_and_unconnected(mode: str) -> None:
    w, other = pb.Variable([1.0, 2.0]), pb.constant(3.0)
    found = pb.jacobian(w * 3.0, [w, other], mode=mode)
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        np.testing.assert_allclose(session.run(found[0]), 3 * np.eye(2))
    assert found[1] is None


def test_few_elements_in_make_columns_and_few_out_make_rows() -> None:
    x = pb.constant(np.ones(3))
    tall = pb.concat([pb.sin(x), pb.cos(x)], 0) * pb.reduce_sum(x)
    assert chosen(tall, x) == "forward"
    assert chosen(pb.reduce_sum(tall), x) == "reverse"


def test_few_colours_are_used() -> None:
    x = pb.constant(np.ones(100))
    assert chosen(x[1:] * x[:-1], x) == "coloured"
    assert chosen(x * pb.reduce_sum(x), x) == "reverse"


def dense(x: Any, *widths: int) -> Any:
    """Layers of the sine of these widths on `x` [1, n]."""
    random = np.random.default_rng(0)
    for width in widths:
        x = pb.sin(pb.matmul(x, random.standard_normal((x.shape[-1], width)) / np.sqrt(width)))
    return x


def test_a_narrow_tensor_between_wide_ones_makes_a_product() -> None:
    x = pb.constant(np.linspace(0.1, 1.0, 60)[None])
    y = dense(x, 40, 3, 50)
    assert chosen(y, x) == "chained"
    found, expected = pb.Session(engine="numpy").run([pb.jacobian(y, x, mode=m) for m in ("auto", "reverse")])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_path_around_the_narrow_tensor_makes_none() -> None:
    x = pb.constant(np.linspace(0.1, 1.0, 50)[None])
    assert chosen(dense(x, 40, 3, 50) + x, x) == "reverse"


@pytest.mark.parametrize("widths", [(40, 2, 30, 4, 50), (40, 2, 40), (5, 40, 40), (3, 50, 3, 50, 1, 50)])
def test_chains_of_several_narrow_tensors(widths: tuple[int, ...]) -> None:
    x = pb.Variable(np.linspace(0.1, 1.0, 30)[None])
    y = dense(x * x, *widths)
    found = [pb.jacobian(y, x, mode=m) for m in ("chained", "reverse")]
    second = [pb.gradients(pb.reduce_sum(j * j), x)[0] for j in found]
    session = pb.Session(engine="numpy")
    session.run(x.initializer)
    (a, b), (c, d) = session.run([found, second])
    np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_allclose(c, d, atol=1e-12)


def test_a_chain_takes_as_many_products_as_its_narrowest_tensors_are_wide() -> None:
    x = pb.constant(np.ones((1, 500)))
    y = dense(x, 400, 4, 400, 500)
    with pb.name_scope("of_all"):
        pb.jacobian(y, x, mode="auto")
    loops = [op for op in y.graph.operations if op.type == "Loop" and op.name.startswith("of_all")]
    assert sorted(op.get_attr("length") for op in loops) == [4, 4]


def test_lengths_that_are_not_known_make_rows() -> None:
    x = pb.placeholder(pb.float64, [None])
    assert chosen(x * x, x) == "reverse"


def test_refusals() -> None:
    x = pb.placeholder(pb.float64, [None])
    message = "jacobian: mode must be one of 'reverse', 'forward', 'coloured', 'chained', 'auto', not 'up'"
    with pytest.raises(ValueError, match=message):
        pb.jacobian(x * x, x, mode="up")
    with pytest.raises(ValueError, match='are not known while the graph is built; use mode="auto"'):
        pb.jacobian(x * x, x, mode="coloured")
