"""One program over the devices of several processes: each feeds its own rows, all have the same results."""

from __future__ import annotations

import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pullback as pb

from .on_devices import run_on_devices
from .several_processes import launched, run_in_processes

pytest.importorskip("jax")

MODEL = """
    random = np.random.default_rng(0)
    X, T, W = random.normal(size=(16, 4)), random.normal(size=(16, 2)), random.normal(size=(4, 2))
    IDS, TABLE = random.integers(0, 64, size=(5, 16)).astype(np.int32), random.normal(size=(64, 4))
    own = slice(index * 16 // count, (index + 1) * 16 // count)

    def trained(session, rows, steps=5):
        ids, t = pb.placeholder(pb.int32, [16], name="ids"), pb.placeholder(pb.float64, ["batch", 2], name="t")
        table = pb.Variable(pb.sharding(TABLE, ["data", None]), name="table")
        w = pb.Variable(pb.sharding(W, [None, None]), name="w")
        x = pb.nn.embedding_lookup(table, pb.sharding(ids, ["data"]))
        loss = pb.reduce_mean(pb.square(pb.tanh(x) @ w - pb.sharding(t, ["data", None])))
        train = optimizer().minimize(loss)
        with session() as s:
            s.run(pb.global_variables_initializer())
            step = s.make_callable([loss, train], [ids, t])
            losses = [step(IDS[i][rows], T[rows])[0] for i in range(steps)]
            slots = {v.name: s._engine.values[v.op] for v in pb.global_variables()} if s.engine == "xla" else {}
            return losses, s.run([table, w]), slots

    def alone():
        return pb.Session(engine="numpy")

    def together():
        return pb.Session(engine="xla", mesh={"data": 2 * count})
"""
COMPARED = """
    results = []
    for session, rows in ((alone, slice(None)), (together, own)):
        with pb.Graph().as_default():
            results.append(trained(session, rows))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-6)
    for a, b in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
"""


