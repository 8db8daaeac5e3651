"""Checks that fail in a run, on both engines, word for word; what is printed."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

ENGINES = ["numpy", "xla"]
D = pb.debugging


def refusal(fetch: Any, feeds: Any, engine: str) -> str:
    """The first line of the error that a run raises."""
    with pytest.raises(pb.errors.InvalidArgumentError) as info:
        pb.Session(engine=engine).run(fetch, feeds)
    return str(info.value).split("\n")[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("values", "found"), [([1.0, np.nan], "NaN"), ([np.inf, 1.0], "Inf"), ([np.nan, -np.inf], "Inf and NaN")]
)
def test_check_numerics_says_what_it_found(values: list[float], found: str, engine: str) -> None:
    x = pb.placeholder(pb.float32, [2])
    said = refusal(D.check_numerics(x * 1.0, "loss", name="check"), {x: values}, engine)
    assert said == f"operation 'check' (CheckNumerics) failed on float32[2]: loss : Tensor had {found} values"


@pytest.mark.parametrize("engine", ENGINES)
def test_check_numerics_checks_the_gradient_too(engine: str) -> None:
    x = pb.placeholder(pb.float32, [2])
    (dx,) = pb.gradients(pb.sqrt(D.check_numerics(x, "x")), x)
    said = refusal(dx, {x: [0.0, 1.0]}, engine)
    assert said.endswith("Not a number (NaN) or infinity (Inf) values detected in gradient. x : Tensor had Inf values")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failed_assertion_changes_no_variable(engine: str) -> None:
    x = pb.placeholder(pb.float32, [2])
    v = pb.Variable([1.0, 2.0])
    with pb.control_dependencies([D.assert_positive(x)]):
        step = pb.assign_add(v, x)
    session = pb.Session(engine=engine)
    session.run(v.initializer)
    with pytest.raises(pb.errors.InvalidArgumentError):
        session.run(step, {x: [1.0, -1.0]})
    assert session.run(v).tolist() == [1.0, 2.0]
    session.run(step, {x: [1.0, 1.0]})
    assert session.run(v).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_check_inside_a_branch_counts_where_the_branch_is_taken(engine: str) -> None:
    x, c = pb.placeholder(pb.float32, []), pb.placeholder(pb.bool, [])
    y = pb.cond(c, lambda: D.check_numerics(pb.math.log(x), "branch"), lambda: x + 0.0)
    session = pb.Session(engine=engine)
    assert session.run(y, {x: 0.0, c: False}) == 0.0
    with pytest.raises(pb.errors.InvalidArgumentError, match="branch : Tensor had Inf values"):
        session.run(y, {x: 0.0, c: True})


FAILING: dict[str, tuple[Callable[[Any], Any], str]] = {
    "equal": (lambda x: D.assert_equal(x, [1.0, 2.0]), "x == y"),
    "none_equal": (lambda x: D.assert_none_equal(x, [1.0, -1.0]), "x != y"),
    "less": (lambda x: D.assert_less(x, 1.0), "x < y"),
    "less_equal": (lambda x: D.assert_less_equal(x, 0.0), "x <= y"),
    "greater": (lambda x: D.assert_greater(x, 0.0), "x > y"),
    "greater_equal": (lambda x: D.assert_greater_equal(x, 0.0), "x >= y"),
    "positive": (D.assert_positive, "x > 0"),
    "negative": (D.assert_negative, "x < 0"),
    "non_negative": (D.assert_non_negative, "x >= 0"),
    "non_positive": (D.assert_non_positive, "x <= 0"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FAILING)
def test_an_assertion_names_its_condition(name: str, engine: str) -> None:
    make, condition = FAILING[name]
    x = pb.placeholder(pb.float32, [2])
    assert f"Condition {condition} did not hold." in refusal(make(x), {x: [1.0, -1.0]}, engine)


def test_an_assertion_shows_the_values_on_numpy() -> None:
    x = pb.placeholder(pb.float32, [2])
    said = refusal(D.assert_less(x, 1.0, message="too large"), {x: [1.0, -1.0]}, "numpy")
    assert said.endswith(": too large. Condition x < y did not hold. x and y: [1 -1] 1")


def test_what_is_known_is_checked_at_once() -> None:
    with pytest.raises(pb.errors.InvalidArgumentError) as info:
        D.assert_equal([1, 2], [1, 3])
    assert str(info.value) == "Condition x == y did not hold. x and y: [1 2] [1 3]"


def test_near_means_within_both_tolerances() -> None:
    x = pb.placeholder(pb.float64, [])
    session = pb.Session()
    session.run(D.assert_near(x, 1.0), {x: 1.0 + 1e-15})
    with pytest.raises(pb.errors.InvalidArgumentError, match="x and y not equal to tolerance"):
        session.run(D.assert_near(x, 1.0), {x: 1.0 + 1e-14})
    session.run(D.assert_near(x, 1.0, atol=0.1), {x: 1.05})


def test_ranks_and_types_are_checked_when_the_graph_is_built() -> None:
    x = pb.placeholder(pb.float32, [2, None])
    D.assert_rank_at_least(x, 1)
    with pytest.raises(ValueError, match=r"assert_rank: .* must have rank 1"):
        D.assert_rank(x, 1)
    with pytest.raises(TypeError, match=r"assert_integer: .* must hold integers"):
        D.assert_integer(x)
    with pytest.raises(TypeError, match=r"assert_type: .* must be of type int32"):
        D.assert_type(x, pb.int32)
    with pytest.raises(ValueError, match=r"assert_scalar: .* must be a scalar"):
        D.assert_scalar(x)
    unknown = pb.placeholder(pb.float32)
    with pytest.raises(pb.errors.InvalidArgumentError, match="must have rank 1"):
        pb.Session().run(D.assert_rank(unknown, 1), {unknown: [[1.0]]})


@pytest.mark.parametrize("engine", ENGINES)
def test_print_writes_text_and_values_to_standard_error(engine: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = pb.placeholder(pb.int32, [None])
    session = pb.Session(engine=engine)
    session.run(pb.print("x:", x, "and", 3, summarize=2), {x: np.arange(9)})
    session.close()
    _wait(engine)
    assert capfd.readouterr().err.endswith("x: [0 1 ... 7 8] and 3\n")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_older_print_stops_after_so_many_times(engine: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = pb.placeholder(pb.float32, [2])
    y = pb.Print(x, [x, x[0]], "seen ", first_n=1)
    session = pb.Session(engine=engine)
    for _ in range(2):
        session.run(y, {x: [1.0, 2.0]})
    _wait(engine)
    assert capfd.readouterr().err.count("seen [1 2][1]\n") == 1
    (dx,) = pb.gradients(y * y, x)
    assert session.run(dx, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]


def _wait(engine: str) -> None:
    if engine == "xla":
        import jax

        jax.effects_barrier()


def test_print_takes_two_streams() -> None:
    with pytest.raises(ValueError, match=r"print: output_stream must be sys.stderr or sys.stdout, not 'file'"):
        pb.print("x", output_stream="file")


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_texts_alone_are_printed_in_each_run_and_in_each_step(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    def step(i: pb.Tensor) -> pb.Tensor:
        with pb.control_dependencies([pb.print("step", pb.constant(7), output_stream=sys.stdout)]):
            return i + 1

    ends = pb.while_loop(lambda i: i < 3, step, [0])
    with pb.control_dependencies([pb.print("end", output_stream=sys.stdout)]):
        y = pb.identity(ends[0])
    session = pb.Session(engine=engine)
    for _ in range(2):
        assert session.run(y) == 3
        assert sorted(capsys.readouterr().out.split("\n")) == ["", "end", "step 7", "step 7", "step 7"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_stream_without_a_character_gets_its_number(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bytes_ = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(bytes_, encoding="ascii"))
    pb.Session(engine=engine).run(pb.print("größe", pb.constant([2.5]), sep="→", output_stream=sys.stdout))
    assert bytes_.getvalue() == b"gr\\xf6\\xdfe\\u2192[2.5]\n"
