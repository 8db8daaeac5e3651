"""The text form and the dict form of a graph."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import DataLossError


def small_graph() -> pb.Graph:
    graph = pb.Graph()
    with graph.as_default():
        x = pb.placeholder(pb.float32, [None, 3], name="x")
        w = pb.constant(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
        with pb.device("/gpu:0"), pb.control_dependencies([w]):
            y = pb.matmul(x, w, name="y")
        pb.gradients(y, w)
    return graph


def test_text_form() -> None:
    assert str(small_graph()) == (
        "x: float32[?,3] = Placeholder[dtype=float32, shape=(None, 3)]()\n"
        "w: float32[3,2] = Const[value=[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]]()\n"
        "y: float32[?,2] = MatMul(x, w) @/device:GPU:0\n"
        "gradients/grad_ys_0: float32[?,2] = FillLike[value=1, dtype=float32](y)\n"
        "gradients/y_grad/MatMul: float32[3,2] = MatMul[transpose_a](x, gradients/grad_ys_0)"
    )


def test_control_inputs_and_other_outputs_show_in_the_text() -> None:
    a, b = pb.unstack(pb.constant([1.0, 2.0], name="c"), name="parts")
    with pb.control_dependencies([a]):
        z = pb.constant(3.0, name="z")
    assert str(pb.get_default_graph()).splitlines()[1:] == [
        "parts: float32[], float32[] = Unpack[num=2, axis=0](c)",
        "z: float32[] = Const[value=3.0]() ^parts",
    ]
    y = pb.identity(b, name="y")
    assert str(y.graph).splitlines()[-1] == "y: float32[] = Identity(parts:1)"
    assert z.op.control_inputs == [a.op]


def test_a_dict_survives_json_and_makes_the_same_graph() -> None:
    graph = small_graph()
    copy = pb.Graph.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert str(copy) == str(graph)
    y = copy.get_tensor_by_name("gradients/y_grad/MatMul:0")
    with pb.Session(graph=copy, engine="numpy") as session:
        np.testing.assert_array_equal(session.run(y, {"x:0": np.ones((4, 3))}), np.full((3, 2), 4.0))


def test_what_a_scope_gave_survives() -> None:
    graph = pb.Graph()
    with graph.as_default(), graph.attr_scope({"_mark": (1, 2.5, b"x", "y", None)}):
        x = pb.constant(0.5)
        with graph.gradient_override_map({"Tanh": "Anything"}), graph.colocate_with(x):
            pb.tanh(x)
    copy = pb.Graph.from_dict(graph.to_dict())
    for old, new in zip(graph.operations, copy.operations, strict=True):
        assert (old.name, old.device, dict(old.attrs)) == (new.name, new.device, dict(new.attrs))


def test_collections_of_tensors_and_operations_survive() -> None:
    graph = small_graph()
    graph.add_to_collection("losses", graph.get_tensor_by_name("y:0"))
    graph.add_to_collection("steps", graph.get_operation_by_name("y"))
    copy = pb.Graph.from_dict(graph.to_dict())
    assert copy.get_collection("losses") == [copy.get_tensor_by_name("y:0")]
    assert copy.get_collection("steps") == [copy.get_operation_by_name("y")]


def test_names_go_on_being_unique_in_a_copy() -> None:
    copy = pb.Graph.from_dict(small_graph().to_dict())
    with copy.as_default():
        assert pb.constant(1.0, name="w").op.name == "w_1"


BROKEN: list[tuple[str, Any, str]] = [
    ("another format", {"format": "foo"}, "this is no graph: its format is 'foo', not 'pullback.graph'"),
    (
        "a later version",
        {"format": "pullback.graph", "version": 99},
        "this graph is of version 99; this release reads version 1",
    ),
    (
        "an unknown type",
        {
            "format": "pullback.graph",
            "version": 1,
            "seed": None,
            "operations": [{"name": "a", "type": "Zorg", "inputs": []}],
        },
        "operation 'a' has the type 'Zorg', which no primitive here defines",
    ),
    (
        "an input that is not there",
        {
            "format": "pullback.graph",
            "version": 1,
            "seed": None,
            "operations": [{"name": "a", "type": "Tanh", "inputs": ["b:0"]}],
        },
        "operation 'a' names the operation 'b', which is not there before it",
    ),
]


@pytest.mark.parametrize(("data", "text"), [pytest.param(*r[1:], id=r[0]) for r in BROKEN])
def test_what_is_no_graph_is_refused(data: Any, text: str) -> None:
    with pytest.raises(DataLossError) as caught:
        pb.Graph.from_dict(data)
    assert str(caught.value) == text


def graph_dict(*operations: Any, **more: Any) -> Any:
    return {"format": "pullback.graph", "version": 1, "seed": None, "operations": list(operations), **more}


CONST = {"name": "a", "type": "Const", "inputs": [], "attributes": {"value": {"array": "AACAPw==", "dtype": "float32"}}}
DAMAGED: list[tuple[str, Any, str]] = [
    ("no dict", [], "a graph must be an object, not []"),
    ("no operations", {"format": "pullback.graph", "version": 1}, "a graph has no 'operations'"),
    ("operations that are none", graph_dict(3), "operation 0 must be an object, not 3"),
    ("no name", graph_dict({}), "operation 0 has no 'name'"),
    ("an array without a shape", graph_dict(CONST), "operation 'a': 'value' has no 'shape'"),
    (
        "an array that is too short",
        graph_dict({**CONST, "attributes": {"value": {"array": "AA==", "dtype": "float32", "shape": [2**62]}}}),
        "operation 'a': 'value': 1 bytes do not fill an array float32 of the shape [4611686018427387904]",
    ),
    (
        "an attribute of another type",
        graph_dict({"name": "s", "type": "Squeeze", "inputs": [], "attributes": {"axis": "0"}}),
        "operation 's' (type Squeeze): its attribute 'axis' cannot be '0'",
    ),
    (
        "an attribute that does not exist",
        graph_dict({"name": "t", "type": "Tanh", "inputs": [], "attributes": {"zorg": 1}}),
        "operation 't' (type Tanh): there is no attribute 'zorg'",
    ),
    (
        "a function that comes later",
        graph_dict({"name": "f", "type": "PartitionedCall", "inputs": [], "attributes": {"function": {"function": 0}}}),
        "operation 'f': 'function': there is no function 0 before it, only 0",
    ),
    (
        "an escape sequence in a name",
        graph_dict({"name": "a\x1b[2J", "type": "NoOp", "inputs": []}),
        "operation 'a\\x1b[2J' (type NoOp) cannot be made again: 'a\\x1b[2J' is not a valid node name: use letters, "
        "digits, '.', '_', '-', '/' and '>'",
    ),
    (
        "a collection of what is not there",
        graph_dict(collections={"losses": ["a:0"]}),
        "the collection 'losses' names the operation 'a', which is not there before it",
    ),
]


@pytest.mark.parametrize(("data", "text"), [pytest.param(*r[1:], id=r[0]) for r in DAMAGED])
def test_what_is_damaged_is_said(data: Any, text: str) -> None:
    with pytest.raises(DataLossError) as caught:
        pb.Graph.from_dict(data)
    assert str(caught.value) == text


def test_a_length_of_a_million_terms_is_not_multiplied_out() -> None:
    total = {"+": [[1, [f"n{i}"]] for i in range(100)]}
    shape = {"shape": [{"+": [[1, [total] * 8]]}]}
    attributes = {"dtype": {"dtype": "float32"}, "shape": shape}
    data = graph_dict({"name": "x", "type": "Placeholder", "inputs": [], "attributes": attributes})
    with pytest.raises(DataLossError, match="is no length"):
        pb.Graph.from_dict(data)


def test_lists_in_lists_and_calls_in_calls_end_somewhere() -> None:
    nested: Any = 1
    for _ in range(100_000):
        nested = {"tuple": [nested]}
    attributes = {"axis": nested}
    data = graph_dict({"name": "s", "type": "Squeeze", "inputs": [], "attributes": attributes})
    with pytest.raises(pb.errors.ResourceExhaustedError, match="more than 32 levels, one inside the other"):
        pb.Graph.from_dict(data)
    f = pb.function(lambda x: x + 1.0)
    for _ in range(40):
        f = pb.function(lambda x, f=f: f(x))
    data = f(pb.constant(1.0)).graph.to_dict()
    with pytest.raises(pb.errors.ResourceExhaustedError, match="more than 32 levels, one inside the other"):
        pb.Graph.from_dict(data)
    with pb.config.Limits(depth=50):
        pb.Graph.from_dict(data)


def test_a_function_is_saved_behind_those_that_it_calls() -> None:
    inner = pb.function(lambda x: x * 2.0)
    outer = pb.function(lambda x: inner(x) + 1.0)
    x = pb.constant(1.0)
    y = pb.identity(inner(x) + outer(x), name="y")
    copy = pb.Graph.from_dict(y.graph.to_dict())
    assert pb.Session(graph=copy, engine="numpy").run("y:0") == 5.0


def test_a_graph_with_control_flow_is_loaded_by_a_process_that_has_none(tmp_path: Path) -> None:
    @pb.custom_gradient
    def tenfold(x: Any) -> Any:
        return x * x, lambda dy: 10.0 * dy * x

    f = pb.function(lambda a: pb.recompute_grad(tenfold)(a))
    x = pb.constant(0.5, name="x")
    pb.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, pb.cond(y > 0.0, lambda: f(y), lambda: y)), (0, x), name="w")
    y = pb.identity(x.graph.get_operations()[-1].outputs[2], name="y")
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(y.graph.to_dict()))
    code = f"""
