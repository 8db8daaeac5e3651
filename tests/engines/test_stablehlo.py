"""Graphs as StableHLO: also for lengths that only a call knows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")
W = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
LOSSES: dict[str, Callable[[pb.Tensor], Any]] = {
    "perceptron": lambda x: pb.tanh(pb.matmul(x, W)),
    "softmax": lambda x: pb.nn.softmax(x) ** 2,
    "mean": lambda x: pb.reduce_mean(x * x, 0),
    "one number for each column": lambda x: x * pb.reduce_mean(x, 0, keepdims=True),
    "flat": lambda x: pb.reshape(x * x, [-1]),
    "joined": lambda x: pb.concat([x, x * x], 0) ** 2,
    "running sums": lambda x: pb.cumsum(x * x, 0) ** 2,
}


@pytest.mark.parametrize("length", ["batch", None])
@pytest.mark.parametrize("name", LOSSES)
def test_one_program_serves_batches_of_all_sizes(name: str, length: str | None) -> None:
    x = pb.placeholder(pb.float32, [length, 4])
    (dx,) = pb.gradients(pb.reduce_sum(LOSSES[name](x)), x)
    exported = export.deserialize(pb.xla.to_stablehlo(dx, [x]).serialize())
    session = pb.Session(engine="numpy")
    for count in (3, 5):
        array = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
        np.testing.assert_allclose(exported.call(array), session.run(dx, {x: array}), rtol=2e-5, atol=1e-6)


READS: dict[str, Callable[[Any, pb.Tensor], Any]] = {
    "rows": lambda v, i: pb.nn.embedding_lookup(v, i),
    "places": lambda v, i: pb.gather_nd(v, pb.stack([i, i], 1)),
    "all": lambda v, i: v.read_value() * pb.cast(pb.reduce_sum(i), pb.float32),
    "a slice": lambda v, i: v[1:, i[0]],
}


@pytest.mark.parametrize("read", READS)
def test_variables_are_exported_with_the_values_that_the_session_has(read: str) -> None:
    i = pb.placeholder(pb.int32, [None])
    v = pb.Variable(W, name="v")
    y = READS[read](v, i)
    fetches = [y, *pb.gradients(pb.reduce_sum(pb.square(y)), [v.handle])]
    with pb.Session() as session:
        session.run(v.initializer)
        places = np.array([2, 0, 2], np.int32)
        expected = session.run(fetches, {i: places})
        found = [pb.xla.to_jax(fetches, [i], session)(places)]
        if read != "a slice":  # Its first place is one of a batch that may be empty.
            found.append(export.deserialize(pb.xla.to_stablehlo(fetches, [i], session).serialize()).call(places))
    for values in found:
        for a, b in zip(values, expected, strict=True):
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6), a, b)


def test_lengths_of_one_name_are_one_dimension() -> None:
    a, b = [pb.placeholder(pb.float32, ["n"]) for _ in range(2)]
    exported = pb.xla.to_stablehlo(pb.concat([a * b, a], 0), [a, b])
    assert [str(y.shape) for y in exported.out_avals] == ["(2*n,)"]
    with pytest.raises(ValueError, match="Found inconsistency between dimension size"):
        exported.call(np.ones(2, np.float32), np.ones(3, np.float32))


def test_lengths_without_a_name_may_differ_from_one_that_is_called_like_them() -> None:
    a, b, c = [pb.placeholder(pb.float32, [n]) for n in (None, "length", None)]
    exported = pb.xla.to_stablehlo(pb.concat([a, b, c], 0), [a, b, c])
    assert exported.call(*[np.ones(n, np.float32) for n in (1, 2, 3)]).shape == (6,)


def test_an_operation_that_must_know_lengths_is_named_with_its_line() -> None:
    x = pb.placeholder(pb.float32, ["batch", 4])
    y = pb.nn.moments(x, [0], name="spread")[1]
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        pb.xla.to_stablehlo(y, [x])
    text, site, remedy = str(error.value).splitlines()
    assert text == (
        "operation 'spread' (Moments) on float32[batch,4] cannot be compiled for lengths that only a call knows."
    )
    assert site.startswith("  made at test_stablehlo.py:")
    assert remedy == "Give the placeholders that are fed static shapes."


def test_a_placeholder_of_unknown_rank_is_refused() -> None:
    x = pb.placeholder(pb.float32, None, name="x")
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"to_stablehlo: the rank of .*'x:0'.* must be known"):
        pb.xla.to_stablehlo(x * 2.0, [x])


LAYERS: dict[str, tuple[list[int], list[int], Callable[[Any, Any], Any]]] = {
    "product": ([8], [8, 4], lambda x, w: x @ w),
    "einsum": ([5, 8], [8, 4], lambda x, w: pb.einsum("bti,ij->btj", x, w)),
    "convolution": ([8, 8, 3], [3, 3, 3, 4], lambda x, w: pb.nn.conv2d(x, w, 2, "SAME")),
    "depthwise convolution": ([8, 8, 3], [3, 3, 3, 2], lambda x, w: pb.nn.depthwise_conv2d(x, w, [1] * 4, "SAME")),
    "convolution of volumes": ([6, 6, 6, 2], [3, 3, 3, 2, 2], lambda x, w: pb.nn.conv3d(x, w, [1] * 5, "SAME")),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_by_weights_are_exported_for_batches_of_any_size(layer: str) -> None:
    example, filters, apply = LAYERS[layer]
    x, w = pb.placeholder(pb.float32, [None, *example]), pb.placeholder(pb.float32, filters)
    gradients = pb.gradients(pb.reduce_mean(pb.square(apply(x, w))), [x, w])
    exported = pb.xla.to_stablehlo(gradients, [x, w])
    random = np.random.default_rng(0)
    for batch in (1, 6):
        given = [random.standard_normal(shape).astype(np.float32) for shape in ([batch, *example], filters)]
        expected = pb.Session(engine="numpy").run(gradients, dict(zip([x, w], given, strict=True)))
        for a, b in zip(exported.call(*given), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


SMOOTH = {
    "softplus": pb.nn.softplus,
    "cross entropy": lambda x: pb.nn.sigmoid_cross_entropy_with_logits(pb.ones_like(x), x),
}


@pytest.mark.parametrize("function", SMOOTH.values(), ids=SMOOTH)
def test_jax_differentiates_what_is_smooth_at_zero(function: Any) -> None:
    x = pb.placeholder(pb.float32, [3])
    y = function(x)
    given = np.array([-1.0, 0.0, 2.0], np.float32)
    with pb.Session(engine="numpy") as session:
        expected = session.run(pb.gradients(y, x)[0], {x: given})
        (found,) = jax.grad(lambda a: pb.xla.to_jax([y], [x], session)(a)[0].sum(), argnums=(0,))(given)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("inside", [False, True])
def test_python_is_not_saved(inside: bool) -> None:
    x = pb.placeholder(pb.float32, [3], name="x")

    def double(x: Any) -> Any:
        return pb.numpy_function(lambda a: a * 2, [x], pb.TensorSpec([3], pb.float32), name="double")

    y = pb.cond(pb.reduce_sum(x) > 0.0, lambda: double(x), lambda: x) if inside else double(x)
    with pytest.raises(pb.errors.UnimplementedError, match=r"^to_stablehlo: operation '.*double' \(PyFunc.*, made at "):
        pb.xla.to_stablehlo(y, [x])
    np.testing.assert_array_equal(pb.xla.to_jax(y, [x])(np.ones(3, np.float32)), [2, 2, 2])
