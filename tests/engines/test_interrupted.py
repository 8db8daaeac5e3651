"""Runs that fail or are interrupted change no variable: those of before, or of after the run, are there."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any

import jax
import numpy as np
import pytest

import pullback as pb
from pullback.engines.xla import interrupts, lost_processes
from pullback.engines.xla.devices import Layout

ROWS = 200


@pytest.fixture
def alarm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """Sets the time after which KeyboardInterrupt is raised, as by Ctrl-C.

    Python drops what is raised while garbage is collected, where jax has a callback: then it is raised once more.
    """
    report = sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def dropped(found: Any) -> None:
        if found.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)
        else:
            report(found)

    monkeypatch.setattr(sys, "unraisablehook", dropped)
    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def counters(python: bool = False) -> tuple[list[pb.Variable], pb.Operation]:
    """Variables all of whose elements are the number of steps done, and a step that changes each in another way.

    Where `python` is asked for a Python function counts one of them up.
    """
    dense, table, matrix, count = (pb.Variable(np.zeros(shape)) for shape in ([ROWS], [ROWS, 2], [3, ROWS], []))
    all_rows = pb.IndexedSlices(pb.ones([ROWS, 2], pb.float64), pb.range(ROWS))
    first = dense.assign_add(np.ones(ROWS))
    with pb.control_dependencies([first]):
        rows = table.scatter_add(all_rows)
    with pb.control_dependencies([rows]):
        spec = pb.TensorSpec([3, ROWS], pb.float64)
        more = pb.numpy_function(lambda x: x + 1.0, [matrix], spec) if python else matrix + 1.0
        last = matrix.assign(more), count.assign_add(1.0)
    return [dense, table, matrix, count], pb.group(*last)


def steps_done(session: pb.Session, variables: list[pb.Variable]) -> set[float]:
    """The numbers of steps that the elements of the variables speak of."""
    return {float(x) for v in variables for x in np.unique(session.read_variable(v.handle.op))}


def interrupt_often(engine: str, times: int, alarm: Callable[[float], None], python: bool = False) -> None:
    """A loop of steps that is interrupted so often; after each time all variables are of one step, and it goes on."""
    variables, step = counters(python)
    random = np.random.default_rng(0)
    done = 0.0
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        session.run(step), session.run(step)
        for _ in range(times):
            begun = done = steps_done(session, variables).pop()
            try:
                alarm(random.uniform(2e-4, 5e-3))
                while True:
                    session.run(step)
                    begun += 1
            except KeyboardInterrupt:
                pass
            found = steps_done(session, variables)
            assert found in ({begun}, {begun + 1})
        session.run(step)
        assert steps_done(session, variables).pop() > done


ENGINES = ["numpy", "xla", "onnxruntime"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_that_is_interrupted_keeps_whole_steps(engine: str, alarm: Callable[[float], None]) -> None:
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    interrupt_often(engine, 40, alarm)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_that_is_interrupted_a_thousand_times(engine: str, alarm: Callable[[float], None]) -> None:
    interrupt_often(engine, 1000, alarm)


@pytest.mark.parametrize("times", [40, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_interrupts_of_python_functions_are_interrupts(engine: str, times: int, alarm: Callable[[float], None]) -> None:
    """jax has Python code of its own around a function, from which XLA makes an error of its runtime."""
    interrupt_often(engine, times, alarm, python=True)


def test_first_steps_that_are_interrupted_are_whole_or_not_done(alarm: Callable[[float], None]) -> None:
    random, v = np.random.default_rng(0), pb.Variable(np.zeros(ROWS))
    x = pb.placeholder(pb.float64, [None])
    step = v.assign_add(pb.ones_like(v) * pb.reduce_mean(pb.exp(x)))
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        for rows in range(1, 13):
            begun = session.run(v)[0]
            try:
                alarm(random.uniform(5e-3, 6e-2))
                session.run(step, {x: np.zeros(rows)})
                alarm(0)
            except KeyboardInterrupt:
                pass
            (found,) = np.unique(session.run(v))
            assert found in (begun, begun + 1)


@pytest.mark.parametrize("begins", [True, False])
def test_an_interrupt_while_a_thread_starts_waits_for_what_has_begun(
    begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, is_called, start = [], Event(), interrupts.start_new_thread

    def interrupted(run: Callable[[], None], args: tuple[()]) -> None:
        if begins:
            start(run, args)
            is_called.wait()
        raise KeyboardInterrupt

    def act() -> None:
        is_called.set()
        Event().wait(0.05)
        done.append(True)

    monkeypatch.setattr(interrupts, "start_new_thread", interrupted)
    with pytest.raises(KeyboardInterrupt):
        interrupts.to_its_end(act)
    assert bool(done) == begins


def test_a_thread_that_starts_after_an_interrupt_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    done, started = [], []

    def interrupted(run: Callable[[], None], args: tuple[()]) -> None:
        started.append(run)
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts, "start_new_thread", interrupted)
    with pytest.raises(KeyboardInterrupt):
        interrupts.to_its_end(lambda: done.append(True))
    started[0]()
    assert not done


def test_what_is_done_to_its_end_is_done_or_not_begun_whenever_an_interrupt_comes(
    alarm: Callable[[float], None],
) -> None:
    random, begun, ended = np.random.default_rng(0), 0, 0

    def act() -> None:
        nonlocal begun, ended
        begun += 1
        Event().wait(2e-4)
        ended += 1

    for _ in range(1000):
        try:
            alarm(random.uniform(1e-6, 6e-4))
            interrupts.to_its_end(act)
            alarm(0)
        except KeyboardInterrupt:
            pass
        assert begun == ended


def test_what_waits_for_other_processes_may_be_interrupted_at_any_time(alarm: Callable[[float], None]) -> None:
    random = np.random.default_rng(0)
    begun: list[int] = []
    ended: list[int] = []

    def act(i: int) -> int:
        begun.append(i)
        Event().wait(2e-4)
        ended.append(i)
        return i

    for i in range(1000):
        try:
            alarm(random.uniform(1e-6, 6e-4))
            assert lost_processes.while_watching(act, i) == i
            alarm(0)
        except KeyboardInterrupt:
            pass
    while len(begun) > len(ended):
        Event().wait(1e-3)
    assert begun
    assert sorted(begun) == sorted(ended)
    assert lost_processes.while_watching(divmod, 7, 2) == (3, 1)


def test_a_flag_is_set_or_not_whenever_an_interrupt_comes(alarm: Callable[[float], None]) -> None:
    random = np.random.default_rng(0)
    for _ in range(1000):
        flag = interrupts.Flag()
        try:
            alarm(random.uniform(1e-6, 3e-5))
            for _ in range(100):
                flag.set()
            alarm(0)
        except KeyboardInterrupt:
            pass
        flag.set()
        assert flag.is_set
        assert flag.wait(9.0)
        assert flag.wait(9.0)


def test_a_flag_wakes_who_waits_for_it() -> None:
    flag, woken = interrupts.Flag(), []
    waiting = Thread(target=lambda: woken.append(flag.wait(60.0)))
    waiting.start()
    assert not interrupts.Flag().wait(0.01)
    flag.set()
    waiting.join()
    assert woken == [True]


def test_the_first_step_changes_variables_in_place_too() -> None:
    v = pb.Variable(np.zeros(1000))
    step = v.assign_add(pb.ones_like(v))
    with pb.Session(engine="xla") as session:
        session.run(v.initializer)
        values: Any = session._engine.values  # type: ignore[attr-defined]
        before = values[v.op].unsafe_buffer_pointer()
        session.run(step.op)
        assert values[v.op].unsafe_buffer_pointer() == before


class InterruptedAtItsEnd:
    """A block of 64-bit types and of a mesh that Ctrl-C interrupts while it is left."""

    def __enter__(self) -> None:
        jax.enable_x64(True).__enter__()
        jax.set_mesh(jax.make_mesh((1,), ("inner",)))

    def __exit__(self, *error: object) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("around", [None, "outer"])
def test_an_interrupted_run_leaves_precision_and_mesh_of_jax_alone(
    around: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Layout, "entered", lambda layout: InterruptedAtItsEnd())
    x = pb.placeholder(pb.float32, [])
    with jax.set_mesh(None if around is None else jax.make_mesh((1,), (around,))):
        before = jax.sharding.get_mesh()
        with pytest.raises(KeyboardInterrupt), pb.Session(engine="xla", mesh={"data": 1}) as session:
            session.run(x * 2.0, {x: 1.0})
        assert not jax.config.jax_enable_x64
        assert jax.sharding.get_mesh() == before


def failing(kind: str, step: pb.Operation) -> pb.Operation:
    """An operation that fails after `step`."""
    with pb.control_dependencies([step]):
        if kind == "assertion":
            return pb.debugging.assert_less(pb.placeholder_with_default(2.0, []), 1.0)
        if kind == "python":
            return pb.py_function(lambda x: 1 // 0, [pb.identity(1.0)], pb.float32).op
        return pb.linalg.inv(pb.placeholder_with_default(np.zeros((2, 2)), [2, 2])).op


@pytest.mark.parametrize("kind", ["assertion", "python", "kernel"])
def test_what_fails_behind_a_step_takes_the_step_back_on_numpy(kind: str) -> None:
    variables, step = counters()
    failure = failing(kind, step)
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        for i in range(3):
            session.run(step)
            with pytest.raises(pb.errors.InvalidArgumentError):
                session.run(failure)
            assert steps_done(session, variables) == {i + 1.0}


@pytest.mark.parametrize("kind", ["assertion", "python"])
def test_what_fails_behind_a_step_takes_the_step_back_on_xla(kind: str) -> None:
    variables, step = counters()
    failure = failing(kind, step)
    with pb.Session(engine="xla") as session:
        session.run(pb.global_variables_initializer())
        session.run(step)
        with pytest.raises(pb.errors.InvalidArgumentError):
            session.run(failure)
        assert steps_done(session, variables) == {1.0}


def test_a_failure_in_a_loop_takes_back_all_its_steps() -> None:
    v, w = pb.Variable(np.zeros(3)), pb.Variable(np.zeros((4, 2)))

    def body(i: Any) -> Any:
        added = v.assign_add(np.ones(3))
        with pb.control_dependencies([added, w.scatter_nd_add([[0]], [[1.0, 1.0]])]):
            check = pb.debugging.assert_less(i, 5)
        with pb.control_dependencies([check]):
            return i + 1

    loop = pb.while_loop(lambda i: i < 10, body, [0])
    with pb.Session(engine="numpy") as session:
        session.run(pb.global_variables_initializer())
        with pytest.raises(pb.errors.InvalidArgumentError):
            session.run(loop)
        assert not session.run(v).any()
        assert not session.run(w).any()


def test_a_variable_that_a_failed_run_initialised_has_no_value() -> None:
    v = pb.Variable(1.0)
    failure = failing("kernel", v.initializer)
    with pb.Session(engine="numpy") as session:
        with pytest.raises(pb.errors.InvalidArgumentError):
            session.run(failure)
        with pytest.raises(pb.errors.FailedPreconditionError):
            session.run(v)


def products_in_order(x: pb.Tensor) -> pb.Tensor:
    """A sum that needs memory for the products of all pairs of elements."""
    return pb.reduce_sum(pb.sort(pb.reshape(x, [-1, 1]) * x, axis=0)[0])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_run_that_needs_too_much_memory_keeps_the_variables(engine: str) -> None:
    """Twice: a program that failed has not shown that it can be given the memory of variables."""
    x, rows = pb.placeholder(pb.float32, [None]), np.ones(10**7)
    v = pb.Variable(np.ones(3))
    step = v.assign_add(v * pb.cast(products_in_order(x), pb.float64))
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        for done in range(1, 3):
            session.run(step, {x: [1.0]})
            with pytest.raises(pb.errors.ResourceExhaustedError):
                session.run(step, {x: rows})
            assert session.run(v).tolist() == [2.0**done] * 3


def test_what_ran_out_of_memory_says_what_to_do() -> None:
    x, rows = pb.placeholder(pb.float32, [None]), np.ones(10**7)
    y = products_in_order(x)
    with pytest.raises(
        MemoryError, match=r"^operation 'mul' \(Mul\) failed on float32\[10000000,1\], .*: Unable to all"
    ):
        pb.Session(engine="numpy").run(y, {x: rows})
    with pytest.raises(MemoryError) as caught:
        pb.Session(engine="xla").run(y, {x: rows})
    first, last = str(caught.value).split("\n")
    assert first.startswith("a compiled run failed: Out of memory allocating ")
    assert last == "Feed fewer rows at a time; Session.compiled_memory says what a run needs."


LATER_RUN = """
import resource, time
import numpy as np
import pullback as pb

