"""Dead code elimination, and what every pass leaves as it was."""

from __future__ import annotations

import pullback as pb
from pullback.core.function import Function
from pullback.passes.prune import prune
from pullback.passes.view import view_of

from .functions import traced, types


def names(ops: object) -> list[str]:
    return [op.name for op in ops]  # type: ignore[attr-defined]


def test_only_what_the_results_need_is_left_in_the_order_it_was_made() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.identity(x, name="y")
    pb.identity(x, name="other")
    z = pb.identity(y, name="z")
    assert names(view_of([z], [], set()).operations) == ["x", "y", "z"]


def test_nothing_behind_a_given_tensor_is_needed() -> None:
    x = pb.constant(1.0, name="x")
    y = pb.identity(x, name="y")
    z = pb.identity(y, name="z")
    assert names(view_of([z], [], {y}).operations) == ["z"]
    assert names(view_of([y], [], {y}).operations) == []


def test_control_inputs_are_needed() -> None:
    first = pb.no_op(name="first")
    with pb.get_default_graph().control_dependencies([first]):
        x = pb.constant(1.0, name="x")
    assert names(view_of([x], [], set()).operations) == ["first", "x"]


def test_what_no_result_needs_is_left_out_and_parameters_stay() -> None:
    def build(x: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        pb.tanh(y)
        return [pb.exp(x)]

    assert str(prune(traced(build, 2))) == "f(x: float32[3], y: float32[3]) -> (Exp)\n  Exp: float32[3] = Exp(x)"
    assert types(prune(traced(build, 2))) == ["Exp"]


def test_effects_stay() -> None:
    v = pb.Variable(1.0)

    def build(x: pb.Tensor) -> list[pb.Tensor]:
        v.assign_add(2.0)
        return [x]

    assert "AssignAddVariableOp" in types(prune(traced(build)))


def test_what_is_kept_by_name_stays() -> None:
    found = {}

    def build(x: pb.Tensor) -> list[pb.Tensor]:
        found["kept"] = pb.tanh(x, name="kept")
        return [pb.exp(x)]

    function = traced(build)
    assert types(prune(function)) == ["Exp"]
    assert prune(function, keep=[found["kept"]]).graph.get_tensor_by_name("kept:0").op.type == "Tanh"


def test_functions_inside_are_pruned_too() -> None:
    def step(i: pb.Tensor, y: pb.Tensor) -> list[pb.Tensor]:
        pb.sin(y)
        return [i + 1, pb.tanh(y)]

    function = traced(lambda x: [pb.while_loop(lambda i, _: i < 3, step, [0, x])[1]])
    loop = next(op for op in prune(function).operations if op.type == "Loop")
    assert "Sin" not in types(loop.primitive.body)


def test_a_part_of_a_graph_between_given_tensors_becomes_a_function() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    y = pb.exp(pb.sin(x), name="y")
    inner = Function(x.graph, (y.op.inputs[0],), (pb.tanh(y),), "part")
    assert str(prune(inner)) == (
        "part(Sin: float32[3]) -> (Tanh)\n  y: float32[3] = Exp(Sin)\n  Tanh: float32[3] = Tanh(y)"
    )


def test_devices_attributes_places_and_control_inputs_are_those_of_the_original() -> None:
    def build(x: pb.Tensor) -> list[pb.Tensor]:
        graph = pb.get_default_graph()
        with graph.device("/device:CPU:0"), graph.attr_scope({"note": 7}):
            y = pb.sin(x, name="y")
        with graph.control_dependencies([y.op]):
            return [pb.exp(x, name="z")]

    function = traced(build)
    made = prune(function)
    y, z = made.graph.get_operation_by_name("y"), made.graph.get_operation_by_name("z")
    assert (y.device, y.get_attr("note"), z.control_inputs) == ("/device:CPU:0", 7, [y])
    assert [op.site for op in made.operations] == [op.site for op in function.operations]


def test_what_an_operation_is_the_derivative_of_is_among_the_copies() -> None:
    function = traced(lambda x: pb.gradients(pb.tanh(x, name="y"), x))
    made = prune(function)
    derived = [op for op in made.operations if op.original_op is not None]
    assert derived
    assert all(op.original_op.graph is made.graph for op in derived if op.original_op is not None)


def test_the_original_is_left_as_it_was() -> None:
    function = traced(lambda x: [pb.tanh(x) + pb.tanh(x)])
    text = str(function)
    prune(function)
    assert str(function) == text
