"""What a session runs, returns and keeps."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

import pullback as pb

Pair = namedtuple("Pair", ["first", "second"])


def test_a_tensor_gives_an_array_of_its_dtype(session: pb.Session) -> None:
    value = session.run(pb.constant([1.0, 2.0]) * 2.0)
    assert type(value) is np.ndarray
    assert value.dtype == np.float32
    np.testing.assert_array_equal(value, [2.0, 4.0])


def test_a_scalar_is_a_numpy_scalar(session: pb.Session) -> None:
    assert type(session.run(pb.constant(1.0) + 2.0)) is np.float32


@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16, pb.float32, pb.float64, pb.complex64, pb.complex128])
def test_every_float_dtype_is_kept(session: pb.Session, dtype: np.dtype) -> None:
    x = pb.placeholder(dtype, [2])
    y = x * x + x
    assert session.run(y, {x: np.ones(2, dtype)}).dtype == dtype


@pytest.mark.parametrize("dtype", [pb.int8, pb.int16, pb.int32, pb.int64, pb.uint8, pb.uint16, pb.uint32, pb.uint64])
def test_every_integer_dtype_is_kept(session: pb.Session, dtype: np.dtype) -> None:
    x = pb.placeholder(dtype, [2])
    assert session.run(x * x + x, {x: np.ones(2, dtype)}).dtype == dtype


def test_float64_is_computed_in_float64(session: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [])
    assert session.run(x + 1.0, {x: 1e-12}) - 1.0 == pytest.approx(1e-12, rel=1e-3)


def test_nested_fetches_come_back_nested(session: pb.Session) -> None:
    x = pb.constant(1.0)
    y = x + 1.0
    got = session.run({"a": [x, (y, x.op)], "b": Pair(y, []), "c": OrderedDict(z=y)})
    assert got == {"a": [1.0, (2.0, None)], "b": Pair(2.0, []), "c": OrderedDict(z=2.0)}
    assert type(got["a"][1]) is tuple
    assert type(got["b"]) is Pair
    assert type(got["c"]) is OrderedDict


def test_names_of_tensors_and_operations_are_fetched(session: pb.Session) -> None:
    pb.constant(3.0, name="x")
    assert session.run(["x:0", "x"]) == [3.0, None]


def test_a_fetch_may_be_asked_for_twice(session: pb.Session) -> None:
    y = pb.constant([1.0]) + 1.0
    first, second = session.run([y, y])
    first[0] = 5.0
    assert second[0] == 2.0


def test_indexed_slices_come_back_as_their_value(session: pb.Session) -> None:
    slices = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([2]), pb.constant([5, 1]))
    value = session.run(slices)
    assert type(value) is pb.IndexedSlicesValue
    np.testing.assert_array_equal(value.dense_shape, [5, 1])
    without = session.run(pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([2])))
    assert without.dense_shape is None


def test_an_intermediate_tensor_can_be_fed(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])
    y = x + 1.0
    assert session.run(y * 2.0, {y: 5.0}) == 10.0


def test_a_fed_tensor_can_be_fetched(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [2])
    array = np.ones(2, np.float32)
    value = session.run(x, {x: array})
    array[0] = 7.0
    np.testing.assert_array_equal(value, [1.0, 1.0])


def test_one_of_several_outputs_can_be_fed(session: pb.Session) -> None:
    a, b = pb.identity_n([pb.constant(1.0), pb.constant(2.0)])
    assert session.run([a + 0.0, b + 0.0], {a: 5.0}) == [5.0, 2.0]


@pytest.mark.parametrize("value", [(np.ones((1, 1)), [2], None), pb.IndexedSlicesValue([[1.0]], [2], [9, 1])])
def test_indexed_slices_can_be_fed(session: pb.Session, value: tuple) -> None:
    slices = pb.IndexedSlices(pb.constant([[0.0]]), pb.constant([0]), pb.constant([5, 1]))
    got = session.run([slices.values * 2.0, slices.indices + 1, slices.dense_shape], {slices: value})
    np.testing.assert_array_equal(got[0], [[2.0]])
    np.testing.assert_array_equal(got[1], [3])
    np.testing.assert_array_equal(got[2], [5, 1] if value[2] is None else [9, 1])


def test_a_float64_array_is_narrowed_for_a_float32_placeholder(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [2])
    assert session.run(x * 1.0, {x: np.array([1.0, 2.0])}).dtype == np.float32


def test_what_is_not_needed_is_not_run(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])
    x * 2.0
    assert session.run(pb.constant(1.0)) == 1.0


def test_control_inputs_run(session: pb.Session) -> None:
    v = pb.Variable(1.0)
    session.run(v.initializer)
    step = v.assign_add(1.0)
    with pb.get_default_graph().control_dependencies([step]):
        y = pb.constant(5.0) + 1.0
    session.run(y)
    assert session.run(v) == 2.0


def test_variables_keep_their_values_and_sessions_keep_them_apart(engine: str) -> None:
    v = pb.Variable([1.0, 2.0])
    step = v.assign_add([1.0, 1.0])
    first, second = pb.Session(engine=engine), pb.Session(engine=engine)
    for session in (first, second):
        session.run(v.initializer)
    first.run(step)
    first.run(step)
    np.testing.assert_array_equal(first.run(v), [3.0, 4.0])
    np.testing.assert_array_equal(second.run(v), [1.0, 2.0])


def test_reads_and_assignments_act_in_the_order_they_were_made(session: pb.Session) -> None:
    v = pb.Variable(1.0)
    session.run(v.initializer)
    before = v.read_value()
    first = v.assign_add(10.0)
    between = v.read_value()
    second = v.assign(between * 2.0)
    after = v.read_value()
    assert session.run([after, between, before, first.op, second.op])[:3] == [22.0, 11.0, 1.0]


def test_a_value_read_earlier_is_not_changed_by_a_later_assignment(session: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    session.run(v.initializer)
    read = v.read_value()
    view = pb.reshape(read, [2, 1])
    step = v.assign_add([10.0, 10.0])
    later = view + 0.0
    a, b, c, _ = session.run([read, view, later, step])
    np.testing.assert_array_equal(a, [1.0, 2.0])
    np.testing.assert_array_equal(b, [[1.0], [2.0]])
    np.testing.assert_array_equal(c, [[1.0], [2.0]])
    session.run(step)
    np.testing.assert_array_equal(a, [1.0, 2.0])


def test_changing_a_fetched_value_does_not_change_the_variable(session: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    session.run(v.initializer)
    value = session.run(v)
    value[0] = 7.0
    np.testing.assert_array_equal(session.run(v), [1.0, 2.0])


def test_changing_a_fed_array_does_not_change_the_variable(session: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    x = pb.placeholder(pb.float32, [2])
    assign = v.assign(x).op
    array = np.array([3.0, 4.0], np.float32)
    session.run(assign, {x: array})
    array[0] = 7.0
    np.testing.assert_array_equal(session.run(v), [3.0, 4.0])


def test_variables_of_one_initial_array_are_changed_apart(session: pb.Session) -> None:
    start = pb.constant(np.ones(1000, np.float32))
    v, w = pb.Variable(start), pb.Variable(start)
    session.run([v.initializer, w.initializer])
    session.run(v.assign_add(start).op)
    session.run([v.assign_add(start).op, w.assign_add(start).op])
    assert session.run([v, w])[0][0] == 3.0
    assert session.run([v, w])[1][0] == 2.0


def test_a_variable_assigned_from_another_is_changed_apart(session: pb.Session) -> None:
    v, w = pb.Variable([1.0, 1.0]), pb.Variable([2.0, 2.0])
    session.run([v.initializer, w.initializer])
    session.run(v.assign(w).op)
    session.run(v.assign_add([1.0, 1.0]).op)
    np.testing.assert_array_equal(session.run([v, w]), [[3.0, 3.0], [2.0, 2.0]])


def test_read_variable_and_write_variable_copy(session: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    handle = v.handle.op
    assert not session.has_variable(handle)
    array = np.array([5.0, 6.0], np.float32)
    session.write_variable(handle, array)
    array[0] = 0.0
    read = session.read_variable(handle)
    read[1] = 0.0
    assert session.has_variable(handle)
    np.testing.assert_array_equal(session.run(v), [5.0, 6.0])


@pytest.mark.parametrize("offset", [0, 16])
def test_what_is_written_is_copied_however_it_lies_in_memory(session: pb.Session, offset: int) -> None:
    v = pb.Variable([1.0, 2.0])
    room = np.zeros(128, np.uint8)
    start = -room.ctypes.data % 64 + offset
    array = room[start : start + 8].view(np.float32)
    array[:] = 5.0
    session.write_variable(v.op, array)
    array[:] = 0.0
    np.testing.assert_array_equal(session.run(v), [5.0, 5.0])


def test_a_callable_runs_what_run_does(session: pb.Session) -> None:
    x, y = pb.placeholder(pb.float32, []), pb.placeholder(pb.float32, [])
    f = session.make_callable({"sum": x + y, "op": x.op}, [x, y])
    assert f(1.0, 2.0) == {"sum": 3.0, "op": None}
    assert session.make_callable([])() == []
    assert session.make_callable(x.op, [x])(1.0) is None


def test_empty_fetches_give_empty_structures(session: pb.Session) -> None:
    assert session.run([]) == []
    assert session.run({}) == {}


def test_the_default_session_evaluates_tensors_and_runs_operations(engine: str, graph: pb.Graph) -> None:
    v = pb.Variable(1.0)
    assert pb.get_default_session() is None
    session = pb.Session(engine=engine)
    with session.as_default():
        assert pb.get_default_session() is session
        v.initializer.run()
        assert (v + 1.0).eval() == 2.0
    assert (v + 2.0).eval(session=session) == 3.0
    assert pb.get_default_session() is None


def test_an_interactive_session_is_the_default_one_until_it_is_closed(engine: str) -> None:
    other = pb.Graph()
    session = pb.InteractiveSession(graph=other, engine=engine)
    assert pb.get_default_graph() is other
    assert pb.constant(2.0).eval() == 2.0
    session.close()
    session.close()
    assert pb.get_default_graph() is not other
    assert pb.get_default_session() is None


def test_callables_end_with_their_session(session: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [])
    calls = [session.make_callable(x + 1.0, [x]), session.make_callable([x + 1.0], [x])]
    assert [f(1.0) for f in calls] == [2.0, [2.0]]
    session.close()
    for f in calls:
        with pytest.raises(RuntimeError, match=r"^Attempted to use a closed Session\.$"):
            f(1.0)


def test_a_with_block_makes_the_graph_the_default_and_closes(engine: str) -> None:
    other = pb.Graph()
    with pb.Session(graph=other, engine=engine) as session:
        assert pb.get_default_graph() is other
        assert session.run(pb.constant(1.0)) == 1.0
    with other.as_default(), pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.run(pb.constant(1.0))


def test_eval_without_a_session_says_what_to_do() -> None:
    expected = (
        "eval of float32[] 'Const:0': there is no default session. "
        "Use `with session.as_default():`, or pass eval(session=...)"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        pb.constant(1.0).eval()


def test_threads_share_a_session(session: pb.Session) -> None:
    v = pb.Variable(0.0)
    session.run(v.initializer)
    step = session.make_callable(v.assign_add(1.0).op)

    def work() -> None:
        for _ in range(50):
            step()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run(v) == 200.0


def test_operations_added_after_a_run_can_be_run(session: pb.Session) -> None:
    x = pb.constant(1.0)
    assert session.run(x) == 1.0
    assert session.run(x + 1.0) == 2.0


def test_a_long_chain_needs_no_recursion() -> None:
    x = pb.placeholder(pb.float32, [])
    y = x
    for _ in range(20_000):
        y = y + x
    assert pb.Session(engine="numpy").run(y, {x: 1.0}) == 20_001.0


MOVES = """
import random
import numpy as np
np.random.seed(1), random.seed(1)
import pullback as pb
for engine in ("numpy", "onnxruntime", "xla"):
    x = pb.random.normal([2], seed=1)
    v = pb.Variable(x)
    session = pb.Session(engine=engine)
    session.run(v.initializer), session.run([v, x])
