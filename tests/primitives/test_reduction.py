"""Reductions: ties, lean gradients, exact 16-bit sums, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


def run(fetches: object) -> object:
    with pb.Session(engine="numpy") as session:
        return session.run(fetches)


def added(y: pb.Tensor, x: pb.Tensor) -> list[str]:
    """The types of the operations that the gradient adds, without its seed."""
    graph = pb.get_default_graph()
    before = len(graph.operations)
    pb.gradients(y, x)
    return [op.type for op in graph.operations[before + 1 :]]


@pytest.mark.parametrize("reduce", [pb.reduce_max, pb.reduce_min])
def test_equal_extrema_share_the_derivative(reduce: object) -> None:
    x = pb.constant([[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    (dx,) = pb.gradients(reduce(x, 1), x)  # type: ignore[operator]
    np.testing.assert_allclose(run(dx), np.full((2, 3), 1 / 3), rtol=1e-6)


@pytest.mark.parametrize(
    ("fn", "types"),
    [
        (lambda x: pb.reduce_sum(x), ["BroadcastTo"]),
        (lambda x: pb.reduce_sum(x, 0), ["BroadcastTo"]),
        (lambda x: pb.reduce_sum(x, 1), ["ExpandDims", "BroadcastTo"]),
        (lambda x: pb.reduce_sum(x, 1, keepdims=True), ["BroadcastTo"]),
        (lambda x: pb.reduce_sum(x, []), []),
        (lambda x: pb.reduce_mean(x, 1), ["MeanGrad"]),
        (lambda x: pb.reduce_max(x), ["TieShares", "Mul"]),
        (lambda x: pb.nn.l2_loss(x), ["Mul"]),
        (lambda x: pb.norm(x), ["DivNoNan", "Mul"]),
        (lambda x: pb.cumsum(x), ["Cumsum"]),
        (lambda x: pb.concat([x, pb.zeros([1, 3])], 0), ["SplitV"]),
        (lambda x: pb.stack([x, x[::-1]]), ["Unpack", "StridedSliceGrad", "AddN"]),
        (lambda x: pb.split(x, 3, 1)[0], ["Const", "Const", "ConcatV2"]),
        (lambda x: x[:, 1], ["StridedSliceGrad"]),
        (lambda x: pb.transpose(x), ["Transpose"]),
        (lambda x: pb.expand_dims(x, 0), ["Reshape"]),
        (lambda x: pb.pad(x, [[1, 0], [0, 0]]), ["Slice"]),
        (lambda x: pb.tile(x, [1, 2]), ["TileGrad"]),
    ],
)
def test_the_gradient_adds_no_more_than_this(fn: object, types: list[str]) -> None:
    x = pb.placeholder(pb.float32, [2, 3])
    assert added(fn(x), x) == types  # type: ignore[operator]


def test_the_derivatives_of_a_product_are_exact_at_zeros_to_third_order() -> None:
    x = pb.constant([0.0, 0.0, 2.0, 3.0])
    y = pb.reduce_prod(x)
    values = []
    for i in range(3):
        y = pb.gradients(y, x)[0][i]
        values.append(y)
    assert run(values) == [0, 6, 3]


def test_the_norm_at_zero_has_derivative_zero() -> None:
    x = pb.zeros([3])
    np.testing.assert_array_equal(run(pb.gradients(pb.norm(x), x)[0]), np.zeros(3))


@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
def test_16_bit_floats_are_added_up_in_float32(dtype: object) -> None:
    x = pb.ones([4096], dtype)
    values = run([pb.reduce_sum(x), pb.reduce_mean(x), pb.cumsum(x)[-1]])
    assert [float(v) for v in values] == [4096, 1, 4096]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: pb.reduce_sum(x, 2),
            ValueError,
            "reduce_sum: Expected axis in the range [-2, 2), but got 2: float32[2,3]",
        ),
        (
            lambda x: pb.reduce_sum(x, [0, -2]),
            pb.errors.InvalidArgumentError,
            "reduce_sum: an axis stands twice in [0, 0]",
        ),
        (
            lambda x: pb.reduce_sum(x, [[1], [0]]),
            ValueError,
            "reduce_sum: the axes must be a number or a list of numbers, not [[1], [0]]",
        ),
        (lambda x: pb.reduce_mean(x, 1.5), TypeError, "reduce_mean: axis must be integers, not 1.5"),
        (
            lambda x: pb.reduce_any(x),
            TypeError,
            "reduce_any: no such reduction of float32[2,3] 'x:0'; it takes bool",
        ),
        (
            lambda x: pb.norm(x, "nuc"),
            ValueError,
            "norm: ord must be 'euclidean', 1, 2, infinity or a positive number for vectors, not 'nuc'",
        ),
        (
            lambda x: pb.math.top_k(x, 4),
            ValueError,
            "top_k: there are no 4 elements along the last axis of float32[2,3]",
        ),
        (
            lambda x: pb.sort(x, direction="UP"),
            ValueError,
            "sort: direction must be 'ASCENDING' or 'DESCENDING', not 'UP'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: object, error: type[Exception], text: str) -> None:
    x = pb.placeholder(pb.float32, [2, 3], name="x")
    with pytest.raises(error) as caught:
        call(x)  # type: ignore[operator]
    assert str(caught.value) == text


@pytest.mark.parametrize("dtype", [pb.int8, pb.uint8, pb.int16, pb.int32])
def test_the_mean_of_integers_does_not_overflow(dtype: object) -> None:
    largest = np.iinfo(np.dtype(dtype)).max  # type: ignore[call-overload]
    assert run(pb.reduce_mean(pb.constant([largest, largest, largest - 3], dtype))) == largest - 1  # type: ignore[arg-type]


def test_the_mean_of_negative_integers_is_rounded_toward_zero() -> None:
    assert run(pb.reduce_mean(pb.constant([-100, -100, -99], pb.int8))) == -99


def test_texts_without_characters_are_not_counted() -> None:
    np.testing.assert_array_equal(run(pb.math.count_nonzero(pb.constant([["", "a"], ["b", " "]]), 1)), [1, 2])


def test_the_norm_of_integers_is_an_integer() -> None:
    y = pb.math.reduce_euclidean_norm(pb.constant([[1, 2], [3, 4], [100, 100]], pb.int8), 1)
    assert y.dtype == pb.int8
    np.testing.assert_array_equal(run(y[:2]), [2, 5])


def test_integers_are_divided_as_floats_where_a_zero_is_allowed_too() -> None:
    y = pb.math.divide_no_nan(pb.constant([7, -7, 3]), pb.constant([2, 2, 0]))
    assert y.dtype == pb.float64
    np.testing.assert_array_equal(run(y), [3.5, -3.5, 0.0])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_axes_that_a_run_computes_are_checked_there(engine: str) -> None:
    x, axis = pb.zeros([2, 3]), pb.placeholder(pb.int32, None)
    session = pb.Session(engine=engine)
    for y in (pb.reduce_sum(x, axis), pb.argmax(x, axis)):
        with pytest.raises(pb.errors.InvalidArgumentError, match=r"assertion failed: there are no axes"):
            session.run(y, {axis: 2})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_computed_axes_stand_once(engine: str) -> None:
    x, axis = pb.zeros([2, 3]), pb.placeholder(pb.int32, [2])
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"assertion failed: a reduction: an axis stands twice in"):
        pb.Session(engine=engine).run(pb.reduce_max(x, axis), {axis: [0, -2]})


def test_a_computed_axis_must_be_an_integer() -> None:
    with pytest.raises(TypeError, match=r"^a reduction along axes: they must be integers, not float32\[\] 'axis:0'$"):
        pb.reduce_sum(pb.zeros([2]), pb.placeholder(pb.float32, [], name="axis"))


def test_axes_counted_from_a_static_rank_are_known() -> None:
    x = pb.placeholder(pb.float32, [None, 3, 4])
    assert pb.reduce_sum(x, pb.range(1, pb.rank(x))).shape.as_list() == [None]
    assert pb.transpose(x, pb.concat([[1, 0], pb.range(2, pb.rank(x))], 0)).shape.as_list() == [3, None, 4]
