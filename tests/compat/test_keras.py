"""Layers, losses and activations of Keras inside graphs. Numbers are those of TensorFlow 2.21's Keras."""

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

layers, losses = tf.keras.layers, tf.keras.losses
X = np.random.RandomState(0).rand(2, 3, 4).astype("f")
LABELS = np.eye(3, dtype="f")[[0, 1, 2, 1]]
LOGITS = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, -1.0], [2.0, 0.5, 1.0], [-1.0, 0.0, 0.5]], "f")
CHANCES = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)


def waves(seed: int) -> Any:
    """An initializer that makes the same numbers in any library."""

    def made(shape: Any, dtype: Any = None, **_: Any) -> Any:
        numbers = np.sin(np.arange(int(np.prod(shape))) * 0.7 + seed) * 0.5
        return tf.constant(numbers.reshape([int(n) for n in shape]), dtype)

    return made


def value(x: Any, engine: str = "numpy") -> Any:
    with tf.Session(engine=engine) as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(x)


RECURRENT: dict[str, tuple[Any, dict[str, Any], list[list[float]]]] = {
    "lstm": (
        layers.LSTM,
        {"recurrent_activation": "sigmoid"},
        [[-0.16247, -0.24412, -0.21282], [-0.18431, -0.18764, -0.07481]],
    ),
    "gru": (
        layers.GRU,
        {"recurrent_activation": "sigmoid"},
        [[-0.61691, -0.62289, -0.42768], [-0.66201, -0.6275, -0.41687]],
    ),
    "simple": (layers.SimpleRNN, {}, [[-0.30376, 0.03045, 0.34543], [0.18708, 0.46384, 0.52185]]),
}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers(name: str, engine: str) -> None:
    make, options, expected = RECURRENT[name]
    layer = make(3, kernel_initializer=waves(0), recurrent_initializer=waves(1), **options)
    np.testing.assert_allclose(value(layer(tf.constant(X)), engine), expected, atol=1e-5)


def test_recurrent_layers_give_sequences_and_states() -> None:
    outputs, h, c = layers.LSTM(3, return_sequences=True, return_state=True)(tf.constant(X))
    assert [t.shape.as_list() for t in (outputs, h, c)] == [[2, 3, 3], [2, 3], [2, 3]]
    last, state = value([outputs[:, -1], h])
    np.testing.assert_array_equal(last, state)


def test_a_classifier_learns() -> None:
    images = tf.placeholder(tf.float32, [None, 8, 8, 1])
    labels = tf.placeholder(tf.int32, [None])
    y = layers.Conv2D(4, (3, 3), padding="same", activation="relu", input_shape=(8, 8, 1))(images)
    y = layers.BatchNormalization()(layers.MaxPooling2D((2, 2))(y), training=True)
    y = layers.Dropout(0.2)(layers.Flatten()(y), training=True)
    y = layers.Dense(2, kernel_initializer="he_normal", kernel_regularizer=tf.keras.regularizers.l2(1e-3))(y)
    loss = losses.SparseCategoricalCrossentropy(from_logits=True)(labels, y)
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
    rng = np.random.RandomState(0)
    chosen = rng.randint(0, 2, 32)
    feed = {images: rng.rand(32, 8, 8, 1) * 0.1 + chosen[:, None, None, None], labels: chosen}
    with tf.Session(engine="numpy") as sess:
        sess.run(tf.global_variables_initializer())
        first = sess.run(loss, feed)
        for _ in range(20):
            sess.run(step, feed)
        assert sess.run(loss, feed) < 0.3 * first


def test_variables_have_the_names_of_their_layers() -> None:
    x = tf.zeros([1, 2])
    shared = layers.Dense(2)
    y = layers.Dense(2, name="last")(shared(shared(x)))
    layers.Embedding(5, 2)(tf.constant([[1]]))
    assert y.shape.as_list() == [1, 2]
    assert [v.op.name for v in tf.trainable_variables()] == [
        *("dense/kernel", "dense/bias", "last/kernel", "last/bias", "embedding/embeddings")
    ]


