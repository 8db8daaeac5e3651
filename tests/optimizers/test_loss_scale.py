"""Loss scaling: bad steps are skipped, the scale falls and rises, and a net trains as it does in 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "xla":
        pytest.importorskip("jax")
    return str(request.param)


class Scaled:
    """A variable that is 1, and steps of descent with a gradient that is fed."""

    def __init__(self, engine: str, **options: Any) -> None:
        self.v = pb.Variable(1.0)
        self.dy = pb.placeholder(pb.float32, [])
        self.scale = pb.train.DynamicLossScale(**options)
        optimizer = pb.train.LossScaleOptimizer(pb.train.GradientDescentOptimizer(0.25), self.scale)
        self.global_step = pb.train.get_or_create_global_step()
        self.step = optimizer.apply_gradients([(self.dy, self.v)], self.global_step)
        self.session = pb.Session(engine=engine)
        self.session.run(pb.global_variables_initializer())

    def after(self, *dys: float) -> list[float]:
        """The variable, the scale, the good steps and the global step, after steps with these gradients."""
        for dy in dys:
            self.session.run(self.step, {self.dy: dy})
        return [float(x) for x in self.session.run([self.v, *self.scale.variables(), self.global_step])]


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_step_that_is_not_finite_is_skipped_and_halves_the_scale(engine: str, bad: float) -> None:
    scaled = Scaled(engine, initial_loss_scale=8.0)
    assert scaled.after(bad) == [1.0, 4.0, 0.0, 0.0]
    assert scaled.after(1.0) == [0.75, 4.0, 1.0, 1.0]


def test_the_scale_doubles_after_so_many_good_steps_in_a_row(engine: str) -> None:
    scaled = Scaled(engine, initial_loss_scale=8.0, increment_period=2)
    assert scaled.after(0.0, np.nan, 0.0) == [1.0, 4.0, 1.0, 2.0]
    assert scaled.after(0.0) == [1.0, 8.0, 0.0, 3.0]


def test_the_scale_is_at_least_one_and_never_infinite() -> None:
    assert Scaled("numpy", initial_loss_scale=1.5).after(np.nan, np.nan)[1] == 1.0
    assert Scaled("numpy", initial_loss_scale=3e38, increment_period=1).after(0.0)[1] == np.float32(3e38)


def test_gradients_are_those_of_the_loss_itself_though_16_bits_could_not_hold_them(engine: str) -> None:
    w = pb.Variable(np.ones((2, 1), np.float32))
    loss = pb.mixed_precision(pb.reduce_sum(pb.matmul(pb.ones([3, 2]), w)) * 1e-9, pb.float16)
    optimizer = pb.train.LossScaleOptimizer(pb.train.GradientDescentOptimizer(0.1), 2.0**20)
    ((scaled, _),) = optimizer.compute_gradients(loss)
    (plain,) = pb.gradients(loss, w)
    session = pb.Session(engine=engine)
    session.run(w.initializer)
    found, lost = session.run([scaled, plain])
    np.testing.assert_allclose(found, np.full((2, 1), 3e-9), rtol=1e-3)
    np.testing.assert_array_equal(lost, 0.0)


def test_rows_of_a_table_are_scaled_too() -> None:
    table = pb.Variable(np.ones((4, 2), np.float32))
    optimizer = pb.train.LossScaleOptimizer(pb.train.GradientDescentOptimizer(1.0))
    step = optimizer.minimize(pb.reduce_sum(pb.gather(table, [1, 1])))
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    session.run(step)
    np.testing.assert_array_equal(session.run(table), [[1, 1], [-1, -1], [1, 1], [1, 1]])


def test_the_slots_are_the_optimizers_own() -> None:
    v = pb.Variable([1.0, 2.0], name="v")
    optimizer = pb.train.LossScaleOptimizer(pb.train.MomentumOptimizer(0.1, 0.9))
    optimizer.minimize(pb.reduce_sum(v * v))
    assert optimizer.get_slot_names() == ["momentum"]
    assert optimizer.get_slot(v, "momentum") in optimizer.variables()
    assert [x.op.name for x in optimizer.variables()] == ["current_loss_scale", "good_steps", "v/Momentum"]


def test_without_gradients_there_is_no_step() -> None:
    v = pb.Variable(1.0)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        pb.train.LossScaleOptimizer(pb.train.GradientDescentOptimizer(0.1)).apply_gradients([(None, v)])


@pytest.mark.parametrize("compute", [pb.bfloat16, pb.float16])
def test_a_classifier_learns_as_well_as_in_32_bits(compute: pb.DType) -> None:
    random = np.random.default_rng(0)
    centres = random.standard_normal((10, 64))
    labels = random.integers(10, size=512)
    images = (centres[labels] + 0.7 * random.standard_normal((512, 64))).astype(np.float32)
    x, y = pb.placeholder(pb.float32, [None, 64]), pb.placeholder(pb.int32, [None])
    first, second = (pb.Variable(0.1 * random.standard_normal(s).astype(np.float32)) for s in ((64, 32), (32, 10)))

    logits = pb.matmul(pb.nn.relu(pb.matmul(x, first)), second)
    loss = pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    losses = []
    for narrow in (False, True):
        used = pb.mixed_precision(loss, compute) if narrow else loss
        optimizer: Any = pb.train.AdamOptimizer(0.01)
        step = (pb.train.LossScaleOptimizer(optimizer) if narrow else optimizer).minimize(used)
        session = pb.Session(engine="numpy")
        session.run(pb.global_variables_initializer())
        run = session.make_callable([used, step], [x, y])
        for _ in range(40):
            value = run(images, labels)[0]
        losses.append(float(value))
    assert losses[0] < 0.2
    assert losses[1] < losses[0] + 0.05


def test_programs_of_tensorflow_1_find_it_by_its_names() -> None:
    tf: Any = pytest.importorskip("pullback.compat.v1")
    v = tf.Variable(3.0)
    scale = tf.mixed_precision.DynamicLossScale(initial_loss_scale=2, increment_period=1, multiplier=4.0)
    optimizer = tf.mixed_precision.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), scale)
    step = optimizer.minimize(v * v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run([v, *scale.variables()]) == [0.0, 8.0, 0]