def pages():
    time.sleep(0.05)
    return int(open("/proc/self/statm").read().split()[0])

v, x, n = pb.Variable(np.ones(4)), pb.placeholder(pb.float64, [6000]), pb.placeholder(pb.int32, [])
y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + v[0]), [0, x[:, None] * x])[1]
step = v.assign_add(pb.ones_like(v) * pb.reduce_mean(y))
with pb.Session(engine="xla") as session:
    session.run(v.initializer)
    feeds = {x: np.zeros(6000), n: 2}
    for _ in range(3):
        session.run(step, feeds)
    least = min(pages() for _ in range(20))  # Memory is given back a while after a run.
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (least * resource.getpagesize() + (64 << 20), hard))
    try:
        session.run(step, feeds)
    except pb.errors.ResourceExhaustedError as error:
        print(str(error).partition(" bytes")[0].rstrip("0123456789"))
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    session.run(step, feeds)
    print(session.run(v)[0])
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="it needs Linux to say how much memory there is")
def test_a_program_that_ran_before_and_has_too_little_memory_now_keeps_the_variables() -> None:
    done = subprocess.run([sys.executable, "-c", LATER_RUN], capture_output=True, text=True, check=True)
    assert done.stdout == "a compiled run failed: Out of memory allocating \n81.0\n"
