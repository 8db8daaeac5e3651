"""`pb.rewrite`: rules of users, what they may say, and what is refused when they are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def _x(shape: Any = (4, 4), name: str = "x") -> pb.Tensor:
    return pb.placeholder(pb.float32, shape, name=name)


@pb.rewrite("fast")
def logarithms_of_products(x, y):  # type: ignore[no-untyped-def]
    """log(x) + log(y) is the logarithm of one product."""
    yield pb.log(x) + pb.log(y)
    yield pb.log(x * y)


def test_a_rule_has_a_name_a_level_and_a_reason() -> None:
    rule = logarithms_of_products
    assert (rule.name, rule.level) == ("logarithms of products", "fast")
    assert rule.reason == "log(x) + log(y) is the logarithm of one product."
    assert repr(pb.Rules("safe", rule)) == "Rules('safe', logarithms of products)"


def test_a_rule_of_a_user_is_used_beside_those_of_the_library() -> None:
    y, report = pb.optimize(pb.log(_x()) * 1.0 + pb.log(_x(name="z")), pb.Rules("exact", logarithms_of_products))
    assert [op.type for op in (y.op, y.op.inputs[0].op)] == ["Log", "Mul"]
    assert set(report.counts) == {"times one", "logarithms of products"}


def test_operations_are_named_by_type_and_their_attributes_are_read() -> None:
    @pb.rewrite("fast")
    def total_of_multiples(x, total: "Sum | Mean"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
        yield total(2.0 * x)
        if not total.keepdims:
            yield 2.0 * total(x)

    rules = pb.Rules("exact", total_of_multiples)
    assert pb.optimize(pb.reduce_mean(_x() * 2.0, 1), rules).fetches.op.type == "Mul"
    assert pb.optimize(pb.reduce_sum(_x() * 2.0, 1, keepdims=True), rules).fetches.op.type == "Sum"


def test_operations_are_named_by_class() -> None:
    class Halved(pb.Primitive):
        type = "HalvedForRewrite"

        def infer(self, x: Any) -> Any:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            return x / 2

        def gradient(self, op: Any, dy: Any) -> Any:
            return (dy / 2.0,)

    def twice_half(x, half):  # type: ignore[no-untyped-def]
        yield half(x) * 2.0
        yield x

    twice_half.__annotations__["half"] = Halved
    x = _x()
    assert pb.optimize(Halved()(x) * 2.0, pb.Rules("exact", pb.rewrite("exact")(twice_half))).fetches is x


def test_constants_are_known_values() -> None:
    @pb.rewrite("fast")
    def integral_powers(x, power: "Const"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
        yield pb.exp(x * power())
        yield pb.exp(x) ** pb.constant(power.value)

    rules = pb.Rules("exact", integral_powers)
    assert pb.optimize(pb.exp(_x() * 7.0), rules).fetches.op.type == "Pow"
    assert pb.optimize(pb.exp(_x() * _x()), rules).fetches.op.type == "Exp"


def test_a_parameter_that_stands_twice_is_the_same_twice() -> None:
    @pb.rewrite("safe")
    def halves(x):  # type: ignore[no-untyped-def]
        yield pb.tanh(x) / (pb.tanh(x) + pb.tanh(x))
        yield pb.fill(x.shape, pb.constant(0.5, x.dtype))

    x, z = _x(), _x(name="z")
    same, other = [pb.optimize(pb.tanh(x) / (pb.tanh(x) + pb.tanh(y)), pb.Rules("safe", halves)) for y in (x, z)]
    assert "halves" in same.report.counts
    assert "halves" not in other.report.counts


def test_operands_of_what_commutes_stand_in_any_order() -> None:
    @pb.rewrite("fast")
    def sums_of_squares(x):  # type: ignore[no-untyped-def]
        yield pb.square(pb.sin(x)) + pb.square(pb.cos(x))
        yield pb.ones_like(x)

    x = _x()
    for y in (pb.sin(x) ** 2.0 + pb.cos(x) ** 2.0, pb.square(pb.cos(x)) + pb.square(pb.sin(x))):
        made = pb.optimize(y, pb.Rules("safe", sums_of_squares)).fetches
        np.testing.assert_array_equal(pb.Session(engine="numpy").run(made, {x: np.zeros([4, 4])}), 1)


def wrong_values(x):  # type: ignore[no-untyped-def]
    yield pb.sin(x)
    yield x - x


def wrong_derivatives(x):  # type: ignore[no-untyped-def]
    yield pb.sin(x) * 1.0
    yield pb.stop_gradient(pb.sin(x))


def wrong_types(x):  # type: ignore[no-untyped-def]
    yield pb.reduce_sum(x)
    yield x


def longer(x):  # type: ignore[no-untyped-def]
    yield pb.sin(x)
    yield pb.sin(x) * 1.0 + 0.0


def never(x):  # type: ignore[no-untyped-def]
    yield pb.sin(x)
    if x.dtype == pb.int32:
        yield x


def wrong_below_zero(x):  # type: ignore[no-untyped-def]
    yield pb.abs(x)
    yield x


def wrong_above_one(x):  # type: ignore[no-untyped-def]
    yield pb.floor(x)
    yield pb.zeros_like(x)


def wrong_beyond_ten(x):  # type: ignore[no-untyped-def]
    yield pb.clip_by_value(x, -10.0, 10.0)
    yield x


def wrong_at_zero(x):  # type: ignore[no-untyped-def]
    yield pb.sign(x) * 1.0
    yield x / pb.abs(x)


def wrong_for_products(x, total: "Sum | Prod"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
    yield total(2.0 * x)
    yield 2.0 * total(x)


def wrong_for_one_axis(x, y, total: "Sum"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
    yield total(x + pb.transpose(y))
    yield total(x + y)


def wrong_for_negatives(x, factor: "Const"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
    yield pb.nn.relu(x * factor())
    yield pb.nn.relu(x) * factor()


def of_other_tensors(x, y):  # type: ignore[no-untyped-def]
    yield pb.sin(x)
    yield y


def of_a_number(x):  # type: ignore[no-untyped-def]
    yield x
    yield 1.0


def of_three_sides(x):  # type: ignore[no-untyped-def]
    yield pb.sin(x) * 1.0
    yield pb.sin(x)
    yield x


def of_nothing_known(x, total: "Summ"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
    yield total(x)
    yield x


def of_casts(x, cast: "Cast"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
    yield cast(x)
    yield x


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        (wrong_values, "rewrite: the rule 'wrong values': the values of its sides differ: 0.572514 and 0"),
        (
            wrong_derivatives,
            "rewrite: the rule 'wrong derivatives': the derivatives by x of its sides differ: 0.819895 and 0",
        ),
        (
            wrong_below_zero,
            "rewrite: the rule 'wrong below zero': the values of its sides differ: 1.47337 and -1.47337",
        ),
        (wrong_above_one, "rewrite: the rule 'wrong above one': the values of its sides differ: -2 and 0"),
        (wrong_beyond_ten, "rewrite: the rule 'wrong beyond ten': the values of its sides differ: "),
        (wrong_at_zero, "rewrite: the rule 'wrong at zero': the values of its sides differ: 0 and nan"),
        (
            wrong_for_products,
            "rewrite: the rule 'wrong for products' for total=Prod(axis=None, keepdims=False): the values of its",
        ),
        (wrong_for_one_axis, "rewrite: the rule 'wrong for one axis' for total=Sum(axis=(0,), keepdims=False): the"),
        (wrong_for_negatives, "rewrite: the rule 'wrong for negatives' for factor=Const(value=array(-1.5)): the"),
        (of_other_tensors, "rewrite: the rule 'of other tensors' does not read y on the left"),
        (of_a_number, "rewrite: the rule 'of a number' has float64[4,4] on the left and float32[] on the right"),
        (of_three_sides, "rewrite: the rule 'of three sides' yields more than two sides"),
        (of_nothing_known, "rewrite: the rule 'of nothing known': total: 'Summ' is no type of operation"),
        (wrong_types, "rewrite: the rule 'wrong types' has float64[] on the left and float64[4,4] on the right"),
        (
            longer,
            "rewrite: the rule 'longer' is never used: the right side takes more operations than the left one has",
        ),
        (never, "rewrite: the rule 'never' does not hold for its example; give another with on=, or check=False"),
        (of_casts, "rewrite: the rule 'of casts': Cast takes attributes; give on={'cast': ...}, or check=False"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_rule_that_does_not_hold_is_refused_when_it_is_made(equation: Any, message: str) -> None:
    with pytest.raises(ValueError, match="rewrite: the rule") as caught:
        pb.rewrite("safe")(equation)
    assert str(caught.value).startswith(message)


def test_a_rule_is_tried_on_what_one_gives_and_not_at_all_without_check() -> None:
    assert pb.rewrite("safe", check=False)(wrong_values).name == "wrong values"
    assert pb.rewrite("safe", on={"x": np.array([[1, 2]], np.int32)}, check=False)(never).name == "never"


def test_another_level_is_refused() -> None:
    with pytest.raises(ValueError, match="rewrite: the level must be 'exact', 'safe' or 'fast', not 'quick'"):
        pb.rewrite("quick")


def _has(rule: Any, build: Any, level: str = "safe", x: Any = None) -> bool:
    y = build(_x() if x is None else x)
    return rule.name in pb.optimize(y, pb.Rules(level, rule)).report.counts


@pb.rewrite("fast")
def cosines_of_squares(x):  # type: ignore[no-untyped-def]
    """cos(2 y) is 1 - 2 sin(y)^2."""
    yield 1.0 - 2.0 * (pb.sin(x) * pb.sin(x))
    yield pb.cos(2.0 * x)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: 1.0 - 2.0 * (pb.sin(x) * pb.sin(x)),
        lambda x: 1.0 - 2.0 * pb.square(pb.sin(x)),
        lambda x: 1.0 - 2.0 * pb.sin(x) ** 2.0,
        lambda x: (1.0 - pb.identity(pb.sin(x)) * pb.sin(x) * 2.0) * 1.0,
    ],
    ids=["as it is", "square", "power", "identity"],
)
def test_a_rule_is_found_as_other_rules_leave_its_left_side(build: Any) -> None:
    assert _has(cosines_of_squares, build)


def test_a_rule_is_found_as_rules_of_the_user_leave_its_left_side() -> None:
    @pb.rewrite("fast")
    def double_angles(x):  # type: ignore[no-untyped-def]
        yield pb.sin(x) * pb.cos(x)
        yield pb.sin(2.0 * x) * 0.5

    @pb.rewrite("fast")
    def logarithms(x):  # type: ignore[no-untyped-def]
        yield pb.exp(pb.log(pb.sin(x) * pb.cos(x)))
        yield pb.sin(x) * pb.cos(x)

    x = _x()
    y, report = pb.optimize(pb.exp(pb.log(pb.sin(x) * pb.cos(x))), pb.Rules("exact", double_angles, logarithms))
    assert report.counts["logarithms"] == 1
    assert y.op.type == "Mul"


def test_what_a_variable_is_applied_to_is_found_as_other_rules_leave_it() -> None:
    @pb.rewrite("fast")
    def totals(x, total: "Sum"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
        yield pb.sin(total(3.0 * (x * x)))
        if not total.keepdims:
            yield pb.sin(3.0 * total(x * x))

    assert _has(totals, lambda x: pb.sin(pb.reduce_sum(3.0 * pb.square(x), 0)))
    assert not _has(totals, lambda x: pb.sin(pb.reduce_sum(3.0 * pb.square(x), 0, keepdims=True)))


def test_a_left_side_becomes_what_it_does_for_the_types_found() -> None:
    @pb.rewrite("fast", check=False)
    def magnitudes(x):  # type: ignore[no-untyped-def]
        yield pb.sin(pb.abs(x) * pb.abs(x))
        yield pb.cos(x)

    def build(x: Any) -> pb.Tensor:
        return pb.sin(pb.square(x))

    assert _has(magnitudes, build)
    assert not _has(magnitudes, build, x=pb.placeholder(pb.complex64, [4, 4]))


def test_what_is_no_number_on_the_left_may_be_anything_on_the_right_but_not_the_other_way_round() -> None:
    def roots(x):  # type: ignore[no-untyped-def]
        yield pb.square(pb.sqrt(x))
        yield x

    def magnitudes(x):  # type: ignore[no-untyped-def]
        yield pb.square(pb.abs(x) + 0.0) / 1.0
        yield pb.square(pb.exp(pb.log(x)))

    assert pb.rewrite("fast")(roots).name == "roots"
    with pytest.raises(ValueError, match=r"the rule 'magnitudes': the values of its sides differ: [\d.]+ and nan"):
        pb.rewrite("fast")(magnitudes)


BY_RANK = {
    "matmul": lambda x: pb.matmul(x, x),
    "transpose": pb.transpose,
    "last axis": lambda x: pb.reduce_sum(x, -1),
    "new axis": lambda x: pb.expand_dims(x, -1),
    "slice": lambda x: x[..., 0],
    "row": lambda x: x[0],
    "sort": pb.sort,
    "rows of an array": lambda x: pb.gather(x, [2, 0, 1], axis=-1),
    "unequal numbers": lambda x: x * [0.1, 0.2, 0.3, 0.4],
    "no number of 32 bits": lambda x: pb.maximum(0.1 * x, 1e-12),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("operation", BY_RANK.values(), ids=BY_RANK)
def test_operations_that_depend_on_the_rank_and_constants_are_found(operation: Any, dtype: str) -> None:
    @pb.rewrite("fast")
    def squares(x):  # type: ignore[no-untyped-def]
        yield pb.sin(operation(x)) * pb.cos(operation(x))
        yield 0.5 * pb.sin(2.0 * operation(x))

    x = pb.placeholder(dtype, [4, 4])
    assert _has(squares, lambda x: pb.sin(operation(x)) * pb.cos(operation(x)), x=x)


def test_a_right_side_that_is_found_again_is_no_rewrite() -> None:
    @pb.rewrite("fast")
    def sines(x):  # type: ignore[no-untyped-def]
        yield pb.sin(x) * 1.0
        yield pb.sin(x)

    assert pb.optimize(pb.sin(_x()) * 1.0, pb.Rules("safe", sines)).report.counts == {"sines": 1}


def test_a_right_side_that_cannot_be_made_says_of_which_rule_and_for_which_types() -> None:
    @pb.rewrite("fast")
    def inner_products(x, y):  # type: ignore[no-untyped-def]
        yield pb.reduce_sum(x * y)
        yield pb.einsum("ij,ij->", x, y)

    x, y = pb.placeholder(pb.float32, [3]), pb.placeholder(pb.float32, [3])
    with pytest.raises(ValueError, match=r"^rewrite: the rule 'inner products' has no right side for") as caught:
        pb.optimize(pb.reduce_sum(x * y), pb.Rules("safe", inner_products))
    assert "float32[3], float32[3]: einsum" in str(caught.value)
    assert str(caught.value).endswith("Return between its yields where it does not hold")


def test_sides_that_cancel_in_another_way_are_equal() -> None:
    @pb.rewrite("fast")
    def of_hyperbolas(x):  # type: ignore[no-untyped-def]
        yield pb.cosh(x) ** 2.0 - pb.sinh(x) ** 2.0
        yield pb.ones_like(x)

    assert _has(of_hyperbolas, lambda x: pb.cosh(x) ** 2.0 - pb.square(pb.sinh(x)))


def test_operations_of_a_pattern_take_tensors() -> None:
    def signs(x, order: "Less"):  # type: ignore[no-untyped-def] # noqa: F821, UP037
        yield order(x, 0.0)
        yield order(x, x)

    with pytest.raises(TypeError, match=r"Less: 0.0 is no tensor; pass pb.convert_to_tensor\(0.0\)"):
        pb.rewrite("fast")(signs)


def test_a_rule_is_a_generator_function() -> None:
    def of_one_side(x: Any) -> Any:
        return pb.sin(x)

    with pytest.raises(TypeError) as raised:
        pb.rewrite()(of_one_side)
    assert str(raised.value) == (
        f"rewrite: {of_one_side!r} is no generator function; write one that yields what is computed, and then what to "
        "compute instead"
    )
