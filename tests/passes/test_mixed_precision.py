"""Mixed precision: what is computed in 16 bits, what is not, and that all else is as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pullback as pb

RANDOM = np.random.default_rng(0)
ROWS, WEIGHTS, BIAS = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((6, 8), (8, 8), (8,)))


def narrow_types(y: pb.Tensor) -> list[str]:
    """The types of the operations in 16 bits that were added to the graph of `y`, in functions as well."""
    operations = [op for op in y.graph.operations if op.name.startswith("mixed_precision")]
    for op in operations:
        operations += [inner for f in getattr(op.primitive, "functions", ()) for inner in f.operations]
    return [op.type for op in operations if op.outputs and op.outputs[0].dtype == pb.bfloat16 and op.type != "Cast"]


def test_products_are_narrow_and_what_follows_them_up_to_a_sum() -> None:
    x = pb.placeholder(pb.float32, [6, 8])
    y = pb.nn.relu(pb.matmul(x, WEIGHTS) + BIAS)
    loss = pb.mixed_precision(pb.reduce_sum(pb.transpose(y) * 2.0))
    assert narrow_types(loss) == ["MatMul", "AddV2", "Relu", "Transpose", "Mul"]
    assert loss.dtype == pb.float32


@pytest.mark.parametrize("fn", [pb.exp, pb.log, pb.nn.softmax, pb.reduce_max, lambda y: y + ROWS])
def test_what_has_a_pole_or_reads_wide_numbers_is_wide(fn: Callable[[Any], Any]) -> None:
    x = pb.placeholder(pb.float32, [6, 8])
    assert narrow_types(pb.mixed_precision(fn(pb.matmul(x, WEIGHTS)))) == ["MatMul"]


def test_what_reads_no_product_stays_the_same_tensor() -> None:
    x = pb.placeholder(pb.float32, [6, 8])
    y = pb.tanh(x)
    a, b = pb.mixed_precision([y, pb.matmul(y, WEIGHTS)])
    assert a is y
    assert b.op.inputs[0].op.inputs[0].op.inputs[0] is y


def test_other_dtypes_are_left_alone() -> None:
    x = pb.placeholder(pb.float64, [6, 8])
    y = pb.matmul(x, WEIGHTS.astype(np.float64))
    assert pb.mixed_precision(y) is y


@pytest.mark.parametrize("dtype", [pb.float32, pb.int32, pb.float64])
def test_another_dtype_to_compute_in_is_refused(dtype: pb.DType) -> None:
    message = f"mixed_precision: compute must be bfloat16 or float16, not {dtype.name}"
    with pytest.raises(ValueError, match=f"^{message}$"):
        pb.mixed_precision(pb.constant(1.0), dtype)


def model(kind: str, x: pb.Tensor, w: pb.Tensor) -> pb.Tensor:
    """A piece that multiplies by `w`, in a function of some kind."""
    if kind == "loop":
        return pb.foldl(lambda h, row: pb.tanh(pb.matmul(h, w) + row), x, pb.zeros([2, 8]))
    if kind == "branch":
        return pb.cond(pb.reduce_sum(x) > 0.0, lambda: pb.matmul(x, w), lambda: pb.matmul(-x, w))
    if kind == "call":
        return pb.function(lambda a: pb.matmul(a, w))(x)
    return pb.map_fn(lambda row: pb.tensordot(row, w, 1), x)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("kind", ["loop", "branch", "call", "map"])
def test_bodies_multiply_in_16_bits_and_hand_on_what_they_did(kind: str, engine: str) -> None:
    if engine == "xla":
        pytest.importorskip("jax")
    x, w = pb.placeholder(pb.float32, [6, 8]), pb.Variable(0.3 * WEIGHTS)
    y = pb.reduce_mean(pb.square(model(kind, x, w)))
    mixed = pb.mixed_precision(y)
    (dw,), (expected,) = pb.gradients(mixed, w), pb.gradients(y, w)
    assert any(name in ("MatMul", "Einsum") for name in narrow_types(mixed))
    assert dw.dtype == pb.float32
    session = pb.Session(engine=engine)
    session.run(w.initializer)
    found, plain = session.run([[mixed, dw], [y, expected]], {x: ROWS})
    for a, b in zip(found, plain, strict=True):
        np.testing.assert_allclose(a, b, atol=0.03 * np.abs(b).max())
        assert not np.array_equal(a, b)


PIECES: dict[str, Callable[[Any], Any]] = {
    "product": lambda y: pb.matmul(y, 0.3 * WEIGHTS),
    "bias": lambda y: y + BIAS,
    "tanh": pb.tanh,
    "turn": lambda y: pb.reverse(y, [0]),
    "softmax": pb.nn.softmax,
    "residual": lambda y: y + pb.matmul(pb.sin(y), 0.3 * WEIGHTS),
    "norm": lambda y: y / (1.0 + pb.reduce_mean(y * y, axis=1, keepdims=True)),
}


@given(st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_values_and_derivatives_are_those_of_the_plain_graph_to_three_digits(names: list[str]) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [6, 8])
        y = x
        for name in names:
            y = PIECES[name](y)
        loss = pb.reduce_sum(y * ROWS)
        mixed = pb.mixed_precision(loss)
        results = [[z, *pb.gradients(z, x)] for z in (mixed, loss)]
        found, expected = pb.Session(engine="numpy").run(results, {x: ROWS})
    for a, b in zip(found, expected, strict=True):
        scale = max(np.abs(b).max(), np.abs(ROWS).sum() if b.ndim == 0 else 1.0)
        np.testing.assert_allclose(a, b, atol=0.05 * scale)


def test_random_numbers_are_the_same_and_effects_stay() -> None:
    x, v = pb.placeholder(pb.float32, [6, 8]), pb.Variable(0.0)
    y = pb.nn.dropout(pb.matmul(x, WEIGHTS), rate=0.5, seed=1)
    counted = v.assign_add(pb.reduce_sum(pb.matmul(x, WEIGHTS)))
    mixed, same = pb.mixed_precision([y, counted])
    assert same is counted
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    a, b = session.run([mixed, y], {x: ROWS})
    np.testing.assert_array_equal(a == 0, b == 0)


@pytest.mark.parametrize("compute", [pb.bfloat16, pb.float16])
def test_onnxruntime_computes_the_same(compute: pb.DType) -> None:
    pytest.importorskip("onnxruntime")
    x, w = pb.placeholder(pb.float32, ["n", 8]), pb.constant(0.3 * WEIGHTS)
    loss = pb.mixed_precision(pb.reduce_sum(pb.nn.relu(pb.matmul(model("loop", x, w), w))), compute)
    fetches = [loss, *pb.gradients(loss, x)]
    found, expected = (pb.Session(engine=engine).run(fetches, {x: ROWS}) for engine in ("onnxruntime", "numpy"))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=0.01 * np.abs(b).max())
