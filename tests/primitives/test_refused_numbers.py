"""Numbers of segments and parts that there are not: errors that say which, whenever they are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

ROWS = [1.0, 2.0, 3.0]
SEGMENTS = {name: getattr(pb.math, f"segment_{name}") for name in ("sum", "mean", "prod", "max", "min")}
BOTH = pytest.mark.parametrize("engine", ["numpy", "xla"])


def refused(build: Any, numbers: list[int], engine: str, fed: bool) -> str:
    """The message of a run with those numbers, fed or constant."""
    given = pb.placeholder(pb.int32, [3]) if fed else pb.constant(numbers)
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.Session(engine=engine).run(build(given), {given: np.array(numbers, np.int32)} if fed else None)
    return str(caught.value)


@BOTH
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("name", SEGMENTS)
def test_segment_ids_that_do_not_ascend(name: str, fed: bool, engine: str) -> None:
    text = refused(lambda ids: SEGMENTS[name](pb.constant(ROWS), ids), [0, 2, 1], engine, fed)
    assert "Segment id 2 out of range [0, 2), possibly because 'segment_ids' input is not sorted: " in text
    assert "segment ids are not increasing: number 2 is 1, after 2" in text


@BOTH
@pytest.mark.parametrize("fed", [True, False])
def test_segment_ids_below_zero(fed: bool, engine: str) -> None:
    for ids, at in ([-1, 0, 1], 0), ([0, 0, -1], 2):
        text = refused(lambda ids: pb.math.segment_sum(pb.constant(ROWS), ids), ids, engine, fed)
        assert f"segment ids must be >= 0, but number {at} is -1" in text
        assert ("Segment id -1 out of range [0, 2), possibly because 'segment_ids' input is not sorted" in text) == (
            at == 0
        )


@BOTH
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("wrong", [-1, 2])
def test_partitions_out_of_range(wrong: int, fed: bool, engine: str) -> None:
    text = refused(lambda parts: pb.dynamic_partition(pb.constant(ROWS), parts, 2), [0, wrong, 1], engine, fed)
    assert f"dynamic_partition: partition number {wrong} is not in [0, 2)" in text


@BOTH
@pytest.mark.parametrize("wrong", [-1, 6])
def test_positions_outside_a_shape(wrong: int, engine: str) -> None:
    text = refused(lambda positions: pb.unravel_index(positions, [2, 3]), [0, wrong, 1], engine, True)
    assert "unravel_index: a position is not inside the shape" in text


@BOTH
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("options", [{}, {"weights": ROWS}, {"minlength": 4, "maxlength": 4}, {"binary_output": True}])
def test_negative_numbers_are_not_counted(options: Any, fed: bool, engine: str) -> None:
    text = refused(lambda numbers: pb.math.bincount(numbers, **options), [1, -1, 2], engine, fed)
    assert "'bincount/Assert'" in text
    rows = pb.constant([[-1, 2]])
    with pytest.raises(pb.errors.InvalidArgumentError, match="bincount_1/Assert"):
        pb.Session(engine=engine).run(pb.math.bincount(rows, minlength=3, maxlength=3, axis=-1))


@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("wrong", [-1, 4])
def test_more_is_turned_round_than_there_is(wrong: int, fed: bool) -> None:
    x = pb.ones([3, 3])
    text = refused(lambda lengths: pb.reverse_sequence(x, lengths, 1), [0, wrong, 1], "numpy", fed)
    assert f"reverse_sequence: the lengths must be from 0 to 3, and are [0, {wrong}, 1]" in text


@pytest.mark.parametrize("build", [pb.linalg.tensor_diag, pb.linalg.tensor_diag_part])
def test_a_scalar_has_no_diagonal(build: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{build.__name__}: "):
        build(pb.constant(1.0))
    x = pb.placeholder(pb.float32, None, name="x")
    y = build(x)
    with pytest.raises(pb.errors.InvalidArgumentError, match=rf"{build.__name__}: float32\[...\] 'x:0' is a scalar"):
        pb.Session(engine="numpy").run(y, {x: 1.0})


@BOTH
@pytest.mark.parametrize("turned", [True, False])
def test_inner_lengths_of_a_sparse_product_that_only_a_run_knows(turned: bool, engine: str) -> None:
    shape, dense = pb.placeholder(pb.int64, [2]), pb.placeholder(pb.float32, [None, 1])
    x = pb.sparse.SparseTensor([[0, 1]], [2.0], shape)
    y = pb.sparse.sparse_dense_matmul(x, dense, adjoint_a=turned)
    session = pb.Session(engine=engine)
    lengths = [2, 3] if turned else [3, 2]
    assert session.run(y, {shape: lengths, dense: [[5.0], [7.0]]}).tolist()[:2] == (
        [[0.0], [10.0]] if turned else [[14.0], [0.0]]
    )
    with pytest.raises(pb.errors.InvalidArgumentError, match="Assert"):
        session.run(y, {shape: lengths, dense: [[5.0], [7.0], [9.0]]})


def test_a_sparse_tensor_does_not_fill_another_shape() -> None:
    shape = pb.placeholder(pb.int64, [2])
    y = pb.sparse.reshape(pb.sparse.SparseTensor([[0, 1]], [2.0], shape), [5, -1]).dense_shape
    session = pb.Session(engine="numpy")
    assert session.run(y, {shape: [5, 2]}).tolist() == [5, 2]
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"do not fill the second \[2 3\] \[5 -1\]"):
        session.run(y, {shape: [2, 3]})


@pytest.mark.parametrize("axis", [2, -3, [0, 2]])
@pytest.mark.parametrize("reduce", [pb.sparse.reduce_sum, pb.sparse.reduce_max])
def test_sparse_reductions_along_axes_that_are_not_there(reduce: Any, axis: Any) -> None:
    x = pb.sparse.SparseTensor([[0, 1]], [2.0], [2, 3])
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=r"^sparse.reduce_sum: Expected axis in the range \[-2, 2\), but got "
    ):
        reduce(x, axis)


@pytest.mark.parametrize("dense", [True, False])
def test_sums_of_sparse_tensors_of_lengths_that_only_a_run_knows(dense: bool) -> None:
    shape, x = pb.placeholder(pb.int64, [1]), pb.sparse.SparseTensor([[1]], [2.0], [3])
    y = pb.placeholder(pb.float32, [None]) if dense else pb.sparse.SparseTensor([[0]], [5.0], shape)
    total = pb.sparse.add(x, y)
    total = total if dense else pb.sparse.to_dense(total)
    session = pb.Session(engine="numpy")
    assert session.run(total, {y: [5.0, 0.0, 0.0]} if dense else {shape: [3]}).tolist() == [5.0, 2.0, 0.0]
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"sparse.add: the shapes differ \[3\] \[4\]"):
        session.run(total, {y: [5.0] * 4} if dense else {shape: [4]})


def test_empty_rows_of_positions_outside() -> None:
    x = pb.sparse.SparseTensor([[1, 2], [7, 1]], [1.0, 2.0], [2, 5])
    full, _ = pb.sparse.fill_empty_rows(x, -1.0)
    with pytest.raises(pb.errors.InvalidArgumentError, match="fill_empty_rows: positions are outside the shape"):
        pb.Session(engine="numpy").run(full)


@BOTH
@pytest.mark.parametrize("name", SEGMENTS)
def test_more_segments_than_memory_holds(name: str, engine: str) -> None:
    y = SEGMENTS[name](pb.ones([1, 10]), pb.constant([1 << 60], pb.int64))
    with pytest.raises(pb.errors.InvalidArgumentError, match="segments, more than any memory holds"):
        pb.Session(engine=engine).run(y)


def test_what_an_assertion_says_stands_between_the_values_that_it_shows() -> None:
    lengths = pb.placeholder(pb.int32, [3])
    check = pb.debugging.Assert(
        pb.reduce_all(lengths < 9), ["lengths", lengths, "must be below", pb.constant(9), "here"]
    )
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"failed: lengths \[2 7 10\] must be below 9 here"):
        pb.Session(engine="numpy").run(check, {lengths: [2, 7, 10]})
    with pytest.raises(pb.errors.InvalidArgumentError, match="failed: lengths must be below here"):
        pb.Session(engine="xla").run(check, {lengths: [2, 7, 10]})
    nodes = {node.name: node for node in pb.get_default_graph().as_graph_def().node}
    assert len(nodes["Assert"].input) == 6
