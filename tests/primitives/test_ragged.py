"""Ragged tensors: how they are made, cut, put together, fed and fetched. Values are TensorFlow's."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ragged = pb.ragged
ROWS = [[3.0, 1.0, 4.0], [], [5.0, 9.0]]
NESTED = [[[1.0, 2.0], [3.0]], [], [[4.0]]]


def listed(x: Any, engine: str = "numpy") -> Any:
    value = pb.Session(engine=engine).run(x)
    return value.to_list() if isinstance(value, ragged.RaggedTensorValue) else value.tolist()


MADE: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "row_splits": (lambda: pb.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3]), [[1, 2], [], [3]]),
    "row_lengths": (lambda: pb.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]), [[1, 2], [], [3]]),
    "row_starts": (lambda: pb.RaggedTensor.from_row_starts([1, 2, 3], [0, 2, 2]), [[1, 2], [], [3]]),
    "row_limits": (lambda: pb.RaggedTensor.from_row_limits([1, 2, 3], [2, 2, 3]), [[1, 2], [], [3]]),
    "value_rowids": (lambda: pb.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2]), [[1, 2], [], [3]]),
    "more_rows": (lambda: pb.RaggedTensor.from_value_rowids([1, 2], [0, 0], 3), [[1, 2], [], []]),
    "uniform": (lambda: pb.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2), [[1, 2], [3, 4]]),
    "nested_lengths": (
        lambda: pb.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]]),
        [[[1], [2, 3]], []],
    ),
    "nested_rowids": (
        lambda: pb.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], [2, 2]),
        [[[1], [2, 3]], []],
    ),
    "tensor": (lambda: pb.RaggedTensor.from_tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    "padded": (lambda: pb.RaggedTensor.from_tensor([[1, 0, 2, 0], [0, 0, 0, 0]], padding=0), [[1, 0, 2], []]),
    "nested_tensor": (
        lambda: pb.RaggedTensor.from_tensor([[[1], [2]], [[3], [4]]], ragged_rank=2),
        [[[1], [2]], [[3], [4]]],
    ),
    "partitions": (lambda: ragged.stack_dynamic_partitions([1, 2, 3, 4], [0, 2, 0, 2], 4), [[1, 3], [], [2, 4], []]),
    "partitions_of_places": (
        lambda: ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [[1, 0], [0, 1]], 2),
        [[2, 3], [1, 4]],
    ),
    "under_one": (lambda: ragged.constant([[1, 2], [3]])[pb.newaxis], [[[1, 2], [3]]]),
    "parts_under_one": (lambda: ragged.constant([[1, 2], [3]])[pb.newaxis, 0:1], [[[1, 2]]]),
    "lengths": (lambda: pb.RaggedTensor.from_tensor([[1, 2, 0], [3, 4, 5]], lengths=[1, 3]), [[1], [3, 4, 5]]),
    "range": (lambda: ragged.range([3, 5, 0], [0, 7, -2], [-1, 1, 1]), [[3, 2, 1], [5, 6], []]),
    "one_range": (lambda: ragged.range(3), [[0, 1, 2]]),
    "inner_shape": (lambda: ragged.constant([[[1, 2]], []], inner_shape=[2]), [[[1, 2]], []]),
    "ragged_rank": (lambda: ragged.constant([[[1, 2]], []], ragged_rank=1), [[[1, 2]], []]),
}


@pytest.mark.parametrize("name", MADE)
def test_made(name: str) -> None:
    make, expected = MADE[name]
    assert listed(make()) == expected


PARTS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "row": (lambda x: x[0], [3.0, 1.0, 4.0]),
    "last_row": (lambda x: x[-1], [5.0, 9.0]),
    "element": (lambda x: x[2, 0], 5.0),  # type: ignore[dict-item]
    "row_of_a_tensor": (lambda x: x[pb.constant(2)], [5.0, 9.0]),
    "rows": (lambda x: x[1:], [[], [5.0, 9.0]]),
    "every_other_row": (lambda x: x[::2], [[3.0, 1.0, 4.0], [5.0, 9.0]]),
    "ends": (lambda x: x[:, 1:], [[1.0, 4.0], [], [9.0]]),
    "beginnings": (lambda x: x[:, :2], [[3.0, 1.0], [], [5.0, 9.0]]),
    "last": (lambda x: x[:, -1:], [[4.0], [], [9.0]]),
    "every_other": (lambda x: x[:, ::2], [[3.0, 4.0], [], [5.0]]),
    "new_axis": (lambda x: x[:, None], [[[3.0, 1.0, 4.0]], [[]], [[5.0, 9.0]]]),
    "dots": (lambda x: x[..., :1], [[3.0], [], [5.0]]),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name: str) -> None:
    cut, expected = PARTS[name]
    assert listed(cut(ragged.constant(ROWS))) == expected


def test_parts_of_rows_of_rows() -> None:
    x = ragged.constant(NESTED)
    assert listed(x[0]) == [[1.0, 2.0], [3.0]]
    assert listed(x[:, :1]) == [[[1.0, 2.0]], [], [[4.0]]]
    assert listed(x[:, :, 1:]) == [[[2.0], []], [], [[]]]
    assert listed(x.merge_dims(0, 1)) == [[1.0, 2.0], [3.0], [4.0]]
    assert listed(x.merge_dims(1, 2)) == [[1.0, 2.0, 3.0], [], [4.0]]


def test_what_is_known_of_one() -> None:
    x = ragged.constant(NESTED)
    assert (repr(x), x.ragged_rank, x.shape.as_list()) == ("RaggedTensor(float32[3,?,?], 4 values)", 2, [3, None, None])
    found = [x.nrows(), x.row_lengths(), x.row_starts(), x.row_limits(), x.value_rowids(), x.bounding_shape()]
    assert [listed(y) for y in found] == [3, [2, 0, 1], [0, 2, 2], [2, 2, 3], [0, 0, 2], [3, 2, 2]]
    assert listed(x.row_lengths(2)) == [[2, 1], [], [1]]


def test_dense_and_sparse() -> None:
    x = ragged.constant(ROWS)
    assert listed(x.to_tensor(-1.0)) == [[3.0, 1.0, 4.0], [-1.0, -1.0, -1.0], [5.0, 9.0, -1.0]]
    assert listed(x.to_tensor(shape=[4, 2])) == [[3.0, 1.0], [0.0, 0.0], [5.0, 9.0], [0.0, 0.0]]
    assert listed(pb.RaggedTensor.from_sparse(x.to_sparse())) == ROWS
    assert listed(ragged.constant(NESTED).to_tensor()) == [
        [[1.0, 2.0], [3.0, 0.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[4.0, 0.0], [0.0, 0.0]],
    ]
    assert listed(pb.sparse.to_dense(ragged.constant(NESTED).to_sparse())) == listed(
        ragged.constant(NESTED).to_tensor()
    )


def test_put_together() -> None:
    x = ragged.constant(ROWS)
    assert listed(ragged.concat([x, x[1:]], 0)) == [*ROWS, [], [5.0, 9.0]]
    assert listed(ragged.concat([x, x[:, :1]], -1)) == [[3.0, 1.0, 4.0, 3.0], [], [5.0, 9.0, 5.0]]
    assert listed(ragged.stack([x, x[1:]])) == [ROWS, ROWS[1:]]
    assert listed(ragged.stack([[1, 2], [3]])) == [[1, 2], [3]]
    assert listed(ragged.gather(x, [[2], [0]])) == [[[5.0, 9.0]], [[3.0, 1.0, 4.0]]]
    assert listed(ragged.gather([1.0, 2.0, 3.0], ragged.constant([[2], [], [0, 1]]))) == [[3.0], [], [1.0, 2.0]]
    assert listed(ragged.boolean_mask(x, [True, False, True])) == [[3.0, 1.0, 4.0], [5.0, 9.0]]


def test_reductions_of_several_axes() -> None:
    x = ragged.constant(NESTED)
    assert listed(ragged.reduce_sum(x, [1, 2])) == [6.0, 0.0, 4.0]
    assert listed(ragged.reduce_mean(x, [0, 1])) == pytest.approx([8.0 / 3.0, 2.0])
    assert np.isnan(listed(ragged.reduce_mean(ragged.constant(ROWS), 1))).tolist() == [False, True, False]


def test_operators() -> None:
    x = ragged.constant(ROWS)
    assert listed(1.0 - x) == [[-2.0, 0.0, -3.0], [], [-4.0, -8.0]]
    assert listed(x + pb.constant([[1.0], [2.0], [3.0]])) == [[4.0, 2.0, 5.0], [], [8.0, 12.0]]
    assert listed(x > 3.0) == [[False, False, True], [], [True, True]]
    assert listed(ragged.constant(NESTED) * pb.constant([[[1.0]], [[2.0]], [[3.0]]])) == [[[1, 2], [3]], [], [[12]]]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_fed_and_fetched(engine: str) -> None:
    x = ragged.placeholder(pb.float32, 2)
    twice, sums = x * 2.0, ragged.reduce_sum(x, 2)
    (dx,) = pb.gradients(ragged.reduce_sum(sums * sums, 1), x.flat_values)
    with pb.Session(engine=engine) as session:
        value = session.run(ragged.constant(NESTED))
        found = session.run({"twice": twice, "sums": sums, "dx": dx}, {x: value})
    assert found["twice"].to_list() == [[[2.0, 4.0], [6.0]], [], [[8.0]]]
    assert found["sums"].to_list() == [[3.0, 3.0], [], [4.0]]
    assert found["dx"].tolist() == [6.0, 6.0, 6.0, 8.0]


def test_through_branches_loops_and_functions() -> None:
    x = ragged.constant(ROWS)
    chosen = pb.cond(pb.constant(False), lambda: x, lambda: x[1:])
    _, longer = pb.while_loop(
        lambda i, x: i < 2,
        lambda i, x: (i + 1, ragged.concat([x, x], 0)),
        [0, x[2:]],
        shape_invariants=[pb.TensorShape([]), pb.TensorShape([None, None])],
    )
    twice = pb.function(lambda x: x * 2.0)(x)
    assert [listed(chosen), listed(longer)] == [ROWS[1:], [[5.0, 9.0]] * 4]
    assert listed(twice) == [[6.0, 2.0, 8.0], [], [10.0, 18.0]]


def test_embeddings_of_bags_of_words() -> None:
    table = pb.constant([[1.0], [2.0], [4.0]])
    ids, weights = ragged.constant([[1, 2], [], [0]]), ragged.constant([[3.0, 1.0], [], [5.0]])
    assert listed(pb.nn.embedding_lookup_sparse(table, ids, weights, "sum")) == [[10.0], [0.0], [5.0]]
    words = ragged.map_flat_values(lambda i: pb.nn.embedding_lookup(table, i), ids)
    assert listed(ragged.reduce_sum(words, 1)) == [[6.0], [0.0], [1.0]]


# What goes wrong

WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "falling_splits": (
        lambda: pb.RaggedTensor.from_row_splits([1, 2], [0, 2, 1]),
        ValueError,
        "RaggedTensor: row_splits must begin with 0 and never fall, not [0, 2, 1]",
    ),
    "nested_differently": (
        lambda: ragged.constant([[1], 2]),
        ValueError,
        "ragged.constant: lists nested in different depths: [[1], 2]",
    ),
    "number_in_rows": (
        lambda: ragged.constant(ROWS)[:, 0],
        ValueError,
        "RaggedTensor(float32[3,?], 5 values): a number along an axis whose lengths differ; pick a slice of length "
        "one: [:, i:i + 1]",
    ),
    "dense_operand": (
        lambda: ragged.constant(ROWS) + pb.ones([2, 3, 3]),
        ValueError,
        "a dense operand of RaggedTensor(float32[3,?], 5 values) has the shape [rows, 1, ...], or that of an element, "
        "and not (2, 3, 3)",
    ),
    "no_ragged": (
        lambda: ragged.map_flat_values(pb.tanh, [1.0]),
        ValueError,
        "ragged.map_flat_values: no argument is a RaggedTensor",
    ),
    "depths": (
        lambda: ragged.constant(ROWS) + ragged.constant(NESTED),
        ValueError,
        "ragged.map_flat_values: nested in different depths: RaggedTensor(float32[3,?], 5 values), "
        "RaggedTensor(float32[3,?,?], 4 values)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    make, kind, text = WRONG[name]
    with pytest.raises(kind) as error:
        make()
    assert str(error.value) == text


def test_rows_of_different_lengths_are_found_by_the_run() -> None:
    x, y = ragged.placeholder(pb.float32, 1), ragged.constant(ROWS)
    value = ragged.RaggedTensorValue(np.ones(5), np.array([0, 1, 3, 5]))
    with (
        pytest.raises(pb.errors.InvalidArgumentError, match=r"ragged tensors have rows of different lengths"),
        pb.Session(engine="numpy") as session,
    ):
        session.run(x + y, {x: value})


def test_a_ragged_tensor_is_fed_by_its_value() -> None:
    x = ragged.placeholder(pb.float32, 1)
    text = (
        r"^cannot feed \[1\.0\] \(of type list\) to RaggedTensor\(float32\[\?,\?\], \? values\). Give RaggedTensorValue"
    )
    with pytest.raises(pb.errors.InvalidArgumentError, match=text):
        pb.Session(engine="numpy").run(x.values, {x: [1.0]})


def test_a_new_axis_at_the_end_is_the_innermost() -> None:
    x = pb.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [2, 1])
    assert pb.Session(engine="numpy").run(x[..., None]).to_list() == [[[1.0], [2.0]], [[3.0]]]
    assert x[..., None].ragged_rank == 1


def test_a_reduction_of_all_may_keep_its_axes() -> None:
    x = pb.RaggedTensor.from_row_lengths([[1.0], [2.0], [3.0]], [2, 1])
    assert pb.Session(engine="numpy").run(pb.ragged.reduce_sum(x, keepdims=True)).tolist() == [[[6.0]]]


def test_an_array_of_one_element_goes_with_all_rows() -> None:
    x = pb.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [2, 1])
    assert pb.Session(engine="numpy").run(x + pb.constant([[10.0]])).to_list() == [[11.0, 12.0], [13.0]]


MISFITS: list[tuple[str, Any, str]] = [
    ("from_row_splits", [0, 2], "row_splits must end with 3, as many values are, not [0, 2]"),
    ("from_row_lengths", [2, 2], "row_splits must end with 3, as many values are, not [0, 2, 4]"),
    ("from_row_lengths", [4, -1], "row_splits must begin with 0 and never fall, not [0, 4, 3]"),
    ("from_row_limits", [1, 2], "row_splits must end with 3, as many values are, not [0, 1, 2]"),
    ("from_row_starts", [1, 2], "row_splits must begin with 0 and never fall, not [1, 2, 3]"),
    ("from_value_rowids", [0, 2, 1], "value_rowids must never fall, not [0, 2, 1]"),
]


@pytest.mark.parametrize(("make", "parts", "text"), MISFITS)
def test_parts_that_do_not_fit_are_refused(make: str, parts: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^RaggedTensor: {re.escape(text)}$"):
        getattr(pb.RaggedTensor, make)([1.0, 2.0, 3.0], parts)
    fed = pb.placeholder(pb.int64, [None])
    x = getattr(pb.RaggedTensor, make)([1.0, 2.0, 3.0], fed)
    with pytest.raises(pb.errors.InvalidArgumentError, match=f"RaggedTensor: {text[:12]}"):
        pb.Session(engine="numpy").run(x.row_splits, {fed: parts})
    unchecked = getattr(pb.RaggedTensor, make)([1.0, 2.0, 3.0], fed, validate=False)
    pb.Session(engine="numpy").run(unchecked.row_splits, {fed: parts})


def test_rows_of_one_length_take_all_values() -> None:
    with pytest.raises(
        ValueError, match=r"^RaggedTensor: row_splits must end with 3, as many values are, not \[0, 2\]$"
    ):
        pb.RaggedTensor.from_uniform_row_length([1.0, 2.0, 3.0], 2)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_numbers_of_rows_and_splits_say_the_same(engine: str) -> None:
    assert listed(ragged.row_splits_to_segment_ids([0, 2, 2, 3]), engine) == [0, 0, 2]
    assert listed(ragged.segment_ids_to_row_splits([0, 0, 2], 5), engine) == [0, 2, 2, 3, 3, 3]
    assert listed(ragged.segment_ids_to_row_splits([0, 0, 2]), engine) == [0, 2, 2, 3]
    outer, inner = ragged.constant(NESTED).nested_value_rowids()
    assert [listed(outer, engine), listed(inner, engine)] == [[0, 0, 2], [0, 0, 1, 2]]


def test_a_partition_that_is_not_there_is_refused() -> None:
    numbers = pb.placeholder(pb.int32, [2])
    rows = ragged.stack_dynamic_partitions([1.0, 2.0], numbers, 2)
    with pytest.raises(pb.errors.InvalidArgumentError):
        pb.Session(engine="numpy").run(rows, {numbers: [0, 2]})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_rows_are_mapped_one_by_one(engine: str) -> None:
    x = ragged.constant(ROWS)
    scale = pb.constant([1.0, 2.0, 3.0])
    totals = pb.map_fn(lambda given: pb.reduce_sum(pb.square(given[0])) * given[1], (x, scale), dtype=pb.float32)
    assert listed(totals, engine) == [26.0, 0.0, 318.0]
    assert listed(pb.gradients(totals, x.values)[0], engine) == [6.0, 2.0, 8.0, 30.0, 54.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_results_of_rows_of_many_lengths_are_not_stacked(engine: str) -> None:
    said = "the results of the rows are stacked, and must have one shape: row 0 has (3,), row 1 has (0,)"
    with pytest.raises(pb.errors.InvalidArgumentError, match=re.escape(said)):
        listed(pb.map_fn(lambda row: row * 2.0, ragged.constant(ROWS)), engine)
