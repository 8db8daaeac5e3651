"""`gradients(..., rules=...)`: other rules on a graph that exists, by name, by type, by class, inside bodies too."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.primitives.activations.rectifiers import Relu


def run(fetches: Any) -> Any:
    return pb.Session(engine="numpy").run(fetches)


def tenfold(op: Any, dy: Any) -> Any:
    return 10.0 * dy


def test_a_rule_by_type_or_class_holds_for_all_operations_of_the_type() -> None:
    x = pb.constant([1.0, -1.0])
    y = pb.nn.relu(pb.nn.relu(x)) * 2.0
    assert run(pb.gradients(y, x, rules={"Relu": tenfold}))[0].tolist() == [200.0, 200.0]
    assert run(pb.gradients(y, x, rules={Relu: tenfold}))[0].tolist() == [200.0, 200.0]
    assert run(pb.gradients(y, x))[0].tolist() == [2.0, 0.0]


def test_a_rule_by_name_counts_before_a_type() -> None:
    x = pb.constant([1.0, -1.0])
    y = pb.nn.relu(pb.nn.relu(x, name="first"), name="second")
    rules = {"first": lambda op, dy: 3.0 * dy, "Relu": tenfold}
    assert run(pb.gradients(y, x, rules=rules))[0].tolist() == [30.0, 30.0]


def test_none_stops() -> None:
    x = pb.constant(1.0)
    assert pb.gradients(pb.tanh(x) + x, x, rules={"Tanh": None})[0] is not None
    assert pb.gradients(pb.tanh(x), x, rules={"Tanh": None}) == [None]


def test_rules_hold_inside_functions_branches_and_loops() -> None:
    @pb.function
    def inner(a: Any) -> Any:
        return pb.nn.relu(a, name="bend")

    @pb.function
    def outer(a: Any) -> Any:
        return pb.cond(pb.reduce_all(a < 5.0), lambda: inner(a), lambda: a)

    x = pb.constant(-1.0)
    y = pb.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, outer(y)), (0, x))[1]
    for key in ("bend", "Relu", "inner"):
        assert run(pb.gradients(y, x, rules={key: tenfold})) == [100.0]
    assert run(pb.gradients(y, x)) == [0.0]


def test_rules_are_part_of_what_is_known_of_a_function() -> None:
    f = pb.function(lambda a: pb.tanh(a))
    x = pb.constant(0.0)
    y = f(x)
    assert run([pb.gradients(y, x, rules={"Tanh": tenfold})[0], pb.gradients(y, x)[0]]) == [10.0, 1.0]


def test_a_rule_for_a_function_gets_zeros_where_there_is_no_cotangent() -> None:
    @pb.function
    def pair(a: Any) -> Any:
        return a * 2.0, a * 3.0

    x = pb.constant(1.0)
    first, _ = pair(x)
    assert run(pb.gradients(first, x, rules={"pair": lambda op, da, db: 5.0 * da + db})) == [5.0]


def test_rules_add_up_in_nested_calls() -> None:
    x = pb.constant(0.0)

    def with_inner(op: Any, dy: Any) -> Any:
        z = pb.sin(op.inputs[0])
        return dy * pb.gradients(z, op.inputs[0], rules={"Sin": tenfold})[0]

    assert run(pb.gradients(pb.tanh(x), x, rules={"Tanh": with_inner})) == [10.0]


@pytest.mark.parametrize(
    ("rules", "kind", "message"),
    [
        (
            {"Rellu": None},
            ValueError,
            "gradients: rules has 'Rellu', which is neither an operation here nor an op type. "
            "Did you mean 'Relu' or 'Relu6' or 'Selu'?",
        ),
        (
            {"bent": None},
            ValueError,
            "gradients: rules has 'bent', which is neither an operation here nor an op type. Did you mean 'bend'?",
        ),
        (
            {3: None},
            TypeError,
            "gradients: rules are chosen by the name or type of operations, or by Primitive, not 3",
        ),
        (
            {"Relu": 3},
            TypeError,
            "gradients: the rule for 'Relu' must be a function of (op, *dys) or None, not 3",
        ),
        ([], TypeError, "gradients: rules must be a dictionary, not []"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(rules: Any, kind: type[Exception], message: str) -> None:
    x = pb.constant(1.0)
    y = pb.function(lambda a: pb.nn.relu(a, name="bend"))(x)
    before = str(pb.get_default_graph())
    with pytest.raises(kind) as error:
        pb.gradients(y, x, rules=rules)
    assert str(error.value) == message
    assert str(pb.get_default_graph()) == before
