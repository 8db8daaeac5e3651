"""What all optimizers share: arguments, names, slots, the global step, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def refused(error: type[Exception], act: Callable[[], Any]) -> str:
    """The message of the exception of class `error` that `act` raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def started(engine: str = "numpy") -> pb.Session:
    """A session of the default graph whose variables have their initial values."""
    session = pb.Session(engine=engine)
    session.run(pb.global_variables_initializer())
    return session


def test_the_step_and_the_slots_have_the_names_of_tensorflow() -> None:
    w = pb.Variable([1.0], name="w")
    optimizer = pb.train.AdamOptimizer()
    step = optimizer.minimize(pb.reduce_sum(w * w))
    assert step.name == "Adam"
    assert step.type == "NoOp"
    assert [v.name for v in optimizer.variables()] == ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(w, "v").name == "w/Adam_1:0"
    assert optimizer.get_slot(w, "other") is None
    assert pb.trainable_variables() == [w]
    assert pb.get_collection(pb.GraphKeys.TRAIN_OP) == [step]


def test_a_loss_may_be_a_function() -> None:
    v = pb.Variable(100.0)
    step = pb.train.GradientDescentOptimizer(0.25).minimize(lambda: pb.nn.relu(v) ** 2.0)
    with pb.Session() as session:
        session.run(pb.global_variables_initializer())
        session.run(step)
        assert session.run(v) == 50.0


def test_a_second_optimizer_of_the_same_kind_has_slots_of_its_own() -> None:
    w = pb.Variable([1.0], name="w")
    optimizers = [pb.train.MomentumOptimizer(0.1, 0.9) for _ in range(2)]
    for optimizer in optimizers:
        optimizer.minimize(pb.reduce_sum(w * w))
    assert [o.get_slot(w, "momentum").name for o in optimizers] == ["w/Momentum:0", "w/Momentum_1:0"]


def test_two_steps_of_one_optimizer_share_the_slots() -> None:
    w = pb.Variable([1.0], name="w")
    optimizer = pb.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(pb.reduce_sum(w))
    optimizer.minimize(pb.reduce_sum(w * w))
    assert len(optimizer.variables()) == 1


def test_the_gradient_graph_of_a_step_has_no_gates() -> None:
    w = pb.Variable([1.0])
    pb.train.GradientDescentOptimizer(0.1).minimize(pb.reduce_sum(w * w))
    assert not [op.name for op in pb.get_default_graph().operations if "tuple" in op.name]


def test_the_global_step_counts(engine: str) -> None:
    w = pb.Variable(1.0)
    count = pb.train.get_or_create_global_step()
    assert pb.train.get_or_create_global_step() is count
    step = pb.train.GradientDescentOptimizer(0.1).minimize(w * w, global_step=count)
    session = started(engine)
    for _ in range(3):
        session.run(step)
    assert pb.train.global_step(session, count) == 3


def test_the_learning_rate_may_be_fed_scheduled_or_a_function(engine: str) -> None:
    rate = pb.placeholder(pb.float32, [])
    count = pb.train.get_or_create_global_step()
    values = []
    for learning_rate in (rate, pb.train.piecewise_constant(count, [0, 5], [0.5, 0.1, 0.0]), lambda: 0.5):
        w = pb.Variable(1.0)
        step = pb.train.GradientDescentOptimizer(learning_rate).apply_gradients([(pb.constant(1.0), w)])
        session = started(engine)
        session.run(step, {rate: 0.5})
        values.append(float(session.run(w)))
    assert values == [0.5, 0.5, 0.5]


def test_the_gradient_of_the_loss_may_be_given() -> None:
    w = pb.Variable([1.0, 2.0])
    ((dy, _),) = pb.train.GradientDescentOptimizer(0.1).compute_gradients(w * w, grad_loss=[1.0, 10.0])
    assert started().run(dy).tolist() == [2.0, 40.0]


def test_variables_without_a_path_are_listed_with_none_and_left_alone() -> None:
    w, other = pb.Variable(1.0), pb.Variable(2.0)
    optimizer = pb.train.GradientDescentOptimizer(0.5)
    pairs = optimizer.compute_gradients(w * w)
    assert pairs[1] == (None, other)
    session = started()
    session.run(optimizer.apply_gradients(pairs))
    assert session.run([w, other]) == [0.0, 2.0]


def test_only_the_variables_asked_for_are_trained() -> None:
    w, frozen = pb.Variable(1.0), pb.Variable(1.0)
    step = pb.train.GradientDescentOptimizer(0.25).minimize(w * frozen, var_list=[w])
    session = started()
    session.run(step)
    assert session.run([w, frozen]) == [0.75, 1.0]


def test_a_constraint_holds_after_each_step(engine: str) -> None:
    w = pb.Variable([1.0, -1.0], constraint=lambda v: pb.maximum(v, 0.0))
    step = pb.train.GradientDescentOptimizer(0.1).minimize(pb.reduce_sum(w * w))
    session = started(engine)
    session.run(step)
    np.testing.assert_allclose(session.run(w), [0.8, 0.0], rtol=1e-6)


def test_the_loss_fetched_with_the_step_is_that_before_it(engine: str) -> None:
    w = pb.Variable(1.0)
    loss = w * w
    step = pb.train.GradientDescentOptimizer(0.5).minimize(loss)
    session = started(engine)
    assert session.run([loss, step]) == [1.0, None]
    assert session.run(loss) == 0.0


def test_the_slots_are_where_the_variable_is() -> None:
    with pb.get_default_graph().device("/device:GPU:0"):
        w = pb.Variable(1.0)
    optimizer = pb.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(w * w)
    assert optimizer.get_slot(w, "momentum").device == "/device:GPU:0"


