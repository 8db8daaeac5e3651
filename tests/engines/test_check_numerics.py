"""Sessions that look for NaN and infinity name the first operation that gave one."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


@pytest.fixture
def checking(engine: str, graph: pb.Graph) -> pb.Session:
    return pb.Session(graph=graph, engine=engine, check_numerics=True)


def test_the_first_operation_is_named_with_its_line(checking: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    a = pb.identity(x, name="a")
    b = pb.divide(a, a, name="b")
    c = pb.multiply(b, a, name="c")
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        checking.run(c, {x: [1.0, 0.0]})
    lines = str(error.value).split("\n")
    assert lines[0] == "check_numerics: operation 'b' (RealDiv) is the first to give NaN, in float32[2] 'b:0'."
    assert lines[1].startswith("  made at test_check_numerics.py:")
    assert lines[1].endswith(': b = pb.divide(a, a, name="b")')
    assert lines[2] == "It reads 'a:0', which is finite. Fetch it to see the values."


def test_infinity_is_told_from_nan(checking: pb.Session) -> None:
    x = pb.placeholder(pb.float64, [2], name="x")
    with pytest.raises(pb.errors.InvalidArgumentError, match="is the first to give infinity"):
        checking.run(pb.divide(1.0, x), {x: [1.0, 0.0]})


def test_finite_values_pass(checking: pb.Session) -> None:
    x = pb.placeholder(pb.float32, [2])
    np.testing.assert_array_equal(checking.run(x + 1.0, {x: [1.0, 2.0]}), [2.0, 3.0])


def test_a_step_that_fails_leaves_the_variable_as_it_was(checking: pb.Session) -> None:
    v = pb.Variable([1.0, 2.0])
    x = pb.placeholder(pb.float32, [])
    checking.run(v.initializer)
    step = v.assign_add(v / x)
    with pytest.raises(pb.errors.InvalidArgumentError):
        checking.run(step, {x: 0.0})
    np.testing.assert_array_equal(checking.run(v), [1.0, 2.0])


def test_without_the_option_nan_is_a_value(engine: str) -> None:
    x = pb.placeholder(pb.float32, [])
    assert np.isnan(pb.Session(engine=engine).run(x / x, {x: 0.0}))
