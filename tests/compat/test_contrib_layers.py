"""Layers, regularizers, training steps, optimizers and hyperparameters of `tf.contrib`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from pullback.compat import v1 as tf

layers, slim, training = tf.contrib.layers, tf.contrib.slim, tf.contrib.training


def value(y: Any, feeds: Any = None) -> Any:
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        return session.run(y, feeds)


def images(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(2.0, 3.0, shape).astype(np.float32)


@pytest.mark.parametrize(
    ("layer", "shape", "made", "names"),
    [
        (lambda x: layers.conv1d(x, 4, 3), (2, 6, 3), (2, 6, 4), ["Conv/weights", "Conv/biases"]),
        (lambda x: layers.conv3d(x, 4, 2, stride=2), (1, 4, 4, 4, 3), (1, 2, 2, 2, 4), ["Conv/weights", "Conv/biases"]),
        (lambda x: layers.convolution(x, 4, 2), (1, 4, 4, 3), (1, 4, 4, 4), ["Conv/weights", "Conv/biases"]),
        (
            lambda x: layers.conv2d_transpose(x, 4, 3, stride=2, normalizer_fn=layers.batch_norm),
            (1, 4, 5, 3),
            (1, 8, 10, 4),
            ["Conv2d_transpose/weights", "Conv2d_transpose/BatchNorm/beta"],
        ),
        (
            lambda x: layers.conv2d_transpose(x, 4, 3, padding="VALID"),
            (1, 4, 5, 3),
            (1, 6, 7, 4),
            ["Conv2d_transpose/weights", "Conv2d_transpose/biases"],
        ),
        (
            lambda x: layers.separable_conv2d(x, 4, 3, 2, stride=2),
            (1, 4, 4, 3),
            (1, 2, 2, 4),
            ["SeparableConv2d/depthwise_weights", "SeparableConv2d/pointwise_weights", "SeparableConv2d/biases"],
        ),
        (
            lambda x: layers.separable_conv2d(x, None, 3, 2),
            (1, 4, 4, 3),
            (1, 4, 4, 6),
            ["SeparableConv2d/depthwise_weights", "SeparableConv2d/biases"],
        ),
        (lambda x: layers.relu(x, 4), (2, 3), (2, 4), ["fully_connected/weights", "fully_connected/biases"]),
        (lambda x: layers.bias_add(x), (2, 3), (2, 3), ["BiasAdd/biases"]),
        (lambda x: layers.max_pool3d(x, 2), (1, 4, 4, 4, 3), (1, 2, 2, 2, 3), []),
    ],
)
def test_a_layer_has_the_shape_and_the_variables_of_tensorflows(layer: Any, shape: Any, made: Any, names: Any) -> None:
    y = layer(tf.constant(images(*shape)))
    assert (y.shape.as_list(), value(y).shape) == (list(made), made)
    assert [v.op.name for v in tf.trainable_variables()] == names
    assert [v for v in tf.trainable_variables() if v not in slim.get_model_variables()] == []


def test_the_moving_means_of_batch_norm_are_variables_of_the_model() -> None:
    layers.batch_norm(tf.ones([2, 3]))
    names = [v.op.name.rpartition("/")[2] for v in slim.get_model_variables()]
    assert sorted(names) == ["beta", "moving_mean", "moving_variance"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"scale": True}, "gamma beta moving_mean moving_variance"),
        ({"scale": True, "fused": False}, "gamma beta moving_mean moving_variance"),
        ({"scale": True, "center": False}, "gamma moving_mean moving_variance"),
        ({"scale": True, "updates_collections": None}, "beta gamma moving_mean moving_variance"),
        ({}, "beta moving_mean moving_variance"),
    ],
)
@pytest.mark.parametrize("shape", [(5, 3), (2, 4, 4, 3)])
def test_variables_of_batch_norm_are_in_the_order_of_tensorflows(shape: Any, options: Any, names: str) -> None:
    given = {
        "param_regularizers": {"beta": layers.l2_regularizer(0.5)},
        "param_initializers": {"beta": tf.ones_initializer()},
    }
    x = tf.constant(images(*shape))
    y = layers.batch_norm(x, scope="bn", **options, **given)
    if len(shape) == 2 and "fused" not in options:
        names = names.replace("gamma beta", "beta gamma")
    assert [v.op.name for v in tf.global_variables()] == [f"bn/{name}" for name in names.split()]
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == ("beta" in names)
    again = layers.batch_norm(x, scope="bn", reuse=True, **options, **given)
    assert len(tf.global_variables()) == len(names.split())
    np.testing.assert_array_equal(*value([y, again]))
    with pytest.raises(ValueError, match=r"^Variable bn/.* already exists"):
        layers.batch_norm(x, scope="bn", **options)


@pytest.mark.parametrize(
    ("options", "several"),
    [({}, 5.0 / 4.0), ({"fused": True}, 5.0 / 4.0), ({"fused": False}, 1.0), ({"renorm": True}, 1.0)],
)
@pytest.mark.parametrize("form", ["NHWC", "NCHW"])
def test_the_moving_variance_of_vectors_is_that_of_what_they_are_a_sample_of(
    form: str, options: Any, several: float
) -> None:
    x = images(5, 3)
    y = layers.batch_norm(tf.constant(x), decay=0.0, updates_collections=None, data_format=form, **options)
    moving = next(v for v in tf.global_variables() if v.op.name.endswith("moving_variance"))
    assert y.shape == [5, 3]
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        found, kept = session.run(y), session.run(moving)
    np.testing.assert_allclose(kept, x.var(0) * several, rtol=1e-5)
    if "renorm" not in options:
        np.testing.assert_allclose(found, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3), rtol=1e-4, atol=1e-6)


def test_variables_are_noted_where_the_program_says() -> None:
    layers.fully_connected(tf.ones([2, 3]), 4, variables_collections={"weights": ["here"], "biases": "there"})
    assert [v.op.name for v in tf.get_collection("here")] == ["fully_connected/weights"]
    assert [v.op.name for v in tf.get_collection("there")] == ["fully_connected/biases"]


@pytest.mark.parametrize(
    ("normalize", "axes"),
    [
        (layers.layer_norm, (1, 2, 3)),
        (lambda x: layers.layer_norm(x, begin_norm_axis=-1), (3,)),
        (layers.instance_norm, (1, 2)),
        (lambda x: layers.group_norm(x, 4), (1, 2)),
    ],
)
def test_a_normalized_layer_has_mean_0_and_variance_1(normalize: Any, axes: tuple[int, ...]) -> None:
    y = value(normalize(tf.constant(images(2, 3, 5, 4))))
    np.testing.assert_allclose(y.mean(axes), np.zeros_like(y.mean(axes)), atol=1e-5)
    np.testing.assert_allclose(y.var(axes), np.ones_like(y.mean(axes)), rtol=1e-4)


def test_groups_of_channels_are_normalized_together() -> None:
    x = images(2, 3, 5, 4)
    y = value(layers.group_norm(tf.constant(x), 2)).reshape(2, 3, 5, 2, 2)
    np.testing.assert_allclose(y.mean((1, 2, 4)), np.zeros([2, 2]), atol=1e-5)
    with pytest.raises(ValueError, match=r"^group_norm: 4 channels are no multiple of 3 groups$"):
        layers.group_norm(tf.constant(x), 3)


def test_channels_may_come_first() -> None:
    x = images(2, 3, 5, 4)
    first = value(layers.instance_norm(tf.constant(x.transpose(0, 3, 1, 2)), data_format="NCHW", scope="first"))
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), value(layers.instance_norm(tf.constant(x))), rtol=1e-5)


def test_regularizers_are_added_up() -> None:
    both = layers.l1_l2_regularizer(0.5, 2.0)
    total = layers.apply_regularization(both, [tf.constant([3.0, -1.0])])
    assert value(total) == 0.5 * 4.0 + 2.0 * 10.0 / 2.0
    assert layers.sum_regularizer([None, lambda _: None])(tf.constant(1.0)) is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 3.0 - 0.5 * 6.0),
        ({"clip_gradients": 2.0}, 3.0 - 0.5 * 2.0),
        ({"clip_gradients": lambda pairs: training.clip_gradient_norms(pairs, 1.0)}, 3.0 - 0.5),
        ({"gradient_multipliers": {"v": 0.5}}, 3.0 - 0.5 * 3.0),
        ({"learning_rate_decay_fn": lambda rate, step: rate / 5.0}, 3.0 - 0.1 * 6.0),
        ({"optimizer": tf.train.GradientDescentOptimizer(1.0)}, 3.0 - 6.0),
        ({"optimizer": tf.train.GradientDescentOptimizer}, 0.0),
    ],
)
def test_a_step_of_optimize_loss(options: dict[str, Any], expected: float) -> None:
    v = tf.Variable(3.0, name="v")
    step = tf.train.get_or_create_global_step()
    train = layers.optimize_loss(v * v, step, 0.5, **{"optimizer": "SGD"} | options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(train) == 9.0
        np.testing.assert_allclose(session.run([v, step]), [expected, 1], atol=1e-6)


def test_an_unknown_optimizer_is_refused() -> None:
    v = tf.Variable(3.0)
    with pytest.raises(ValueError, match=r"^optimize_loss: optimizer must be one of Adagrad, Adam, .* and not 'Best'$"):
        layers.optimize_loss(v * v, tf.train.get_or_create_global_step(), 0.5, "Best")


def test_slim_trains_for_some_steps() -> None:
    v = tf.Variable(3.0)
    train = slim.learning.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))
    assert slim.learning.train(train, None, number_of_steps=3) == (3.0 * 0.25) ** 2


def test_scipy_holds_what_it_is_told_to_hold() -> None:
    v = tf.Variable([3.0, 4.0])
    loss = tf.reduce_sum(tf.square(v))
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, equalities=[v[0] - 1.0], inequalities=[v[1] - 2.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session)
        np.testing.assert_allclose(session.run(v), [1.0, 2.0], atol=1e-4)


def test_scipy_stays_within_bounds_and_tells_of_each_loss() -> None:
    v, unused, x = tf.Variable([3.0, 4.0]), tf.Variable(5.0), tf.placeholder(tf.float32, [])
    loss, seen = tf.reduce_sum(tf.square(v - x)), []
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, [v, unused], var_to_bounds={v: (1.5, [9.0, 0.5 + 1.5])})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session, {x: 1.0}, [loss], loss_callback=seen.append)
        np.testing.assert_allclose(session.run(v), [1.5, 1.5], atol=1e-4)
    assert seen[0] == 5.0


def test_weights_decay_beside_the_step() -> None:
    v = tf.Variable(4.0)
    train = tf.contrib.opt.MomentumWOptimizer(0.25, 0.5, 0.9).minimize(2.0 * v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v) == 4.0 - 0.25 * 4.0 - 0.5 * 2.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate=1", {"rate": 1.0}),
        ("flag=true,name=b", {"flag": True, "name": "b"}),
        ("sizes=[1,2,3]", {"sizes": [1, 2, 3]}),
        ("sizes[1]=7", {"sizes": [8, 7]}),
        ("sizes=5", {"sizes": [5]}),
        ("", {}),
    ],
)
def test_hyperparameters_are_set_by_a_text(text: str, expected: dict[str, Any]) -> None:
    hparams = training.HParams(rate=0.5, flag=False, name="a", sizes=[8, 4])
    assert hparams.parse(text).values() == {"rate": 0.5, "flag": False, "name": "a", "sizes": [8, 4]} | expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("other=1", r"^HParams.parse: there is no 'other'; there are rate$"),
        ("rate=fast", r"^HParams: 'rate' must be a float, and not 'fast'$"),
        ("rate", r"^HParams.parse: 'rate' is not of the form name=value,name=\[value,value\]$"),
    ],
)
def test_a_wrong_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        training.HParams(rate=0.5).parse(text)


def test_variables_are_found_by_their_scopes() -> None:
    with tf.variable_scope("a"):
        w, b = slim.variable("w", [2]), slim.model_variable("b", [2])
    other = slim.variable("other", [2])
    assert slim.get_variables("a") == [w, b]
    assert slim.get_model_variables() == [b]
    assert slim.get_variables_to_restore(exclude=["a/w"]) == [b, other]
    assert slim.get_variables_by_suffix("w") == [w]


def test_a_choice_that_is_known_makes_no_branch() -> None:
    smart_cond = tf.contrib.framework.smart_cond
    assert smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    chosen = smart_cond(tf.placeholder_with_default(True, []), lambda: tf.constant(1), lambda: tf.constant(2))
    assert value(chosen) == 1


@pytest.mark.parametrize("place", ["contrib.losses", "contrib.slim.losses"])
@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("absolute_difference", [[0.25, 0.75]]),
        ("log_loss", [[0.25, 0.75]]),
        ("mean_pairwise_squared_error", [[0.25, 0.75]]),
        ("mean_squared_error", [[0.25, 0.75]]),
        ("hinge_loss", [[0.0, 1.0]]),
        ("sigmoid_cross_entropy", [[0.0, 1.0]]),
        ("softmax_cross_entropy", [[0.0, 1.0]]),
        ("sparse_softmax_cross_entropy", [1]),
    ],
)
def test_losses_by_their_older_place_take_predictions_first(name: str, labels: Any, place: str) -> None:
    given = tf.constant([[0.5, 0.125]])
    older = functools.reduce(getattr, place.split("."), tf)
    made = [getattr(older, name)(given, tf.constant(labels)), getattr(tf.losses, name)(tf.constant(labels), given)]
    assert tf.gradients(made[0], given)[0] is not None
    np.testing.assert_allclose(*value(made))
    assert len(older.get_losses()) == 2


def test_end_points_are_under_the_scopes_of_their_layers() -> None:
    slim, x = tf.contrib.slim, tf.zeros([2, 8, 8, 3])
    noted = [slim.conv2d, slim.max_pool2d, slim.batch_norm]
    with tf.variable_scope("net"), slim.arg_scope(noted, outputs_collections="points"):
        y = slim.conv2d(x, 4, 3, normalizer_fn=slim.batch_norm, scope="first")
        z = slim.max_pool2d(y, 2, scope="pool")
        slim.conv2d(z, 4, 3, scope="second")
    points = slim.utils.convert_collection_to_dict("points", clear_collection=True)
    assert list(points) == ["net/first/BatchNorm", "net/first", "net/pool", "net/second"]
    assert (points["net/first"], points["net/pool"]) == (y, z)
    assert slim.utils.convert_collection_to_dict("points") == {}
    assert slim.utils.gather_tensors_aliases([z, x]) == ["net/pool", "zeros"]


def test_what_a_layer_asks_of_shapes() -> None:
    utils = tf.contrib.layers.utils
    assert (utils.last_dimension([None, 3]), utils.channel_dimension([None, 3, 4], "channels_first")) == (3, 3)
    assert (utils.two_element_tuple(2), utils.n_positive_integers(3, [1, 2, 3])) == ((2, 2), (1, 2, 3))
    with pytest.raises(ValueError, match=r"^layers: the length at -1 of \(3, None\) must be known; use tf.ensure_"):
        utils.last_dimension([3, None])
    with pytest.raises(ValueError, match=r"^layers: a shape of rank 2 or more is needed, not \(3,\); use tf.ensure_"):
        utils.last_dimension([3], 2)
    with pytest.raises(ValueError, match=r"^layers: a positive integer or 2 of them are needed, not \[1, 2, 3\]$"):
        utils.two_element_tuple([1, 2, 3])


def test_reversible_layers_have_variables_of_their_own() -> None:
    x = tf.ones([2, 3])
    one, other = tf.contrib.layers.rev_block(x, x, tf.layers.Dense(3), [tf.tanh] * 2, num_layers=2)
    assert len(tf.gradients(one + other, [x])) == 1
    with pytest.raises(ValueError, match=r"^rev_block: g must be a function or 2 of them, one for each layer: "):
        tf.contrib.layers.rev_block(x, x, tf.tanh, [tf.tanh], num_layers=2)


def test_regularizers_are_named_scaled_and_switched_off() -> None:
    w = tf.get_variable("w", initializer=tf.constant([3.0, -4.0]), regularizer=layers.l2_regularizer(0.5))
    tf.get_variable("v", [2], regularizer=layers.l1_regularizer(0.0))
    made = [
        tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)[0],
        layers.l1_regularizer(tf.constant(2.0))(w),
        layers.l1_regularizer(0.5, scope="mine")(w),
        layers.l1_l2_regularizer(1.0, 2.0)(w),
        layers.l1_l2_regularizer(0.0, 2.0)(w),
        layers.sum_regularizer([layers.l1_regularizer(1.0), None])(w),
    ]
    names = ["w/Regularizer/l2_regularizer", "l1_regularizer", "mine", "l1_l2_regularizer", "l1_l2_regularizer_1"]
    assert [y.op.name for y in made] == [*names, "sum_regularizer"]
    assert value(made) == [6.25, 14.0, 3.5, 32.0, 25.0, 7.0]
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1
    assert layers.sum_regularizer([None]) is None
    for make in (layers.l1_regularizer, layers.l2_regularizer):
        for scale in (1, -0.5):
            with pytest.raises(
                ValueError, match=rf"^{make.__name__}: scale must be a float of at least 0, not {scale}$"
            ):
                make(scale)
