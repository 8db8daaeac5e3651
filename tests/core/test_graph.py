"""Graphs: naming, default graphs, looking things up, finalizing, threads, transactions."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import InaccessibleTensorError


def test_names_are_made_unique_as_in_tensorflow() -> None:
    names = [pb.constant(1.0, name=n).op.name for n in ("a", "a", "A", "a_1", "a")]
    assert names == ["a", "a_1", "A_2", "a_1_1", "a_3"]


def test_numbers_skip_names_that_were_given_and_may_be_asked_for_themselves() -> None:
    names = [pb.constant(1.0, name=n).op.name for n in ("b_2", "b", "b", "B", "b_1", "b_01", "b_3")]
    assert names == ["b_2", "b", "b_1", "B_3", "b_1_1", "b_01", "b_3_1"]


def test_a_failed_transaction_gives_numbers_back() -> None:
    graph = pb.get_default_graph()
    x = pb.constant(1.0, name="x")
    made = []

    def fail() -> None:
        with graph.transaction():
            made.extend(pb.identity(x, name="x").op.name for _ in range(2))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert made == ["x_1", "x_2"]
    assert pb.identity(x, name="x").op.name == "x_1"


def test_scopes_prefix_names_and_are_unique_themselves() -> None:
    graph = pb.get_default_graph()
    with pb.name_scope("layer") as first:
        a = pb.constant(1.0)
    with pb.name_scope("layer") as second:
        b = pb.constant(1.0)
        with pb.name_scope(first):
            c = pb.constant(1.0)
        with pb.name_scope(None):
            d = pb.constant(1.0)
    assert (first, second) == ("layer/", "layer_1/")
    assert [t.op.name for t in (a, b, c, d)] == ["layer/Const", "layer_1/Const", "layer/Const_1", "Const"]
    assert graph.get_name_scope() == ""


def test_a_number_beside_a_tensor_is_named_around_a_name_that_is_taken() -> None:
    x = pb.placeholder(pb.float32, [2])
    pb.identity(x, name="mul/y")
    pb.identity(x, name="add/x")
    assert [(x * 2.0).op.inputs[1].name, (1.0 + x).op.inputs[0].name] == ["mul/y_1:0", "add/x_1:0"]


def test_third_derivatives_of_a_loop_find_names_for_numbers_that_were_copied_without_what_reads_them() -> None:
    x, rows = pb.placeholder(pb.float64, [2]), pb.placeholder(pb.float64, [3])

    def body(i: pb.Tensor, array: pb.TensorArray) -> list[Any]:
        return [i + 1, array.write(i, pb.math.special.erfcx(x) + rows[i])]

    y = pb.while_loop(lambda i, _: i < 3, body, [0, pb.TensorArray(pb.float64, size=3)])[1].stack()
    for _ in range(3):
        (y,) = pb.gradients(y, x)
    assert y.shape == [2]


def test_unique_name_can_look_without_taking() -> None:
    graph = pb.get_default_graph()
    assert graph.unique_name("x", mark_as_used=False) == "x"
    assert graph.unique_name("x") == "x"
    assert graph.unique_name("x", mark_as_used=False) == "x_1"
    assert graph.unique_name("x") == "x_1"


@pytest.mark.parametrize("name", ["_x", "a b", "x:0", "é"])
def test_a_name_that_cannot_name_an_operation_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid node name"):
        pb.constant(1.0, name=name)


def test_a_scope_name_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="'a b' is not a valid root scope name"), pb.name_scope("a b"):
        pass
    with pytest.raises(ValueError, match="'x:y' is not a valid scope name"), pb.name_scope("a"), pb.name_scope("x:y"):
        pass


def test_the_default_graph_is_the_innermost_of_the_thread() -> None:
    outer = pb.get_default_graph()
    with pb.Graph().as_default() as inner:
        assert pb.get_default_graph() is inner
        assert pb.constant(1.0).graph is inner
    assert pb.get_default_graph() is outer
    seen = []
    thread = threading.Thread(target=lambda: seen.append(pb.get_default_graph()))
    thread.start()
    thread.join()
    assert seen[0] is not outer


def test_operations_follow_the_graph_of_their_inputs() -> None:
    x = pb.constant(1.0)
    with pb.Graph().as_default() as other:
        assert (x + 1.0).graph is x.graph
    assert other.operations == []


def test_inputs_of_two_graphs_are_refused_with_both_lines() -> None:
    x = pb.constant(1.0, name="x")
    with pb.Graph().as_default():
        y = pb.constant(2.0, name="y")
    with pytest.raises(InaccessibleTensorError) as caught:
        pb.add(x, y)
    text = str(caught.value)
    assert text.startswith("float32[] 'y:0' (made at test_graph.py:")
    assert "must be from the same graph as float32[] 'x:0' (made at test_graph.py:" in text


def test_a_finalized_graph_takes_no_more_operations() -> None:
    graph = pb.get_default_graph()
    graph.finalize()
    with pytest.raises(RuntimeError, match=r"^Graph is finalized and cannot be modified\.$"):
        pb.constant(1.0)
    assert graph.finalized


def test_elements_are_found_by_name() -> None:
    graph = pb.get_default_graph()
    x = pb.constant(1.0, name="x")
    assert graph.get_tensor_by_name("x:0") is x
    assert graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element("x:0") is x
    y = pb.constant(1.0, name="y")
    assert graph.get_operation_by_name("y") is y.op
    with pytest.raises(KeyError, match="The name 'z' refers to an Operation not in the graph"):
        graph.get_operation_by_name("z")
    with pytest.raises(KeyError, match="refers to output 1 of 'x', which has 1"):
        graph.get_tensor_by_name("x:1")
    with pytest.raises(ValueError, match="looks like an operation's"):
        graph.get_tensor_by_name("x")


def test_elements_of_another_kind_or_graph_are_refused() -> None:
    graph = pb.get_default_graph()
    x = pb.constant(1.0, name="x")
    with pytest.raises(TypeError, match="Can not convert a float into a Tensor or Operation"):
        graph.as_graph_element(1.0)
    with pytest.raises(TypeError, match="Can not convert a Operation into a Tensor"):
        graph.as_graph_element(x.op, allow_operation=False)
    with pytest.raises(
        InaccessibleTensorError, match=r"is not an element of this graph; it was made at test_graph\.py"
    ):
        pb.Graph().as_graph_element(x)


def test_threads_that_build_one_graph_have_their_own_scopes() -> None:
    graph = pb.get_default_graph()

    def build(k: int) -> None:
        with graph.as_default(), graph.name_scope(f"thread{k}"), graph.device(f"/cpu:{k}"):
            for _ in range(200):
                pb.constant(1.0)

    threads = [threading.Thread(target=build, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [op.index for op in graph.operations] == list(range(800))
    assert len({op.name for op in graph.operations}) == 800
    assert all(op.device == f"/device:CPU:{op.name[6]}" for op in graph.operations)


def test_a_transaction_that_fails_leaves_no_operation_and_no_name() -> None:
    graph = pb.get_default_graph()
    pb.constant(1.0, name="kept")

    def fail() -> None:
        with graph.transaction():
            pb.constant(1.0, name="kept")
            with graph.transaction():
                pb.constant(1.0, name="inner")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [op.name for op in graph.operations] == ["kept"]
    assert graph.unique_name("kept") == "kept_1"
    assert graph.unique_name("inner") == "inner"
    with graph.transaction():
        pb.constant(1.0, name="new")
    assert graph.get_operation_by_name("new").index == 1


def test_a_transaction_makes_its_graph_the_default_until_it_ends() -> None:
    around, graph = pb.get_default_graph(), pb.Graph()

    def fail() -> None:
        with graph.transaction():
            assert pb.get_default_graph() is graph
            raise ZeroDivisionError

    with graph.transaction(), graph.name_scope("inside"):
        x = pb.constant(1.0)
    assert (x.op.graph, x.op.name) == (graph, "inside/Const")
    with pytest.raises(ZeroDivisionError):
        fail()
    assert pb.get_default_graph() is around


def test_outputs_and_control_inputs_are_lists_of_the_callers_inputs_and_values_are_tuples() -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    with pb.control_dependencies([first := pb.no_op()]):
        op = pb.split(x, 3)[0].op
    assert op.control_inputs == [first]
    assert op.outputs == list(op.values())
    assert all(type(y) is tuple for y in (op.inputs, op.values(), x.op.values()))
    assert type(op.outputs) is type(x.op.outputs) is type(x.op.control_inputs) is list
    op.control_inputs.clear()
    op.outputs.clear()
    assert (len(op.control_inputs), len(op.outputs)) == (1, 3)


def test_operations_of_a_class_are_those_that_stay() -> None:
    graph = pb.get_default_graph()
    constants = [pb.constant(1.0).op]
    cls = type(constants[0].primitive)
    assert graph.operations_of(cls) == constants

    def fail() -> None:
        with graph.transaction():
            pb.constant(2.0)
            assert len(graph.operations_of(cls)) == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert graph.operations_of(cls) == constants
    constants += [pb.tanh(pb.constant(3.0)).op.inputs[0].op]
    assert graph.operations_of(cls) == constants


def test_creation_sites_are_the_lines_of_the_user() -> None:
    x = pb.constant([1.0, 2.0])
    y = pb.tanh(x) + 1.0
    assert str(y.op.site).startswith("test_graph.py:")
    assert str(y.op.site).endswith("y = pb.tanh(x) + 1.0")


def test_devices_merge_and_functions_choose() -> None:
    with pb.device("/job:worker/task:1"):
        assert pb.constant(1.0).device == "/job:worker/task:1"
        with pb.device("/gpu:0"):
            assert pb.constant(1.0).device == "/job:worker/task:1/device:GPU:0"
        with pb.device(None):
            assert pb.constant(1.0).device == ""
        with pb.device(lambda op: "/cpu:7" if op.type == "Const" else "/cpu:8"):
            assert pb.constant(1.0).device == "/job:worker/task:1/device:CPU:7"
    with pb.device("anything at all"):
        assert pb.constant(1.0).device == "anything at all"
        with pb.device("cpu:1"):
            assert pb.constant(1.0).device == "cpu:1"
    with pb.device("/job:worker"), pb.device("gpu:0"):
        assert pb.constant(1.0).device == "/job:worker/device:GPU:0"


def test_control_dependencies_reach_what_is_not_behind_them_already() -> None:
    a, b = pb.no_op("a"), pb.no_op("b")
    with pb.control_dependencies([a]):
        x = pb.constant(1.0)
        y = pb.identity(x)
        with pb.control_dependencies([b]):
            z = pb.constant(2.0)
        with pb.control_dependencies(None):
            free = pb.constant(3.0)
    assert x.op.control_inputs == [a]
    assert y.op.control_inputs == []
    assert z.op.control_inputs == [a, b]
    assert free.op.control_inputs == []


def test_attribute_scopes_nest_and_are_undone() -> None:
    graph = pb.get_default_graph()
    with graph.attr_scope({"_a": 1, "_b": 2}), graph.attr_scope({"_b": None, "_c": 3}):
        op = pb.constant(1.0).op
    assert (op.get_attr("_a"), op.get_attr("_c")) == (1, 3)
    with pytest.raises(ValueError, match="has no attr named '_b'"):
        op.get_attr("_b")
    assert not pb.constant(1.0).op.attrs


def test_tensors_refuse_what_needs_a_value() -> None:
    x = pb.constant([1.0, 2.0], name="x")
    with pytest.raises(TypeError, match=r"the truth of float32\[2\] 'x:0' is not known while the graph is built"):
        bool(x)
    with pytest.raises(TypeError, match=r"is not iterable while the graph is built; use pb\.unstack"):
        iter(x)
    with pytest.raises(TypeError, match=r"len of float32\[2\] 'x:0' is not known"):
        len(x)
    with pytest.raises(NotImplementedError, match=r"has no value while the graph is built; get one with Session\.run"):
        np.array(x)


def test_tensors_are_compared_by_identity() -> None:
    x = pb.constant(1.0)
    assert x == x
    assert x != pb.constant(1.0)
    assert len({x, x}) == 1


def test_consumers_are_the_operations_that_read_a_tensor() -> None:
    x = pb.constant(1.0)
    y, z = pb.tanh(x), x * x
    assert x.consumers() == [y.op, z.op]


def test_reset_of_the_default_graph_is_refused_inside_a_block() -> None:
    with pytest.raises(AssertionError, match="leave the `as_default` block first"):
        pb.reset_default_graph()


def test_collections_keep_what_is_put_in() -> None:
    graph = pb.get_default_graph()
    graph.add_to_collection("losses", 1)
    graph.add_to_collection("losses", 2)
    assert graph.get_collection("losses") == [1, 2]
    assert graph.get_collection("none") == []


def test_collections_are_seen_in_bodies_and_filled_from_there() -> None:
    graph = pb.get_default_graph()
    x = pb.constant(2.0)
    graph.add_to_collection("inputs", x)

    def body() -> pb.Tensor:
        y = pb.get_collection("inputs")[0] * 3.0
        for value in ("a text", x, y):
            pb.add_to_collection("found", value)
        assert pb.get_collection("found") == ["a text", x, y]
        assert pb.get_collection_ref("inputs") is graph.get_collection_ref("inputs")
        assert y.graph.get_all_collection_keys() == ["inputs", "found"]
        return y

    z = pb.cond(pb.constant(True), body, lambda: 0.0)
    assert graph.get_collection("found") == ["a text", x]
    assert pb.Session(engine="numpy").run(z) == 6.0


def test_bodies_are_colocated_as_what_is_around_them() -> None:
    a, b = pb.constant(1.0, name="a"), pb.constant(2.0, name="b")

    def body() -> pb.Tensor:
        with pb.colocate_with(b):
            y = pb.constant(3.0)
        assert y.op.colocation_groups() == [b"loc:@a", b"loc:@b"]
        return y

    with pb.colocate_with(a):
        pb.cond(pb.constant(True), body, lambda: 0.0)


def test_a_collection_is_filtered_by_the_beginning_of_names() -> None:
    graph = pb.get_default_graph()
    first, second = pb.Variable(1.0, name="a/v"), pb.Variable(2.0, name="b/v")
    assert graph.get_collection("variables") == [first, second]
    assert graph.get_collection("variables", "b/") == [second]


def test_a_body_knows_the_name_scopes_around_it() -> None:
    found = []

    def body(i: pb.Tensor) -> pb.Tensor:
        with pb.name_scope("inner"):
            found.append(pb.get_default_graph().get_name_scope())
        return i + 1

    with pb.Graph().as_default() as graph:
        with pb.name_scope("outer"):
            pb.while_loop(lambda i: i < 3, body, [0])
        assert graph.get_name_scope() == ""
    assert found == ["outer/while/inner"]


def test_a_group_is_on_the_device_of_what_it_waits_for() -> None:
    with pb.device("/task:0"):
        a, v = pb.constant(0, name="a"), pb.Variable(1.0)
    with pb.device("/cpu:0"):
        together = pb.group(a, v.initializer, [a.op])
    assert together.device == "/task:0/device:CPU:0"
    assert together.control_inputs == [a.op, v.initializer]


def test_a_group_over_several_devices_waits_on_each_of_them() -> None:
    with pb.device("/task:1"):
        a = pb.constant(0, name="a")
    with pb.device("/task:0"):
        b, c = pb.constant(0, name="b"), pb.constant(0, name="c")
    d = pb.constant(0, name="d")
    with pb.device("/task:2"):
        together = pb.group(a, b, [c], d, name="root")
    waits = [(op.name, op.device, [x.name for x in op.control_inputs]) for op in together.control_inputs]
    assert (together.name, together.device) == ("root", "/task:2")
    assert waits == [
        ("root/NoOp", "/task:2", ["d"]),
        ("root/NoOp_1", "/task:0", ["b", "c"]),
        ("root/NoOp_2", "/task:1", ["a"]),
    ]


def test_a_tuple_has_each_tensor_where_it_was() -> None:
    with pb.device("/task:1"):
        a = pb.constant([0.0], name="a")
    slices = pb.IndexedSlices(a, pb.constant([2]))
    x, y, rows = pb.tuple([a, pb.constant(1.0, name="b"), slices], name="all")
    assert (x.op.name, y.op.name) == ("all/control_dependency", "all/control_dependency_1")
    assert [t.device for t in (x, y, rows.values)] == ["/task:1", "", "/task:1"]
    assert x.op.control_inputs[0].name == "all/group_deps"
