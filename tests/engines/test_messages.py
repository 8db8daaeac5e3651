"""The errors of a run, word for word."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pullback as pb

WANTED = "Fetch tensors, operations, variables, IndexedSlices, names, or lists, tuples and dictionaries of these."


def text_of(error: pytest.ExceptionInfo[Exception]) -> str:
    """The message, with the places where things were made left out."""
    inside = re.sub(r"\(made at test_messages\.py:\d+: .*?\)(?=[.:] )", "(made at HERE)", str(error.value))
    return re.sub(r"made at test_messages\.py:\d+: .*", "made at HERE", inside)


def refused(
    session: pb.Session, fetches: Any, feeds: Any = None, error: type[Exception] = pb.errors.InvalidArgumentError
) -> str:
    with pytest.raises(error) as info:
        session.run(fetches, feeds)
    return text_of(info)


def test_fetching_none_mentions_gradients(session: pb.Session) -> None:
    assert refused(session, [None]) == (
        "cannot fetch None (gradients() gives None for an x that no y depends on; unconnected_gradients='zero' gives "
        f"zeros). {WANTED}"
    )


@pytest.mark.parametrize(("value", "count"), [((1.0, 2.0, 3.0), "3"), (1.0, "one")])
def test_more_values_than_a_tuple_has_parts(session: pb.Session, value: Any, count: str) -> None:
    x, y = pb.placeholder(pb.float32, [], name="x"), pb.placeholder(pb.float32, [], name="y")
    assert refused(session, x, {(x, y): value}) == (
        f"cannot feed {count} to the 2 parts of (<Tensor 'x:0' float32[]>, <Tensor 'y:0' float32[]>). "
        "Give a value for each."
    )


def test_a_fetch_of_the_wrong_kind(session: pb.Session) -> None:
    assert refused(session, 3.0) == f"cannot fetch 3.0 (of type float). {WANTED}"


def test_what_is_no_tensor_is_a_type_error(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])
    refused(session, [x, None], error=TypeError)
    refused(session, 3.0, error=TypeError)
    refused(session, x, {3: 1.0}, error=TypeError)
    refused(session, x, [1.0], error=TypeError)
    assert "has no value while the graph is built" in refused(session, x, {x: pb.exp(x)}, error=TypeError)


def test_a_feed_of_the_wrong_kind(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])
    assert refused(session, x, {3: 1.0}) == (
        "cannot feed 3 (of type int). The keys of feed_dict are tensors, IndexedSlices, or names of tensors."
    )


def test_feeds_that_are_no_dictionary(session: pb.Session) -> None:
    assert refused(session, pb.constant(1.0), [1.0]) == (
        "feed_dict must be a dictionary from tensors to values, not [1.0] (of type list)."
    )


def test_an_unknown_name_suggests_a_close_one(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [], name="pixels")
    assert refused(session, x, {"pixel:0": 1.0}) == (
        "cannot feed 'pixel:0': the session's graph has no operation 'pixel'. Did you mean 'pixels:0'?"
    )
    assert refused(session, "nothing") == (
        "cannot fetch 'nothing': the session's graph has no operation 'nothing'. "
        "It has 1 operations; print(graph) lists them."
    )


def test_an_unknown_output(session: pb.Session) -> None:
    pb.placeholder(pb.float32, [], name="pixels")
    assert refused(session, "pixels:3") == (
        "cannot fetch 'pixels:3': operation 'pixels' (Placeholder) has 1 output, 'pixels:0'."
    )


def test_a_feed_of_an_operation(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    assert refused(session, x, {x.op: 1.0}) == (
        "cannot feed the operation 'x' (made at HERE). Feed one of its outputs: 'x:0'."
    )


def test_a_tensor_of_another_graph(session: pb.Session) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [2], name="x")
    expected = (
        " float32[2] 'x:0' (made at HERE): it belongs to another graph than the session's. "
        "Make the session for its graph: Session(graph=x.graph)."
    )
    error = pb.errors.InaccessibleTensorError
    assert refused(session, x, error=error) == "cannot fetch" + expected
    assert refused(session, pb.constant(1.0), {x: 1.0}, error=error) == "cannot feed" + expected


def test_placeholders_that_are_not_fed_are_all_named(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    y = pb.placeholder(pb.float32, [3], name="y")
    assert refused(session, x + y) == (
        "what is fetched needs 2 placeholders that were not fed:\n"
        "  'x:0': float32[?,3], made at HERE\n"
        "  'y:0': float32[3], made at HERE\n"
        "Pass values: feed_dict={'x:0': ...}."
    )
    assert refused(session, x + y, {y: np.ones(3)}).startswith(
        "what is fetched needs a placeholder that was not fed:\n"
    )


def test_a_feed_of_another_shape(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    assert refused(session, x, {x: np.ones((2, 4), np.float32)}) == (
        "cannot feed float32[2,4] to float32[?,3] 'x:0' (made at HERE). "
        "Give an array of shape (None, 3), or make the placeholder with None for lengths that vary."
    )


def test_a_feed_of_another_dtype(session: pb.Session) -> None:
    x = pb.placeholder(pb.int32, [], name="x")
    assert refused(session, x, {x: float("nan")}) == (
        "cannot feed int32[] 'x:0' (made at HERE): "
        "nan was given where int32 is needed; convert it with pb.cast or NumPy's astype"
    )


def test_a_feed_of_a_handle(session: pb.Session) -> None:
    v = pb.Variable(1.0, name="v")
    assert refused(session, v, {v.handle: 1.0}) == (
        "cannot feed resource 'v:0' (made at HERE): it has no value, it names a variable. "
        "Assign to the variable, or feed what reads it."
    )
    assert refused(session, v.handle) == (
        "cannot fetch resource 'v:0' (made at HERE): it has no value, it names a variable. Fetch the variable itself."
    )


def test_a_feed_of_slices_that_are_none(session: pb.Session) -> None:
    slices = pb.IndexedSlices(pb.constant([1.0], name="v"), pb.constant([0], name="i"))
    assert refused(session, slices, {slices: 3.0}) == (
        "cannot feed float to IndexedSlices(indices=int32[1] 'i:0', values=float32[1] 'v:0'). "
        "Give IndexedSlicesValue(values, indices, dense_shape), or a tuple of the three (dense_shape may be None)."
    )


def test_a_variable_without_a_value(session: pb.Session) -> None:
    v = pb.Variable(1.0, name="v")
    expected = (
        "Attempting to use uninitialized value 'v', a variable without a value in this session (made at HERE). "
        "Run its initializer first: session.run(pb.global_variables_initializer())."
    )
    assert refused(session, v, error=pb.errors.FailedPreconditionError) == expected
    assert refused(session, v.assign_add(1.0), error=pb.errors.FailedPreconditionError) == expected
    with pytest.raises(pb.errors.FailedPreconditionError):
        session.read_variable(v.handle.op)


def test_an_operation_that_fails_is_named_with_its_line(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, name="x")
    y = pb.ensure_shape(x, [3], name="check")
    assert refused(session, y, {x: np.ones(2, np.float32)}) == (
        "operation 'check' (EnsureShape) failed on float32[2]: "
        "ensure_shape: float32[2] cannot have shape (3,)\n  made at HERE"
    )


def test_a_callable_counts_its_values(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        session.make_callable(x * 2.0, [x])()
    assert str(error.value) == "this callable takes 1 values, for 'x:0'; 0 were given."


def test_an_unknown_engine() -> None:
    with pytest.raises(ValueError, match=r"^Session: engine must be 'xla', 'numpy' or 'onnxruntime', not 'tpu'$"):
        pb.Session(engine="tpu")


def test_a_graph_in_the_place_of_the_target(graph: pb.Graph) -> None:
    with pytest.raises(TypeError, match=r"pass the graph by name: Session\(graph=\.\.\.\)"):
        pb.Session(graph)  # type: ignore[arg-type]


def test_what_may_not_be_fed_or_fetched(session: pb.Session) -> None:
    x, y = pb.placeholder_with_default(1.0, [], name="x"), pb.constant(2.0, name="y")
    z = x + y
    graph = x.graph
    graph.prevent_feeding(x)
    graph.prevent_fetching(y.op)
    assert [graph.is_feedable(x), graph.is_fetchable(x), graph.is_feedable(y), graph.is_fetchable(y)] == [
        False,
        True,
        True,
        False,
    ]
    assert not graph.is_fetchable(y.op)
    assert session.run([x, z], {y: 5.0}) == [1.0, 6.0]
    with pytest.raises(
        pb.errors.InvalidArgumentError, match=r"^cannot feed .*'x:0'.*may not be fed, as Graph\.prevent_feed"
    ):
        session.run(z, {x: 5.0})
    for fetch in (y, y.op, "y:0", [z, y]):
        with pytest.raises(ValueError, match=r"^cannot fetch .*'y.*may not be fetched, as Graph\.prevent_fetching was"):
            session.run(fetch)
