"""Maps and folds: the messages of what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pullback as pb

_REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no function": (lambda: pb.map_fn(1, [1.0]), TypeError, "map_fn: fn must be callable, not 1"),
    "a scalar": (
        lambda: pb.map_fn(pb.sin, pb.constant(1.0, name="x")),
        ValueError,
        "map_fn: elems must be structures of Tensors that have rows, not scalars; found float32[] 'x:0'",
    ),
    "two lengths": (
        lambda: pb.map_fn(lambda e: e[0], (pb.zeros([2], name="a"), pb.zeros([3], name="b"))),
        ValueError,
        "map_fn: all elems must have one number of rows: float32[2] 'a:0' and float32[3] 'b:0' differ",
    ),
    "another dtype": (
        lambda: pb.map_fn(lambda e: e, pb.zeros([2]), dtype=pb.int32),
        TypeError,
        "map_fn: fn returns float32[] 'row:0', but dtype says int32; convert it with pb.cast",
    ),
    "other dtypes": (
        lambda: pb.map_fn(lambda e: e, pb.zeros([2]), dtype=(pb.int32, pb.int32)),
        ValueError,
        "map_fn: fn returns 1 tensors, but dtype says 2",
    ),
    "nothing": (
        lambda: pb.map_fn(lambda e: e, []),
        ValueError,
        "map_fn: elems must be a Tensor or a structure of Tensors; there is none in it",
    ),
    "rows of many lengths": (
        lambda: pb.vectorized_map(lambda e: e, pb.ragged.constant([[1], [2, 3]])),
        ValueError,
        "vectorized_map: elems must be Tensors or TensorArrays, whose rows have one shape, not "
        "RaggedTensor(int32[2,?], 3 values); map its values (ragged.map_flat_values), or what to_tensor or "
        "sparse.to_dense makes of it",
    ),
    "nothing to begin with": (
        lambda: pb.scan(lambda a, e: a + e, pb.zeros([0])),
        ValueError,
        "scan: elems has no rows; pass an initializer",
    ),
    "another shape": (
        lambda: pb.foldl(lambda a, e: pb.stack([a, e]), pb.zeros([3]), 0.0),
        ValueError,
        "foldl: loop variable 'a' enters the loop with shape (), but has shape (2,) after one iteration.",
    ),
}


@pytest.mark.parametrize("what", _REFUSED)
def test_what_is_refused_says_why(what: str) -> None:
    build, error, message = _REFUSED[what]
    with pytest.raises(error) as raised:
        build()
    assert str(raised.value) == message


def test_a_map_that_fails_leaves_the_graph_as_it_was() -> None:
    x = pb.zeros([2])
    before = len(x.graph.operations)
    with pytest.raises(TypeError):
        pb.map_fn(lambda e: e + "text", x)
    assert len(x.graph.operations) == before


def test_a_derivative_that_the_body_stops_is_zeros() -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    y = pb.scan(lambda a, e: pb.stop_gradient(a) * e, x, initializer=pb.constant(1.0))
    (dx,) = pb.gradients(y, x)
    (second,) = pb.gradients(dx, x)
    (first,) = pb.gradients(pb.map_fn(lambda e: pb.stop_gradient(e * e), x), x)
    found = pb.Session(engine="numpy").run([dx, second, first])
    assert [d.tolist() for d in found] == [[1.0, 1.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_an_array_that_no_row_is_read_of_has_no_derivative() -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    assert pb.gradients(pb.map_fn(lambda e: pb.constant(1.0), x), x) == [None]


def test_the_structure_that_dtype_says_is_checked() -> None:
    rows = pb.constant([1.0, 2.0])
    twice = pb.map_fn(lambda row: (row, 2.0 * row), rows, dtype=(pb.float32, pb.float32))
    assert isinstance(twice, tuple)
    with pytest.raises(TypeError, match=r"^map_fn: fn returns another structure than dtype says\. The two structures"):
        pb.map_fn(lambda row: (row, 2.0 * row), rows, dtype=[pb.float32, pb.float32])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    "then", [lambda y: y, lambda y: 2 * y, lambda y: pb.cond(pb.size(y) > 0, lambda: y, lambda: y)]
)
def test_results_of_several_shapes_are_an_error_that_says_so(
    then: Callable[[pb.Tensor], pb.Tensor], engine: str
) -> None:
    counts = pb.placeholder(pb.int32, [None])
    y = then(pb.map_fn(pb.range, counts))
    session = pb.Session(engine=engine)
    assert session.run(y, {counts: [2, 2]}).shape == (2, 2)
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"row 0 has \(2,\), row 2 has \(3,\)\. Pad them"):
        session.run(y, {counts: [2, 2, 3]})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_only_the_derivative_reads_may_have_several_shapes(engine: str) -> None:
    x, counts = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.int32, [None])

    def squares(n: pb.Tensor) -> pb.Tensor:
        return pb.reduce_sum(pb.square(pb.cast(pb.range(n), pb.float32) * pb.reduce_sum(x)))

    (dx,) = pb.gradients(pb.map_fn(squares, counts, pb.float32), x)
    (second,) = pb.gradients(dx, x)
    found = pb.Session(engine=engine).run([dx, second], {x: [1.0, 2.0, 3.0], counts: [1, 0, 3]})
    assert [y.tolist() for y in found] == [[60.0] * 3, [30.0] * 3]
