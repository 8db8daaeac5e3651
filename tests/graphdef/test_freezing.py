"""Frozen graphs: constants in place of variables give what the session gave, in bodies too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.core.errors import UnimplementedError

X = np.random.RandomState(0).randn(2, 3, 2).astype(np.float32)


def recurrent() -> tuple[pb.Session, list[pb.Tensor], dict[str, Any]]:
    """A session in which variables are read in a loop, its derivative, branches, and by rows."""
    x = tf.placeholder(tf.float32, [2, 3, 2], name="x")
    ids = tf.placeholder(tf.int32, [2], name="ids")
    states, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), x, dtype=tf.float32)
    table = tf.get_variable("table", [5, 3])
    chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: table[0], lambda: 2.0 * table[1])
    y = tf.reduce_sum(states * states) + tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * chosen)
    y = tf.identity(y, name="y")
    dx = tf.identity(tf.gradients(y, x)[0], name="dx")
    tf.train.GradientDescentOptimizer(0.1).minimize(y, name="step")
    session = pb.Session()
    session.run(tf.global_variables_initializer())
    return session, [y, dx], {"x:0": X, "ids:0": [1, 4]}


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_frozen_graph_gives_what_the_session_gave(engine: str) -> None:
    session, fetches, feeds = recurrent()
    wanted = session.run(fetches, feeds)
    frozen = tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), ["y", "dx"])
    assert not [node.name for node in frozen.node if "Var" in node.op or "Resource" in node.op]
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(frozen, name="")
        found = pb.Session(engine=engine).run(["y:0", "dx:0"], feeds)
        assert not graph.get_collection("variables")
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("lists", "frozen"),
    [({}, {"a", "b"}), ({"variable_names_whitelist": ["a"]}, {"a"}), ({"variable_names_blacklist": ["a"]}, {"b"})],
)
def test_variables_may_stay(lists: Any, frozen: set[str]) -> None:
    a, b = pb.Variable(1.0, name="a"), pb.Variable(2.0, name="b")
    pb.add(a, b, name="y")
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    made = tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), ["y"], **lists)
    assert {node.name for node in made.node if node.op == "Const"} == frozen
    assert {node.name for node in made.node if node.op == "VarHandleOp"} == {"a", "b"} - frozen


def test_what_changes_a_variable_is_refused() -> None:
    v = pb.Variable(1.0, name="v")
    v.assign_add(1.0)
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    name = next(op.name for op in session.graph.operations if op.type == "AssignAddVariableOp")
    with pytest.raises(UnimplementedError) as caught:
        tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), [name])
    assert str(caught.value) == (
        f"convert_variables_to_constants: node '{name}' (AssignAddVariableOp) does more with a variable than to read "
        "it; name outputs that do without it, or leave the variable out with variable_names_blacklist"
    )


def test_a_variable_that_the_session_has_not_is_named() -> None:
    with pb.Graph().as_default() as graph:
        pb.identity(pb.Variable(1.0, name="v"), name="y")
    made = graph.as_graph_def()
    with pytest.raises(ValueError, match=r"^convert_variables_to_constants: the graph of the session has no var"):
        tf.graph_util.convert_variables_to_constants(pb.Session(graph=pb.Graph()), made, ["y"])
    made.node.remove(next(node for node in made.node if node.name == "v"))
    with pytest.raises(ValueError, match=r"^extract_sub_graph: node '\w+' reads '\w+', which is not in the graph$"):
        tf.graph_util.extract_sub_graph(made, ["y"])


def test_the_part_of_a_graph_that_some_nodes_need() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    with pb.control_dependencies([pb.no_op(name="before")]):
        y = pb.sin(x, name="y")
    pb.cos(x, name="z")
    made = tf.graph_util.extract_sub_graph(y.graph.as_graph_def(), ["y"])
    assert [node.name for node in made.node] == ["x", "before", "y"]
    with pytest.raises(ValueError, match=r"^extract_sub_graph: there is no node 'w' in the graph$"):
        tf.graph_util.extract_sub_graph(made, ["w"])
    with pytest.raises(TypeError, match=r"^extract_sub_graph: dest_nodes is a list of names, not 'y'$"):
        tf.graph_util.extract_sub_graph(made, "y")


def test_nodes_that_hand_on_are_removed_unless_something_waits_for_them() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    first = pb.identity(pb.identity(x, name="a"), name="b")
    waited = pb.identity(x, name="c")
    with pb.control_dependencies([waited]):
        pb.sin(first, name="y")
    pb.cos(pb.identity(x, name="d"), name="z")
    made = tf.graph_util.remove_training_nodes(x.graph.as_graph_def(), ["d"])
    assert {node.name: list(node.input) for node in made.node} == {
        "x": [],
        "c": ["x"],
        "y": ["x", "^c"],
        "d": ["x"],
        "z": ["d"],
    }
