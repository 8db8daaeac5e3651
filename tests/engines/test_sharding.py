"""Tensors spread over a mesh, in a process that has eight CPU devices."""

from __future__ import annotations

import pytest

import pullback as pb

from .on_devices import run_on_devices

MODEL = """
    random = np.random.default_rng(0)
    X, T, W = random.normal(size=(16, 4)), random.normal(size=(16, 2)), random.normal(size=(4, 2))
    x, t = pb.placeholder(pb.float64, [None, 4]), pb.placeholder(pb.float64, [None, 2])
"""


def test_the_gradient_over_parts_of_a_batch_is_that_over_the_whole() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        8,
        MODEL
        + """
    rows = pb.sharding(x, ["data"])
    w = pb.Variable(W)
    loss = pb.reduce_mean(pb.square(pb.tanh(rows @ w) - t))
    (dw,) = pb.gradients(loss, w)
    step = pb.train.AdamOptimizer(0.1).apply_gradients([(dw, w)])
    results = []
    for options in ({"mesh": {"data": 8}}, {}, {"engine": "numpy", "mesh": {"data": 8}}):
        session = pb.Session(**options)
        session.run(pb.global_variables_initializer())
        run = session.make_callable([loss, dw, step], [x, t])
        results.append([*[run(X, T) for _ in range(3)][-1][:2], session.run(w)])
        if options.get("mesh") and session.engine == "xla":
            assert len(session._engine.values[w.op].sharding.device_set) == 8
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
    """,
    )


def test_a_variable_stays_spread_as_its_initial_value_is() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        8,
        MODEL
        + """
    W = random.normal(size=(4, 256))
    w = pb.Variable(pb.sharding(W, [None, "model"]))
    y = pb.sharding(pb.sharding(x, ["data"]) @ w, ["data", "model"])
    step = w.assign_sub(0.001 * pb.gradients(pb.reduce_sum(y * y), w)[0]).op
    session = pb.Session(mesh=jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2))
    session.run(w.initializer)
    value = lambda: session._engine.values[w.op]
    assert value().sharding.spec == jax.sharding.PartitionSpec(None, "model")
    for _ in range(3):
        W = W - 0.001 * X.T @ (2 * X @ W)
        session.run(step, {x: X})
    assert value().sharding.spec == jax.sharding.PartitionSpec(None, "model")
    np.testing.assert_allclose(session.run(w), W, rtol=1e-9)
    session.write_variable(w.op, W)
    assert value().sharding.spec == jax.sharding.PartitionSpec(None, "model")
    """,
    )


def test_the_derivative_carries_the_annotation() -> None:
    x = pb.placeholder(pb.float32, [4, 2], name="x")
    (dx,) = pb.gradients(pb.sharding(x, ["data", None]), x)
    assert pb.operation_text(dx.op) == (
        "gradients/Sharding_grad/Sharding: float32[4,2] = Sharding[spec=('data', None)](gradients/grad_ys_0)"
    )


def test_an_axis_that_the_mesh_does_not_have_is_named() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        2,
        """
    x = pb.placeholder(pb.float64, [4, 2])
    y = pb.sharding(x, ["rows"], name="y")
    try:
        pb.Session(mesh={"data": 2}).run(y, {x: np.ones((4, 2))})
    except pb.errors.InvalidArgumentError as error:
        message = "operation 'y' (Sharding) failed on float64[4,2]: the mesh of the session has the axes 'data' (2), "
        assert str(error).startswith(message + "and none named 'rows'\\n  made at <string>:6"), error
    else:
        raise AssertionError
    """,
    )


def test_specs_are_checked_when_the_graph_is_built() -> None:
    x = pb.placeholder(pb.float32, [4])
    with pytest.raises(ValueError, match=r"sharding: float32\[4\] has fewer dimensions than spec \('a', None\) has"):
        pb.sharding(x, ["a", None])
    with pytest.raises(ValueError, match="names an axis of the mesh twice"):
        pb.sharding(x, [("a", "a")])
    with pytest.raises(TypeError, match="an entry of spec is the name of an axis, several names, or None, not 1"):
        pb.sharding(x, [1])  # type: ignore[list-item]


def test_a_mesh_that_cannot_be_is_refused() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(pb.errors.InvalidArgumentError, match="needs 4096 devices; there are"):
        pb.Session(engine="xla", mesh={"data": 4096})
    with pytest.raises(TypeError, match="mesh must be a dictionary of lengths by name"):
        pb.Session(engine="xla", mesh=["data"])
    with pytest.raises(pb.errors.InvalidArgumentError, match="axis_types="):
        pb.Session(engine="xla", mesh=jax.make_mesh((1,), ("data",), axis_types=(jax.sharding.AxisType.Explicit,)))


def test_small_constants_and_slots_are_spread_as_their_variables() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        8,
        """
    v = pb.Variable(pb.sharding(np.zeros((8, 2), np.float32), ["data"]), name="v")
    whole = pb.Variable(np.zeros((8, 2), np.float32), name="whole")
    step = pb.train.AdamOptimizer(0.1).minimize(pb.reduce_sum(pb.square(v - 1.0) + pb.square(whole)))
    session = pb.Session(engine="xla", mesh={"data": 8})
    session.run(pb.global_variables_initializer())
    session.run(step)
    rows = {x.name: session._engine.values[x.op].sharding.shard_shape((8, 2)) for x in pb.global_variables()[:2]}
    slots = [x for x in pb.global_variables() if "Adam" in x.name]
    assert len(slots) == 4
    for x in pb.global_variables():
        if x.shape.rank == 2:
            expected = (1, 2) if x.name.startswith("v") else (8, 2)
            assert session._engine.values[x.op].sharding.shard_shape((8, 2)) == expected, x.name
    """,
    )


def test_a_table_in_parts_is_looked_up_and_updated_without_being_gathered() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        4,
        """
    table = pb.Variable(pb.sharding(pb.zeros([4096, 16]), ["data", None]), name="table")
    ids = pb.placeholder(pb.int32, [None])
    rows = pb.nn.embedding_lookup(table, pb.sharding(ids, ["data"]))
    step = pb.train.AdagradOptimizer(0.1).minimize(pb.reduce_sum(pb.square(rows - 1.0)))
    session = pb.Session(engine="xla", mesh={"data": 4})
    session.run(pb.global_variables_initializer())
    feeds = {ids: np.arange(8, dtype=np.int32)}
    session.run(step, feeds)
    sent = session.compiled_communication(step, feeds)
    assert 0 < sum(sent.values()) < 4 * 8 * 16 * 4, sent
    """,
    )


def test_a_batch_that_the_mesh_does_not_divide_is_refused_in_words_where_jax_cannot_spread_the_result() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        4,
        """
    x = pb.placeholder(pb.float32, [None, 3])
    y = pb.matmul(pb.sharding(x, ["data"]), pb.constant(np.ones((3, 2), np.float32)))
    session = pb.Session(mesh={"data": 4})
    assert session.run(y, {x: np.ones((8, 3))}).shape == (8, 2)
    try:
        assert session.run(y, {x: np.ones((6, 3))}).shape == (6, 2)
    except pb.errors.InvalidArgumentError as error:
        assert str(error) == (
            "a length is spread over 4 devices of the mesh that do not divide it, and so is a result of the run. "
            "Feed batches of a multiple of 4."
        )
    """,
    )
