"""Optimizers that a program derives from `tf.train.Optimizer`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

ENGINES = ["numpy", "xla"]


class Momentum(tf.train.Optimizer):  # type: ignore[misc, name-defined]
    """As programs write it: a slot, a rate that is prepared, and the protocol's older hooks."""

    def __init__(self, rate: float, use_locking: bool = False, name: str = "OwnMomentum") -> None:
        super().__init__(use_locking, name)
        self._rate = rate

    def _prepare(self) -> None:
        self._rate_tensor = tf.convert_to_tensor(self._call_if_callable(self._rate), name="rate")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m = self.get_slot(var, "m")
        moved = m.assign(0.9 * m + grad)
        return tf.group(tf.assign_sub(var, self._rate_tensor * moved), moved)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return tf.scatter_sub(var, grad.indices, self._rate_tensor * grad.values)


class Resource(tf.train.Optimizer):  # type: ignore[misc, name-defined]
    """The hooks of resource variables, and a variable that belongs to none."""

    def __init__(self) -> None:
        super().__init__(False, "Resource")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._create_non_slot_variable(1.0, "scale", min(var_list, key=lambda v: v.name))
        for v in var_list:
            self._get_or_make_slot(v, v.initialized_value(), "start", "Start")
            self._get_or_make_slot_with_initializer(v, tf.ones_initializer(), v.shape, tf.float32, "one", "One")

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return handle.assign_sub(self._get_non_slot_variable("scale") * grad * self.get_slot(handle, "one"))

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return handle.scatter_sub(tf.IndexedSlices(grad, indices))

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        scale = self._get_non_slot_variable("scale")
        with tf.control_dependencies(update_ops):
            return tf.group(scale.assign(scale * 0.5), name=name_scope)


def trained(optimizer: Any, loss: Any, steps: int, engine: str, fetches: Any) -> Any:
    step = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step)
        return session.run(fetches)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rule_with_slots_takes_its_steps(engine: str) -> None:
    with tf.Graph().as_default():
        x = tf.Variable([1.0, -2.0], name="x")
        count = tf.train.get_or_create_global_step()
        optimizer = Momentum(0.1)
        theirs = tf.train.MomentumOptimizer(0.1, 0.9)
        y = tf.Variable([1.0, -2.0], name="y")
        found, steps = trained(optimizer, tf.reduce_sum(x * x), 3, engine, [x, count])
        np.testing.assert_allclose(found, trained(theirs, tf.reduce_sum(y * y), 3, engine, y), rtol=1e-6)
        assert steps == 3
        assert optimizer.get_slot(x, "m").name == "x/OwnMomentum:0"
        assert optimizer.get_slot_names() == ["m"]


@pytest.mark.parametrize("engine", ENGINES)
def test_equal_rows_come_added_up(engine: str) -> None:
    with tf.Graph().as_default():
        table = tf.Variable(np.zeros([4, 1], np.float32))
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [2, 0, 2]))
        found = trained(Momentum(1.0), loss, 1, engine, table)
    assert found.ravel().tolist() == [-1.0, 0.0, -2.0, 0.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_hooks_of_resource_variables_serve_too(engine: str) -> None:
    with tf.Graph().as_default():
        x, table = tf.Variable([8.0], name="x"), tf.Variable([[0.0], [0.0]], name="table")
        optimizer = Resource()
        loss = tf.reduce_sum(x) + tf.reduce_sum(tf.gather(table, [1]))
        found = trained(optimizer, loss, 2, engine, [x, table])
        assert [v.name for v in optimizer.variables()] == [
            "scale:0", "table/One:0", "table/Start:0", "x/One:0", "x/Start:0",
        ]  # fmt: skip
    assert found[0].tolist() == [6.5]
    assert found[1].tolist() == [[0.0], [-2.0]]


def test_a_rule_may_take_all_gradients_by_itself() -> None:
    class Whole(tf.train.Optimizer):  # type: ignore[misc, name-defined]
        def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
            return tf.group(*[v.assign_sub(dv) for dv, v in grads_and_vars], name=name)

    with tf.Graph().as_default():
        x = tf.Variable(3.0)
        assert trained(Whole(False, "Whole"), x * x, 1, "numpy", x) == -3.0


def test_every_optimizer_is_an_instance_of_the_base_and_only_of_it() -> None:
    own = Momentum(0.1)
    assert isinstance(tf.train.AdamOptimizer(), tf.train.Optimizer)
    assert isinstance(own, tf.train.Optimizer)
    assert not isinstance(tf.train.AdamOptimizer(), Momentum)
    assert not isinstance(1.0, tf.train.Optimizer)


@pytest.mark.parametrize(
    ("rows", "hooks"), [(False, "_apply_dense nor _resource_apply_dense"), (True, "_apply_sparse")]
)
def test_a_rule_without_a_hook_says_which_one_to_define(rows: bool, hooks: str) -> None:
    class Nothing(tf.train.Optimizer):  # type: ignore[misc, name-defined]
        pass

    with tf.Graph().as_default():
        table = tf.Variable([[1.0]])
        loss = tf.reduce_sum(tf.gather(table, [0]) if rows else table)
        with pytest.raises(NotImplementedError, match=f"Nothing says neither {hooks}.*: define one of them"):
            Nothing(False, "Nothing").minimize(loss)


def test_a_rule_needs_a_name() -> None:
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        Momentum(0.1, name="")


@pytest.mark.parametrize("engine", ENGINES)
def test_hyperparameters_beside_float64_variables_are_of_32_bits(engine: str) -> None:
    tf.disable_resource_variables()
    try:
        v = tf.Variable(np.array([1.0, -2.0]))
        step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(v * v))
        powers = [x for x in tf.global_variables() if "power" in x.name]
        kept = [x for x in tf.global_variables() if "Adam" in x.name]
    finally:
        tf.enable_resource_variables()
    assert [x.dtype for x in powers] == [np.float32, np.float32]
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        x, (m, s) = session.run(v), session.run(kept)
    rate, beta1, beta2 = (float(np.float32(number)) for number in (0.1, 0.9, 0.999))
    dy = np.array([2.0, -4.0])
    np.testing.assert_allclose(m, (1.0 - beta1) * dy, rtol=1e-12)
    np.testing.assert_allclose(s, (1.0 - beta2) * dy**2, rtol=1e-12)
    np.testing.assert_allclose(x, [1.0 - rate, -2.0 + rate], rtol=1e-6)
