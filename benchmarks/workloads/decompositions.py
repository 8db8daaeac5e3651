"""Values and gradients of batched linear algebra and of Fourier transforms, each of a weighted sum of the results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..workload import Step, Workload

Array = np.ndarray[Any, Any]
MATRICES, SIDE = 64, 32
SIGNALS, LENGTH, IMAGES, WIDTH = 64, 4096, 8, 256


class Data(NamedTuple):
    """`arrays` are differentiated by; `weights` are of the shapes of the results."""

    arrays: list[Array]
    weights: list[Array]


class Function(NamedTuple):
    """One function as each peer writes it: from arrays to a list of arrays."""

    title: str
    arrays: Callable[[], list[Array]]
    pullback: Callable[..., list[Any]]
    jax: Callable[..., list[Any]]


def _matrices() -> list[Array]:
    random = np.random.default_rng(0)
    return [(random.standard_normal((MATRICES, SIDE, SIDE)) * 0.1 + np.eye(SIDE)).astype(np.float32)]


def _systems() -> list[Array]:
    right = np.random.default_rng(1).standard_normal((MATRICES, SIDE, SIDE // 4))
    return [*_matrices(), right.astype(np.float32)]


def _tridiagonal() -> list[Array]:
    random = np.random.default_rng(2)
    diagonals = random.standard_normal((MATRICES, 3, LENGTH // 16)) + np.array([[0.0], [4.0], [0.0]])
    return [diagonals.astype(np.float32), random.standard_normal((MATRICES, LENGTH // 16, 4)).astype(np.float32)]


def _signals() -> list[Array]:
    return [np.random.default_rng(3).standard_normal((SIGNALS, LENGTH)).astype(np.float32)]


def _images() -> list[Array]:
    return [np.random.default_rng(4).standard_normal((IMAGES, WIDTH, WIDTH)).astype(np.float32)]


def _symmetric(xp: Any, x: Any) -> Any:
    return xp.einsum("...ij->...ji", x) + x


def _positive(xp: Any, x: Any) -> Any:
    return xp.einsum("...ij,...kj->...ik", x, x)


def _functions() -> dict[str, Function]:
    """The peers' libraries are imported when they are called."""
    return {
        "inv": Function("inverses", _matrices, lambda pb, x: [pb.linalg.inv(x)], lambda np, _, x: [np.linalg.inv(x)]),
        "solve": Function(
            "systems of equations",
            _systems,
            lambda pb, a, b: [pb.linalg.solve(a, b)],
            lambda np, _, a, b: [np.linalg.solve(a, b)],
        ),
        "triangular": Function(
            "triangular systems",
            _systems,
            lambda pb, a, b: [pb.linalg.triangular_solve(a, b)],
            lambda _, jax, a, b: [jax.scipy.linalg.solve_triangular(a, b, lower=True)],
        ),
        "tridiagonal": Function(
            "tridiagonal systems",
            _tridiagonal,
            lambda pb, a, b: [pb.linalg.tridiagonal_solve(a, b)],
            lambda np, jax, a, b: [_tridiagonal_with_jax(np, jax, a, b)],
        ),
        "det": Function(
            "determinants", _matrices, lambda pb, x: [pb.linalg.det(x)], lambda np, _, x: [np.linalg.det(x)]
        ),
        "slogdet": Function(
            "logarithms of determinants",
            _matrices,
            lambda pb, x: [pb.linalg.slogdet(x)[1]],
            lambda np, _, x: [np.linalg.slogdet(x)[1]],
        ),
        "cholesky": Function(
            "Cholesky decompositions",
            _matrices,
            lambda pb, x: [pb.linalg.cholesky(_positive(pb, x))],
            lambda np, _, x: [np.linalg.cholesky(_positive(np, x))],
        ),
        "lu": Function(
            "LU decompositions",
            _matrices,
            lambda pb, x: [pb.linalg.lu(x)[0]],
            lambda _, jax, x: [jax.lax.linalg.lu(x)[0]],
        ),
        "qr": Function(
            "QR decompositions",
            _matrices,
            lambda pb, x: list(pb.linalg.qr(x)),
            lambda np, _, x: list(np.linalg.qr(x)),
        ),
        "eigh": Function(
            "eigenvectors",
            _matrices,
            lambda pb, x: [y * y for y in pb.linalg.eigh(_symmetric(pb, x))],
            lambda np, _, x: [y * y for y in np.linalg.eigh(_symmetric(np, x))],
        ),
        "svd": Function(
            "singular value decompositions",
            _matrices,
            lambda pb, x: _first(pb.linalg.svd(x), (1, 0, 2)),
            lambda np, _, x: _first(np.linalg.svd(x, full_matrices=False), (0, 1, 2)),
        ),
        "pinv": Function(
            "pseudo-inverses", _matrices, lambda pb, x: [pb.linalg.pinv(x)], lambda np, _, x: [np.linalg.pinv(x)]
        ),
        "expm": Function(
            "exponentials of matrices",
            _matrices,
            lambda pb, x: [pb.linalg.expm(x)],
            lambda _, jax, x: [jax.scipy.linalg.expm(x)],
        ),
        "rfft": Function(
            "transforms of real signals",
            _signals,
            lambda pb, x: [pb.abs(pb.signal.rfft(x))],
            lambda np, _, x: [np.abs(np.fft.rfft(x))],
        ),
        "irfft": Function(
            "filtered signals",
            _signals,
            lambda pb, x: [pb.signal.irfft(pb.signal.rfft(x) * 2.0)],
            lambda np, _, x: [np.fft.irfft(np.fft.rfft(x) * 2.0)],
        ),
        "fft2d": Function(
            "transforms of images",
            _images,
            lambda pb, x: [pb.math.real(pb.signal.ifft2d(pb.square(pb.signal.fft2d(pb.cast(x, pb.complex64)))))],
            lambda np, _, x: [np.real(np.fft.ifft2(np.square(np.fft.fft2(x.astype(np.complex64)))))],
        ),
    }