SHAPES: dict[str, tuple[Any, list[int]]] = {
    "max": (lambda: layers.MaxPooling2D(), [2, 2, 3, 3]),
    "average": (lambda: layers.AveragePooling2D(2, 1), [2, 3, 5, 3]),
    "global_average": (lambda: layers.GlobalAveragePooling2D(), [2, 3]),
    "global_max": (lambda: layers.GlobalMaxPooling2D(), [2, 3]),
    "flatten": (lambda: layers.Flatten(), [2, 72]),
    "reshape": (lambda: layers.Reshape((8, 9)), [2, 8, 9]),
    "permute": (lambda: layers.Permute((3, 1, 2)), [2, 3, 4, 6]),
    "zeros": (lambda: layers.ZeroPadding2D((1, 2)), [2, 6, 10, 3]),
    "upsampling": (lambda: layers.UpSampling2D(), [2, 8, 12, 3]),
    "lambda": (lambda: layers.Lambda(lambda x: x * 2.0), [2, 4, 6, 3]),
    "activation": (lambda: layers.Activation("softmax"), [2, 4, 6, 3]),
    "transposed": (lambda: layers.Conv2DTranspose(5, 2, strides=2), [2, 8, 12, 5]),
    "dropout": (lambda: layers.Dropout(0.5), [2, 4, 6, 3]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    make, expected = SHAPES[name]
    assert list(value(make()(tf.ones([2, 4, 6, 3]))).shape) == expected


def test_layers_of_several_tensors() -> None:
    x = tf.constant([[1.0, 2.0]])
    assert value(layers.Concatenate()([x, x * 2.0])).tolist() == [[1.0, 2.0, 2.0, 4.0]]
    assert value(layers.Add()([x, x, x])).tolist() == [[3.0, 6.0]]


def test_layer_normalization() -> None:
    y = value(layers.LayerNormalization()(tf.constant(X)))
    mean, variance = X.mean(-1, keepdims=True), X.var(-1, keepdims=True)
    np.testing.assert_allclose(y, (X - mean) / np.sqrt(variance + 1e-3), atol=1e-5)


LOSSES: dict[str, tuple[Any, Any, Any]] = {
    "categorical": (losses.CategoricalCrossentropy(), LABELS, CHANCES),
    "categorical_logits": (losses.CategoricalCrossentropy(from_logits=True), LABELS, LOGITS),
    "sparse": (losses.SparseCategoricalCrossentropy(), LABELS.argmax(1), CHANCES),
    "sparse_column": (losses.SparseCategoricalCrossentropy(from_logits=True), LABELS.argmax(1)[:, None], LOGITS),
}


@pytest.mark.parametrize("name", LOSSES)
def test_cross_entropies_of_classes(name: str) -> None:
    loss, labels, predictions = LOSSES[name]
    each = -np.log(CHANCES[LABELS.astype(bool)])
    weights = np.array([1.0, 0.0, 2.0, 1.0], "f")
    assert value(loss(labels, predictions)) == pytest.approx(each.mean(), rel=1e-5)
    assert value(loss(labels, predictions, sample_weight=weights)) == pytest.approx((each * weights).mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (losses.mean_squared_error, lambda t, p: ((p - t) ** 2).mean(-1)),
        (losses.mean_absolute_error, lambda t, p: abs(p - t).mean(-1)),
        (losses.hinge, lambda t, p: np.maximum(1 - (2 * t - 1) * p, 0).mean(-1)),
        (losses.kullback_leibler_divergence, lambda t, p: (t.clip(1e-7) * np.log(t.clip(1e-7) / p)).sum(-1)),
        (losses.binary_crossentropy, lambda t, p: -np.log(np.where(t > 0, p, 1 - p)).mean(-1)),
        (losses.msle, lambda t, p: ((np.log1p(p) - np.log1p(t)) ** 2).mean(-1)),
        (losses.mape, lambda t, p: 100 * (abs(t - p) / np.maximum(t, 1e-7)).mean(-1)),
        (losses.poisson, lambda t, p: (p - t * np.log(p)).mean(-1)),
        (losses.logcosh, lambda t, p: np.log(np.cosh(p - t)).mean(-1)),
        (losses.squared_hinge, lambda t, p: (np.maximum(1 - (2 * t - 1) * p, 0) ** 2).mean(-1)),
        (losses.categorical_hinge, lambda t, p: np.maximum(1 + ((1 - t) * p).max(-1) - (t * p).sum(-1), 0)),
        (losses.cosine_similarity, lambda t, p: -(t * p).sum(-1) / np.linalg.norm(p, axis=-1)),
    ],
)
def test_other_losses(loss: Any, expected: Any) -> None:
    np.testing.assert_allclose(value(loss(LABELS, CHANCES)), expected(LABELS, CHANCES), rtol=1e-4)


def test_labels_of_a_margin_that_are_not_0_and_1_only_are_taken_as_they_are() -> None:
    t, p = np.array([[0.5, -0.5, -1.0]]), np.array([[0.2, 0.4, -3.0]])
    assert value(losses.hinge(t, p)) == pytest.approx([(0.9 + 1.2 + 0.0) / 3])


@pytest.mark.parametrize("shape", [[4], [4, 1], []])
def test_weights_are_of_examples_whatever_axes_they_have(shape: list[int]) -> None:
    weights = np.float32(2.0) if not shape else np.array([1.0, 0.0, 2.0, 1.0], "f").reshape(shape)
    each = ((CHANCES - LABELS) ** 2).mean(-1)
    wanted = (each * np.ravel(weights)).mean()
    assert value(losses.MeanSquaredError()(LABELS, CHANCES, sample_weight=weights)) == pytest.approx(wanted, rel=1e-5)


def test_losses_as_objects_take_their_parameters_first() -> None:
    far, near = np.array([[3.0, 0.1]]), np.zeros([1, 2])
    assert value(losses.Huber(0.5)(near, far)) == pytest.approx((0.5 * (3.0 - 0.25) + 0.005) / 2)
    assert value(losses.CosineSimilarity(0)(LABELS, LABELS)) == pytest.approx(-1.0)
    kinds = [losses.Poisson, losses.LogCosh, losses.SquaredHinge, losses.CategoricalHinge, losses.KLDivergence]
    functions = [losses.poisson, losses.log_cosh, losses.squared_hinge, losses.categorical_hinge, losses.kl_divergence]
    for kind, function in zip(kinds, functions, strict=True):
        assert value(kind()(LABELS, CHANCES)) == pytest.approx(value(function(LABELS, CHANCES)).mean(), rel=1e-5)


def test_a_loss_may_be_summed_or_left_as_it_is() -> None:
    each = value(losses.MeanSquaredError(reduction="none")(LABELS, CHANCES))
    assert value(losses.MeanSquaredError(reduction="sum")(LABELS, CHANCES)) == pytest.approx(each.sum())


def test_losses_are_found_by_their_names() -> None:
    assert losses.get("mse") is losses.get("MSE") is losses.mean_squared_error
    assert (losses.get(None), losses.get(abs)) == (None, abs)
    assert isinstance(losses.get("Huber"), losses.Huber)
    smooth = losses.get({"class_name": "BinaryCrossentropy", "config": {"label_smoothing": 0.1}})
    assert value(smooth(LABELS, CHANCES)) == pytest.approx(
        value(losses.BinaryCrossentropy(label_smoothing=0.1)(LABELS, CHANCES))
    )
    with pytest.raises(ValueError, match=r"^Unknown loss function: 'fitted'"):
        losses.get("fitted")
    with pytest.raises(ValueError, match=r"^Could not interpret loss function identifier: 3$"):
        losses.get(3)


def test_parts_are_found_by_their_names() -> None:
    keras = tf.keras
    assert keras.activations.get("tanh") is keras.activations.tanh
    assert keras.activations.get(tf.nn.relu) is tf.nn.relu
    assert value(keras.activations.hard_sigmoid([-9.0, 0.0, 1.0, 9.0])).tolist() == pytest.approx([0.0, 0.5, 0.7, 1.0])
    assert value(keras.initializers.get("ones")([2])).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match=r"^Unknown activation function: 'no_such'"):
        layers.Dense(2, "no_such")


