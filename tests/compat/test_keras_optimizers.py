"""Optimizers of Keras: variables after three steps, names and messages are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

K = tf.keras.optimizers
STEPS: list[tuple[str, dict[str, Any], list[float]]] = [
    ("SGD", {}, [0.941192, -1.76947, 2.9109, 0.9216, 1.8432, 2.8224, 3.7632, 4.802, 5.7624]),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}, [0.062, 1.08, 1.458, 0.0, 0.0, 0.36, 0.48, 2.3, 2.76]),
    (
        "SGD",
        {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True},
        [-0.108352, 0.866592, 0.981963, -0.2664, -0.5328, -0.5256, -0.7008, 1.112, 1.3344],
    ),
    ("SGD", {"lr": 0.1, "decay": 0.5}, [0.624, -0.704, 2.394, 0.48, 0.96, 1.98, 2.64, 3.46667, 4.16]),
    (
        "SGD",
        {"learning_rate": 0.1, "clipnorm": 1.0},
        [0.930355, -1.72804, 2.89428, 0.942572, 1.88514, 2.8919, 3.85587, 4.89346, 5.87215],
    ),
    (
        "SGD",
        {"learning_rate": 0.1, "clipnorm": 1.0, "clipvalue": 0.5},
        [0.85, -1.85, 2.85, 0.836701, 1.8367, 2.87753, 3.87753, 4.91835, 5.91835],
    ),
    (
        "SGD",
        {"learning_rate": 0.1, "global_clipnorm": 1.0},
        [0.967094, -1.86981, 2.95037, 0.951711, 1.90342, 2.90602, 3.8747, 4.90368, 5.88442],
    ),
    (
        "Ftrl",
        {"learning_rate": 0.1},
        [0.63789, -1.6994, 2.46741, 0.758141, 1.75379, 2.77847, 3.77789, 4.67322, 5.67285],
    ),
    (
        "Ftrl",
        {"learning_rate": 0.1, "l1_regularization_strength": 0.5, "l2_regularization_strength": 0.25},
        [0.601435, -1.68297, 2.41167, 0.737376, 1.73694, 2.76297, 3.76313, 4.64513, 5.64527],
    ),
    (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "l2_shrinkage_regularization_strength": 0.2,
            "beta": 0.3,
            "learning_rate_power": -0.75,
            "initial_accumulator_value": 0.5,
        },
        [0.597611, -1.84496, 2.38119, 0.812906, 1.86175, 2.89042, 3.90466, 4.80077, 5.81749],
    ),
    (
        "Ftrl",
        {"lr": 0.1, "decay": 0.5, "l2_regularization_strength": 0.1, "beta": 0.1},
        [0.455839, -1.11656, 1.49982, 0.560878, 1.20531, 2.24331, 3.01946, 3.63572, 4.39956],
    ),
    ("SGD", {"learning_rate": 0.1, "clipvalue": 0.5}, [0.85, -1.85, 2.85, 0.8, 1.8, 2.85, 3.85, 4.9, 5.9]),
    (
        "Adam",
        {"learning_rate": 0.1},
        [0.701587, -1.70062, 2.70038, 0.752303, 1.75164, 2.84588, 3.8458, 4.7228, 5.72278],
    ),
    (
        "Adam",
        {"learning_rate": 0.1, "amsgrad": True},
        [0.701587, -1.70062, 2.70038, 0.752337, 1.75168, 2.84588, 3.8458, 4.72284, 5.72282],
    ),
    (
        "Adam",
        {"lr": 0.1, "decay": 0.5},
        [0.784064, -1.78363, 2.78351, 0.814884, 1.81462, 2.91048, 3.91046, 4.79474, 5.79473],
    ),
    (
        "RMSprop",
        {"learning_rate": 0.1},
        [0.369181, -1.30872, 2.29177, 0.492469, 1.46775, 2.54891, 3.54569, 4.46158, 5.46033],
    ),
    (
        "RMSprop",
        {"learning_rate": 0.1, "centered": True},
        [0.32357, -1.24534, 2.2237, 0.459582, 1.42948, 2.51988, 3.51601, 4.42028, 5.4188],
    ),
    (
        "RMSprop",
        {"learning_rate": 0.1, "momentum": 0.5},
        [0.0764004, -0.980056, 1.95413, 0.340757, 1.31576, 2.3908, 3.38757, 4.30347, 5.30222],
    ),
    (
        "RMSprop",
        {"learning_rate": 0.1, "momentum": 0.5, "centered": True},
        [0.020841, -0.896943, 1.86387, 0.298901, 1.26834, 2.35321, 3.34935, 4.25362, 5.25213],
    ),
    (
        "Adagrad",
        {"learning_rate": 0.1},
        [0.782299, -1.77594, 2.77521, 0.833517, 1.83123, 2.85653, 3.85621, 4.83007, 5.82993],
    ),
    (
        "Adadelta",
        {"learning_rate": 1.0},
        [0.995712, -1.99571, 2.99571, 0.997155, 1.99715, 2.99767, 3.99767, 4.99715, 5.99715],
    ),
    (
        "Adamax",
        {"learning_rate": 0.1},
        [0.7155, -1.70765, 2.70501, 0.833513, 1.83167, 2.89598, 3.8959, 4.80095, 5.80078],
    ),
    (
        "Nadam",
        {"learning_rate": 0.1},
        [0.752729, -1.74751, 2.74588, 0.814166, 1.81192, 2.83984, 3.83949, 4.81673, 5.81661],
    ),
]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("kind", "options", "expected"), STEPS, ids=[f"{kind}{list(o)}" for kind, o, _ in STEPS])
def test_steps_are_those_of_tensorflow(kind: str, options: Any, expected: Any, engine: str) -> None:
    x = tf.Variable([1.0, -2.0, 3.0], use_resource=True)
    table = tf.Variable(np.arange(1.0, 7.0, dtype="f").reshape(3, 2), use_resource=True)
    rows = tf.placeholder(tf.int32, [3])
    loss = tf.reduce_sum(x * x * [1.0, 2.0, 0.5]) + tf.reduce_sum(tf.gather(table, rows) ** 2.0)
    optimizer = getattr(K, kind)(**options)
    step = optimizer.get_updates(loss, [x, table])
    with tf.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        for numbers in ([0, 2, 0], [1, 1, 2], [0, 1, 0]):
            session.run(step, {rows: numbers})
        found = np.concatenate([session.run(x), session.run(table).ravel()])
        assert session.run(optimizer.iterations) == 3
    np.testing.assert_allclose(found, expected, 2e-5)


def variable(name: str = "x") -> Any:
    return tf.Variable([1.0, 2.0], use_resource=True, name=name)


@pytest.mark.parametrize(
    ("kind", "options", "names"),
    [
        ("SGD", {}, "iter decay learning_rate momentum"),
        ("SGD", {"momentum": 0.5}, "iter decay learning_rate momentum x/momentum"),
        ("Adam", {"amsgrad": True}, "iter beta_1 beta_2 decay learning_rate x/m x/v x/vhat"),
        ("RMSprop", {"centered": True}, "iter decay learning_rate momentum rho x/rms x/mg"),
        ("Adagrad", {}, "iter decay learning_rate x/accumulator"),
        ("Adadelta", {}, "iter decay learning_rate rho x/accum_grad x/accum_var"),
        ("Adamax", {}, "iter beta_1 beta_2 decay learning_rate x/m x/v"),
        (
            "Ftrl",
            {},
            "iter beta decay l1_regularization_strength l2_regularization_strength learning_rate learning_rate_power "
            "x/accumulator x/linear",
        ),
        ("Nadam", {}, "iter beta_1 beta_2 decay learning_rate momentum_cache x/m x/v"),
    ],
)
def test_variables_have_the_names_of_tensorflow(kind: str, options: Any, names: str) -> None:
    x = variable()
    optimizer = getattr(K, kind)(**options)
    step = optimizer.get_updates(tf.reduce_sum(x * x), [x])
    assert [op.name for op in step] == [f"{kind}/{kind}/AssignAddVariableOp"]
    assert [v.op.name for v in tf.global_variables()[1:]] == [f"{kind}/{name}" for name in names.split()]
    assert tf.trainable_variables() == [x]
    hypers = {"decay", "learning_rate", "momentum", "rho", "beta_1", "beta_2", "beta", "learning_rate_power"}
    hypers |= {"l1_regularization_strength", "l2_regularization_strength"}
    assert {v.op.name.removeprefix(f"{kind}/") for v in optimizer.weights} == set(names.split()) - hypers


def test_an_optimizer_of_the_same_name_has_variables_of_its_own() -> None:
    x = variable()
    for _ in range(2):
        optimizer = K.Adam()
        optimizer.apply_gradients([(tf.ones([2]), x), (None, variable())], name="step")
    assert optimizer.get_slot(x, "m").op.name == "Adam_1/x/m"
    assert (optimizer.get_slot_names(), optimizer.variables()) == (["m", "v"], optimizer.weights)


def test_hyperparameters_are_variables() -> None:
    x = variable()
    optimizer = K.SGD(lr=0.5)
    step = optimizer.get_updates(tf.reduce_sum(x), [x])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run([x, optimizer.lr])[1] == 0.5
        optimizer.lr = 1.0
        tf.keras.backend.set_value(optimizer.iterations, 7)
        session.run(step)
        assert session.run(x).tolist() == [-0.5, 0.5]
        assert (optimizer.get_config()["learning_rate"], optimizer.get_weights()) == (1.0, [8])
        optimizer.set_weights([3])
        assert session.run(optimizer.iterations) == 3


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (K.schedules.ExponentialDecay(1.0, 2, 0.25), [1.0, 0.5, 0.25]),
        (K.schedules.ExponentialDecay(1.0, 2, 0.25, staircase=True), [1.0, 1.0, 0.25]),
        (K.schedules.InverseTimeDecay(1.0, 1, 1.0), [1.0, 0.5, 1 / 3]),
        (K.schedules.PolynomialDecay(1.0, 2, 0.0), [1.0, 0.5, 0.0]),
        (K.schedules.CosineDecay(1.0, 2), [1.0, 0.5, 0.0]),
        (K.schedules.PiecewiseConstantDecay([0, 1], [3.0, 2.0, 1.0]), [3.0, 2.0, 1.0]),
        (lambda: 2.0, [2.0, 2.0, 2.0]),
    ],
)
def test_a_rate_may_follow_a_schedule(schedule: Any, expected: list[float]) -> None:
    x = variable()
    optimizer = K.SGD(schedule)
    step = optimizer.apply_gradients([(tf.ones([2]), x)])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(x)[0]]
        for _ in expected:
            session.run(step)
            values.append(session.run(x)[0])
    np.testing.assert_allclose(-np.diff(values), expected, 1e-5, 1e-6)
    if not isinstance(schedule, K.schedules.LearningRateSchedule):
        return
    again = K.deserialize(
        {"class_name": "SGD", "config": {"learning_rate": type(schedule).from_config(schedule.get_config())}}
    )
    assert again.get_config()["learning_rate"]["config"] == schedule.get_config()


def test_a_loss_may_be_a_function() -> None:
    x = variable()
    step = K.SGD(0.5).minimize(lambda: tf.reduce_sum(x * x), lambda: [x])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(x).tolist() == [0.0, 0.0]


def test_a_variable_stays_within_its_constraint() -> None:
    x = tf.Variable([1.0, 2.0], constraint=lambda x: tf.maximum(x, 0.5), use_resource=True)
    step = K.SGD(0.5).get_updates(tf.reduce_sum(x * x), [x])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(x).tolist() == [0.5, 0.5]


class Signs(K.Optimizer):
    def __init__(self, learning_rate: float = 0.25, name: str = "Signs", **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self.add_slot(var, "count")

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> Any:
        count = self.get_slot(handle, "count").assign_add(tf.ones_like(grad))
        return tf.group(count, handle.assign_sub(self._decayed_lr(handle.dtype) * tf.sign(grad)))


def test_a_program_may_derive_a_rule_of_its_own() -> None:
    x = variable()
    optimizer = Signs(decay=1.0)
    step = optimizer.get_updates(tf.reduce_sum(x * x), [x])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        session.run(step)
        assert session.run([x, optimizer.get_slot(x, "count")])[1].tolist() == [2.0, 2.0]
        assert session.run(x).tolist() == [0.625, 1.625]
    with pytest.raises(
        NotImplementedError, match=r"^Optimizer does not say what a step is: define _resource_apply_dens"
    ):
        K.Optimizer("plain").apply_gradients([(tf.ones([2]), x)])


@pytest.mark.parametrize("kind", ["Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"])
def test_an_optimizer_is_made_again_of_what_it_says(kind: str) -> None:
    optimizer = K.get(kind.lower())
    assert type(optimizer) is getattr(K, kind)
    again = K.deserialize(K.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()
    assert (K.get(again), again.get_config()["name"]) == (again, kind)


def test_what_cannot_be_is_refused() -> None:
    x, other = variable(), variable()
    for error, text, make in (
        (TypeError, "Unexpected keyword argument passed to optimizer: foo", lambda: K.Adam(foo=1)),
        (ValueError, "Expected clipnorm >= 0, received: -1.0", lambda: K.Adam(clipnorm=-1.0)),
        (ValueError, "`momentum` must be between [0, 1], not 2.0.", lambda: K.SGD(momentum=2.0)),
        (ValueError, "initial_accumulator_value must be non-negative: -0.1", lambda: K.Adagrad(0.1, -0.1)),
        (ValueError, "Ftrl: -learning_rate_power must not be negative, but it is -1.0", lambda: K.Ftrl(0.1, 1.0)),
        (
            ValueError,
            "Cannot accept both `clipnorm` and `global_clipnorm`, passed ",
            lambda: K.SGD(clipnorm=1.0, global_clipnorm=2.0),
        ),
        (ValueError, "Unknown optimizer: foo. There are adadelta, ", lambda: K.get("foo")),
        (ValueError, "Could not interpret optimizer identifier: 3", lambda: K.get(3)),
        (ValueError, "No gradients provided for any variable: ['x:0'].", lambda: K.SGD().apply_gradients([(None, x)])),
        (
            ValueError,
            "Variable <Variable 'x_1:0' float32[2]> has `None` for gradient: the loss float32[] 'Sum:0' does not",
            lambda: K.SGD().get_updates(tf.reduce_sum(x), [x, other]),
        ),
        (ValueError, "Nadam: learning_rate is a number", lambda: K.Nadam(K.schedules.CosineDecay(1.0, 2))),
        (ValueError, "The length of boundaries should be 1 less", lambda: K.schedules.PiecewiseConstantDecay([1], [1])),
    ):
        with pytest.raises(error) as caught:  # type: ignore[var-annotated]
            make()
        assert str(caught.value).startswith(text)
    assert K.SGD().apply_gradients([]).type == "NoOp"


@pytest.mark.parametrize("how", ["updates", "gradients"])
def test_gradients_are_clipped_in_the_step_whoever_computed_them(how: str) -> None:
    x = variable()
    optimizer = K.SGD(0.5)
    optimizer.clipvalue = 1.0
    loss = tf.reduce_sum(x * x)
    dy = optimizer.get_gradients(loss, [x])
    step = optimizer.get_updates(loss, [x]) if how == "updates" else optimizer.apply_gradients([(dy[0], x)])
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(dy)[0].tolist() == [2.0, 4.0]
        session.run(step)
        assert session.run(x).tolist() == [0.5, 1.5]
    assert optimizer.get_config()["clipvalue"] == optimizer.clipvalue == 1.0
    optimizer.clipvalue = None
    assert "clipvalue" not in optimizer.get_config()
