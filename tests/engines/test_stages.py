"""Stages of a pipeline by device strings that name processes: each runs its own, all have the same results."""

from __future__ import annotations

from pathlib import Path

import pytest

import pullback as pb
from pullback.engines.placement import asks_for_processes

from .several_processes import launched, run_in_processes

pytest.importorskip("jax")

MODEL = """
    import json, os, signal
    random = np.random.default_rng(0)
    X, T = random.normal(size=(12, 16, 8)), random.normal(size=(12, 16, 2))
    STAGES = [f"/job:worker/task:{i}/cpu:{i % 2}" for i in range(count)]

    class Pipeline:
        def __init__(self, engine, colocate=True):
            self.x, self.t = [pb.placeholder(pb.float64, [None, n], name=name) for n, name in ((8, "x"), (2, "t"))]
            random, h, self.weights = np.random.default_rng(1), self.x, []
            for i, stage in enumerate(STAGES):
                with pb.device(stage):
                    w = pb.Variable(random.normal(size=(8, 8 if i + 1 < count else 2)), name=f"w{i}")
                    h = pb.nn.dropout(pb.tanh(h @ w), 0.9, seed=i)
                    self.weights.append(w)
            with pb.device(STAGES[-1]):
                self.loss = pb.reduce_mean(pb.square(h - self.t))
            self.number = pb.train.get_or_create_global_step()
            optimizer = pb.train.AdamOptimizer(0.1)
            self.train = optimizer.minimize(self.loss, self.number, colocate_gradients_with_ops=colocate)
            self.session = pb.Session(engine=engine)

        def initialised(self):
            self.session.run(pb.global_variables_initializer())
            return self

        def losses(self, steps=5):
            step = self.session.make_callable([self.loss, self.train], [self.x, self.t])
            return [step(X[i], T[i])[0] for i in range(steps)]

        def here(self):
            values = self.session._engine.values
            return [isinstance(values[w.op], jax.Array) for w in self.weights]
"""


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_stages_in_several_processes_train_as_in_one(count: int, tmp_path: Path) -> None:
    program = """
    found = []
    for engine, colocate in (("numpy", True), ("xla", True), ("xla", False)):
        with pb.Graph().as_default():
            pipeline = Pipeline(engine, colocate).initialised()
            found.append((pipeline.losses(), pipeline.session.run(pipeline.weights)))
            read = [pipeline.session.read_variable(w.op) for w in pipeline.weights]
            for a, b in zip(read, found[-1][1], strict=True):
                assert a.tolist() == b.tolist()
            if engine == "xla":
                assert pipeline.here() == [i == index for i in range(count)]
    for losses, weights in found[1:]:
        np.testing.assert_allclose(losses, found[0][0], rtol=1e-6)
        for a, b in zip(weights, found[0][1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    """
    run_in_processes(count, [MODEL, program], tmp_path)


@pytest.mark.slow
def test_what_a_stage_is_sent_is_counted(tmp_path: Path) -> None:
    program = """
    with pb.device("/task:0"):
        x = pb.placeholder(pb.float32, [None, 3])
        hidden = pb.tanh(x @ pb.Variable(np.ones((3, 8), np.float32)))
    with pb.device("/task:1"):
        loss = pb.reduce_mean(pb.square(hidden @ pb.Variable(np.ones((8, 2), np.float32))))
    train = pb.train.AdamOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)
    session = pb.Session()
    session.run(pb.global_variables_initializer())
    hidden_bytes, loss_bytes, rate_bytes = 5 * 8 * 4, 4, 4
    sent = session.compiled_communication([loss, train], {x: np.ones((5, 3))})
    assert sent == {"collective-permute": hidden_bytes + (loss_bytes if index == 0 else rate_bytes)}
    assert session.compiled_communication(hidden, {x: np.ones((0, 3))}) == {}
    """
    run_in_processes(2, [program], tmp_path)


