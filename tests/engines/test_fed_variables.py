"""A variable that is fed has that value for all that reads it in the run, as in TensorFlow 1."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla", "onnxruntime"])
def fed_session(request: pytest.FixtureRequest, graph: pb.Graph) -> pb.Session:
    if request.param == "onnxruntime":
        pytest.importorskip("onnxruntime")
    return pb.Session(graph=graph, engine=request.param)


def test_all_that_reads_it_sees_what_is_fed(fed_session: pb.Session) -> None:
    v = pb.Variable(1.0)
    x = pb.placeholder(pb.float32, [])
    doubled = v * 2.0
    (looped,) = pb.while_loop(lambda i: i < 2, lambda i: i + pb.cast(v, pb.int32), [0])
    fed_session.run(v.initializer)
    assert fed_session.run([v, doubled + x, looped], {v: 5.0, x: 1.0}) == [5.0, 11.0, 5]
    assert fed_session.run([v, doubled]) == [1.0, 2.0]


def test_one_that_has_no_value_can_be_fed(fed_session: pb.Session) -> None:
    v = pb.Variable(1.0)
    assert fed_session.run(v * 2.0, {v: 5.0}) == 10.0
    with pytest.raises(pb.errors.FailedPreconditionError):
        fed_session.run(v)


def test_what_a_run_assigns_to_it_does_not_last(fed_session: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    fed_session.run(v.initializer)
    step = v.assign_add([1.0, 1.0])
    assert fed_session.run(step, {v: [5.0, 6.0]}).tolist() == [6.0, 7.0]
    assert fed_session.run(v).tolist() == [1.0, 2.0]


def test_a_run_that_fails_leaves_its_own_value(fed_session: pb.Session) -> None:
    v = pb.Variable(1.0)
    x = pb.placeholder(pb.float32, [])
    fed_session.run(v.initializer)
    with pytest.raises(pb.errors.InvalidArgumentError):
        fed_session.run(v + x, {v: 5.0})
    assert fed_session.run(v) == 1.0


def test_a_callable_takes_variables(fed_session: pb.Session) -> None:
    v = pb.Variable(1.0)
    fed_session.run(v.initializer)
    assert fed_session.make_callable(v * 2.0, [v])(5.0) == 10.0
    assert fed_session.make_callable(v * 2.0, [v.name])(5.0) == 10.0
    assert fed_session.run(v * 2.0, {v.name: 5.0}) == 10.0


def test_a_value_of_another_shape_is_refused(fed_session: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    with pytest.raises(pb.errors.InvalidArgumentError, match="cannot feed"):
        fed_session.run(v, {v: np.ones(3, np.float32)})
