"""Recurrent networks: cells beside their formulas, and sequences of several lengths."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pullback as pb

CELLS = {
    "rnn": lambda: pb.nn.rnn_cell.BasicRNNCell(4),
    "gru": lambda: pb.nn.rnn_cell.GRUCell(4),
    "lstm": lambda: pb.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=2, cell_clip=5.0, proj_clip=3.0),
    "lstm_one_tensor": lambda: pb.nn.rnn_cell.BasicLSTMCell(3, state_is_tuple=False),
    "multi": lambda: pb.nn.rnn_cell.MultiRNNCell([pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.BasicLSTMCell(2)]),
}
LENGTHS = [3, 1, 0]
X = np.random.default_rng(0).normal(size=(3, 3, 2)).astype(np.float32)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def started() -> pb.Session:
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session


def test_basic_lstm_has_the_gates_i_j_f_o_and_a_forget_bias() -> None:
    cell = pb.nn.rnn_cell.BasicLSTMCell(4)
    c0, h0 = np.full((3, 4), 0.5, np.float32), np.full((3, 4), -0.5, np.float32)
    output, state = cell(X[0], pb.nn.rnn_cell.LSTMStateTuple(pb.constant(c0), pb.constant(h0)))
    kernel, y, (c, h) = started().run([cell.variables[0], output, state])
    i, j, f, o = np.split(np.concatenate([X[0], h0], 1) @ kernel, 4, 1)
    expected = c0 * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(c, expected, rtol=1e-5)
    np.testing.assert_allclose(h, np.tanh(expected) * sigmoid(o), rtol=1e-5)
    np.testing.assert_array_equal(y, h)


def test_gru_resets_the_state_before_the_product() -> None:
    cell = pb.nn.rnn_cell.GRUCell(4)
    h0 = np.full((3, 4), 0.5, np.float32)
    output, _ = cell(X[0], pb.constant(h0))
    kernel, bias, kernel2, bias2, y = started().run([*cell.variables, output])
    r, u = np.split(sigmoid(np.concatenate([X[0], h0], 1) @ kernel + bias), 2, 1)
    candidate = np.tanh(np.concatenate([X[0], r * h0], 1) @ kernel2 + bias2)
    np.testing.assert_allclose(y, u * h0 + (1 - u) * candidate, rtol=1e-5)
    assert bias.tolist() == [1.0] * 8


@pytest.mark.parametrize("kind", CELLS)
def test_a_loop_and_its_derivatives_are_those_of_the_steps_written_out(kind: str) -> None:
    """To second order, with sequences that end early."""
    cell, x = CELLS[kind](), pb.constant(X)
    outputs, state = pb.nn.dynamic_rnn(cell, x, LENGTHS)
    listed, end = pb.nn.static_rnn(cell, [x[:, t] for t in range(3)], sequence_length=LENGTHS)
    found = []
    for ys in ([outputs, state], [pb.stack(listed, 1), end]):
        loss = pb.add_n([pb.reduce_sum(y * y * y) for y in pb.nest.flatten(ys)])
        first = pb.gradients(loss, [x, *cell.variables])
        found.append(
            [*pb.nest.flatten(ys), *first, *pb.gradients(pb.reduce_sum(first[0] ** 2), [x, cell.variables[0]])]
        )
    for a, b in zip(*started().run(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_lengths_of_sequences_may_be_sums_of_a_floating_mask() -> None:
    cell = pb.nn.rnn_cell.GRUCell(4)
    ys = [pb.nn.dynamic_rnn(cell, pb.constant(X), n)[0] for n in (LENGTHS, pb.cast(LENGTHS, pb.float32) + 0.5)]
    np.testing.assert_array_equal(*started().run(ys))
    with pytest.raises(ValueError, match=r"sequence_length must be a vector of integers, not bool\[3\]$"):
        pb.nn.dynamic_rnn(cell, pb.constant(X), [True, False, True])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_nothing_need_be_known_of_the_lengths_of_sequences(engine: str) -> None:
    cell, lengths, x = pb.nn.rnn_cell.LSTMCell(4), pb.placeholder(pb.int64), pb.constant(X)
    cell(x[:, 0], cell.zero_state(3, pb.float32))
    looped, state = pb.nn.dynamic_rnn(cell, x, lengths, dtype=pb.float32)
    both, _ = pb.nn.bidirectional_dynamic_rnn(cell, cell, x, lengths, dtype=pb.float32)
    written, _ = pb.nn.static_rnn(cell, pb.unstack(x, axis=1), dtype=pb.float32, sequence_length=lengths)
    assert looped.shape == both[1].shape == [3, 3, 4]
    assert state.h.shape == [3, 4]
    ys = [looped, both[0], pb.stack(written, 1)]
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        values = session.run([pb.gradients(y, x)[0] for y in ys], {lengths: LENGTHS})
    for value in values:
        np.testing.assert_allclose(value, values[0], rtol=1e-5, atol=1e-6)


class Pairs(pb.nn.rnn_cell.RNNCell):
    """A cell of two inputs, outputs and states."""

    state_size = output_size = (2, 2)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        a, b = state[0] + inputs[0], state[1] * 0.5 + inputs[1]
        return (a * b, a), (a, b)


def test_inputs_may_be_nested() -> None:
    x = pb.constant(X), pb.constant(2.0 * X)
    looped, _ = pb.nn.dynamic_rnn(Pairs(), x, LENGTHS, dtype=pb.float32)
    rows = list(zip(*[pb.unstack(part, axis=1) for part in x], strict=True))
    written, state = pb.nn.static_rnn(Pairs(), rows, dtype=pb.float32, sequence_length=LENGTHS)
    (_, backward), (_, end) = pb.nn.bidirectional_dynamic_rnn(Pairs(), Pairs(), x, LENGTHS, dtype=pb.float32)
    found = started().run([looped, [pb.stack([y[i] for y in written], 1) for i in (0, 1)], state, end, backward])
    np.testing.assert_allclose(found[0], found[1])
    np.testing.assert_allclose(found[2][0], [X[0].sum(0), X[1, 0], np.zeros(2)], rtol=1e-5)
    np.testing.assert_allclose(found[3][0], found[2][0], rtol=1e-5)
    np.testing.assert_allclose(found[4][1][0, 0], X[0].sum(0), rtol=1e-5)


def test_beyond_the_end_of_a_sequence_the_state_stays_and_nothing_comes_out() -> None:
    x = pb.constant(np.where(np.arange(3)[None, :, None] < np.array(LENGTHS)[:, None, None], X, np.nan))
    first = pb.constant(np.full((3, 4), 0.25, np.float32))
    outputs, state = pb.nn.dynamic_rnn(pb.nn.rnn_cell.GRUCell(4), x, LENGTHS, first)
    y, end, dx = started().run([outputs, state, *pb.gradients([outputs, state], x)])
    assert not y[1, 1:].any()
    assert not y[2].any()
    np.testing.assert_array_equal(end[:2], [y[0, 2], y[1, 0]])
    assert end[2].tolist() == [0.25] * 4
    assert dx[0].all()
    assert not dx[1, 1:].any()
    assert not dx[2].any()


def test_the_backward_cell_begins_at_the_end_of_each_sequence() -> None:
    cells = [pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.GRUCell(4)]
    (_, backward), (_, state) = pb.nn.bidirectional_dynamic_rnn(*cells, pb.constant(X), LENGTHS)
    alone, end = pb.nn.static_rnn(cells[1], [pb.constant(X[:1, t]) for t in (2, 1, 0)])
    ys, state_value, expected, expected_end = started().run([backward, state, alone, end])
    np.testing.assert_allclose(ys[0], np.concatenate(expected)[::-1], rtol=1e-5)
    np.testing.assert_allclose(state_value[:1], expected_end, rtol=1e-5)
    assert [v.name.rsplit("/", 1)[0] for v in pb.global_variables()[2:6:2]] == [
        "bidirectional_rnn/fw/gru_cell/candidate",
        "bidirectional_rnn/bw/gru_cell/gates",
    ]


def test_both_engines_agree_with_unknown_batch_and_steps() -> None:
    x = pb.placeholder(pb.float32, [None, None, 2])
    outputs, state = pb.nn.dynamic_rnn(pb.nn.rnn_cell.BasicLSTMCell(4), x, LENGTHS)
    values = []
    weights = [0.1 * np.arange(np.prod(v.shape.known)).reshape(v.shape.known) % 0.7 for v in pb.global_variables()]
    for engine in ("numpy", "xla"):
        session = pb.Session(engine=engine)
        for v, w in zip(pb.global_variables(), weights, strict=True):
            session.run(v.assign(w.astype(np.float32)))
        values.append(session.run([outputs, state.h, *pb.gradients(outputs, x)], {x: X}))
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_one_cell_shares_its_variables_and_two_have_their_own() -> None:
    x, cell = pb.constant(X), pb.nn.rnn_cell.BasicRNNCell(4)
    pb.nn.dynamic_rnn(cell, x)
    pb.nn.dynamic_rnn(cell, x)
    pb.nn.dynamic_rnn(pb.nn.rnn_cell.BasicRNNCell(4), x)
    with pb.variable_scope("", reuse=True):
        shared = pb.nn.rnn_cell.BasicRNNCell(4)
        pb.nn.dynamic_rnn(shared, x)
    assert [v.name for v in pb.global_variables()] == [
        "rnn/basic_rnn_cell/kernel:0",
        "rnn/basic_rnn_cell/bias:0",
        "rnn/basic_rnn_cell_1/kernel:0",
        "rnn/basic_rnn_cell_1/bias:0",
    ]
    assert shared.variables == cell.variables


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_dropout_around_a_cell_is_drawn_anew_at_each_step(engine: str) -> None:
    keep = pb.placeholder_with_default(1.0, [])
    cell = pb.nn.rnn_cell.BasicRNNCell(50, activation=lambda x: pb.ones_like(x))
    outputs, _ = pb.nn.dynamic_rnn(pb.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep), pb.constant(X))
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        assert session.run(outputs).min() == 1.0
        first, second, _ = session.run(outputs, {keep: 0.5})[0]
    assert set(first.tolist()) == {0.0, 2.0}
    assert first.tolist() != second.tolist()


def test_dropout_keeps_what_a_cell_remembers() -> None:
    cell = pb.nn.rnn_cell.DropoutWrapper(pb.nn.rnn_cell.BasicLSTMCell(50), state_keep_prob=0.5)
    layers = pb.nn.rnn_cell.MultiRNNCell([cell, pb.nn.rnn_cell.ResidualWrapper(pb.nn.rnn_cell.GRUCell(50))])
    _, (state, _) = pb.nn.dynamic_rnn(layers, pb.constant(X))
    assert [v.op.name for v in pb.trainable_variables()] == [
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel",
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias",
    ]
    c, h = started().run([state.c, state.h])
    assert np.count_nonzero(c) == c.size
    assert 0 < np.count_nonzero(h) < h.size


def test_a_residual_is_what_goes_in_and_what_comes_out() -> None:
    cell = pb.nn.rnn_cell.BasicRNNCell(2, activation=pb.ones_like)
    doubled = pb.nn.rnn_cell.ResidualWrapper(cell, lambda x, y: 2.0 * x + y)
    outputs = [pb.nn.dynamic_rnn(c, pb.constant(X))[0] for c in (pb.nn.rnn_cell.ResidualWrapper(cell), doubled)]
    once, twice = started().run(outputs)
    np.testing.assert_allclose(once, X + 1.0)
    np.testing.assert_allclose(twice, 2.0 * X + 1.0)
    assert len(pb.global_variables()) == 2


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_one_draw_is_for_all_steps_and_all_of_a_batch(engine: str) -> None:
    cells = [
        pb.nn.rnn_cell.DropoutWrapper(
            make(40), 0.5, 0.5, 0.5, variational_recurrent=True, input_size=size, dtype=pb.float32, seed=3
        )
        for make, size in [(pb.nn.rnn_cell.BasicLSTMCell, 2), (pb.nn.rnn_cell.GRUCell, 40)]
    ]
    outputs, _ = pb.nn.dynamic_rnn(pb.nn.rnn_cell.MultiRNNCell(cells), pb.constant(X + 1.0))
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        first, second = session.run(outputs) == 0, session.run(outputs) == 0
    dropped = first[0, 0]
    assert (first == dropped).all()
    assert 0 < np.count_nonzero(dropped) < 40
    assert (second != first).any()


def test_a_seed_is_another_draw_for_each_of_what_is_dropped() -> None:
    cell = pb.nn.rnn_cell.BasicRNNCell(50, activation=pb.ones_like)
    outputs, state = pb.nn.rnn_cell.DropoutWrapper(cell, 1.0, 0.5, 0.5, seed=3)(pb.ones([1, 2]), pb.zeros([1, 50]))
    dropped = started().run([outputs, state])
    assert (dropped[0] != dropped[1]).any()


def test_what_one_draw_must_know() -> None:
    def wrapped(**options: object) -> None:
        pb.nn.rnn_cell.DropoutWrapper(pb.nn.rnn_cell.GRUCell(4), variational_recurrent=True, **options)

    with pytest.raises(ValueError, match=r"^DropoutWrapper: with variational_recurrent=True pass dtype=, of what is"):
        wrapped()
    with pytest.raises(ValueError, match=r"^DropoutWrapper: with variational_recurrent=True and input_keep_prob pass"):
        wrapped(dtype=pb.float32, input_keep_prob=0.5)


def test_messages() -> None:
    text = r"^dynamic_rnn: inputs must be of rank 3 at least, \[batch, steps, \.\.\.\], not float32\[2,3\]$"
    with pytest.raises(ValueError, match=text):
        pb.nn.dynamic_rnn(pb.nn.rnn_cell.GRUCell(4), pb.zeros([2, 3]))
    with pytest.raises(TypeError, match=r"^dynamic_rnn: cell must be an RNNCell, not 4; a class of its own needs"):
        pb.nn.dynamic_rnn(4, pb.zeros([2, 3, 4]))
    with pytest.raises(ValueError, match=r"^gru_cell: the last length of the inputs must be known$"):
        pb.nn.dynamic_rnn(pb.nn.rnn_cell.GRUCell(4), pb.placeholder(pb.float32, [2, 3, None]))
    with pytest.raises(ValueError, match=r"^static_rnn: there are no inputs$"):
        pb.nn.static_rnn(pb.nn.rnn_cell.GRUCell(4), [])


def test_a_cell_is_placed_on_a_device() -> None:
    cell = pb.nn.rnn_cell.DeviceWrapper(pb.nn.rnn_cell.LSTMCell(2), "/cpu:1")
    output, state = cell(pb.zeros([1, 3]), cell.zero_state(1, pb.float32))
    assert {output.op.device, state.c.op.device} == {"/device:CPU:1"}
    assert (cell.output_size, len(cell.variables)) == (2, 2)
    assert pb.zeros([1]).op.device != "/device:CPU:1"


@pytest.mark.parametrize("kind", [pb.nn.rnn_cell.BasicRNNCell, pb.nn.rnn_cell.GRUCell, pb.nn.rnn_cell.BasicLSTMCell])
def test_activations_of_cells_may_be_named(kind: Any) -> None:
    x = np.random.default_rng(0).normal(size=[2, 4]).astype(np.float32)
    results = []
    for given in ("softsign", pb.nn.softsign):
        with pb.Graph().as_default():
            cell = kind(3, activation=given)
            with pb.variable_scope("cell", initializer=pb.initializers.random_normal(seed=1)):
                y, _ = cell(pb.constant(x), cell.zero_state(2, pb.float32))
            session = pb.Session(engine="numpy")
            session.run(pb.global_variables_initializer())
            results.append(session.run(y))
    np.testing.assert_array_equal(*results)


def test_an_unknown_name_of_an_activation_is_refused() -> None:
    message = (
        "activation: there is no function named 'rlu'; there are tanh, sigmoid, relu, elu, selu, softplus, softsign, "
        "exponential, linear"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        pb.nn.rnn_cell.GRUCell(3, activation="rlu")


def test_the_state_to_begin_with_is_that_of_inputs_or_of_a_batch() -> None:
    cell = pb.nn.rnn_cell.MultiRNNCell([pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.BasicLSTMCell(2)])
    x = pb.placeholder(pb.float64, [None, 3])
    first, (c, _) = cell.get_initial_state(x)
    assert (first.shape.as_list(), first.dtype, c.shape.as_list()) == ([None, 4], pb.float64, [None, 2])
    assert cell.get_initial_state(batch_size=5, dtype=pb.float32)[0].shape.as_list() == [5, 4]
    assert cell.get_initial_state(pb.zeros([5, 3]), pb.constant(5), pb.float32)[0].shape.as_list() == [5, 4]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "get_initial_state: batch_size and dtype cannot be None without inputs; they are batch_size=None"),
        ({"inputs": X[0], "batch_size": 5}, "get_initial_state: the batch size from input tensor is different from"),
        ({"inputs": X[0], "dtype": pb.float64}, "get_initial_state: the dtype from input tensor is different from"),
    ],
)
def test_what_tells_no_state_to_begin_with(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        pb.nn.rnn_cell.GRUCell(4).get_initial_state(**given)


@pytest.mark.parametrize("name", CELLS)
def test_cells_take_floats_only(name: str) -> None:
    cell = CELLS[name]()
    with pytest.raises(ValueError, match=r"^RNN cell only supports floating point inputs and states, not int32$"):
        cell(pb.ones([2, 3], pb.int32), cell.zero_state(2, pb.int32))


class Counted:
    """A cell of no class: the output counts the steps, the state begins where it says."""

    state_size = output_size = 1

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return pb.fill([batch_size, 1], pb.constant(10.0, dtype))

    def __call__(self, inputs: Any, state: Any) -> Any:
        return state, state + 1.0


def test_a_cell_may_be_of_no_class_that_is_derived() -> None:
    x = pb.zeros([2, 3, 4])
    through, end = pb.nn.dynamic_rnn(Counted(), x, [3, 1])
    listed, _ = pb.nn.static_rnn(pb.nn.rnn_cell.DropoutWrapper(Counted()), pb.unstack(x, axis=1))
    deep, _ = pb.nn.static_rnn(pb.nn.rnn_cell.MultiRNNCell([Counted(), Counted()]), pb.unstack(x, axis=1))
    results = started().run([through, end, pb.stack(listed), pb.stack(deep)])
    assert results[0][:, :, 0].tolist() == [[10.0, 11.0, 12.0], [10.0, 0.0, 0.0]]
    assert results[1].tolist() == [[13.0], [11.0]]
    assert results[2][:, 0, 0].tolist() == results[3][:, 0, 0].tolist() == [10.0, 11.0, 12.0]


def test_states_of_cells_upon_each_other_may_be_one_tensor() -> None:
    def deep(as_tuple: bool) -> Any:
        cells = [pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.BasicLSTMCell(2, state_is_tuple=False)]
        return pb.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=as_tuple)

    x = pb.constant(X)
    with pb.variable_scope("net"):
        parted, ends = pb.nn.dynamic_rnn(deep(True), x)
    with pb.variable_scope("net", reuse=True):
        whole, end = pb.nn.dynamic_rnn(deep(False), x)
    assert (deep(False).state_size, end.shape.as_list()) == (8, [3, 8])
    first, second, parts, one = started().run([parted, whole, pb.concat(ends, 1), end])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(parts, one)


def test_states_of_another_kind_are_refused() -> None:
    cells = [pb.nn.rnn_cell.GRUCell(4), pb.nn.rnn_cell.BasicLSTMCell(2)]
    with pytest.raises(ValueError, match=r"^MultiRNNCell: the states of some cells are tuples, of \(4, LSTMStateTuple"):
        pb.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=False)
    with pytest.raises(ValueError, match=r"^MultiRNNCell: at least one cell is needed$"):
        pb.nn.rnn_cell.MultiRNNCell([])
    deep = pb.nn.rnn_cell.MultiRNNCell(cells)
    for given in (pb.zeros([3, 8]), (pb.zeros([3, 4]),)):
        with pytest.raises(ValueError, match=r"^MultiRNNCell: Expected state to be a tuple of length 2, not "):
            deep(X[0], given)


@pytest.mark.parametrize("kind", [pb.nn.rnn_cell.DropoutWrapper, pb.nn.rnn_cell.ResidualWrapper])
def test_a_wrapper_has_its_cell(kind: Any) -> None:
    cell = pb.nn.rnn_cell.GRUCell(4)
    assert kind(cell).wrapped_cell is cell


def _cells() -> list[Any]:
    cell = pb.nn.rnn_cell
    return [
        cell.BasicRNNCell(3, "relu"),
        cell.GRUCell(3, kernel_initializer=pb.zeros_initializer(), name="mine"),
        cell.LSTMCell(3, num_proj=3, activation=pb.sigmoid, dtype=pb.float64),
        cell.MultiRNNCell([cell.BasicLSTMCell(2), cell.DropoutWrapper(cell.GRUCell(3), 0.5, seed=1)]),
        cell.ResidualWrapper(cell.DeviceWrapper(cell.BasicRNNCell(3), "/cpu:0")),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_cell_is_made_again_of_its_configuration(number: int) -> None:
    cell = _cells()[number]
    config = cell.get_config()
    again = type(cell).from_config(config)
    assert again.get_config() == config
    assert (type(again), again.state_size, again.output_size) == (type(cell), cell.state_size, cell.output_size)
    outputs, _ = pb.nn.dynamic_rnn(again, pb.zeros([1, 2, 3], pb.float64 if number == 2 else pb.float32))
    assert outputs.shape == [1, 2, 3]


def test_configurations_name_what_has_a_name() -> None:
    simple, _, projected, stacked, wrapped = [cell.get_config() for cell in _cells()]
    assert simple == {"num_units": 3, "activation": "relu", "reuse": None, "name": None, "dtype": None}
    assert (projected["activation"], projected["dtype"]) == ("sigmoid", "float64")
    assert [part["class_name"] for part in stacked["cells"]] == ["LSTMCell", "DropoutWrapper"]
    assert wrapped["cell"]["config"]["device"] == "/cpu:0"


def test_cells_of_ones_own_are_made_again_by_their_classes() -> None:
    class Kept(pb.nn.rnn_cell.RNNCell):
        output_size = state_size = 1

        def __init__(self, factor: float, offset: float = 0.0) -> None:
            super().__init__()
            self.factor = factor + offset

    config = pb.nn.rnn_cell.ResidualWrapper(Kept(2.0)).get_config()
    assert config["cell"] == {"class_name": "Kept", "config": {"factor": 2.0, "offset": 0.0}}
    config["cell"]["class_name"] = "Other"
    with pytest.raises(ValueError, match=r"^from_config: there is no cell of the class 'Other'; pass it in custom_obj"):
        pb.nn.rnn_cell.ResidualWrapper.from_config(config)
    again = pb.nn.rnn_cell.ResidualWrapper.from_config(config, {"Other": Kept})
    assert again.cell.factor == 2.0


def test_cells_say_what_checkpoints_save_with_them() -> None:
    _, gru, _, stacked, wrapped = _cells()
    assert [name for name, _ in stacked._checkpoint_dependencies] == ["cell-0", "cell-1"]
    assert wrapped._checkpoint_dependencies == [("cell", wrapped.cell)]
    gru(pb.zeros([1, 2]), gru.zero_state(1, pb.float32))
    held = gru._checkpoint_dependencies
    assert [name for name, _ in held] == ["gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"]
    assert [x.ref for x in held] == gru.variables
    assert gru.dtype == pb.float32