@pytest.mark.slow
def test_values_of_all_dtypes_go_from_stage_to_stage_and_stay_on_devices(tmp_path: Path) -> None:
    program = """
    with pb.device("/task:1"):
        values = [np.array([1, 0, 3]).astype(dtype) for dtype in (np.int8, np.bool_, np.complex64, pb.bfloat16)]
        x = pb.placeholder(pb.float32, [None, 3])
        there = [pb.identity(pb.reverse(pb.constant(v), [0])) for v in values] + [pb.exp(x)]
    with pb.device("/task:0"):
        back = [pb.reshape(y, [-1]) for y in there]
    v = pb.Variable(np.zeros(3, np.float32), name="unplaced")
    session = pb.Session()
    session.run(v.initializer)
    for rows in (2, 0):
        for to_host in (True, False):
            found = session.run([*back, *there], {x: np.zeros((rows, 3))}, to_host=to_host)
            for wanted, y in zip(values * 2, [*found[:4], *found[5:9]], strict=True):
                assert np.asarray(y).tolist() == wanted[::-1].tolist() and np.asarray(y).dtype == wanted.dtype
            assert np.asarray(found[4]).tolist() == [1.0] * 3 * rows
    for (batch,) in session.prefetch([[np.ones((2, 3), np.float32)]] * 3, [x]):
        assert session.run(pb.reduce_sum(back[4]), {x: batch}) > 16.0
    assert session.run(v.assign_add(back[4]), {x: np.zeros((1, 3))}).tolist() == [1.0] * 3
    session.write_variable(v.op, np.full(3, 5.0, np.float32))
    assert session.run(v).tolist() == [5.0] * 3
    """
    run_in_processes(2, [program], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("sharded", [False, True])
def test_stages_are_saved_and_restored_by_another_number_of_processes(sharded: bool, tmp_path: Path) -> None:
    program = """
    STAGES = [f"/task:{i % count}" for i in range(4)]
    values = [np.full(3, float(i)) for i in range(4)]
    vs = []
    for i, stage in enumerate(STAGES):
        with pb.device(stage):
            vs.append(pb.Variable(np.zeros(3), name=f"v{i}"))
    saver, session = pb.train.Saver(sharded=SHARDED), pb.Session()
    latest = pb.train.latest_checkpoint(FOLDER)
    session.run(pb.global_variables_initializer()) if latest is None else saver.restore(session, latest)
    session.run([v.assign_add(x) for v, x in zip(vs, values)])
    assert [v[0] for v in session.run(vs)] == [EXPECTED * i for i in range(4)]
    saver.save(session, FOLDER + "/model", global_step=EXPECTED)
    """
    program = program.replace("FOLDER", repr(str(tmp_path))).replace("SHARDED", str(sharded))
    for i, count in enumerate([2, 4, 1]):
        run_in_processes(count, [program.replace("EXPECTED", str(i + 1))], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_stage_that_is_killed_begins_again_from_the_last_checkpoint(victim: int, tmp_path: Path) -> None:
    program = f"""
    folder = {str(tmp_path)!r}
    with pb.Graph().as_default():
        wanted = Pipeline("numpy").initialised().losses(6)
    pipeline = Pipeline("xla")
    saver, session = pb.train.Saver(sharded=True), pipeline.session
    latest = pb.train.latest_checkpoint(folder)
    session.run(pb.global_variables_initializer()) if latest is None else saver.restore(session, latest)
    step = session.make_callable([pipeline.loss, pipeline.train], [pipeline.x, pipeline.t])
    for i in range(int(session.run(pipeline.number)), 6):
        if i == 4 and index == {victim} and latest is None:
            os.kill(os.getpid(), signal.SIGKILL)
        np.testing.assert_allclose(step(X[i], T[i])[0], wanted[i], rtol=1e-6)
        if i % 3 == 2:
            saver.save(session, folder + "/model", global_step=i)
    assert latest is not None
    """
    done = launched(2, [MODEL, program], tmp_path, "--restarts", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"process {victim} of 2 was killed by SIGKILL" in done.stderr


@pytest.mark.slow
def test_a_silent_stage_is_an_error_in_the_others(tmp_path: Path) -> None:
    program = """
    pipeline = Pipeline("xla").initialised()
    pipeline.losses(2)
    if index == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        pipeline.losses(1)
    except pb.errors.UnavailableError as error:
        print("told:", error)
        sys.exit(7)
    """
    done = launched(2, [MODEL, program], tmp_path)
    assert "told: of 2 processes that run this program 0 is lost: not heard of for 10 seconds" in done.stdout


@pytest.mark.slow
def test_what_stages_do_not_do_is_said_in_all_processes(tmp_path: Path) -> None:
    program = """
    def error_of(session, fetches, feeds=None):
        try:
            session.run(fetches, feeds)
        except (NotImplementedError, pb.errors.UnimplementedError, pb.errors.InvalidArgumentError) as error:
            return str(error)

    with pb.device("/task:0"):
        v = pb.Variable(1.0, name="v")
    with pb.device("/task:1"):
        n = pb.reduce_sum(pb.placeholder(pb.int32, [2], name="n"))
        w = pb.Variable(2.0, name="w")
        added = lambda: pb.stack([v.assign_add(1.0), w.assign_add(1.0)])
        both = pb.cond(w > 1.0, added, lambda: pb.zeros([2]), name="both")
    with pb.device("/task:0"):
        rows = pb.zeros(pb.stack([n]), name="rows")
    with pb.device("/task:9/cpu:0"):
        away = pb.exp(w, name="away")
    session = pb.Session()
    session.run(pb.global_variables_initializer())
    said = error_of(session, both)
    assert "'both/If'" in said and "runs in process 1, and uses the variable 'v', which lives in another" in said, said
    said = error_of(session, rows, {"n:0": [1, 2]})
    assert "gives a shape that another process needs before it runs" in said, said
    assert session.run(away) > 7.0
    said = error_of(pb.Session(soft_placement=False), away)
    assert "'/task:9/device:CPU:0', which is not here" in said and "'/task:0/device:CPU:1'" in said, said
    said = error_of(pb.Session(check_numerics=True), away)
    assert said == "Session: no texts, and no check_numerics, over devices of many processes", said
    """
    run_in_processes(2, [program], tmp_path)


def test_a_graph_asks_for_processes_where_a_task_but_the_first_is_named() -> None:
    def op_on(device: str) -> pb.Operation:
        with pb.device(device):
            return pb.exp(1.0).op

    assert not asks_for_processes([op_on(""), op_on("/cpu:1"), op_on("/job:worker/task:0/cpu:1"), op_on("elsewhere")])
    assert asks_for_processes([op_on(""), op_on("/job:worker/task:1")])