x = pb.placeholder(pb.float32, [2])
pb.xla.to_stablehlo(x * x, [x])
print(np.random.rand(), random.random())
"""


def test_no_import_and_no_session_moves_the_random_streams_of_the_program() -> None:
    out = subprocess.run([sys.executable, "-c", MOVES], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["0.417022004702574", "0.13436424411240122"]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        (pb.int32, 2.7, 2),
        (pb.int32, np.array([2.7, -2.7]), [2, -2]),
        (pb.uint8, [255.9, 0.1], [255, 0]),
        (pb.int64, 1e15, 10**15),
    ],
)
def test_floats_fed_as_whole_numbers_lose_their_fractions(dtype: Any, given: Any, expected: Any, engine: str) -> None:
    x = pb.placeholder(dtype)
    np.testing.assert_array_equal(pb.Session(engine=engine).run(x, {x: given}), expected)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 0], [True, False]),
        ([2.5, 0.0], [True, False]),
        (np.uint8([0, 3]), [False, True]),
        ([True, 0], [True, False]),
    ],
)
def test_numbers_fed_as_truths_are_true_where_they_are_not_zero(given: Any, expected: list[bool], engine: str) -> None:
    x = pb.placeholder(pb.bool, [2])
    assert pb.Session(engine=engine).run(x, {x: given}).tolist() == expected


def test_one_number_is_fed_as_a_truth_if_it_is_zero_or_one() -> None:
    x, session = pb.placeholder(pb.bool, []), pb.Session(engine="numpy")
    assert [bool(session.run(x, {x: given})) for given in (1, 0, 1.0)] == [True, False, True]
    with pytest.raises(TypeError, match="2 was given where bool is needed"):
        session.run(x, {x: 2})


@pytest.mark.parametrize(
    ("dtype", "given"), [(pb.int32, 3e9), (pb.uint8, -1.0), (pb.int64, 2.0**63), (pb.int8, np.inf)]
)
def test_floats_that_no_whole_number_of_the_dtype_is_near_are_not_fed(dtype: Any, given: float) -> None:
    x = pb.placeholder(dtype)
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"was given where u?int[0-9]* is needed"):
        pb.Session(engine="numpy").run(x, {x: given})


def test_nested_tuples_are_fed(session: pb.Session) -> None:
    c, h, n = pb.placeholder(pb.float32, [2]), pb.placeholder(pb.float32, [2]), pb.placeholder(pb.int32, [])
    state = pb.nn.rnn_cell.LSTMStateTuple(c, h)
    y = c + 10.0 * h + pb.cast(n, pb.float32)
    assert session.run(y, {(state, n): (([1.0, 2.0], np.ones(2)), 100)}).tolist() == [111.0, 112.0]
    assert session.run(y, {state: (np.ones(2), np.zeros(2)), n: 0}).tolist() == [1.0, 1.0]


def test_a_loop_stops_when_the_time_of_its_run_is_over() -> None:
    n = pb.placeholder_with_default(0, [])
    endless = pb.while_loop(lambda i: i >= n, lambda i: i + 1, [0])
    nested = pb.while_loop(lambda i: i < 3, lambda i: i + pb.cond(i < 9, lambda: endless[0], lambda: 0), [0])
    session, options = pb.Session(engine="numpy"), pb.RunOptions(timeout_in_ms=30, trace_level=1)
    for fetch in (endless, nested):
        with pytest.raises(
            pb.errors.DeadlineExceededError, match=r"the run took longer than 30 ms, the timeout_in_ms of"
        ):
            session.run(fetch, options=options, run_metadata=pb.RunMetadata())
    with pytest.raises(pb.compat.v1.errors.DeadlineExceededError):
        session.run(endless, options=pb.RunOptions(timeout_in_ms=1))
    with pytest.raises(TimeoutError):
        session.run(
            endless, options=pytest.importorskip("tensorboard.compat.proto.config_pb2").RunOptions(timeout_in_ms=1)
        )
    assert session.run(endless, {n: 1}, pb.RunOptions(timeout_in_ms=60_000)) == [0]
    assert session.run(endless, {n: 1}) == [0]
