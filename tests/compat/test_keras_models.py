"""Models of Keras between tensors: layers are called again, with masks and phases; values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf
from pullback.compat.v1.keras.history import mask_of

L = tf.keras.layers
IDS = np.array([[1, 2, 0, 3], [3, 0, 0, 0], [0, 0, 2, 2]], np.int32)
TABLE = np.arange(15, dtype=np.float32).reshape(5, 3) / 10
ALIKE = {f"{kind}_initializer": tf.constant_initializer(0.3) for kind in ("kernel", "recurrent")}
ALL_OUT = 0.999999


def run(fetches: Any, engine: str = "numpy") -> Any:
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def embedding(**options: Any) -> Any:
    return L.Embedding(5, 3, embeddings_initializer=tf.constant_initializer(TABLE), **options)


def recurrent() -> Any:
    """A model of [batch, 4, 3] that hands masks on, and gives sequences too."""
    x = tf.keras.Input((4, 3))
    h = L.LSTM(2, return_sequences=True, **ALIKE)(x)
    return tf.keras.Model(x, [L.GRU(2, **ALIKE)(L.Dropout(0.5)(h)), h])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_masks_of_inputs_go_through_models(engine: str) -> None:
    end, steps = recurrent()(embedding(mask_zero=True)(tf.constant(IDS)))
    assert mask_of(steps) is not None
    assert mask_of(end) is None
    found = run([end, steps], engine)
    np.testing.assert_allclose(found[0][:, 0], [0.21526754, 0.08443379, 0.14590964], rtol=1e-5)
    np.testing.assert_allclose(found[1][0, :, 0], [0.11150304, 0.3204574, 0.3204574, 0.56963784], rtol=1e-5)


def test_masks_that_are_made_between_the_tensors_are_made_again() -> None:
    ids = tf.keras.Input((4,), dtype="int32")
    both = L.Bidirectional(L.LSTM(2, return_sequences=True, **ALIKE))(embedding(mask_zero=True)(ids))
    whole = tf.keras.Model(ids, tf.tanh(both) * 2.0)
    nested = tf.keras.Model(ids, recurrent()(L.Masking(0.0)(embedding()(ids)))[0])
    found = run([whole(tf.constant(IDS)), nested(tf.constant(IDS))])
    np.testing.assert_allclose(found[0][0, :, 0], [0.22208646, 0.6198409, 0.0, 1.0301865], rtol=1e-5)
    np.testing.assert_allclose(found[1][:, 0], [0.24463779, 0.18201455, 0.1715506], rtol=1e-5)


def test_masks_may_be_given_or_taken_away() -> None:
    x = tf.keras.Input((4, 3))
    model = tf.keras.Model(x, L.LSTM(2, **ALIKE)(x))
    given = model(tf.constant(TABLE[IDS]), mask=tf.constant(IDS != 0))
    rows = embedding(mask_zero=True)(tf.constant(IDS))
    kept = model(rows)
    without = model(rows, mask=None)
    plain = model(tf.constant(TABLE[IDS]))
    found = run([given, kept, without, plain])
    np.testing.assert_allclose(found[0][:, 0], [0.56963784, 0.30729052, 0.39905778], rtol=1e-5)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])


class Net(tf.keras.Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.dropout, self.last = L.Dropout(ALL_OUT), L.Dense(2, kernel_initializer="ones")

    def call(self, inputs: Any, training: Any = None) -> Any:
        return self.last(self.dropout(inputs))


def between() -> Any:
    x = tf.keras.Input((3,))
    return tf.keras.Model(x, L.Dense(2, kernel_initializer="ones")(L.Dropout(ALL_OUT)(x)))


def sequential() -> Any:
    return tf.keras.Sequential([L.Dropout(ALL_OUT), L.Dense(2, kernel_initializer="ones")])


def nested() -> Any:
    return tf.keras.Sequential([Net()])


@pytest.mark.parametrize("make", [Net, between, sequential, nested])
def test_the_phase_of_a_model_is_that_of_its_layers(make: Any) -> None:
    model, x = make(), tf.ones([1, 3])
    fed = tf.placeholder_with_default(True, [])
    phases = [model(x), model(x, training=True), model(x, training=False), model(x, training=fed)]
    assert [float(y[0, 0]) for y in run(phases)] == [3.0, 0.0, 3.0, 0.0]


def test_a_phase_that_a_layer_was_told_stays() -> None:
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, L.Dropout(ALL_OUT)(x, training=False))
    np.testing.assert_array_equal(run(model(tf.ones([1, 3]), training=True)), np.ones([1, 3]))


def test_layers_of_a_model_are_found_and_say_what_they_were_given() -> None:
    model = recurrent()
    assert [layer.name for layer in model.layers] == ["input_1", "lstm", "dropout", "gru"]
    assert model.get_layer("lstm").output is model.outputs[1] is model.get_layer(index=1).output
    model(tf.zeros([5, 4, 3]))
    assert model.layers[2].input is model.outputs[1]
    assert (model.input_shape, model.layers[1].output_shape, model.count_params()) == ((None, 4, 3), (None, 4, 2), 78)
    with pytest.raises(ValueError, match=r"^keras: the model has no layer 'gone'; it has \['input_1', 'lstm', "):
        model.get_layer("gone")
    layer = L.Dense(2)
    layer(tf.zeros([1, 3]))
    text = "keras: the layer 'dense' has no single output: it was called 0 times on what comes from an Input"
    with pytest.raises(ValueError, match=f"^{text}$"):
        _ = layer.output
    with pytest.raises(ValueError, match=r"^keras: the model 'net' has no outputs: it was not made of tensors$"):
        _ = Net().output


def test_penalties_and_updates_of_a_model_between_tensors_are_those_of_its_layers() -> None:
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, L.BatchNormalization(gamma_regularizer="l2")(x))
    model(tf.ones([2, 3]), training=True)
    assert len(model.updates) == 2
    assert run(model.losses) == [pytest.approx(0.03)]


def names() -> list[str]:
    return [v.op.name for v in tf.global_variables()]


SEQUENCES: dict[str, tuple[Any, list[str]]] = {
    "input_shape": (lambda: L.Dense(2, input_shape=(3,)), ["dense/kernel", "dense/bias"]),
    "input_dim": (lambda: L.Dense(2, input_dim=3), ["dense/kernel", "dense/bias"]),
    "batch_input_shape": (lambda: L.SimpleRNN(1, batch_input_shape=(2, 3, 4)), ["simple_rnn/simple_rnn_cell/kernel"]),
    "Input": (lambda: tf.keras.Input((3,)), []),
    "InputLayer": (lambda: L.InputLayer((3,)), []),
    "Embedding": (lambda: L.Embedding(5, 3, input_length=4), ["embedding/embeddings"]),
    "Reshape": (lambda: L.Reshape([4], input_shape=(2, 2)), []),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_that_know_their_inputs_are_built_as_layers_are_added(name: str) -> None:
    make, first = SEQUENCES[name]
    with tf.variable_scope("scope"):
        model = tf.keras.Sequential([make(), L.Dense(4, name="last")])
    assert [n for n in names() if n in first] == [] == [n for n in names() if not n.startswith("scope/")]
    assert names()[: len(first)] == [f"scope/{n}" for n in first]
    assert names()[-2:] == ["scope/last/kernel", "scope/last/bias"]
    assert model.output_shape[-1] == 4
    y = model(tf.zeros(model.inputs[0].shape.as_list()[1:] and [2, *model.inputs[0].shape.as_list()[1:]]))
    assert y.op.name.startswith("sequential/last")


def test_sequences_that_do_not_know_their_inputs_are_built_by_a_call() -> None:
    model = tf.keras.Sequential([L.Dense(2), L.Dense(2)])
    assert (names(), model.built, model.inputs) == ([], False, None)
    model(tf.zeros([1, 3]))
    assert names() == [f"sequential/dense{n}/{part}" for n in ("", "_1") for part in ("kernel", "bias")]


def test_inputs_have_the_names_of_their_layers() -> None:
    model = tf.keras.Sequential([L.Dense(4, input_shape=(3,), activation="relu"), L.Dense(2)])
    assert [tf.keras.Input([1]).op.name, model.inputs[0].op.name] == ["input_1", "dense_input"]
    features = tf.keras.Model(model.input, model.layers[0].output)
    assert features(tf.ones([1, 3])).shape.as_list() == [1, 4]
    model.pop()
    assert (len(model.layers), model.output_shape) == (1, (None, 4))
