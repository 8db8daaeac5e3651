"""Masks of Keras: which layers hand them on, and what recurrent layers make of steps that do not count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.compat import v1 as tf
from pullback.compat.v1.keras.history import mask_of

L = tf.keras.layers
IDS = np.array([[1, 2, 0, 4], [3, 0, 0, 0], [0, 0, 2, 2]])
SHORT = np.array([[1, 2, 4], [3, 1, 1], [2, 2, 1]])
"""Those that count of each sequence, in front."""
COUNTS = np.array([3, 1, 2])
RECURRENT = [L.SimpleRNN, L.LSTM, L.GRU]


def run(fetches: Any, engine: str = "numpy") -> Any:
    with pb.Session(engine=engine) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def embedded(ids: Any, mask_zero: bool = True) -> Any:
    """Rows of a table that is the same for all."""
    table = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    return L.Embedding(5, 3, weights=[table], mask_zero=mask_zero)(tf.constant(ids))


def alike(layer: Any, *args: Any, **options: Any) -> Any:
    """A layer whose variables have the same values wherever it is made."""
    made = {f"{kind}_initializer": tf.constant_initializer(0.3) for kind in ("kernel", "recurrent")}
    return layer(*args, **made, **options)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("kind", RECURRENT)
def test_steps_that_do_not_count_change_nothing(kind: Any, engine: str) -> None:
    end = alike(kind, 2)(embedded(IDS))
    steps = alike(kind, 2, return_sequences=True)(embedded(SHORT, mask_zero=False))
    found, wanted = run([end, steps], engine)
    np.testing.assert_allclose(found, wanted[np.arange(3), COUNTS - 1], rtol=1e-5)


@pytest.mark.parametrize("kind", RECURRENT)
def test_outputs_of_steps_that_do_not_count_are_those_before_or_zero(kind: Any) -> None:
    x = embedded(IDS)
    kept, zero, end = run(
        [
            alike(kind, 2, return_sequences=True)(x),
            alike(kind, 2, return_sequences=True, zero_output_for_mask=True)(x),
            alike(kind, 2)(x),
        ]
    )
    np.testing.assert_array_equal(zero[IDS == 0], 0.0)
    np.testing.assert_array_equal(kept[IDS != 0], zero[IDS != 0])
    np.testing.assert_array_equal(kept[:, -1], end)
    np.testing.assert_array_equal(kept[2, :2], 0.0)


@pytest.mark.parametrize("kind", RECURRENT)
def test_derivatives_of_steps_that_do_not_count_are_zero(kind: Any) -> None:
    x = tf.constant(np.ones((3, 4, 3), np.float32))
    y = alike(kind, 2)(x, mask=tf.constant(IDS != 0))
    (dx,) = run(tf.gradients(y, x))
    np.testing.assert_array_equal((dx != 0.0).all(-1), IDS != 0)


@pytest.mark.parametrize("return_sequences", [False, True])
@pytest.mark.parametrize("merge_mode", ["concat", "sum", "mul", "ave", None])
def test_both_directions_are_put_together(merge_mode: Any, return_sequences: bool) -> None:
    x = embedded(IDS)
    options: dict[str, Any] = {"return_sequences": return_sequences, "zero_output_for_mask": return_sequences}
    layer = alike(L.LSTM, 2, return_sequences=return_sequences)
    both = L.Bidirectional(layer, merge_mode=merge_mode)(x)
    first = alike(L.LSTM, 2, **options)(x)
    second = alike(L.LSTM, 2, go_backwards=True, **options)(x)
    a, b, found = run([first, second, both])
    b = b[:, ::-1] if return_sequences else b
    wanted = {"concat": np.concatenate([a, b], -1), "sum": a + b, "mul": a * b, "ave": (a + b) / 2, None: [a, b]}
    np.testing.assert_allclose(found, wanted[merge_mode], rtol=1e-6)


def test_the_states_of_both_directions_are_returned_and_given() -> None:
    layer = L.Bidirectional(L.LSTM(2, return_state=True))
    found = layer(tf.zeros([3, 4, 5]), initial_state=[tf.ones([3, 2])] * 4)
    assert [y.shape.as_list() for y in found] == [[3, 4], *[[3, 2]] * 4]
    assert [v.op.name for v in layer.trainable_variables] == [
        f"bidirectional/{way}_lstm/lstm_cell/{part}"
        for way in ("forward", "backward")
        for part in ("kernel", "recurrent_kernel", "bias")
    ]


HANDED_ON: dict[str, Callable[[], Any]] = {
    "dense": lambda: L.Dense(2),
    "activation": lambda: L.Activation("tanh"),
    "dropout": lambda: L.Dropout(0.5),
    "noise": lambda: L.SpatialDropout1D(0.5),
    "batch normalization": lambda: L.BatchNormalization(),
    "layer normalization": lambda: L.LayerNormalization(),
    "rectifier": lambda: L.LeakyReLU(),
    "learnt rectifier": lambda: L.PReLU(),
    "sequence": lambda: L.GRU(2, return_sequences=True),
    "both directions": lambda: L.Bidirectional(L.GRU(2, return_sequences=True)),
    "each step": lambda: L.TimeDistributed(L.Dense(2)),
}
ENDING: dict[str, Callable[[], Any]] = {
    "flat": lambda: L.Flatten(),
    "convolution": lambda: L.Conv1D(2, 1),
    "mean": lambda: L.GlobalAveragePooling1D(),
    "function": lambda: L.Lambda(lambda x: 2.0 * x),
    "axes": lambda: L.Permute([2, 1]),
    "last output": lambda: L.LSTM(2),
    "model": lambda: tf.keras.Sequential([L.LSTM(2), L.Dense(1)]),
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_a_mask_is_handed_on(name: str) -> None:
    mask = mask_of(HANDED_ON[name]()(embedded(IDS)))
    np.testing.assert_array_equal(run(mask), IDS != 0)


@pytest.mark.parametrize("name", ENDING)
def test_a_mask_ends(name: str) -> None:
    assert mask_of(ENDING[name]()(embedded(IDS))) is None


def test_the_mean_is_that_of_the_steps_that_count() -> None:
    x = embedded(IDS)
    rows, mean = run([x, L.GlobalAveragePooling1D()(x)])
    np.testing.assert_allclose(mean, [r[i != 0].mean(0) for r, i in zip(rows, IDS, strict=True)], rtol=1e-5)


def test_masks_of_several_are_joined() -> None:
    x, y = embedded(IDS), embedded(IDS[:, ::-1].copy())
    masks = [L.Add()([x, y]), L.Concatenate()([x, y]), L.Concatenate(axis=1)([x, y]), L.Add()([x, x + 1.0])]
    both, joined, behind, one = run([mask_of(z) for z in masks])
    wanted = (IDS != 0) & (IDS[:, ::-1] != 0)
    np.testing.assert_array_equal(both, wanted)
    np.testing.assert_array_equal(joined, wanted)
    np.testing.assert_array_equal(behind, np.concatenate([IDS, IDS[:, ::-1]], 1) != 0)
    np.testing.assert_array_equal(one, IDS != 0)


def test_a_cell_of_ones_own_runs_alone_and_behind_others() -> None:
    class Cell(L.Layer):  # type: ignore[misc, valid-type]
        def __init__(self, units: int) -> None:
            super().__init__()
            self.state_size = units

        def build(self, input_shape: Any) -> None:
            self.kernel = self.add_weight("kernel", [input_shape[-1], self.state_size], initializer="ones")

        def call(self, inputs: Any, states: Any) -> Any:
            y = tf.matmul(inputs, self.kernel) + states[0]
            return y, [y]

    x = tf.ones([1, 3, 2])
    alone, stacked = run([L.RNN(Cell(1))(x), L.RNN([Cell(2), Cell(1)], return_sequences=True)(x)])
    assert alone.tolist() == [[6.0]]
    assert stacked[..., 0].tolist() == [[4.0, 12.0, 24.0]]