def test_two_processes_train_as_one_with_shards_of_a_table_and_of_its_slots(tmp_path: Path) -> None:
    optimizer = "optimizer = lambda: pb.train.AdagradOptimizer(0.1)"
    spread = """
    for name, value in results[1][2].items():
        rows = len(value) // 4 if name.startswith("table") else len(value)
        assert value.sharding.shard_shape(value.shape)[0] == rows, name
    """
    run_in_processes(2, [optimizer, MODEL, COMPARED, spread], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("optimizer", ["AdamOptimizer", "GradientDescentOptimizer", "AdagradOptimizer"])
def test_losses_are_those_of_one_process(count: int, optimizer: str, tmp_path: Path) -> None:
    run_in_processes(count, [f"optimizer = lambda: pb.train.{optimizer}(0.1)", MODEL, COMPARED], tmp_path)


LAYER = """
    random = np.random.default_rng(0)
    X, A, B = random.normal(size=(5, 4, 8)), random.normal(size=(8, 16)), random.normal(size=(16, 2))

    def losses(session):
        x = pb.placeholder(pb.float64, [4, 8])
        a = pb.Variable(pb.sharding(A, [None, "model"]), name="a")
        b = pb.Variable(pb.sharding(B, ["model", None]), name="b")
        loss = pb.reduce_mean(pb.square(pb.tanh(x @ a) @ b - 1.0))
        train = pb.train.AdamOptimizer(0.1).minimize(loss)
        with session as s:
            s.run(pb.global_variables_initializer())
            step = s.make_callable([loss, train], [x])
            found = [step(X[i])[0] for i in range(5)]
            if s.engine == "xla":
                assert s._engine.values[a.op].sharding.shard_shape((8, 16)) == (8, 8 // count)
            return found

    with pb.Graph().as_default():
        alone = losses(pb.Session(engine="numpy"))
    np.testing.assert_allclose(losses(pb.Session(mesh={"model": 2 * count})), alone, rtol=1e-6)
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_losses_of_layers_in_columns_are_those_of_one_process(count: int, tmp_path: Path) -> None:
    run_in_processes(count, [LAYER], tmp_path)


@pytest.mark.slow
def test_feeds_values_and_variables_go_in_and_out_of_all_processes(tmp_path: Path) -> None:
    program = """
    rows, whole = np.arange(8.0).reshape(4, 2) + 8 * index, np.ones(3)
    x, y = pb.placeholder(pb.float64, [8, 2], name="x"), pb.placeholder(pb.float64, [3])
    big = pb.Variable(pb.sharding(np.arange(8.0), ["data"]), name="big")
    spread = pb.sharding(x, ["data", None])
    session = pb.Session(mesh={"data": 4})
    session.run(big.initializer)
    a, b, c = session.run([spread * 2.0, y + 1.0, big], {x: rows, y: whole})
    assert a.tolist() == (np.arange(16.0).reshape(8, 2) * 2.0).tolist()
    assert b.tolist() == [2.0] * 3 and c.tolist() == list(range(8))
    left = session.run(spread, {x: rows}, to_host=False)
    assert [s.data.shape for s in left.addressable_shards] == [(2, 2)] * 2
    for (batch,) in session.prefetch([[rows]] * 3, [x]):
        assert session.run(pb.reduce_sum(spread), {x: batch}) == 120.0
    assert session.read_variable(big.op).tolist() == list(range(8))
    session.write_variable(big.op, np.ones(8))
    assert session.run(pb.reduce_sum(big)) == 8.0
    assert session._engine.values[big.op].sharding.shard_shape((8,)) == (2,)
    try:
        session.run(spread, {x: rows[:1]})
    except pb.errors.InvalidArgumentError as error:
        assert str(error).startswith("cannot feed float64[8,2] 'x:0'")
        assert str(error).endswith(
            ": the part of this process, of shape (1, 2), cannot be divided among its devices as ['data', None] asks, "
            "over the mesh {'data': 4}. Feed as many rows in each process, a multiple of its devices"
        )
    else:
        raise AssertionError("three rows were divided among two devices")
    local = pb.Session()
    assert local.run(spread, {x: np.ones((8, 2))}).sum() == 16.0
    """
    run_in_processes(2, [program], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("sharded", [False, True])
def test_a_checkpoint_of_two_processes_is_restored_by_four_and_by_one(sharded: bool, tmp_path: Path) -> None:
    program = """
    import sys
    v = pb.Variable(pb.sharding(pb.zeros([8], pb.float64), ["data"]), name="v")
    step = v.assign_add(np.arange(8.0) + 1e-12)
    saver, session = pb.train.Saver(sharded=SHARDED), pb.Session(mesh={"data": 2 * count})
    latest = pb.train.latest_checkpoint(FOLDER)
    session.run(v.initializer) if latest is None else saver.restore(session, latest)
    assert session._engine.values[v.op].sharding.shard_shape((8,)) == (4 // count,)
    value = session.run([step, v.read_value()])[0]
    assert value[1] == EXPECTED * (1 + 1e-12), value
    path = saver.save(session, FOLDER + "/model", global_step=EXPECTED)
    assert pb.train.latest_checkpoint(FOLDER) == path
    """
    program = program.replace("FOLDER", repr(str(tmp_path))).replace("SHARDED", str(sharded))
    for i, count in enumerate([2, 4, 1]):
        run_in_processes(count, [program.replace("EXPECTED", str(i + 1))], tmp_path)


@pytest.mark.slow
def test_a_table_of_eight_shards_is_looked_up_changed_saved_and_restored_without_gathering_it(tmp_path: Path) -> None:
    program = f"""
    import os
    from pathlib import Path
    ROWS, WIDTH, BATCH = 4096, 16, 8
    ids = pb.placeholder(pb.int32, [BATCH])
    table = pb.Variable(pb.sharding(pb.random.uniform([ROWS, WIDTH], seed=3), ["data", None]), name="table")
    loss = pb.reduce_sum(pb.square(pb.nn.embedding_lookup(table, pb.sharding(ids, ["data"]))))
    train = pb.train.AdagradOptimizer(0.1).minimize(loss)
    saver, session = pb.train.Saver(sharded=True), pb.Session(mesh={{"data": 8}})
    session.run(pb.global_variables_initializer())
    own, nbytes = np.arange(2, dtype=np.int32) + 1000 * index, ROWS * WIDTH * 4
    sent = session.compiled_communication([loss, train], {{ids: own}})
    assert sum(sent.values()) < nbytes / 64, sent
    memory = session.compiled_memory([loss, train], {{ids: own}})
    assert memory["arguments"] + memory["temporary"] < 2 * nbytes / 8 + nbytes / 16, memory
    session.run([loss, train], {{ids: own}})
    session._engine.read_state = None
    for v in pb.global_variables():
        assert sum(part.nbytes for _, part in session.shards_of(v.op).parts) == nbytes // 4
    path = saver.save(session, {str(tmp_path / "model")!r})
    chunks = [file for file in Path(path + ".zarr").rglob("c/*/*") if file.is_file()]
    assert sorted(file.stat().st_size for file in chunks) == [nbytes // 8 + 4] * 16
    wanted = session.run(loss, {{ids: own}})
    other = pb.Session(mesh={{"data": 8}})
    saver.restore(other, path)
    assert other.run(loss, {{ids: own}}) == wanted
    held = {{x.nbytes for v in pb.global_variables() for x in [other._engine.values[v.op].addressable_data(0)]}}
    assert held == {{nbytes // 8}}
    """
    run_in_processes(4, [program], tmp_path)


@pytest.mark.slow
def test_a_killed_process_is_named_and_all_begin_again_from_the_last_checkpoint(tmp_path: Path) -> None:
    program = f"""
    import os, signal
    v = pb.Variable(pb.zeros([4]), name="v")
    x = pb.placeholder(pb.float32, [4])
    step = v.assign_add(pb.sharding(x, ["data"]))
    saver, session = pb.train.Saver(), pb.Session(mesh={{"data": 2 * count}})
    latest = pb.train.latest_checkpoint({str(tmp_path)!r})
    session.run(v.initializer) if latest is None else saver.restore(session, latest)
    for i in range(int(session.run(v)[0]), 6):
        if i == 3 and latest is None and index == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        session.run(step, {{x: np.ones(2)}})
        saver.save(session, {str(tmp_path / "model")!r}, global_step=i)
    assert session.run(v).tolist() == [6.0] * 4
    """
    done = launched(2, [program], tmp_path, "--restarts", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    said = "pullback launch: process 1 of 2 was killed by SIGKILL; starting all again, 1 restarts left"
    assert said in done.stderr


@pytest.mark.parametrize("kind", ["JaxRuntimeError", "ValueError"])
def test_a_run_that_misses_another_process_says_so(kind: str) -> None:
    from jax.errors import JaxRuntimeError

    from pullback.engines.xla.exceptions import explained

    of_runtime = {"JaxRuntimeError": JaxRuntimeError, "ValueError": ValueError}[kind]
    error = explained(of_runtime("UNKNOWN: Gloo AllGather failed: reset by peer\nmore"))
    assert isinstance(error, pb.errors.UnavailableError)
    assert str(error) == (
        "another process that runs this program too was lost: UNKNOWN: Gloo AllGather failed: reset by peer\n"
        "Start all processes again, from the last checkpoint; `pullback launch --restarts` does."
    )
    other = of_runtime("INTERNAL: another")
    assert explained(other) is other


SILENT = (
    "of 3 processes that run this program 1 is lost: not heard of for 20 seconds, or gone\n"
    "Start all processes again, from the last checkpoint; `pullback launch --restarts` does."
)


class NeverReady:
    """An array that waits for another process."""

    def is_ready(self) -> bool:
        return False


@pytest.fixture
def one_of_three_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from pullback.engines.xla import lost_processes

    monkeypatch.setattr(lost_processes, "_BETWEEN_QUESTIONS", 0.01)
    monkeypatch.setattr(lost_processes, "coordination", lambda: (3, 0, lambda everyone: {0: 5, 2: 7}, None))
    monkeypatch.setattr(lost_processes, "_watches", [lost_processes.Watch(20)])


@pytest.mark.usefixtures("one_of_three_is_lost")
def test_who_waits_for_a_silent_process_is_told_which_one_it_is() -> None:
    from pullback.engines.xla import lost_processes

    for wait in (
        lambda: lost_processes.wait_until_ready([NeverReady()]),
        lambda: lost_processes.while_watching(threading.Event().wait),
    ):
        with pytest.raises(pb.errors.UnavailableError) as caught:
            wait()
        assert str(caught.value) == SILENT


def test_what_is_done_in_a_thread_gives_its_result_or_its_error() -> None:
    from pullback.engines.xla.lost_processes import while_watching

    assert while_watching(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        while_watching(divmod, 7, 0)


@pytest.mark.slow
@pytest.mark.parametrize("silent", [0, 1])
@pytest.mark.parametrize(
    "waits", ["session.run(total)", "pb.distributed.barrier('all')", "train()", "import time; time.sleep(99)"]
)
def test_a_process_that_says_nothing_any_more_is_an_error_in_the_others(
    waits: str, silent: int, tmp_path: Path
) -> None:
    program = f"""
    import os, signal, sys
    x = pb.placeholder(pb.float32, [2 * count])
    v = pb.Variable(pb.zeros([2 * count]))
    total = pb.reduce_sum(pb.sharding(x, ["data"])) + pb.reduce_sum(v)
    session = pb.Session(mesh={{"data": 2 * count}})
    session.run(v.initializer)
    train = session.make_callable(v.assign_add(pb.sharding(x, ["data"]) + total), [x])
    train = lambda train=train: train(np.ones(2, np.float32))
    train(), train()
    if index == {silent}:
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        {waits.replace("(total)", "(total, {x: np.ones(2)})")}
    except pb.errors.UnavailableError as error:
        print("told:", error)
        sys.exit(7)
    """
    done = launched(2, [program], tmp_path)
    said = f"of 2 processes that run this program {silent} is lost: not heard of for 10 seconds, or gone"
    if "sleep" in waits:
        assert f"pullback: {said}" in done.stderr
        assert f"process {1 - silent} of 2 ended with exit code 1" in done.stderr
    else:
        assert f"told: {said}" in done.stdout
        assert f"process {1 - silent} of 2 ended with exit code 7" in done.stderr or "exit code 1" in done.stderr


@pytest.mark.slow
def test_a_process_that_is_busy_for_longer_is_not_lost(tmp_path: Path) -> None:
    program = """
    import ctypes
    pb.distributed.barrier("begin")
    if index == 1:
        ctypes.PyDLL(None).sleep(12)  # In C, as a compiler may be, and with Python's lock held.
    pb.distributed.barrier("end")
    """
    run_in_processes(2, [program], tmp_path, "--lost-timeout", "4")


@pytest.mark.slow
def test_where_process_0_of_another_host_is_killed_all_are_told_and_begin_again(tmp_path: Path) -> None:
    program = f"""
    import os, signal
    v = pb.Variable(pb.zeros([4]), name="v")
    x = pb.placeholder(pb.float32, [4])
    step = v.assign_add(pb.sharding(x, ["data"]))
    saver, session = pb.train.Saver(), pb.Session(mesh={{"data": 2 * count}})
    latest = pb.train.latest_checkpoint({str(tmp_path)!r})
    session.run(v.initializer) if latest is None else saver.restore(session, latest)
    for i in range(int(session.run(v)[0]), 6):
        if i == 3 and latest is None and index == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        session.run(step, {{x: np.ones(2)}})
        saver.save(session, {str(tmp_path / "model")!r}, global_step=i)
    assert session.run(v).tolist() == [6.0] * 4
    """
    options = ["--restarts", "1", "--hosts", "2", "--coordinator", f"localhost:{free_port()}"]
    with ThreadPoolExecutor() as hosts:
        done = list(hosts.map(lambda i: launched(1, [program], tmp_path, *options, "--host", str(i)), range(2)))
    assert [host.returncode for host in done] == [0, 0], [host.stderr for host in done]
    assert "process 0 of 2 was killed by SIGKILL; starting all again" in done[0].stderr
    assert "pullback.core.errors.UnavailableError: " in done[1].stderr
    assert "process 1 of 2 ended with exit code 1; starting all again" in done[1].stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_a_port_that_is_taken_is_said() -> None:
    from pullback.engines.xla import coordinator

    lifeline, held = os.pipe()
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(("::", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(pb.errors.UnavailableError) as caught:
            coordinator.start(f"localhost:{port}", 2, 10, lifeline, lingers=False)
    os.close(lifeline)
    os.close(held)
    assert str(caught.value) == (
        f"distributed.initialize: jax's coordination service cannot listen at [::]:{port}. "
        "Is the port taken? Say another one: `pullback launch --coordinator HOST:PORT`."
    )


@pytest.mark.slow
def test_a_process_that_fails_ends_the_others_and_is_named(tmp_path: Path) -> None:
    program = """
    if index == 1:
        sys.exit(3)
    pb.distributed.barrier("never")
    """
    done = launched(2, [program], tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("pullback launch: process 1 of 2 ended with exit code 3; the others were ended\n")


@pytest.mark.slow
def test_an_error_in_one_process_is_shown_and_ends_all(tmp_path: Path) -> None:
    program = """
    if index == 0:
        raise ValueError("nothing to learn")
    pb.distributed.barrier("never")
    """
    done = launched(2, [program], tmp_path)
    assert done.returncode == 1
    assert "ValueError: nothing to learn" in done.stderr
    assert done.stderr.endswith("pullback launch: process 0 of 2 ended with exit code 1; the others were ended\n")


@pytest.mark.parametrize(("argument", "variable", "taken"), [(None, None, 30), (None, "60", 60), (20, "60", 20)])
def test_a_silence_that_is_a_loss_is_said_by_the_program_or_who_launches_it(
    argument: int | None, variable: str | None, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pullback.engines.xla import processes

    silences: list[int] = []
    monkeypatch.setattr(processes, "join", lambda *given: silences.append(given[4]))
    if variable is not None:
        monkeypatch.setenv("PULLBACK_LOST_TIMEOUT", variable)
    pb.distributed.initialize("localhost:1", 2, 0, lost_timeout=argument)
    assert silences == [taken]


@pytest.mark.parametrize(
    ("variable", "text", "least"),
    [
        ("PULLBACK_LOST_TIMEOUT", "soon", 1),
        ("PULLBACK_LOST_TIMEOUT", "1.5", 1),
        ("PULLBACK_LOST_TIMEOUT", "0", 1),
        ("PULLBACK_PROCESS_COUNT", "-2", 1),
        ("PULLBACK_PROCESS_INDEX", "first", 0),
    ],
)
def test_a_variable_that_is_no_such_number_is_named(
    variable: str, text: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    said = f"the environment variable {variable} is '{text}'; set it to a whole number of at least {least}, or unset it"
    with pytest.raises(ValueError, match=f"^distributed.initialize: {said}$"):
        pb.distributed.initialize("localhost:1")


def test_a_process_is_not_lost_at_once() -> None:
    said = "distributed.initialize: lost_timeout is 0; give a number of seconds, at least 1"
    with pytest.raises(ValueError, match=f"^{said}$"):
        pb.distributed.initialize("localhost:1", 2, 0, lost_timeout=0)


def test_joining_without_saying_who_one_is_or_too_late_says_what_to_do() -> None:
    run_on_devices(
        1,
        """
        def error_of(*arguments):
            try:
                pb.distributed.initialize(*arguments)
            except (ValueError, pb.errors.FailedPreconditionError) as error:
                return str(error)

        assert error_of("localhost:1") == (
            "distributed.initialize: Number of processes must be defined. Pass coordinator_address, num_processes and "
            "process_id, or start the program by `pullback launch`."
        )
        jax.devices()
        assert error_of("localhost:1", 1, 0).endswith(" Call it once, before any session.")
        """,
    )


def test_a_process_alone_is_the_first_of_one() -> None:
    assert (pb.distributed.process_count(), pb.distributed.process_index()) == (1, 0)
    assert pb.Session(engine="numpy").leads
