"""Symbolic dimensions: one object for equal lengths, arithmetic, and how they print."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from typing import Any

import pytest

import pullback as pb
from pullback.core.graph import site_of
from pullback.core.lengths import greatest, known_to_differ, least, named, symbol

BATCH, TIME = named("batch"), named("time")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (BATCH + TIME, TIME + BATCH),
        (BATCH * 3 - BATCH, 2 * BATCH),
        ((BATCH + 1) * TIME, BATCH * TIME + TIME),
        (BATCH * TIME * 8 // (TIME * 4), BATCH * 2),
        ((BATCH - 1) // 2 + 1, -(-BATCH // 2)),
        ((4 * BATCH + 3) // 2, 2 * BATCH + 1),
        (BATCH % 4 + BATCH // 4 * 4, BATCH),
        (least(BATCH, 3, TIME), least(TIME, BATCH, 3)),
        (greatest(0, BATCH + 1), BATCH + 1),
        (BATCH - BATCH, 0),
        (0 // BATCH, 0),
        (named("batch"), BATCH),
    ],
)
def test_equal_lengths_are_one_object(a: Any, b: Any) -> None:
    assert a is b or (isinstance(a, int) and a == b)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("m", [1, 3, 7])
def test_a_length_has_the_value_of_its_formula(m: int, n: int) -> None:
    def formula(a: Any, b: Any) -> list[Any]:
        return [(a * 2 - b) // 3 + a % 4, (a * b + b) // b, -(-a // b), a * b // (b + 1), (7 - a) // 2]

    for length, value in zip(formula(BATCH, TIME), formula(m, n), strict=True):
        found = length if isinstance(length, int) else length.substitute({BATCH: m, TIME: n})
        assert found == value


def test_a_length_without_a_value_for_a_symbol_has_none() -> None:
    assert (BATCH + TIME).substitute({BATCH: 1}) is None
    assert (BATCH + TIME).substitute({BATCH + TIME: 4}) == 4


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (BATCH, "batch"),
        (2 * BATCH + TIME - 1, "2*batch+time-1"),
        ((BATCH + 1) // 2, "(batch+1)//2"),
        (BATCH * TIME, "batch*time"),
        (greatest(0, BATCH - 3), "max(0,batch-3)"),
        (symbol(), "?"),
        (symbol() + BATCH, "?"),
    ],
)
def test_a_length_prints_as_a_formula_of_names(length: Any, text: str) -> None:
    assert str(length) == text


def test_lengths_that_differ_by_a_number_differ_in_every_run() -> None:
    assert known_to_differ(BATCH, BATCH + 1)
    assert known_to_differ(2, 3)
    assert not known_to_differ(BATCH, TIME)
    assert not known_to_differ(BATCH, None)


def test_a_length_is_named_by_a_word() -> None:
    with pytest.raises(ValueError, match=r"a length is named by a word of letters, digits, '_' and '.', not '2n'"):
        pb.placeholder(pb.float32, ["2n"])


def test_shapes_with_names_answer_as_those_with_none() -> None:
    x = pb.placeholder(pb.float32, ["batch", 3])
    assert str(x.type) == "float32[batch,3]"
    assert x.shape.as_list() == [None, 3]
    assert x.shape == [None, 3]
    assert not x.shape.is_fully_defined()
    assert x.shape.num_elements() is None
    assert x.shape[0] is None


def test_operations_compute_with_lengths() -> None:
    x = pb.placeholder(pb.float32, ["batch", "time", 8])
    assert str(pb.reshape(x, [-1, 8]).type) == "float32[batch*time,8]"
    assert str(pb.concat([x, x], 1).type) == "float32[batch,2*time,8]"
    assert str(pb.transpose(x)[:, 1:].type) == "float32[8,max(0,time-1),batch]"
    assert str(pb.matmul(x, pb.ones([8, 2])).type) == "float32[batch,time,2]"
    assert str(pb.nn.conv1d(x, pb.ones([3, 8, 4]), 2, "SAME").type) == "float32[batch,(time+1)//2,4]"


def test_equal_lengths_need_no_operation() -> None:
    a, b = pb.placeholder(pb.float32, ["batch", 3], name="a"), pb.placeholder(pb.float32, ["batch", 3], name="b")
    y = a * b
    start = len(y.graph.operations)
    pb.gradients(y, [a, b])
    assert [op.type for op in y.graph.operations[start:]] == ["FillLike", "Mul", "Mul"]


def test_unnamed_lengths_of_two_placeholders_may_differ() -> None:
    a, b = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.float32, [None])
    dx = pb.gradients(a * b, a)[0]
    assert pb.Session(engine="numpy").run(dx, {a: [2.0], b: [3.0, 4.0]}).tolist() == [7.0]


def test_feeds_that_disagree_about_a_name_are_named() -> None:
    a, b = pb.placeholder(pb.float32, ["batch", 3], name="a"), pb.placeholder(pb.float32, ["batch"], name="b")
    y = pb.reduce_sum(a) + pb.reduce_sum(b)
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        pb.Session(engine="numpy").run(y, {a: [[1.0, 2.0, 3.0]] * 3, b: [1.0] * 4})
    assert str(error.value) == (
        "the length 'batch' stands for one number in a run, but "
        f"float32[batch,3] 'a:0' (made at {site_of(a)}) was given float32[3,3], whose axis 0 has length 3 and "
        f"float32[batch] 'b:0' (made at {site_of(b)}) was given float32[4], whose axis 0 has length 4. "
        "Feed arrays that agree, or give the lengths two names."
    )


def test_feeds_that_disagree_about_a_formula_are_named() -> None:
    a = pb.placeholder(pb.float32, ["batch"], name="a")
    doubled = pb.concat([a, a], 0, name="doubled")
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"the length '2\*batch' stands for one number in a run"):
        pb.Session(engine="numpy").run(pb.reduce_sum(doubled) + pb.reduce_sum(a), {a: [1.0, 2.0], doubled: [1.0] * 5})


def test_names_survive_the_dict_form() -> None:
    x = pb.placeholder(pb.float32, ["batch", "time", None, 3])
    y = pb.foldl(lambda a, row: a + row, pb.concat([x, x], 1)[:, 1:] * 2.0)
    copy = pb.Graph.from_dict(json.loads(json.dumps(y.graph.to_dict())))
    assert str(copy) == str(y.graph)


def test_lengths_are_the_same_after_copying_and_pickling() -> None:
    shape = pb.TensorShape([BATCH, (BATCH + 1) // 2, greatest(TIME - 3, 0), BATCH * TIME + 1, 7])
    assert pickle.loads(pickle.dumps(shape)).lengths == shape.lengths
    assert deepcopy(shape).lengths == shape.lengths


@pytest.mark.parametrize("make", [pb.ensure_shape, pb.placeholder_with_default])
def test_only_a_placeholder_names_a_length(make: Any) -> None:
    with pytest.raises(
        ValueError,
        match=f"{make.__name__}: 'batch' names a length, which only a placeholder does; give a number or None",
    ):
        make(pb.ones([2, 3]), ["batch", 3])


def test_the_default_of_a_placeholder_has_no_length_of_another() -> None:
    x = pb.placeholder(pb.float32, ["batch"])
    y = pb.placeholder_with_default(pb.identity(x), [None])
    dx = pb.gradients(x * y, x, stop_gradients=[y])[0]
    assert pb.Session(engine="numpy").run(dx, {x: [1.0], y: [2.0, 3.0]}).tolist() == [5.0]
