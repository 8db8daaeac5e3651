"""Each optimizer against its formula in NumPy, dense and row by row, rows that come twice included."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

STEPS = 4
Array = np.ndarray[Any, Any]


@dataclass
class Rule:
    """An optimizer, and one step of it in closed form on (x, slots, dy, number of the step)."""

    name: str
    make: Callable[[], Any]
    slots: dict[str, float]
    step: Callable[[Array, dict[str, Array], Array, int], Array]
    arrays: dict[str, Array] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def descent(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del s, t
    return x - 0.1 * dy


def momentum(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["momentum"] = 0.9 * s["momentum"] + dy
    return x - 0.1 * s["momentum"]


def nesterov(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["momentum"] = 0.9 * s["momentum"] + dy
    return x - 0.1 * (dy + 0.9 * s["momentum"])


def adagrad(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["accumulator"] = s["accumulator"] + dy**2
    return x - 0.1 * dy / np.sqrt(s["accumulator"])


def rmsprop(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["rms"] = 0.8 * s["rms"] + 0.2 * dy**2
    s["momentum"] = 0.5 * s["momentum"] + 0.1 * dy / np.sqrt(s["rms"] + 1e-3)
    return x - s["momentum"]


def centered(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["rms"] = 0.8 * s["rms"] + 0.2 * dy**2
    s["mg"] = 0.8 * s["mg"] + 0.2 * dy
    s["momentum"] = 0.5 * s["momentum"] + 0.1 * dy / np.sqrt(s["rms"] - s["mg"] ** 2 + 1e-3)
    return x - s["momentum"]


def adam(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    s["m"] = 0.9 * s["m"] + 0.1 * dy
    s["v"] = 0.99 * s["v"] + 0.01 * dy**2
    rate = 0.1 * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
    return x - rate * s["m"] / (np.sqrt(s["v"]) + 1e-8)


def adadelta(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["accum"] = 0.9 * s["accum"] + 0.1 * dy**2
    u = np.sqrt(s["accum_update"] + 1e-4) / np.sqrt(s["accum"] + 1e-4) * dy
    s["accum_update"] = 0.9 * s["accum_update"] + 0.1 * u**2
    return x - 0.5 * u


def ftrl(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    n = s["accum"] + dy**2
    rise = (n**0.6 - s["accum"] ** 0.6) / 0.3
    s["accum"], s["linear"] = n, s["linear"] + dy + 2 * 0.02 * x - rise * x
    z = s["linear"]
    moved = (np.sign(z) * 0.1 - z) / ((n**0.6 + 0.7) / 0.3 + 2 * 0.05)
    return np.where(np.abs(z) > 0.1, moved, 0.0)


def shrunk(x: Array, by: Any) -> Array:
    return np.sign(x) * np.maximum(np.abs(x) - by, 0.0)


def proximal(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del s, t
    return shrunk(x - 0.1 * dy, 0.1 * 0.3) / (1 + 0.1 * 0.2)


def proximal_adagrad(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del t
    s["accumulator"] = s["accumulator"] + dy**2
    rate = 0.1 / np.sqrt(s["accumulator"])
    return shrunk(x - rate * dy, rate * 0.3) / (1 + rate * 0.2)


def dual_averaging(x: Array, s: dict[str, Array], dy: Array, t: int) -> Array:
    del x, t
    s["gradient_accumulator"] = s["gradient_accumulator"] + dy
    s["gradient_squared_accumulator"] = s["gradient_squared_accumulator"] + dy**2
    shrinking = shrunk(s["gradient_accumulator"], 3 * 0.1)
    return -0.1 * shrinking / (3 * 0.2 * 0.1 + np.sqrt(s["gradient_squared_accumulator"]))


train = pb.train
RULES = [
    Rule("descent", lambda: train.GradientDescentOptimizer(0.1), {}, descent),
    Rule("momentum", lambda: train.MomentumOptimizer(0.1, 0.9), {"momentum": 0.0}, momentum),
    Rule("nesterov", lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), {"momentum": 0.0}, nesterov),
    Rule("adagrad", lambda: train.AdagradOptimizer(0.1), {"accumulator": 0.1}, adagrad),
    Rule("rmsprop", lambda: train.RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3), {"rms": 1.0, "momentum": 0.0}, rmsprop),
    Rule(
        "centered",
        lambda: train.RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3, centered=True),
        {"rms": 1.0, "mg": 0.0, "momentum": 0.0},
        centered,
    ),
    Rule("adadelta", lambda: train.AdadeltaOptimizer(0.5, 0.9, 1e-4), {"accum": 0.0, "accum_update": 0.0}, adadelta),
    Rule(
        "ftrl",
        lambda: train.FtrlOptimizer(0.3, -0.6, 0.2, 0.1, 0.05, l2_shrinkage_regularization_strength=0.02, beta=0.7),
        {"accum": 0.2, "linear": 0.0},
        ftrl,
    ),
    Rule("lazy_adam", lambda: train.LazyAdamOptimizer(0.1, 0.9, 0.99), {"m": 0.0, "v": 0.0}, adam),
]
PROXIMAL = [
    Rule("proximal", lambda: train.ProximalGradientDescentOptimizer(0.1, 0.3, 0.2), {}, proximal),
    Rule(
        "proximal_adagrad",
        lambda: train.ProximalAdagradOptimizer(0.1, 0.5, 0.3, 0.2),
        {"accumulator": 0.5},
        proximal_adagrad,
    ),
    Rule(
        "dual_averaging",
        lambda: train.AdagradDAOptimizer(0.1, pb.Variable(2, trainable=False), 0.5, 0.1, 0.2),
        {"gradient_accumulator": 0.0, "gradient_squared_accumulator": 0.5},
        dual_averaging,
    ),
]
"""Rarer rules, which the quick tests run on one engine only."""
ADAM = Rule("adam", lambda: train.AdamOptimizer(0.1, 0.9, 0.99), {"m": 0.0, "v": 0.0}, adam)
"""The rule that changes all rows, whatever the rows of the gradient."""


def started(engine: str) -> pb.Session:
    """A session of the default graph whose variables have their initial values."""
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    return session


@pytest.mark.parametrize("rule", [*RULES, ADAM], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_dense_step_is_the_formula(rule: Rule, dtype: str, engine: str) -> None:
    x0 = np.random.default_rng(1).normal(size=(3, 4)).astype(dtype)
    dys = np.random.default_rng(2).normal(size=(STEPS, 3, 4)).astype(dtype)
    v, dy = pb.Variable(x0), pb.placeholder(dtype, [3, 4])
    optimizer = rule.make()
    step = optimizer.apply_gradients([(dy, v)])
    session = started(engine)
    x, slots = x0.astype("float64"), {name: np.full((3, 4), value) for name, value in rule.slots.items()}
    for t in range(STEPS):
        session.run(step, {dy: dys[t]})
        x = rule.step(x, slots, dys[t].astype("float64"), t + 1)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(session.run(v), x, rtol=tolerance, atol=tolerance)
    for name, value in slots.items():
        np.testing.assert_allclose(session.run(optimizer.get_slot(v, name)), value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("rule", PROXIMAL, ids=str)
def test_a_proximal_step_is_the_formula(rule: Rule) -> None:
    test_a_dense_step_is_the_formula(rule, "float64", "numpy")
    test_a_step_by_rows_is_the_formula_on_those_rows_and_nothing_elsewhere(rule, [4, 1, 4, 4], "numpy")
    test_a_step_with_no_rows_changes_nothing(rule, "numpy")
    with pb.Graph().as_default():
        test_variables_of_sixteen_bits_are_trained(rule, pb.float16, "xla")


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("rows", [[4, 1, 4, 4], [0, 1, 2, 3], [2, 2, 2, 2]], ids=str)
def test_a_step_by_rows_is_the_formula_on_those_rows_and_nothing_elsewhere(
    rule: Rule, rows: list[int], engine: str
) -> None:
    x0 = np.random.default_rng(1).normal(size=(6, 2))
    dys = np.random.default_rng(2).normal(size=(STEPS, len(rows), 2))
    v = pb.Variable(x0)
    values, indices = pb.placeholder("float64", [len(rows), 2]), pb.placeholder("int32", [len(rows)])
    optimizer = rule.make()
    step = optimizer.apply_gradients([(pb.IndexedSlices(values, indices), v)])
    session = started(engine)
    x, slots = x0.copy(), {name: np.full((6, 2), value) for name, value in rule.slots.items()}
    distinct = np.unique(rows)
    for t in range(STEPS):
        session.run(step, {values: dys[t], indices: rows})
        dense = np.zeros((6, 2))
        np.add.at(dense, rows, dys[t])
        own = {name: value[distinct] for name, value in slots.items()}
        x[distinct] = rule.step(x[distinct], own, dense[distinct], t + 1)
        for name, value in own.items():
            slots[name][distinct] = value
    np.testing.assert_allclose(session.run(v), x, rtol=1e-12, atol=1e-12)
    for name, value in slots.items():
        np.testing.assert_allclose(session.run(optimizer.get_slot(v, name)), value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [[4, 1, 4, 4], [0, 1, 2, 3], [2, 2, 2, 2], []], ids=str)
def test_a_step_of_adam_by_rows_is_that_with_zeros_elsewhere(rows: list[int], engine: str) -> None:
    x0 = np.random.default_rng(1).normal(size=(6, 2))
    dys = np.random.default_rng(2).normal(size=(STEPS, len(rows), 2))
    sparse, dense = pb.Variable(x0), pb.Variable(x0)
    values, indices = pb.placeholder("float64", [len(rows), 2]), pb.placeholder("int32", [len(rows)])
    full = pb.placeholder("float64", [6, 2])
    optimizer = ADAM.make()
    step = optimizer.apply_gradients([(pb.IndexedSlices(values, indices), sparse), (full, dense)])
    session = started(engine)
    for t in range(STEPS):
        dy = np.zeros((6, 2))
        np.add.at(dy, np.array(rows, np.int32), dys[t])
        session.run(step, {values: dys[t], indices: np.array(rows, np.int32), full: dy})
    for name in ("m", "v"):
        a, b = session.run([optimizer.get_slot(sparse, name), optimizer.get_slot(dense, name)])
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(session.run(sparse), session.run(dense), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_step_with_no_rows_changes_nothing(rule: Rule, engine: str) -> None:
    v = pb.Variable([[1.0], [2.0]])
    rows = pb.IndexedSlices(pb.zeros([0, 1]), pb.zeros([0], pb.int32))
    step = rule.make().apply_gradients([(rows, v)])
    session = started(engine)
    session.run(step)
    assert session.run(v).tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("rule", [*RULES, ADAM], ids=str)
@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16], ids=str)
def test_variables_of_sixteen_bits_are_trained(rule: Rule, dtype: Any, engine: str) -> None:
    v = pb.Variable(np.array([1.0, -2.0]).astype(dtype))
    step = rule.make().minimize(pb.reduce_sum(v * v))
    session = started(engine)
    for _ in range(3):
        session.run(step)
    value = session.run(v)
    assert value.dtype == dtype
    assert (np.abs(value.astype("float32")) < [1.0, 2.0]).all()


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
def test_a_gradient_of_zero_leaves_numbers_in_sixteen_bits(rule: Rule, dtype: Any) -> None:
    v = pb.Variable(np.array([1.0, -2.0], dtype))
    step = rule.make().minimize(pb.reduce_sum(v * 0.0))
    session = started("numpy")
    session.run(step)
    assert np.isfinite(session.run(v).astype("float32")).all()


@pytest.mark.parametrize("beta2", [0.999, lambda: pb.constant(0.999)])
@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16])
def test_a_decay_near_1_leaves_a_rest_in_sixteen_bits(dtype: Any, beta2: Any) -> None:
    v = pb.Variable(np.zeros(1, dtype))
    step = pb.train.AdamOptimizer(0.1, beta2=beta2() if callable(beta2) else beta2).minimize(pb.reduce_sum(v))
    session = started("numpy")
    session.run(step)
    assert session.run(v).astype("float32") == pytest.approx(-0.1, rel=1e-2)


@pytest.mark.parametrize("rule", RULES[3:], ids=str)
def test_an_embedding_step_on_xla_needs_no_memory_of_the_size_of_the_table(rule: Rule) -> None:
    pytest.importorskip("jax")
    table = pb.Variable(lambda: pb.random.uniform([50_000, 64]))
    ids = pb.placeholder(pb.int32, [128])
    loss = pb.reduce_sum(pb.square(table.sparse_read(ids)))
    step = rule.make().minimize(loss)
    session = started("xla")
    memory = session.compiled_memory([loss, step], {ids: np.arange(128)})
    assert memory["temporary"] < 50_000 * 64 * 4 / 10


def test_an_embedding_step_adds_no_operation_of_the_shape_of_the_table() -> None:
    table = pb.Variable(pb.zeros([1000, 8]))
    loss = pb.reduce_sum(pb.square(table.sparse_read([1, 5, 1])))
    optimizer = pb.train.LazyAdamOptimizer()
    pairs = optimizer.compute_gradients(loss)
    graph = pb.get_default_graph()
    step = optimizer.apply_gradients(pairs)
    used, pending = set(), [step]
    while pending:
        op = pending.pop()
        if op not in used:
            used.add(op)
            pending += [x.op for x in op.inputs] + list(op.control_inputs)
    shapes = {y.shape for op in used for y in op.outputs}
    assert pb.TensorShape([1000, 8]) not in shapes
    assert graph is table.graph


def test_the_variables_of_ftrl_have_the_names_that_they_are_given() -> None:
    x = pb.Variable([1.0], name="x")
    named = train.FtrlOptimizer(0.1, accum_name="n", linear_name="z")
    named.minimize(pb.reduce_sum(x * x))
    assert [named.get_slot(x, name).op.name for name in named.get_slot_names()] == ["x/n", "x/z"]
    half = train.FtrlOptimizer(0.1, linear_name="z1")
    half.minimize(pb.reduce_sum(x * x))
    assert [half.get_slot(x, name).op.name for name in half.get_slot_names()] == ["x/Ftrl", "x/z1"]


@pytest.mark.parametrize(
    "optimizer", [pb.train.AdamOptimizer, pb.train.LazyAdamOptimizer, tf.contrib.opt.NadamOptimizer]
)
def test_slots_of_all_kinds_of_adam_have_the_names_that_tensorflow_saves(optimizer: type[Any]) -> None:
    assert inspect.signature(optimizer).parameters["name"].default == "Adam"
    v = pb.Variable([1.0], name="v")
    optimizer().minimize(pb.reduce_sum(v))
    assert [x.op.name for x in pb.global_variables()] == ["v", "beta1_power", "beta2_power", "v/Adam", "v/Adam_1"]
