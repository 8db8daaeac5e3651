"""Derivatives of Python functions: on arrays, on tensors, in one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

NO_FUNCTION: Any = 3


def cube(x: Any) -> Any:
    return x * x * x


def test_numbers_handed_to_a_pullback_take_the_dtypes_of_what_came_out() -> None:
    def both(x: Any, a: Any) -> Any:
        return {"product": x * a, "x": x}

    _, pull = pb.vjp(both, np.float64(2.0), np.float64(3.0))
    assert pull({"product": 1.0, "x": 2}) == (np.float64(5.0), np.float64(2.0))
    _, pull = pb.vjp(cube, np.array([1.0, 2.0]))
    assert pull([1.0, 1.0])[0].tolist() == [3.0, 12.0]


def test_grad_of_grad_of_grad() -> None:
    f = cube
    found = []
    for _ in range(3):
        f = pb.grad(f)
        found.append(f(np.float64(2.0)))
    assert found == [12.0, 12.0, 6.0]


def test_structures_several_arguments_and_what_is_no_array() -> None:
    def loss(w: Any, x: Any, kind: str, bias: Any = 0.0) -> Any:
        y = pb.linalg.matvec(w["a"], x) + w["b"] + bias
        return pb.reduce_sum(pb.tanh(y) if kind == "bent" else y)

    w, x = {"a": np.ones([2, 3]), "b": np.float64(1.0)}, np.arange(3.0)
    dw, dx = pb.grad(loss, argnums=(0, 1))(w, x, "straight", bias=np.float64(2.0))
    assert dw["a"].tolist() == [[0.0, 1.0, 2.0]] * 2
    assert dw["b"] == 2.0
    assert dx.tolist() == [2.0, 2.0, 2.0]
    value, _ = pb.value_and_grad(loss)(w, x, "bent")
    assert value == pytest.approx(2 * np.tanh(4.0))


def test_has_aux_hands_on_what_else_is_returned() -> None:
    def f(x: Any) -> Any:
        return x * x, {"twice": x + x}

    (value, aux), dx = pb.value_and_grad(f, has_aux=True)(3.0)
    assert (value, aux["twice"], dx) == (9.0, 6.0, 6.0)
    dx, aux = pb.grad(f, has_aux=True)(3.0)
    assert (dx, aux["twice"]) == (6.0, 6.0)


def test_an_argument_that_does_not_count_gives_zeros() -> None:
    assert pb.grad(lambda x, y: x * x, argnums=1)(3.0, [1.0, 2.0]) == [0.0, 0.0]
    assert pb.grad(lambda x, y: x * x, argnums=1)(3.0, np.ones(2)).tolist() == [0.0, 0.0]


def test_slices_are_made_dense() -> None:
    dtable = pb.grad(lambda t: pb.reduce_sum(pb.gather(t, [1, 1])))(np.ones([3, 2]))
    assert dtable.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]


def test_on_tensors_they_build_graph() -> None:
    x = pb.placeholder(pb.float32, [])
    dx = pb.grad(pb.grad(cube))(x)
    assert pb.Session().run([dx, *pb.gradients(dx, x)], {x: 2.0}) == [12.0, 6.0]


def test_variables_are_read() -> None:
    v = pb.Variable(2.0)
    dv = pb.grad(cube)(v)
    with pb.Session() as session:
        session.run(v.initializer)
        assert session.run(dv) == 12.0


def test_each_signature_is_traced_once_and_the_same_function_is_known_again() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(str(x.type))
        return pb.reduce_sum(x * x)

    for value in (np.ones(2), np.zeros(2), np.ones(3)):
        pb.grad(f)(value)
    assert seen == ["float64[2]", "float64[3]"]


def test_vjp_on_arrays_and_on_tensors() -> None:
    def f(x: Any, a: Any) -> Any:
        return {"y": x * a, "z": pb.reduce_sum(x)}

    y, pull = pb.vjp(f, np.array([1.0, 2.0]), np.float64(3.0))
    assert y["y"].tolist() == [3.0, 6.0]
    dx, da = pull({"y": np.array([1.0, 10.0]), "z": np.float64(100.0)})
    assert (dx.tolist(), da) == ([103.0, 130.0], 21.0)
    x = pb.constant([1.0, 2.0])
    y, pull = pb.vjp(lambda t: t * t, x)
    assert pb.Session().run(pull(pb.constant([1.0, 0.5]))[0]).tolist() == [2.0, 2.0]


def test_jvp_and_its_structure() -> None:
    y, dy = pb.transforms.jvp(lambda x, a: [x * a, pb.sin(a)], [2.0, 3.0], [1.0, 0.5])
    assert y[0] == 6.0
    np.testing.assert_allclose(dy, [4.0, 0.5 * np.cos(3.0)], rtol=1e-6)


def test_hvp_takes_all_blocks() -> None:
    def f(x: Any, y: Any) -> Any:
        return pb.reduce_sum(x * x * y)

    hx, hy = pb.hvp(f, [np.array([1.0, 2.0]), np.float64(3.0)], [np.array([1.0, 0.0]), np.float64(2.0)])
    assert hx.tolist() == [6.0 + 4.0, 8.0]
    assert hy == 2.0


def test_they_are_differentiated_themselves() -> None:
    assert pb.grad(lambda x: pb.hvp(cube, [x], [1.0])[0])(2.0) == 6.0
    assert pb.grad(lambda x: pb.transforms.jvp(cube, [x], [1.0])[1])(2.0) == 12.0
    assert pb.grad(lambda x: pb.vjp(cube, x)[1](1.0)[0])(2.0) == 12.0
    assert pb.transforms.jvp(pb.grad(cube), [2.0], [1.0]) == (12.0, 12.0)


def test_of_a_traced_function_with_a_loop() -> None:
    @pb.function
    def power(x: Any) -> Any:
        return pb.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (0, x))[1]

    assert pb.grad(pb.grad(power))(np.float64(2.0)) == 160.0


def test_jacobian_of_several_arguments_and_results() -> None:
    def f(x: Any, w: Any) -> Any:
        return {"product": x * w["a"], "constant": w["b"]}

    x, w = np.array([1.0, 2.0]), {"a": np.float64(3.0), "b": np.float64(4.0)}
    found = pb.transforms.jacobian(f, argnums=(0, 1))(x, w)
    dx, dw = found["product"]
    assert dx.tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert (dw["a"].tolist(), dw["b"].tolist()) == ([1.0, 2.0], [0.0, 0.0])
    assert found["constant"][0].tolist() == [0.0, 0.0]
    assert found["constant"][1]["b"] == 1.0


def test_hessian_has_all_blocks_and_is_zero_for_linear_functions() -> None:
    def f(w: Any) -> Any:
        return pb.reduce_sum(w["a"] * w["a"] * w["b"])

    found = pb.transforms.hessian(f)({"a": np.array([1.0, 2.0]), "b": np.float64(3.0)})
    assert found["a"]["a"].tolist() == [[6.0, 0.0], [0.0, 6.0]]
    assert found["a"]["b"].tolist() == found["b"]["a"].tolist() == [2.0, 4.0]
    assert found["b"]["b"] == 0.0
    assert pb.transforms.hessian(lambda x: pb.reduce_sum(x) * 3.0)(np.ones(2)).tolist() == [[0.0, 0.0]] * 2


def test_they_decorate_methods() -> None:
    class Model:
        by = 3.0

        def loss(self, x: Any) -> Any:
            return self.by * x * x

        slope = pb.grad(loss, argnums=1)

    assert Model().slope(2.0) == 12.0


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: pb.grad(lambda x: x)(np.ones(2)),
            ValueError,
            "grad: the function must return a scalar, not float64[2]; sum it up, or use pb.vjp",
        ),
        (
            lambda: pb.grad(cube)(2),
            TypeError,
            "grad: argument 0 is int32[]; derivatives are by floats: choose others with argnums",
        ),
        (
            lambda: pb.value_and_grad(cube, argnums=1)(2.0),
            ValueError,
            "value_and_grad: argnums has 1, but 1 arguments were given by position",
        ),
        (
            lambda: pb.grad(NO_FUNCTION),
            TypeError,
            "grad: the first argument must be a function, not 3",
        ),
        (
            lambda: pb.hvp(cube, [2.0], [np.ones(2, np.float32)]),
            ValueError,
            "hvp: vectors: float32[2] was given for a primal of float32[]",
        ),
        (
            lambda: pb.grad(cube, has_aux=True)(2.0),
            TypeError,
            "with has_aux, the function must return a pair (y, aux), not <Tensor 'mul_1:0' float32[]>",
        ),
    ],
)
def test_wrong_calls_say_what_is_wrong(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message
