"""Device strings on XLA, in a process that has four CPU devices."""

from __future__ import annotations

import pytest

from .on_devices import run_on_devices

pytest.importorskip("jax")

MODEL = """
    import inspect
    DEVICES = jax.devices()
    random = np.random.default_rng(0)
    X, T = random.normal(size=(16, 8)), random.normal(size=(16, 3))
    W1, W2 = random.normal(size=(8, 5)), random.normal(size=(5, 3))

    def train(first, second, colocate, engine="xla", steps=3):
        with pb.Graph().as_default():
            x, t = pb.placeholder(pb.float64, [None, 8]), pb.placeholder(pb.float64, [None, 3])
            with pb.device(first):
                w1 = pb.Variable(W1, name="w1")
                hidden = pb.tanh(x @ w1)
            with pb.device(second):
                w2 = pb.Variable(W2, name="w2")
                y = hidden @ w2
            loss = pb.reduce_mean(pb.square(y - t))
            grads = pb.gradients(loss, [w1, w2], colocate_gradients_with_ops=colocate)
            step = pb.train.AdamOptimizer(0.1).apply_gradients(zip(grads, [w1, w2], strict=True))
            session = pb.Session(engine=engine)
            session.run(pb.global_variables_initializer())
            run = session.make_callable([loss, *grads, step], [x, t])
            results = [run(X, T)[:3] for _ in range(steps)]
            return session, (w1, w2), grads, [*results[-1], *session.run([w1, w2])]

    def programs(session):
        return [inspect.unwrap(run.__closure__[1].cell_contents) for run in session._runs.values() if run.__closure__]

    def places(session, variables):
        return [session._engine.values[v.op].device for v in variables]

    _, _, _, expected = train("", "", False, engine="numpy")
"""


def test_layers_on_two_devices_train_as_on_one_with_their_variables_in_place() -> None:
    run_on_devices(
        4,
        MODEL
        + """
    for colocate in (False, True):
        session, variables, grads, results = train("/cpu:1", "/device:CPU:2", colocate)
        for a, b in zip(results, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        assert places(session, variables) == [DEVICES[1], DEVICES[2]]
        moments = [v for op, v in session._engine.values.items() if "w2/" in op.name]
        assert len(moments) == 2 and all(m.device == DEVICES[2] for m in moments)
    assert [dy.device for dy in grads] == ["/device:CPU:1", "/device:CPU:2"]
    """,
    )


def test_a_training_step_is_cut_into_three_programs_and_colocated_gradients_run_with_their_operations() -> None:
    run_on_devices(
        4,
        MODEL
        + """
    from pullback.engines.xla.segments import SegmentedProgram
    session, _, grads, _ = train("/cpu:1", "/device:CPU:2", True)
    (program,) = [p for p in programs(session) if isinstance(p, SegmentedProgram) and len(p.parts) > 2]
    segments = [segment for segment, _ in program.parts]
    assert [part.place for part in segments] == [DEVICES[1], DEVICES[2], DEVICES[1]]
    last = [step.op for step in segments[2].plan.steps]
    assert grads[0].op in last and grads[1].op not in last
    """,
    )


def test_where_all_is_on_one_device_there_is_one_program() -> None:
    run_on_devices(
        4,
        MODEL
        + """
    from pullback.engines.xla.program import Program
    for first, second, place in [("/cpu:3", "/cpu:3", 3), ("/gpu:0", "/cpu:0", 0), ("/gpu:1", "/tpu:0", 0)]:
        session, variables, _, results = train(first, second, True)
        for a, b in zip(results, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        assert [type(p) for p in programs(session) if not inspect.isfunction(p)] == [Program, Program]
        assert places(session, variables) == [DEVICES[place]] * 2
    """,
    )


def test_a_value_read_before_an_assignment_outlives_the_memory_of_the_variable() -> None:
    run_on_devices(
        2,
        """
    v = pb.Variable(np.ones(3))
    with pb.device("/cpu:1"):
        w = pb.Variable(np.ones(3))
    session = pb.Session()
    session.run(pb.global_variables_initializer())
    before = v.read_value()
    w_changed = w.assign(before * 2.0)
    changed = v.assign_add(w_changed)
    for i in range(3):
        old, new = session.run([before, changed])
        np.testing.assert_array_equal([old, new], [np.full(3, 3.0**i), np.full(3, 3.0 ** (i + 1))])
    """,
    )


def test_a_shape_may_depend_on_what_another_device_computes() -> None:
    run_on_devices(
        2,
        """
    x = pb.placeholder(pb.int32, [2])
    with pb.device("/cpu:1"):
        shape = x * 2
    with pb.device("/cpu:0"):
        y = pb.ones(shape)
    session = pb.Session()
    assert session.run(y, {x: [1, 2]}).shape == (2, 4)
    assert session.run(y, {x: [3, 1]}).shape == (6, 2)
    """,
    )


def test_what_is_not_finite_on_any_device_changes_no_variable() -> None:
    run_on_devices(
        2,
        """
    v = pb.Variable(1.0, name="v")
    with pb.device("/cpu:1"):
        w = pb.Variable(0.0, name="w")
        bad = pb.divide(1.0, w, name="bad")
    step = v.assign_add(1.0), w.assign_add(bad)
    session = pb.Session(check_numerics=True)
    session.run(pb.global_variables_initializer())
    try:
        session.run(step)
    except pb.errors.InvalidArgumentError as error:
        assert "operation 'bad' (RealDiv) is the first to give infinity" in str(error), error
    else:
        raise AssertionError
    assert session.run([v, w]) == [1.0, 0.0]
    """,
    )


def test_restored_variables_go_to_their_devices_and_jax_arrays_may_come_from_any() -> None:
    run_on_devices(
        2,
        """
    x = pb.placeholder(pb.float32, [2])
    with pb.device("/cpu:1"):
        v = pb.Variable([1.0, 2.0])
        y = v * x
    with pb.device("/cpu:0"):
        z = y + 1.0
    session = pb.Session()
    session.write_variable(v.op, np.array([3.0, 4.0], np.float32))
    assert session._engine.values[v.op].device == jax.devices()[1]
    for fetch, expected in [(y, [3.0, 8.0]), (z, [4.0, 9.0])]:
        for device in jax.devices():
            fed = jax.device_put(np.array([1.0, 2.0], np.float32), device)
            np.testing.assert_array_equal(session.run(fetch, {x: fed}), expected)
    """,
    )


def test_branches_and_loops_may_use_variables_of_several_devices() -> None:
    run_on_devices(
        4,
        """
    with pb.device("/cpu:1"):
        v = pb.Variable(np.ones(3))
    with pb.device("/cpu:2"):
        w = pb.Variable(np.ones(3))
    x, p = pb.placeholder(pb.float64, [3]), pb.placeholder(pb.bool, [])
    y = pb.cond(p, lambda: v.assign_add(x) * w * x, lambda: w.assign_sub(x) + v * x)
    _, power = pb.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), (0, x))
    with pb.device("/cpu:3"):
        z = pb.reduce_sum(y * power)
    dz = pb.gradients(z, x)
    results = []
    for engine in ("numpy", "xla"):
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        found = [session.run([z, *dz], {x: np.arange(3.0), p: chosen}) for chosen in (True, False)]
        results.append([*found, session.run([v, w])])
    for a, b in zip(*results, strict=True):
        for c, d in zip(a, b, strict=True):
            np.testing.assert_allclose(c, d, rtol=1e-12)
    assert [session._engine.values[u.op].device.id for u in (v, w)] == [1, 2]
    """,
    )
