"""What is particular to the NumPy engine: cheap dispatch, and memory that is reused where that cannot be seen."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.engines.numpy.engine import _function
from pullback.primitives.elementwise.arithmetic import Add
from pullback.primitives.shape.reshape import Reshape


@pytest.fixture
def numpy_session(graph: pb.Graph) -> pb.Session:
    return pb.Session(graph=graph, engine="numpy")


def address_of(session: pb.Session, variable: pb.Variable) -> Any:
    engine: Any = session._engine
    return engine.values[variable.handle.op].__array_interface__["data"]


def test_a_kernel_that_is_one_ufunc_is_bound_to_it() -> None:
    assert _function(Add(), 2) is np.add


def test_a_kernel_that_is_more_is_called() -> None:
    assert _function(Reshape((2, 1)), 1)(np.ones(2)).shape == (2, 1)


def test_additions_to_a_variable_make_two_arrays_at_most_however_many_they_are(numpy_session: pb.Session) -> None:
    v = pb.Variable(np.ones(100_000))
    numpy_session.run(v.initializer)
    step: list[Any] = []
    for _ in range(5):
        with pb.control_dependencies(step):
            step = [v.assign_add(np.ones(100_000)).op]
    numpy_session.run(step)
    tracemalloc.start()
    numpy_session.run(step)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 100_000 * 8
    np.testing.assert_array_equal(numpy_session.run(v), np.full(100_000, 11.0))


def test_changes_of_rows_reuse_the_memory_of_the_variable(numpy_session: pb.Session) -> None:
    v = pb.Variable(np.zeros((100, 2), np.float32))
    numpy_session.run(v.initializer)
    before = address_of(numpy_session, v)
    numpy_session.run(v.scatter_add(pb.IndexedSlices(pb.ones([2, 2]), pb.constant([3, 3]))).op)
    assert address_of(numpy_session, v) == before
    assert numpy_session.run(v)[3, 1] == 2.0


def test_memory_that_a_fetched_read_refers_to_is_not_reused(numpy_session: pb.Session) -> None:
    v = pb.Variable(np.zeros((100, 2), np.float32))
    numpy_session.run(v.initializer)
    read = v.read_value()
    step = v.scatter_add(pb.IndexedSlices(pb.ones([1, 2]), pb.constant([3]))).op
    value, _ = numpy_session.run([read, step])
    assert value[3, 0] == 0.0
    assert numpy_session.run(v)[3, 0] == 1.0


def test_a_row_out_of_range_raises_and_changes_nothing(numpy_session: pb.Session) -> None:
    v = pb.Variable(np.zeros((3, 2), np.float32))
    numpy_session.run(v.initializer)
    step = v.scatter_add(pb.IndexedSlices(pb.ones([2, 2]), pb.constant([0, 3])))
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"indices\[1\] = 3 is not in \[0, 3\)"):
        numpy_session.run(step)
    assert not numpy_session.run(v).any()


def test_a_large_intermediate_is_let_go_when_it_is_dead(numpy_session: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [100_000])
    y = x
    for _ in range(20):
        y = y + x
    f = numpy_session.make_callable(y, [x])
    array = np.ones(100_000)
    tracemalloc.start()
    f(array)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * array.nbytes


def test_a_run_calls_python_as_often_for_fifty_operations_as_for_two(numpy_session: pb.Session) -> None:
    assert _python_calls(numpy_session, 50) == _python_calls(numpy_session, 2)


def _python_calls(session: pb.Session, operations: int) -> int:
    """How many Python functions a call runs whose plan is a chain of sums and products."""
    x = pb.placeholder(pb.float32, [8])
    y = x
    for _ in range(operations // 2):
        y = (y + x) * x
    f = session.make_callable(y, [x])
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(frame.f_code) if event == "call" else None)
    f(np.ones(8, np.float32))
    sys.setprofile(None)
    return len(calls)


def test_changes_of_slices_reuse_the_memory_of_the_variable(numpy_session: pb.Session) -> None:
    v = pb.Variable(np.zeros((100, 2), np.float32))
    numpy_session.run(v.initializer)
    before = address_of(numpy_session, v)
    numpy_session.run(v.scatter_nd_add([[3, 1]], [2.0]).op)
    assert address_of(numpy_session, v) == before
    assert numpy_session.run(v)[3, 1] == 2.0


def test_a_value_made_by_the_run_is_assigned_without_a_copy(numpy_session: pb.Session) -> None:
    v = pb.Variable(np.zeros(100_000))
    x = pb.placeholder(pb.float64, [100_000])
    assign = v.assign(x * 2.0).op
    numpy_session.run(v.initializer)
    array = np.ones(100_000)
    tracemalloc.start()
    numpy_session.run(assign, {x: array})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * array.nbytes
