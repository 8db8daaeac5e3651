"""`serialize`, `deserialize` and `get` of initializers, regularizers, activations, constraints and losses of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

keras = tf.keras
RANDOM = {"mean": 0.0, "stddev": 0.05, "seed": None, "dtype": "float32"}


@pytest.mark.parametrize(
    ("module", "name", "config"),
    [
        ("initializers", "zeros", {"class_name": "Zeros", "config": {"dtype": "float32"}}),
        ("initializers", "Ones", {"class_name": "Ones", "config": {"dtype": "float32"}}),
        ("initializers", "random_normal", {"class_name": "RandomNormal", "config": RANDOM}),
        ("initializers", "TruncatedNormal", {"class_name": "TruncatedNormal", "config": RANDOM}),
        ("initializers", "constant", {"class_name": "Constant", "config": {"value": 0, "dtype": "float32"}}),
        (
            "initializers",
            "orthogonal",
            {"class_name": "Orthogonal", "config": {"gain": 1.0, "seed": None, "dtype": "float32"}},
        ),
        ("regularizers", "l2", {"class_name": "L2", "config": {"l2": float(np.float32(0.01))}}),
        ("regularizers", "L1", {"class_name": "L1", "config": {"l1": float(np.float32(0.01))}}),
        ("regularizers", "L1L2", {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.0}}),
        ("constraints", "max_norm", {"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 0}}),
        ("activations", "relu", "relu"),
        ("activations", "exponential", "exponential"),
        ("losses", "mse", "mean_squared_error"),
        (
            "losses",
            "MeanSquaredError",
            {"class_name": "MeanSquaredError", "config": {"reduction": "auto", "name": None}},
        ),
    ],
)
def test_an_object_is_told_of_and_made_again(module: str, name: str, config: Any) -> None:
    place = getattr(keras, module)
    assert place.serialize(place.get(name)) == config
    assert place.serialize(place.deserialize(config)) == config
    assert place.serialize(place.get(config)) == config


@pytest.mark.parametrize("module", ["initializers", "regularizers", "constraints", "losses", "activations"])
def test_what_is_no_object_of_keras_is_refused(module: str) -> None:
    place = getattr(keras, module)
    with pytest.raises(ValueError, match=r"^Unknown .*: 'foo'\. Give it itself, or name it in custom_objects$"):
        place.get("foo")
    with pytest.raises(TypeError if module == "activations" else ValueError, match=r"^Could not interpret .*: 3$"):
        place.get(3)
    assert place.get(None) is (keras.activations.linear if module == "activations" else None)


@pytest.mark.parametrize(
    ("made", "config"),
    [
        (
            tf.variance_scaling_initializer(2.0, "fan_out"),
            {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal", "seed": None, "dtype": "float32"},
        ),
        (tf.constant_initializer(3.0), {"value": 3.0, "dtype": "float32"}),
        (tf.random_uniform_initializer(-1, 1), {"minval": -1, "maxval": 1, "seed": None, "dtype": "float32"}),
        (tf.random_normal_initializer.from_config({"stddev": 2.0}), RANDOM | {"stddev": 2.0}),
    ],
)
def test_initializers_tell_what_makes_them(made: Any, config: dict[str, Any]) -> None:
    assert made.get_config() == config
    assert type(made).from_config(config).get_config() == config


def test_names_of_a_program_stand_for_objects_in_a_block() -> None:
    class Filled(keras.initializers.Initializer):
        def __init__(self, value: float = 1.0) -> None:
            self.value = value

        def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.fill(shape, self.value)

        def get_config(self) -> dict[str, Any]:
            return {"value": self.value}

    told = keras.initializers.serialize(Filled(5.0))
    with keras.utils.custom_object_scope({"Filled": Filled}):
        kernel = keras.layers.Dense(1, kernel_initializer=told)(tf.ones([1, 2]))
        assert keras.initializers.get("Filled").value == 1.0
        assert keras.utils.get_custom_objects() == {"Filled": Filled}
    assert keras.utils.get_custom_objects() == {}
    assert keras.initializers.deserialize(told, {"Filled": Filled}).value == 5.0
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        assert session.run(kernel) == [[10.0]]


def test_a_penalty_that_was_made_again_is_the_same() -> None:
    x = tf.constant([1.0, -2.0])
    made = keras.regularizers.deserialize(keras.regularizers.serialize(keras.regularizers.l1_l2(0.5, 0.25)))
    assert tf.Session(engine="numpy").run(made(x)) == 1.5 + 1.25