def test_both_engines_train_a_perceptron_to_the_same_weights() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(64, 5)).astype("float32"), random.normal(size=(64, 1)).astype("float32")
    w1 = pb.get_variable("w1", [5, 8], initializer=pb.glorot_uniform_initializer(seed=1))
    w2 = pb.get_variable("w2", [8, 1], initializer=pb.glorot_uniform_initializer(seed=2))
    loss = pb.reduce_mean(pb.square(pb.linalg.matmul(pb.tanh(pb.linalg.matmul(x, w1)), w2) - y))
    step = pb.train.AdamOptimizer(0.01).minimize(loss)
    results = []
    for engine in ("numpy", "xla"):
        session = started(engine)
        first = session.run(loss)
        for _ in range(20):
            session.run(step)
        assert session.run(loss) < first
        results.append(session.run([w1, w2]))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


# Messages


def test_a_loss_without_a_path_is_named() -> None:
    pb.Variable(1.0, name="w")
    loss = pb.constant(1.0, name="loss")
    message = refused(ValueError, lambda: pb.train.GradientDescentOptimizer(0.1).minimize(loss))
    assert message == (
        "No gradients provided for any variable, check your graph for ops that do not support gradients, "
        "between variables [\"<Variable 'w:0' float32[]>\"] and loss float32[] 'loss:0'."
    )


def test_a_graph_without_variables_is_named() -> None:
    optimizer = pb.train.GradientDescentOptimizer(0.1)
    assert refused(ValueError, lambda: optimizer.minimize(pb.constant(1.0))) == "No variables to optimize."


def test_what_is_no_variable_is_refused() -> None:
    x = pb.constant(1.0, name="x")
    optimizer = pb.train.GradientDescentOptimizer(0.1)
    message = refused(TypeError, lambda: optimizer.compute_gradients(x, [x.op]))
    assert message == "Argument is not a pb.Variable: <Operation 'x' type=Const>"


def test_gradients_by_tensors_are_computed_and_not_applied() -> None:
    x = pb.constant(3.0, name="x")
    optimizer = pb.train.GradientDescentOptimizer(0.1)
    ((dx, by),) = optimizer.compute_gradients(x * x, [x])
    assert (pb.Session(engine="numpy").run(dx), by) == (6.0, x)
    message = refused(NotImplementedError, lambda: optimizer.apply_gradients([(dx, x)]))
    assert message == "apply_gradients: float32[] 'x:0' is a tensor, which no step can change; give variables"


def test_slots_are_named_in_the_variable_scope_of_the_step() -> None:
    with pb.variable_scope("model"):
        w = pb.get_variable("w", [2])
        optimizer = pb.train.AdamOptimizer(0.1)
        optimizer.minimize(pb.reduce_sum(w * w))
    assert [v.name for v in optimizer.variables()] == [
        *("model/beta1_power:0", "model/beta2_power:0", "model/model/w/Adam:0", "model/model/w/Adam_1:0"),
    ]


def test_a_gradient_of_another_dtype_or_shape_is_refused_before_anything_is_made() -> None:
    w = pb.Variable([1.0, 2.0], name="w")
    rows = pb.IndexedSlices(pb.zeros([1], pb.float64), pb.constant([0]))
    optimizer = pb.train.AdamOptimizer()
    size = len(pb.get_default_graph().operations)
    with pytest.raises(TypeError, match="has another dtype than"):
        optimizer.apply_gradients([(rows, w)])
    with pytest.raises(ValueError, match="does not have the shape of"):
        optimizer.apply_gradients([(pb.constant([1.0]), w)])
    assert [op.type for op in pb.get_default_graph().operations[size:]] == ["Const"]
    assert optimizer.variables() == []


def test_an_integer_loss_is_refused() -> None:
    pb.Variable(1.0)
    loss = pb.constant(1, name="loss")
    for kind in (TypeError, ValueError):
        message = refused(kind, lambda: pb.train.GradientDescentOptimizer(0.1).minimize(loss))
        assert message == "compute_gradients: the loss must hold floats, but it is int32[] 'loss:0'"


def test_an_optimizer_needs_a_name() -> None:
    message = refused(ValueError, lambda: pb.train.GradientDescentOptimizer(0.1, name=""))
    assert message == "Must specify the optimizer name"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (lambda: pb.train.MomentumOptimizer(0.1, 0.9), ([0.46, -1.27125], [0.92, -10.17])),
        (lambda: pb.train.AdamOptimizer(0.1), ([0.8004126, -1.820424], [1.6008252, -14.563392])),
    ],
)
def test_a_step_is_taken_in_a_branch(engine: str, kind: Any, expected: Any) -> None:
    """With the mean of the gradients of two runs; the numbers are TensorFlow's."""
    optimizer = kind()
    w = pb.Variable([1.0, -2.0], name="w")
    collected, count = pb.Variable([0.0, 0.0], trainable=False), pb.Variable(0, trainable=False)
    x = pb.placeholder(pb.float32, [2])
    (dw,) = pb.gradients(pb.reduce_sum(pb.square(w * x)), w)

    def step() -> pb.Tensor:
        with pb.control_dependencies([optimizer.apply_gradients([(collected / 2.0, w)])]):
            return pb.identity(collected.assign(pb.zeros_like(collected)))

    with pb.control_dependencies([collected.assign_add(dw), count.assign_add(1)]):
        run = pb.cond(pb.equal(count % 2, 0), step, collected.read_value)
    session = started(engine)
    for n in range(5):
        session.run(run, {x: [1.0, 0.5 * n]})
    np.testing.assert_allclose(session.run([w, collected]), expected, rtol=1e-5)
    assert optimizer.variables()[-1].name.startswith("w/")