def test_what_trains_itself_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tensorflow.keras' has no attribute 'callbacks': call the "):
        _ = tf.keras.callbacks
    text = "'Sequential.fit' is not there: a model is a function of tensors here; train its loss with an optimizer of "
    with pytest.raises(AttributeError, match=f"^{text}"):
        _ = tf.keras.Sequential().fit


def test_a_model_between_tensors_is_applied_to_others_with_the_same_variables() -> None:
    x, z = tf.keras.Input([4]), tf.constant(X[:, 0])
    w = tf.Variable(tf.ones([4, 2]))
    net = tf.keras.Model(x, {"y": tf.tanh(x @ w), "w": w * 2.0})
    found = net(z)
    np.testing.assert_allclose(value(found["y"]), np.tanh(X[:, 0] @ np.ones([4, 2])), rtol=1e-6)
    assert net.trainable_variables == [w]
    assert tf.gradients(found["y"], w)[0] is not None
    assert found["w"] is net.outputs[0]


def test_a_model_of_ones_own_has_the_variables_of_its_layers() -> None:
    class Net(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__(name="net")
            self.parts = [layers.Dense(3, activation="relu"), layers.Dropout(0.5)]
            self.last = layers.Dense(2)

        def call(self, inputs: Any, training: bool = False) -> Any:
            return self.last(self.parts[1](self.parts[0](inputs), training=training))

    net = Net()
    first, second = net(tf.constant(X)), net(tf.constant(X), training=True)
    assert first.shape.as_list() == second.shape.as_list() == [2, 3, 2]
    assert [v.shape.as_list() for v in net.trainable_variables] == [[4, 3], [3], [3, 2], [2]]
    assert net.layers == [*net.parts, net.last]


def test_layers_in_a_row_are_trained_or_not() -> None:
    net = tf.keras.Sequential([layers.Dense(3, kernel_initializer="ones")])
    net.add(layers.Dropout(0.999999))
    net.add(layers.Flatten())
    still, dropped = net(tf.constant(X)), net(tf.constant(X), training=True)
    assert value(still).shape == (2, 9)
    assert not value(dropped).any()
    net.pop()
    assert net(tf.constant(X)).shape == [2, 3, 3]


def test_a_layer_around_a_layer_goes_step_by_step() -> None:
    inner = layers.Dense(2, kernel_initializer=waves(0))
    found = value([layers.TimeDistributed(inner)(tf.constant(X)), inner(tf.constant(X))])
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_a_penalty_of_both_kinds() -> None:
    assert value(tf.keras.regularizers.L1L2(0.5, 2.0)(tf.constant([1.0, -2.0]))) == 11.5
