"""Graphs that are made to do harm, or were damaged: documented errors, within limits."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest

import pullback as pb

pytest.importorskip("tensorboard")

from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

from .test_fixtures import FIXTURES

DAMAGED = ["cond", "nested_while", "cond_in_while_v2", "embedding"]


def calling(name: str, *called: str) -> GraphDef:
    """A function of that name that calls others, and a node that calls it."""
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = name
    for i, other in enumerate(called):
        node = function.node_def.add(name=f"n{i}", op="PartitionedCall")
        node.attr["f"].func.name = other
        function.control_ret[f"n{i}"] = f"n{i}"
    node = graph.node.add(name="call", op="PartitionedCall")
    node.attr["f"].func.name = name
    return graph


def test_a_function_that_calls_itself_is_too_deep() -> None:
    with pytest.raises(pb.errors.ResourceExhaustedError, match="one inside the other"), pb.Graph().as_default():
        pb.import_graph_def(calling("f", "f"))


def test_functions_that_call_each_other_twice_are_too_many_nodes() -> None:
    graph = calling("f0", "f1", "f1")
    for i in range(1, 25):
        graph.library.function.append(calling(f"f{i}", f"f{i + 1}", f"f{i + 1}").library.function[0])
    graph.library.function.append(calling("f25").library.function[0])
    limits = pb.config.Limits(nodes=1000)
    with (
        limits,
        pytest.raises(pb.errors.ResourceExhaustedError, match="more than 1,000 nodes"),
        pb.Graph().as_default(),
    ):
        pb.import_graph_def(graph)


def test_a_function_that_is_not_there_is_said() -> None:
    graph = calling("f")
    graph.node[0].attr["f"].func.name = "g"
    with pytest.raises(pb.errors.InvalidArgumentError) as error, pb.Graph().as_default():
        pb.import_graph_def(graph)
    assert str(error.value) == "import_graph_def: there is no function 'g' in the library"


CIRCLE = """
    node_def { name: "a" op: "Identity" input: "b:output:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "b" op: "Identity" input: "a:output:0" attr { key: "T" value { type: DT_FLOAT } } }
"""


def test_nodes_in_a_circle_that_hand_on_what_they_are_given_are_refused() -> None:
    graph = GraphDef()
    signature = 'signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }'
    text_format.Parse(
        f'library {{ function {{ {signature} {CIRCLE} ret {{ key: "y" value: "a:output:0" }} }} }}', graph
    )
    text_format.Parse(X + 'node { name: "loop" op: "While" input: "x" }', graph)
    for role in ("cond", "body"):
        graph.node[1].attr[role].func.name = "f"
    with pytest.raises(pb.errors.InvalidArgumentError) as error, pb.Graph().as_default():
        pb.import_graph_def(graph)
    assert str(error.value) == "import_graph_def: in the function 'f', 'a' depends on itself"


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_graph_is_an_error_of_ours(seed: int) -> None:
    """Inputs, attributes and op types are taken away or exchanged; nothing else than our errors comes of it."""
    chosen = random.Random(seed)
    for _ in range(20):
        graph = GraphDef.FromString((FIXTURES / f"{chosen.choice(DAMAGED)}.pb").read_bytes())
        nodes = [*graph.node, *[node for f in graph.library.function for node in f.node_def]]
        for _ in range(2):
            damage(chosen, chosen.choice(nodes), chosen.choice(nodes))
        with suppress(pb.errors.PullbackError), pb.config.Limits(nodes=10_000), pb.Graph().as_default():
            pb.import_graph_def(graph)


X = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
WRONG = {
    "an operand too few": (
        X + 'node { name: "y" op: "Mul" input: "x" }',
        "import_graph_def: node 'y' (Mul): multiply: it takes 2 inputs, not 1",
    ),
    "an operand too many": (
        X + 'node { name: "y" op: "Less" input: ["x", "x", "x"] }',
        "import_graph_def: node 'y' (Less): less: it takes 2 inputs, not 3",
    ),
    "an array that is a dtype": (
        'node { name: "y" op: "Const" attr { key: "value" value { type: DT_FLOAT } } }',
        "import_graph_def: node 'y' (Const): the attribute 'value' cannot be dtype('float32')",
    ),
    "a text that is a number": (
        X + 'node { name: "y" op: "DepthToSpace" input: "x" attr { key: "block_size" value { i: 2 } }'
        'attr { key: "data_format" value { i: 3 } } }',
        "import_graph_def: node 'y' (DepthToSpace): the attribute 'data_format' cannot be 3",
    ),
    "a truth that is a number": (
        X + 'node { name: "y" op: "MatMul" input: ["x", "x"] attr { key: "transpose_a" value { i: 2147483648 } } }',
        "import_graph_def: node 'y' (MatMul): the attribute 'transpose_a' cannot be 2147483648",
    ),
    "places that are no texts": (
        X + 'node { name: "y" op: "Neg" input: "x" attr { key: "_class" value { list { i: 7 } } } }',
        "import_graph_def: node 'y' (Neg): the attribute '_class' cannot be (7,)",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_about_a_node_is_said(what: str) -> None:
    text, said = WRONG[what]
    with pytest.raises(pb.errors.InvalidArgumentError) as error, pb.Graph().as_default():
        pb.import_graph_def(text_format.Parse(text, GraphDef()), name="")
    assert str(error.value) == said


@pytest.mark.parametrize("count", [2**31 - 1, 2**40, 2**62])
@pytest.mark.parametrize(
    "node",
    [
        'op: "Unpack" input: "x" attr { key: "num" value { i: COUNT } }',
        'op: "Split" input: ["n", "x"] attr { key: "num_split" value { i: COUNT } }',
        'op: "DynamicPartition" input: ["x", "n"] attr { key: "num_partitions" value { i: COUNT } }',
    ],
)
def test_outputs_without_number_are_not_made(node: str, count: int) -> None:
    n = 'node { name: "n" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }'
    text = X + n + f'node {{ name: "y" {node.replace("COUNT", str(count))} }}'
    with pytest.raises(pb.errors.ResourceExhaustedError, match="more than 1,000,000 nodes"), pb.Graph().as_default():
        pb.import_graph_def(text_format.Parse(text, GraphDef()), name="")


def damage(chosen: random.Random, node: Any, other: Any) -> None:
    """Change one thing about a node."""
    kind = chosen.randrange(5)
    if kind == 0 and node.input:
        del node.input[chosen.randrange(len(node.input))]
    elif kind == 1:
        node.input.append(other.name + chosen.choice(["", ":1", ":x:0"]))
    elif kind == 2 and node.attr:
        del node.attr[chosen.choice(sorted(node.attr))]
    elif kind == 3:
        node.op = other.op
    elif node.input:
        node.input[chosen.randrange(len(node.input))] = other.name


@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_a_file_cut_short_is_an_error_of_ours(size: int, tmp_path: Any) -> None:
    path = tmp_path / "graph.pb"
    path.write_bytes((FIXTURES / "lenet.pb").read_bytes()[:size])
    with suppress(pb.errors.PullbackError):
        pb.graphdef.load(path)