import json, pullback as pb
graph = pb.Graph.from_dict(json.load(open({str(file)!r})))
with graph.as_default():
    y, x = [graph.get_tensor_by_name(name) for name in ("y:0", "x:0")]
    print(float(pb.Session(engine="numpy").run(pb.gradients(y, x)[0])))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "12.5\n"


def test_names_of_lengths_survive_inside_functions() -> None:
    """There they are symbols of the function's own, so that it can be called with any lengths."""
    x, y = pb.placeholder(pb.float32, ["batch", None], name="x"), pb.placeholder(pb.float32, ["batch", 3], name="y")
    pb.function(lambda a, b: pb.concat([a * 2.0, b], 1))(x, y)
    pb.map_fn(lambda row: pb.square(row), x)
    graph = x.graph
    copy = pb.Graph.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert "b: float32[batch,3]" in str(graph)
    assert str(copy) == str(graph)
    assert copy.to_dict() == graph.to_dict()


def test_parameters_of_one_length_have_one_length_in_the_copy() -> None:
    x, y = [pb.placeholder(pb.float32, ["batch"], name=name) for name in "xy"]
    pb.function(lambda a, b: a + b)(x, y)
    copy = pb.Graph.from_dict(x.graph.to_dict())
    (function,) = copy.operations[-1].primitive.functions
    a, b = [p.shape.lengths[0] for p in function.parameters]
    assert a is b
    assert a is not copy.get_tensor_by_name("x:0").shape.lengths[0]


@pytest.mark.parametrize("symbol", [[0, "2n"], ["0", "n"], [0], [0, "n", 1], {}])
def test_a_symbol_that_is_none_is_refused(symbol: Any) -> None:
    data = {
        "format": "pullback.graph",
        "version": 1,
        "seed": None,
        "functions": [],
        "operations": [
            {
                "name": "p",
                "type": "Parameter",
                "inputs": [],
                "attributes": {"of": {"type": [{"dtype": "float32"}, {"shape": [{"symbol": symbol}]}]}, "handle": None},
            }
        ],
    }
    with pytest.raises(DataLossError):
        pb.Graph.from_dict(data)
