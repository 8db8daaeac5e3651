"""What Jacobians are pulled back from: the rows of a matrix where the output is a product with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.control_flow.loop import Loop

A = np.random.default_rng(0).normal(size=(5, 3))
B = np.random.default_rng(1).normal(size=(4, 5, 3))
X = np.random.default_rng(2).normal(size=3)


def units_in(y: pb.Tensor) -> int:
    """How many unit vectors the loops hold of which `y` is made."""
    loops = [op.primitive for op in y.graph.operations if isinstance(op.primitive, Loop)]
    return sum(op.type == "OneHot" for loop in loops for op in loop.body.operations)


def differences(f: Callable[[Any], Any], x: Any) -> Any:
    """The Jacobian of `f` by a vector, by central differences."""
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([(f(x + s) - f(x - s)) / 2e-6 for s in steps], -1)


PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "matvec": lambda z: pb.linalg.matvec(pb.constant(A), z),
    "transposed": lambda z: pb.linalg.matvec(pb.constant(A.T), z, transpose_a=True),
    "row": lambda z: pb.matmul(z[None, :], pb.constant(A), transpose_b=True),
    "column": lambda z: pb.reshape(pb.identity(pb.matmul(pb.constant(A), z[:, None])), [5]),
    "all_axes": lambda z: pb.einsum("kij,j->ik", pb.constant(B), z),
    "summed": lambda z: pb.einsum("kij,j->i", pb.constant(B), z),
    "ones": lambda z: pb.matmul(pb.constant(A)[None], z[None, :, None]),
    "tensordot": lambda z: pb.tensordot(pb.constant(B), z, 1),
}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS.keys())
def test_rows_of_the_factor_take_the_place_of_unit_cotangents(engine: str, product: Any) -> None:
    x = pb.placeholder(pb.float64, [3])
    y = product(pb.sin(x))
    j = pb.jacobian(y, x)
    assert units_in(j) == 0
    session = pb.Session(engine=engine)
    found = session.run(j, {x: X})
    np.testing.assert_allclose(found, differences(lambda v: session.run(y, {x: v}), X), rtol=1e-7, atol=1e-9)


def test_the_jacobian_of_a_product_by_its_input_is_the_factor() -> None:
    x = pb.placeholder(pb.float64, [3])
    found = pb.Session(engine="numpy").run(pb.jacobian(pb.linalg.matvec(pb.constant(A), x), x), {x: X})
    np.testing.assert_array_equal(found, A)


NOT_SO: dict[str, Callable[[Any], Any]] = {
    "both_vary": lambda x: pb.linalg.matvec(pb.linalg.diag(x) @ pb.constant(A.T), pb.sin(pb.concat([x, x[:2]], 0))),
    "several_columns": lambda x: pb.constant(A) @ (pb.sin(x)[:, None] * pb.constant([[1.0, 2.0]], pb.float64)),
    "diagonal": lambda x: pb.einsum("jj,j->j", pb.constant(A[:3]), pb.sin(x)),
    "elements": lambda x: pb.einsum("j,j->j", pb.constant(A[0]), pb.sin(x)),
}


@pytest.mark.parametrize("compute", NOT_SO.values(), ids=NOT_SO.keys())
def test_where_the_factor_is_not_the_derivative_units_stay(compute: Any) -> None:
    x = pb.placeholder(pb.float64, [3])
    y = compute(x)
    j = pb.jacobian(y, x)
    assert units_in(j) == 1
    session = pb.Session(engine="numpy")
    found = session.run(j, {x: X})
    np.testing.assert_allclose(found, differences(lambda v: session.run(y, {x: v}), X), rtol=1e-7, atol=1e-9)


def test_hessians_of_a_linear_model_hold_no_unit_vectors() -> None:
    w = pb.Variable(np.linspace(-1.0, 1.0, 3))
    targets = pb.constant([0.0, 1.0, 1.0, 0.0, 1.0], pb.float64)
    logits = pb.linalg.matvec(pb.constant(A), w)
    loss = pb.reduce_sum(pb.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits))
    (h,) = pb.hessians(loss, w)
    assert units_in(h) == 0
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        p = 1.0 / (1.0 + np.exp(-session.run(logits)))
        np.testing.assert_allclose(session.run(h), A.T @ np.diag(p * (1.0 - p)) @ A, rtol=1e-12)


def test_what_stands_between_is_held_constant_where_that_is_asked() -> None:
    x = pb.placeholder(pb.float64, [3])
    z = pb.sin(x)
    y = pb.linalg.matvec(pb.constant(A), z)
    both = pb.jacobian(y, [x, z])
    found = pb.Session(engine="numpy").run(both, {x: X})
    np.testing.assert_allclose(found[0], A * np.cos(X), rtol=1e-12)
    np.testing.assert_array_equal(found[1], A)
    assert pb.jacobian(y, y).shape.as_list() == [5, 5]


def test_another_rule_of_the_product_counts() -> None:
    @pb.RegisterGradient("ProductForSeeds")
    def _(op: pb.Operation, dy: pb.Tensor) -> Any:
        return None, pb.matmul(op.inputs[0], dy, transpose_a=True) * 2.0

    x = pb.placeholder(pb.float64, [3, 1])
    with pb.get_default_graph().gradient_override_map({"MatMul": "ProductForSeeds"}):
        y = pb.matmul(pb.constant(A), pb.sin(x))
    found = pb.Session(engine="numpy").run(pb.jacobian(y, x), {x: X[:, None]})
    np.testing.assert_allclose(found.reshape(5, 3), 2.0 * A * np.cos(X), rtol=1e-12)


def test_lengths_that_only_a_run_knows_keep_the_units() -> None:
    x = pb.placeholder(pb.float64, [None])
    a = pb.placeholder(pb.float64, [None, None])
    j = pb.jacobian(pb.linalg.matvec(a, pb.sin(x)), x)
    found = pb.Session(engine="numpy").run(j, {x: X, a: A})
    np.testing.assert_allclose(found, A * np.cos(X), rtol=1e-12)
