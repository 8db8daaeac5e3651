"""`import_graph_def`: names, edges and attributes of nodes, what stands for them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("tensorboard")

from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

X = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
Y = 'node { name: "scope/y" op: "Tanh" input: "x" }'


def graph_def(*nodes: str) -> GraphDef:
    """A GraphDef of nodes as text."""
    return text_format.Parse("\n".join(nodes), GraphDef())


def imported(*nodes: str, **options: Any) -> tuple[pb.Graph, Any]:
    """A new graph with these nodes, and what the import returned."""
    with pb.Graph().as_default() as graph:
        return graph, pb.import_graph_def(graph_def(*nodes), **options)


def test_nodes_have_their_names_below_the_prefix() -> None:
    graph, _ = imported(X, Y)
    assert [op.name for op in graph.operations] == ["import/x", "import/scope/y"]


def test_an_empty_name_is_no_prefix() -> None:
    graph, _ = imported(X, Y, name="")
    assert graph.get_tensor_by_name("scope/y:0").op.type == "Tanh"


def test_a_second_import_has_a_prefix_of_its_own() -> None:
    with pb.Graph().as_default() as graph:
        for _ in range(2):
            pb.import_graph_def(graph_def(X))
    assert [op.name for op in graph.operations] == ["import/x", "import_1/x"]


def test_nothing_is_returned_unless_asked_for() -> None:
    assert imported(X)[1] is None


def test_tensors_and_operations_are_returned_as_asked_for() -> None:
    graph, (y, op) = imported(X, Y, return_elements=["scope/y:0", "scope/y"])
    assert (y, op) == (graph.get_tensor_by_name("import/scope/y:0"), graph.get_operation_by_name("import/scope/y"))


def test_input_map_gives_another_tensor() -> None:
    with pb.Graph().as_default():
        a = pb.constant(2.0)
        (y,) = pb.import_graph_def(graph_def(X, Y), {"x": a}, ["scope/y:0"]) or ()
        assert y.op.inputs == (a,)


def test_what_only_serves_a_mapped_input_need_not_be_readable() -> None:
    decode = 'node { name: "image" op: "DecodeSomething" }'
    y = 'node { name: "y" op: "Tanh" input: "image" }'
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(graph_def(decode, y), {"image:0": pb.constant(1.0, name="given")})
    assert [op.name for op in graph.operations] == ["given", "import/y"]


def test_devices_colocation_and_control_inputs_are_kept() -> None:
    first = 'node { name: "first" op: "NoOp" }'
    y = """node { name: "y" op: "Tanh" input: "x" input: "^first" device: "/device:GPU:1"
        attr { key: "_class" value { list { s: "loc:@x" } } } }"""
    _, (op,) = imported(y, first, X, return_elements=["y"])
    assert (op.device, op.get_attr("_class")) == ("/device:GPU:1", [b"loc:@import/x"])
    assert [c.name for c in op.control_inputs] == ["import/first"]


def test_a_registered_rule_is_that_of_the_node() -> None:
    @pb.RegisterGradient("ImportedTanh")
    def rule(op: pb.Operation, dy: pb.Tensor) -> pb.Tensor:
        return 7.0 * dy

    y = 'node { name: "y" op: "Tanh" input: "x" attr { key: "_gradient_op_type" value { s: "ImportedTanh" } } }'
    graph, (x, y_) = imported(X, y, return_elements=["x:0", "y:0"])
    with graph.as_default():
        (dx,) = pb.gradients(y_, x)
    assert pb.Session(graph=graph).run(dx, {x: 1.0}) == 7.0


def test_a_rule_of_a_process_that_is_gone_is_the_derivative_of_what_is_computed() -> None:
    y = """node { name: "y" op: "IdentityN" input: "t" input: "x"
        attr { key: "_gradient_op_type" value { s: "CustomGradient-17" } } }"""
    graph, (x, y_) = imported(X, 'node { name: "t" op: "Tanh" input: "x" }', y, return_elements=["x:0", "y:0"])
    with graph.as_default():
        (dx,) = pb.gradients(y_, x)
    assert pb.Session(graph=graph).run(dx, {x: 0.0}) == 1.0


def test_operations_of_a_node_that_is_several_have_names_below_its_own() -> None:
    node = 'node { name: "n" op: "FusedBatchNormV3" input: "x" %s attr { key: "is_training" value { b: false } } }'
    vectors = " ".join(['input: "v"'] * 4)
    v = """node { name: "v" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT
        tensor_shape { dim { size: 3 } } float_val: 1 } } } }"""
    graph, _ = imported(X, v, node % vectors, 'node { name: "n/add" op: "Neg" input: "n" }', name="")
    names = [op.name for op in graph.operations]
    assert {"n", "n/add"} <= set(names)
    assert all(name in ("x", "v") or name.startswith("n") for name in names)


def test_nodes_may_stand_in_any_order() -> None:
    graph, _ = imported(Y, X)
    assert [op.name for op in graph.operations] == ["import/x", "import/scope/y"]


def test_a_reader_can_be_added() -> None:
    @pb.graphdef.reader("ThriceForATest")
    def thrice(node: pb.graphdef.Node, x: pb.Tensor) -> pb.Tensor:
        return pb.multiply(x, node.attribute("by", 3.0), name=node.exactly)

    graph, (x, y) = imported(X, 'node { name: "y" op: "ThriceForATest" input: "x" }', return_elements=["x:0", "y:0"])
    assert pb.Session(graph=graph).run(y, {x: 2.0}) == 6.0


def test_constants_fill_up_with_their_last_element() -> None:
    c = """node { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32
        tensor_shape { dim { size: 4 } } int_val: 1 int_val: 2 } } } }"""
    graph, (y,) = imported(c, return_elements=["c:0"])
    np.testing.assert_array_equal(pb.Session(graph=graph).run(y), [1, 2, 2, 2])


@pytest.mark.parametrize(
    ("op", "axis", "wanted"), [("Sum", [1], [3.0, 7.0]), ("Max", [0], [3.0, 4.0]), ("ArgMax", 0, [1, 1])]
)
def test_a_run_may_compute_axes(op: str, axis: Any, wanted: list[float]) -> None:
    a = 'node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }'
    graph, (x, axes, y) = imported(
        X, a, f'node {{ name: "y" op: "{op}" input: "x" input: "a" }}', return_elements=["x:0", "a:0", "y:0"]
    )
    assert pb.Session(graph=graph).run(y, {x: [[1.0, 2.0], [3.0, 4.0]], axes: axis}).tolist() == wanted


def test_files_and_summaries_are_left_out_with_what_depends_on_them() -> None:
    restore = 'node { name: "r" op: "RestoreV2" }'
    graph, _ = imported(X, restore, 'node { name: "z" op: "Neg" input: "r" }', Y)
    assert [op.name for op in graph.operations] == ["import/x", "import/scope/y"]


REFUSED = {
    "unknown op types": (
        [X, 'node { name: "a" op: "Foo" input: "x" }', 'node { name: "b" op: "Bar" }', 'node { name: "c" op: "Foo" }'],
        "import_graph_def: there is no reader of these op types; add one with @pb.graphdef.reader:\n"
        "  Bar: 'b'\n  Foo: 'a', 'c'",
    ),
    "an input that is not there": (
        ['node { name: "a" op: "Neg" input: "b" }'],
        "import_graph_def: node 'a' reads 'b', but the graph has no such output",
    ),
    "an output that is not there": (
        [X, 'node { name: "a" op: "Neg" input: "x:1" }'],
        "import_graph_def: 'import/x:1' is read, but that node has 1 outputs",
    ),
    "a circle": (
        ['node { name: "a" op: "Neg" input: "b" }', 'node { name: "b" op: "Neg" input: "a" }'],
        "import_graph_def: in the graph, 'a' depends on itself",
    ),
    "a name twice": ([X, X], "import_graph_def: two nodes of the graph are called 'x'"),
    "a name that is none": (
        ['node { name: "a b" op: "NoOp" }'],
        "import_graph_def: the graph: 'a b' is not a valid node name: use letters, digits, '.', '_', '-', '/' and '>'",
    ),
    "a missing attribute": (
        ['node { name: "a" op: "Placeholder" }'],
        "import_graph_def: node 'import/a' (Placeholder): the attribute 'dtype' is missing",
    ),
    "too many inputs": (
        [X, 'node { name: "a" op: "Softmax" input: "x" input: "x" }'],
        "import_graph_def: node 'import/a' (Softmax): it takes 1 input, not 2",
    ),
    "a Merge of nothing": (
        [X, 'node { name: "a" op: "Merge" input: "x" input: "x" }'],
        "import_graph_def: node 'a' (Merge): its inputs are not the two sides of one Switch",
    ),
    "a loop without a condition": (
        [
            X,
            'node { name: "e" op: "Enter" input: "x" attr { key: "frame_name" value { s: "f" } } }',
            'node { name: "o" op: "Exit" input: "e" }',
        ],
        "import_graph_def: the loop 'f' has no condition",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_said_what_is_wrong(what: str) -> None:
    nodes, message = REFUSED[what]
    with pytest.raises(pb.errors.PullbackError) as error:
        imported(*nodes)
    assert str(error.value) == message


def test_what_fails_leaves_no_trace() -> None:
    with pb.Graph().as_default() as graph, pytest.raises(pb.errors.PullbackError):
        pb.import_graph_def(graph_def(X, 'node { name: "a" op: "MatMul" input: "x" input: "x" input: "x" }'))
    assert graph.operations == []


def test_a_return_element_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="Requested return_element 'z:0' not found in graph_def"):
        imported(X, return_elements=["z:0"])


def test_an_input_that_is_mapped_and_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="Attempted to map inputs that were not found in graph_def"):
        imported(X, input_map={"z:0": 1.0})


def test_something_else_is_no_graph_def() -> None:
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto, or its bytes, not int"):
        pb.import_graph_def(3)


def test_limits_hold() -> None:
    with pb.config.Limits(nodes=1), pytest.raises(pb.errors.ResourceExhaustedError, match="more than 1 nodes"):
        imported(X, Y)
    huge = """node { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT
        tensor_shape { dim { size: 1000000 } dim { size: 1000000 } } float_val: 1 } } } }"""
    with pytest.raises(pb.errors.ResourceExhaustedError, match="bytes for one array"):
        imported(huge)


def test_a_file_that_is_torn_says_so(tmp_path: Any) -> None:
    path = tmp_path / "torn.pb"
    path.write_bytes(graph_def(X, Y).SerializeToString()[:-3])
    with pytest.raises(pb.errors.DataLossError, match=r"torn\.pb is torn, or no GraphDef"):
        pb.graphdef.load(path)
    with pytest.raises(OSError, match="there is no file"):
        pb.graphdef.load(tmp_path / "nothing.pb")


HANDLE = """node { name: "%s" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { } } } attr { key: "shared_name" value { s: "%s" } } }"""


def test_handles_of_one_shared_name_are_one_variable() -> None:
    assign = 'node { name: "assign" op: "AssignVariableOp" input: "b" input: "three" }'
    three = 'node { name: "three" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT float_val: 3 } } } }'
    read = 'node { name: "read" op: "ReadVariableOp" input: "a" input: "^assign" }'
    graph, (y,) = imported(HANDLE % ("a", "v"), HANDLE % ("b", "v"), three, assign, read, return_elements=["read:0"])
    assert pb.Session(graph=graph).run(y) == 3.0


def test_handles_that_are_not_shared_are_variables_of_their_own() -> None:
    anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
    graph, _ = imported(HANDLE % ("a", anonymous), HANDLE % ("b", anonymous))
    assert [op.name for op in graph.operations] == ["import/a", "import/b"]


def test_a_reference_is_read_where_it_is_used() -> None:
    v = """node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
        attr { key: "shape" value { shape { } } } }"""
    two = 'node { name: "two" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT float_val: 2 } } } }'
    assign = 'node { name: "assign" op: "Assign" input: "v" input: "two" }'
    y = 'node { name: "y" op: "Mul" input: "assign" input: "two" }'
    graph, (found, handle) = imported(v, two, assign, y, return_elements=["y:0", "v"])
    session = pb.Session(graph=graph, engine="numpy")
    assert session.run(found) == 4.0
    assert session.read_variable(handle) == 2.0
