"""How exactly products are computed: what programs ask of XLA; engines of the host compute in full."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb


def asked(outputs: Any, inputs: Sequence[pb.Tensor], precision: str = "highest") -> list[str]:
    """The precision of each product and convolution of the program, in order."""
    text = pb.xla.to_stablehlo(outputs, inputs, pb.Session(matmul_precision=precision)).mlir_module()
    lines = [line for line in text.split("\n") if re.search(r"= stablehlo\.(dot_general|convolution)[ (]", line)]
    found = [re.search(r"precision(?: = \[)? ?(HIGHEST|HIGH|DEFAULT)", line) for line in lines]
    return [match.group(1).lower() if match else "default" for match in found]


def square(*lengths: int, dtype: Any = pb.float32) -> pb.Tensor:
    return pb.placeholder(dtype, lengths or [3, 3])


@pytest.mark.parametrize("precision", ["highest", "high", "default"])
def test_a_session_says_how_exactly_is_multiplied(precision: str) -> None:
    x = square()
    y = pb.reduce_sum(pb.matmul(x, pb.tanh(x)))
    assert asked([y, *pb.gradients(y, x)], [x], precision) == [precision] * 3


def test_products_are_in_full_unless_one_says_otherwise() -> None:
    x = square()
    assert pb.Session().matmul_precision == "highest"
    assert asked(x @ x, [x]) == ["highest"]


def test_a_scope_counts_before_the_session_and_none_ends_it() -> None:
    x = square()
    with pb.matmul_precision("default"):
        a = x @ x
        with pb.matmul_precision("highest"):
            b = a @ x
        with pb.matmul_precision(None):
            c = b @ x
    assert asked(c, [x], "high") == ["default", "highest", "high"]


def test_derivatives_of_every_order_inherit_it_and_others_do_not() -> None:
    x = square()
    with pb.matmul_precision("default"):
        y = pb.tanh(x @ x)
    (dx,) = pb.gradients(y, x)
    (ddx,) = pb.gradients(dx, x)
    assert set(asked(ddx, [x])) == {"default"}
    (other,) = pb.gradients(pb.reduce_sum(y @ x), x)
    assert asked(other, [x]).count("highest") == 2


def test_where_nothing_is_said_the_scope_around_gradients_counts() -> None:
    x = square()
    y = x @ x
    with pb.matmul_precision("high"):
        (dx,) = pb.gradients(y, x)
    assert asked(dx, [x]) == ["high", "high"]


BODIES: dict[str, Callable[[Any], Any]] = {
    "while_loop": lambda x: pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, pb.tanh(y @ x)), (0, x))[1],
    "scan": lambda x: pb.scan(lambda y, row: pb.tanh(y @ x + row), x, initializer=pb.zeros([3, 3])),
    "map_fn": lambda x: pb.map_fn(lambda row: pb.linalg.matvec(x, row), x),
    "cond": lambda x: pb.cond(pb.reduce_sum(x) > 0.0, lambda: x @ x, lambda: x),
    "recompute": lambda x: pb.recompute_grad(lambda z: pb.tanh(z @ z))(x),
    "function": lambda x: pb.function(lambda z: pb.tanh(z @ z))(x),
    "conv": lambda x: pb.nn.conv1d(pb.reshape(x, [1, 3, 3]), pb.reshape(x, [1, 3, 3]), 1, "SAME"),
    "einsum": lambda x: pb.einsum("ij,kj->ik", x, x),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_and_all_products_inherit_it(name: str) -> None:
    x = square()
    with pb.matmul_precision("high"):
        y = BODIES[name](x)
    found = asked([y, *pb.gradients(y, x)], [x])
    assert found
    assert set(found) == {"high"}


@pytest.mark.parametrize("name", BODIES)
def test_in_bodies_the_session_counts_where_nothing_is_said(name: str) -> None:
    x = square()
    y = BODIES[name](x)
    assert set(asked([y, *pb.gradients(y, x)], [x], "high")) == {"high"}


SOLVERS: dict[str, Callable[[Any], Any]] = {
    "inv": pb.linalg.inv,
    "solve": lambda x: pb.linalg.solve(x, pb.tanh(x)),
    "triangular_solve": lambda x: pb.linalg.triangular_solve(x, pb.tanh(x)),
    "cholesky": pb.linalg.cholesky,
    "cholesky_solve": lambda x: pb.linalg.cholesky_solve(x, pb.tanh(x)),
    "lstsq": lambda x: pb.linalg.lstsq(x, pb.tanh(x)),
    "lstsq_slow": lambda x: pb.linalg.lstsq(x, pb.tanh(x), fast=False),
    "pinv": pb.linalg.pinv,
    "qr": lambda x: list(pb.linalg.qr(x)),
    "lu": lambda x: pb.linalg.lu(x)[0],
    "svd": lambda x: list(pb.linalg.svd(x)),
    "eigh": lambda x: list(pb.linalg.eigh(x)),
    "det": pb.linalg.det,
    "slogdet": lambda x: pb.linalg.slogdet(x)[1],
    "expm": pb.linalg.expm,
    "sqrtm": pb.linalg.sqrtm,
    "logm": pb.linalg.logm,
    "tridiagonal_solve": lambda x: pb.linalg.tridiagonal_solve(x, pb.ones([3]), "compact"),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_linear_algebra_and_its_derivatives_are_computed_in_full_whatever_is_asked(name: str) -> None:
    x = square()
    with pb.matmul_precision("default"):
        ys = SOLVERS[name](x)
        dx = pb.gradients(ys, x)
    assert set(asked([ys, dx], [x], "default")) <= {"highest"}


def test_second_derivatives_of_linear_algebra_are_computed_in_full() -> None:
    x = square()
    (dx,) = pb.gradients(pb.linalg.inv(x), x)
    assert set(asked(pb.gradients(dx * dx, x), [x], "default")) == {"highest"}


def test_places_and_colours_of_images_are_computed_in_full() -> None:
    x = square(1, 4, 4, 3)
    ys = [
        pb.image.rgb_to_yiq(x),
        pb.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]),
        pb.image.resize(x, [7, 3]),
    ]
    assert set(asked([ys, pb.gradients(ys, x)], [x], "default")) <= {"highest"}


def test_numbers_of_bfloat16_lose_nothing_by_the_fastest_way() -> None:
    x = square(dtype=pb.bfloat16)
    assert asked(x @ x, [x]) == ["default"]


def test_a_graph_keeps_it_in_its_dict_form(graph: pb.Graph) -> None:
    x = square()
    with pb.matmul_precision("high"):
        y = BODIES["while_loop"](x) @ x
    copy = pb.Graph.from_dict(graph.to_dict())
    found = copy.get_tensor_by_name(y.name), copy.get_tensor_by_name(x.name)
    with copy.as_default():
        assert asked([found[0], *pb.gradients(*found)], [found[1]]) == asked([y, *pb.gradients(y, x)], [x])
    assert set(asked(y, [x])) == {"high"}


@pytest.mark.parametrize("engine", ["numpy", "onnxruntime"])
@pytest.mark.parametrize("precision", ["highest", "high", "default"])
def test_engines_of_the_host_compute_in_full(engine: str, precision: str) -> None:
    x = square()
    array = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)
    session = pb.Session(engine=engine, matmul_precision=precision)
    np.testing.assert_allclose(session.run(x @ x, {x: array}), array @ array, rtol=1e-6)


def test_there_is_no_other_precision() -> None:
    text = "the precision of products is one of 'highest', 'high', 'default', not 'low'"
    with pytest.raises(ValueError, match=f"^matmul_precision: {text}$"):
        pb.matmul_precision("low")
    with pytest.raises(ValueError, match=f"^Session: {text}$"):
        pb.Session(matmul_precision="low")
