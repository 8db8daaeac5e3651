"""What `gradients` refuses: the exception, its words, and the graph left as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

REFUSED: list[tuple[str, Callable[[Any, Any], Any], type[Exception], str]] = [
    (
        "fewer seeds than ys",
        lambda x, y: pb.gradients([y, y], x, grad_ys=[1.0]),
        ValueError,
        "Length mismatch. Passed 1 grad_ys for 2 ys",
    ),
    ("None in xs", lambda x, y: pb.gradients(y, [x, None]), TypeError, "gradients: xs[1] is None; pass a tensor,"),
    ("None as ys", lambda x, y: pb.gradients(None, x), TypeError, "gradients: ys[0] is None; pass a tensor,"),
    (
        "None in stop_gradients",
        lambda x, y: pb.gradients(y, x, stop_gradients=[None]),
        TypeError,
        "gradients: stop_gradients[0] is None; pass a tensor,",
    ),
    (
        "a name as x",
        lambda x, y: pb.gradients(y, "x:0"),
        TypeError,
        "gradients: xs[0] is the string 'x:0'; pass the tensor, as graph.get_tensor_by_name('x:0')",
    ),
    (
        "an operation as x",
        lambda x, y: pb.gradients(y, x.op),
        TypeError,
        "gradients: xs[0] is <Operation 'x' type=Const>; pass one of its outputs, such as op.outputs[0]",
    ),
    (
        "a dictionary",
        lambda x, y: pb.gradients(y, {"x": x}),
        TypeError,
        "gradients: xs is a dictionary; pass a tensor or a list of them, such as list(xs.values())",
    ),
    (
        "a seed of another shape",
        lambda x, y: pb.gradients(y, x, grad_ys=[[1.0, 2.0]]),
        ValueError,
        "gradients: grad_ys[0] is float32[2] 'gradients/grad_y_0:0', but ys[0] is float32[3] 'y:0'; "
        "their shapes must agree",
    ),
    (
        "a seed of another dtype",
        lambda x, y: pb.gradients(y, x, grad_ys=pb.constant([1, 2, 3])),
        TypeError,
        "Gradient type int32 generated for float32[3] 'y:0' must have its dtype, float32; cast grad_ys[0] with pb.cast",
    ),
    (
        "a seed that is no number",
        lambda x, y: pb.gradients(y, x, grad_ys=pb.constant([True, False, True])),
        TypeError,
        "Gradient type bool generated for real or integer-valued tensor float32[3] 'y:0' must be real or integer; "
        "cast grad_ys[0] with pb.cast",
    ),
    (
        "a complex y without a seed",
        lambda x, y: pb.gradients(pb.complex(y, y, name="z"), x),
        TypeError,
        "Gradients of complex tensors must set grad_ys (y.dtype = pb.complex64); y is complex64[3] 'z:0'",
    ),
    (
        "a mode that there is not",
        lambda x, y: pb.gradients(y, x, unconnected_gradients="nonsense"),
        ValueError,
        "Unknown value for unconnected_gradients: 'nonsense'; use 'none' or 'zero'",
    ),
    (
        "a method that there is not, though nothing is connected",
        lambda x, y: pb.gradients(x, y, aggregation_method=7),
        ValueError,
        "Invalid `aggregation_method` specified 7; use a member of pb.AggregationMethod, or a function of the "
        "terms and the operation",
    ),
    (
        "a name that is no string",
        lambda x, y: pb.gradients(y, x, None, 2.0),  # type: ignore[arg-type]
        TypeError,
        "name_scope: the name must be a string or None, not 2.0",
    ),
    (
        "a scope name that there cannot be",
        lambda x, y: pb.gradients(y, x, name="a b"),
        ValueError,
        "'a b' is not a valid root scope name. A root scope name has to match the following pattern: ",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), [pytest.param(*r[1:], id=r[0]) for r in REFUSED])
def test_bad_arguments_are_refused_and_nothing_is_added(
    call: Callable[[Any, Any], Any], error: type[Exception], text: str
) -> None:
    graph = pb.get_default_graph()
    x = pb.constant([1.0, 2.0, 3.0], name="x")
    y = pb.multiply(x, x, name="y")
    before = str(graph)
    with pytest.raises(error) as caught:
        call(x, y)
    assert str(caught.value).startswith(text)
    made_by_the_caller = ("z", "Const", "Const_1")
    assert [op.name for op in graph.operations if op.name not in made_by_the_caller] == ["x", "y"]
    assert str(graph).startswith(before)
    (dx,) = pb.gradients(y, x)
    assert dx.name.startswith("gradients/")


def test_tensors_of_two_graphs_are_refused() -> None:
    x = pb.constant(1.0, name="x")
    with pb.Graph().as_default():
        y = pb.constant(2.0, name="y")
    with pytest.raises(ValueError, match=r"must be from the same graph as float32\[\] 'y:0'"):
        pb.gradients(y, x)


def test_a_finalized_graph_is_refused() -> None:
    x = pb.constant(1.0)
    x.graph.finalize()
    with pytest.raises(RuntimeError, match=r"^Graph is finalized and cannot be modified\.$"):
        pb.gradients(x, x)


def test_a_rule_that_fails_leaves_no_trace_and_no_name() -> None:
    graph = pb.get_default_graph()

    @pb.RegisterGradient("FailsHalfway")
    def fails(op: Any, dy: Any) -> Any:
        pb.identity(dy)
        raise ZeroDivisionError("on purpose")

    x = pb.constant(0.5)
    with graph.gradient_override_map({"Tanh": "FailsHalfway"}):
        y = pb.tanh(x)
    before = str(graph)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        pb.gradients(y, x)
    assert str(graph) == before
    assert graph.scope.prefix == ""
    assert graph.unique_name("gradients") == "gradients"


WRONG_RULES: list[tuple[str, Callable[[Any, Any], Any], type[Exception], str]] = [
    (
        "TooMany",
        lambda op, dy: (dy, dy),
        ValueError,
        "Num gradients 2 generated for op 'Tanh' (op type: Tanh, made at ",
    ),
    (
        "WrongShape",
        lambda op, dy: pb.constant([1.0, 2.0]),
        ValueError,
        "Incompatible shapes between op input and calculated input gradient. Forward operation: Tanh. Input index: 0. "
        "Original input shape: (3,). Calculated input gradient shape: (2,)",
    ),
    ("NoTensor", lambda op, dy: 1.0, TypeError, "the gradient of 'Tanh' (op type: Tanh, made at "),
    (
        "WrongDtype",
        lambda op, dy: pb.cast(dy, pb.float64),
        TypeError,
        "the gradient of 'Tanh' (op type: Tanh, made at ",
    ),
]


@pytest.mark.parametrize(("name", "rule", "error", "text"), [pytest.param(*r, id=r[0]) for r in WRONG_RULES])
def test_a_rule_is_held_to_its_contract(name: str, rule: Any, error: type[Exception], text: str) -> None:
    pb.RegisterGradient(name)(rule)
    x = pb.constant([1.0, 2.0, 3.0])
    with pb.get_default_graph().gradient_override_map({"Tanh": name}):
        y = pb.tanh(x)
    with pytest.raises(error) as caught:
        pb.gradients(y, x)
    assert str(caught.value).startswith(text)
    assert "test_gradients_arguments.py" in str(caught.value) or "Forward operation" in str(caught.value)


def test_seeds_with_axes_of_one_more_are_taken_for_those_without() -> None:
    x = pb.constant([1.0, 2.0])
    seed = pb.constant([[[3.0, 5.0]]])
    assert pb.Session(engine="numpy").run(pb.gradients(x * x, x, seed)[0]).tolist() == [6.0, 20.0]
    with pytest.raises(ValueError, match="their shapes must agree"):
        pb.gradients(x * x, x, pb.ones([2, 1, 2]))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("shape", [[2, 3], [None, 3], [None, None]])
@pytest.mark.parametrize(
    ("function", "factor"),
    [(pb.square, lambda x: 2 * x), (pb.identity, np.ones_like), (pb.exp, np.exp), (lambda x: x + 1.0, np.ones_like)],
)
def test_seeds_are_repeated_to_the_shape_of_y(
    function: Callable[[pb.Tensor], pb.Tensor], factor: Callable[[Any], Any], shape: list[int | None], engine: str
) -> None:
    x, value = pb.placeholder(pb.float32, shape), np.arange(6, dtype=np.float32).reshape(2, 3)
    y = function(x)
    session = pb.Session(engine=engine)
    for seed in (2.0, [[2.0]], [2.0, 3.0, 5.0], [[2.0], [3.0]]):
        dx = session.run(pb.gradients(y, x, [pb.constant(seed)])[0], {x: value})
        np.testing.assert_allclose(dx, factor(value) * np.float32(seed), rtol=1e-6)
    assert session.run(pb.gradients(y, x, 2.0)[0], {x: value}).shape == (2, 3)


def test_a_repeated_seed_gets_the_sum_as_its_derivative() -> None:
    x, seed = pb.constant([1.0, 2.0, 4.0]), pb.constant(3.0)
    (dx,) = pb.gradients(pb.square(x), x, seed)
    assert pb.Session(engine="numpy").run(pb.gradients(dx, seed)[0]) == 14.0


def test_a_seed_that_is_larger_than_y_is_refused() -> None:
    x = pb.constant([1.0])
    with pytest.raises(ValueError, match="their shapes must agree"):
        pb.gradients(pb.square(x), x, pb.ones([3]))