def _tridiagonal_with_jax(np: Any, jax: Any, a: Any, b: Any) -> Any:
    ends = [np.zeros_like(a[:, 0, :1])]
    above = np.concatenate([a[:, 0, :-1], *ends], axis=-1)
    below = np.concatenate([*ends, a[:, 2, 1:]], axis=-1)
    return jax.lax.linalg.tridiagonal_solve(below, a[:, 1], above, b)


def _first(parts: Any, order: tuple[int, ...]) -> list[Any]:
    """The left vectors and the singular values, squared: of the former the signs are the library's choice."""
    return [parts[i] * parts[i] for i in order[:2]]


def data(function: Function) -> Data:
    import jax
    import jax.numpy as jnp

    arrays = function.arrays()
    random = np.random.default_rng(9)
    shapes = [y.shape for y in jax.eval_shape(lambda *xs: function.jax(jnp, jax, *xs), *arrays)]
    return Data(arrays, [random.standard_normal(shape).astype(np.float32) for shape in shapes])


def with_pullback(data: Data, function: Function, engine: str) -> Step:
    import pullback as pb

    with pb.Graph().as_default():
        xs = [pb.placeholder(pb.float32, x.shape) for x in data.arrays]
        ys = function.pullback(pb, *xs)
        weights = [pb.constant(w) for w in data.weights]
        loss = pb.add_n([pb.reduce_sum(w * y) for w, y in zip(weights, ys, strict=True)])
        session = pb.Session(engine=engine)
        run = session.make_callable([loss, *pb.gradients(loss, xs)], xs)
    arrays = data.arrays
    return lambda: float(run(*arrays)[0])


def with_jax(data: Data, function: Function) -> Step:
    import jax
    import jax.numpy as jnp

    weights = [jnp.array(w) for w in data.weights]

    def loss(*xs: Any) -> Any:
        ys = function.jax(jnp, jax, *xs)
        return sum(jnp.sum(w * y) for w, y in zip(weights, ys, strict=True))

    step = jax.jit(jax.value_and_grad(loss, tuple(range(len(data.arrays)))))
    arrays = data.arrays

    def run() -> float:
        value, gradients = step(*arrays)
        jax.block_until_ready(gradients)
        return float(value)

    return run


WORKLOADS = [
    Workload(
        name=f"gradient-{name}",
        title=f"{function.title} and their gradient",
        data=partial(data, function),
        peers={
            "pullback": partial(with_pullback, function=function, engine="xla"),
            "pullback-numpy": partial(with_pullback, function=function, engine="numpy"),
            "jax": partial(with_jax, function=function),
        },
    )
    for name, function in _functions().items()
]
