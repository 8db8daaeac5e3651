"""`cond`, `case`, `switch_case`: what is run, what is refused, what branches may return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(params=["numpy", "xla"])
def run(request: pytest.FixtureRequest) -> Any:
    return lambda fetches, feeds=None: pb.Session(engine=request.param).run(fetches, feeds)


def test_the_branch_that_is_not_taken_cannot_put_nan_into_a_gradient(run: Any) -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.cond(x > 0.0, lambda: pb.math.log(x), lambda: 2.0 * x)
    assert run([y, *pb.gradients(y, x)], {x: -3.0}) == [-6.0, 2.0]
    (second,) = pb.gradients(pb.gradients(y, x), x, unconnected_gradients="zero")
    assert run(second, {x: -3.0}) == 0.0


def test_the_branch_that_is_not_taken_is_not_run() -> None:
    p = pb.placeholder(pb.bool, [])
    ran: list[int] = []
    y = pb.cond(p, lambda: pb.numpy_function(lambda: ran.append(1) or np.float32(1), [], pb.float32), lambda: 0.0)
    session = pb.Session(engine="numpy")
    session.run(y, {p: False})
    assert ran == []
    session.run(y, {p: True})
    assert ran == [1]


def test_two_true_predicates_that_exclude_each_other_are_refused(run: Any) -> None:
    p, q = pb.placeholder(pb.bool, []), pb.placeholder(pb.bool, [])
    y = pb.case([(p, lambda: pb.constant(1.0)), (q, lambda: pb.constant(2.0))], exclusive=True)
    assert run(y, {p: False, q: True}) == 2.0
    with pytest.raises(
        pb.errors.InvalidArgumentError, match="Input error: case: more than one predicate is true, which exclusive=T"
    ):
        run(y, {p: True, q: True})


def test_branches_give_slices_of_different_numbers_of_rows(run: Any) -> None:
    x, p = pb.placeholder(pb.float32, [4, 2]), pb.placeholder(pb.bool, [])
    y = pb.cond(
        p,
        lambda: pb.reduce_sum(pb.gather(x, [0, 1, 1])),
        lambda: pb.reduce_sum(pb.gather(x, pb.constant([2], pb.int64))),
    )
    (dx,) = pb.gradients(y, x)
    assert isinstance(dx, pb.IndexedSlices)
    dense = pb.convert_to_tensor(dx)
    for choice, rows in ((True, [1.0, 2.0, 0.0, 0.0]), (False, [0.0, 0.0, 1.0, 0.0])):
        found = run(dense, {x: np.ones((4, 2)), p: choice})
        np.testing.assert_array_equal(found, np.repeat(np.array(rows)[:, None], 2, 1))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_branch_may_assign(engine: str) -> None:
    v, p = pb.Variable(1.0), pb.placeholder(pb.bool, [])
    y = pb.cond(p, lambda: v.assign_add(10.0), lambda: v.read_value())
    session = pb.Session(engine=engine)
    session.run(v.initializer)
    assert [session.run(y, {p: flag}) for flag in (False, True, False)] == [1.0, 11.0, 11.0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_branches_may_be_run_for_what_they_do(engine: str) -> None:
    v, p = pb.Variable(1.0), pb.placeholder(pb.bool, [])
    op = pb.cond(p, lambda: v.assign(5.0, read_value=False), lambda: pb.no_op())
    session = pb.Session(engine=engine)
    session.run(v.initializer)
    session.run(op, {p: False})
    assert session.run(v) == 1.0
    session.run(op, {p: True})
    assert session.run(v) == 5.0


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_a_branch_drew_at_random_is_the_same_in_the_derivative(engine: str) -> None:
    x = pb.constant(np.ones(8))
    y = pb.cond(pb.reduce_sum(x) > 0.0, lambda: x * pb.random.uniform([8], dtype=pb.float64), lambda: x * 2.0)
    value, slope = pb.Session(engine=engine).run([y, pb.gradients(y, x)[0]])
    np.testing.assert_allclose(slope, value)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_operations_that_branches_return_stand_in_their_places(engine: str) -> None:
    v, w, up = pb.Variable(1.0), pb.Variable(1.0), pb.placeholder(pb.bool, [])

    def scaled(by: float) -> Any:
        return [v.assign(v * by, read_value=False), w.assign(w * by, read_value=False)]

    both = pb.cond(up, lambda: scaled(2.0), lambda: scaled(0.5))
    mixed = pb.cond(
        up, lambda: {"step": scaled(3.0)[0], "by": 3.0, "no": None}, lambda: {"step": v.op, "by": 0.0, "no": None}
    )
    assert [type(op) for op in both] == [pb.Operation] * 2
    assert isinstance(mixed["step"], pb.Operation)
    assert mixed["no"] is None
    with pb.Session(engine=engine) as session:
        session.run(pb.global_variables_initializer())
        session.run(both[1], {up: True})
        assert session.run([v, w]) == [2.0, 2.0]
        session.run(both, {up: False})
        assert session.run([v, w]) == [1.0, 1.0]
        session.run(mixed["step"], {up: True})
        assert session.run([v, mixed["by"]], {up: False}) == [3.0, 0.0]


def test_structures_and_slices(run: Any) -> None:
    table = pb.constant([[1.0], [2.0], [3.0]])
    p = pb.placeholder(pb.bool, [])

    def rows(i: int) -> Any:
        return {"rows": pb.IndexedSlices(pb.gather(table, [i]), pb.constant([i]), pb.constant([3, 1])), "n": (i, 1.0)}

    found = pb.cond(p, lambda: rows(0), lambda: rows(2))
    values = run([pb.convert_to_tensor(found["rows"]), *found["n"]], {p: False})
    assert values[0].tolist() == [[0.0], [0.0], [3.0]]
    assert values[1:] == [2, 1.0]


def _some_rows(x: Any, dtype: str, dense_shape: bool = True) -> Any:
    rows = pb.constant([2, 0, 2], dtype)
    return pb.IndexedSlices(pb.gather(x, [0, 1, 1]), rows, pb.constant([3, 2], dtype) if dense_shape else None)


@pytest.mark.parametrize("first", ["int32", "int64"])
def test_slices_with_indices_of_two_dtypes_get_the_wider_one(first: str, run: Any) -> None:
    x, p = pb.placeholder(pb.float32, [3, 2]), pb.placeholder(pb.bool, [])
    second = "int64" if first == "int32" else "int32"
    y = pb.cond(p, lambda: _some_rows(x, first), lambda: _some_rows(-x, second))
    assert (y.indices.dtype, y.dense_shape.dtype, y.shape) == (pb.int64, pb.int64, [3, 2])
    dense = pb.convert_to_tensor(y)
    (dx,) = pb.gradients(dense, x)
    for choice, sign in ((True, 1.0), (False, -1.0)):
        found, slope = run([dense, pb.convert_to_tensor(dx)], {x: np.ones((3, 2)), p: choice})
        assert found.tolist() == [[sign, sign], [0.0, 0.0], [2 * sign, 2 * sign]]
        assert slope.tolist() == [[sign, sign], [2 * sign, 2 * sign], [0.0, 0.0]]


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices to a dense Tensor of unknown shape")
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("length", [3, None])
@pytest.mark.parametrize("tensor_first", [False, True])
def test_a_tensor_beside_slices_is_slices_of_all_its_rows(
    dtype: str, length: int | None, tensor_first: bool, run: Any
) -> None:
    x, p = pb.placeholder(pb.float32, [length, 2]), pb.placeholder(pb.bool, [])
    branches = [lambda: {"y": _some_rows(x, dtype)}, lambda: {"y": x * 3.0}]
    y = pb.cond(p, branches[tensor_first], branches[not tensor_first])["y"]
    assert isinstance(y, pb.IndexedSlices)
    assert (y.indices.dtype.name, y.shape.dims) == (dtype, (length, 2))
    dense = pb.convert_to_tensor(y)
    (dx,) = pb.gradients(dense, x)
    for choice in (True, False):
        found, slope = run([dense, pb.convert_to_tensor(dx)], {x: np.ones((3, 2)), p: choice})
        assert found[:, 0].tolist() == ([3.0, 3.0, 3.0] if choice == tensor_first else [1.0, 0.0, 2.0])
        assert slope[:, 0].tolist() == ([3.0, 3.0, 3.0] if choice == tensor_first else [1.0, 2.0, 0.0])


def test_a_dense_shape_that_one_branch_does_not_know_is_not_known(run: Any) -> None:
    x, p = pb.placeholder(pb.float32, [3, 2]), pb.placeholder(pb.bool, [])
    y = pb.cond(p, lambda: _some_rows(x, "int32"), lambda: _some_rows(x, "int32", dense_shape=False))
    assert y.dense_shape is None
    assert y.shape.rank is None
    assert run(y.indices, {x: np.ones((3, 2)), p: True}).tolist() == [2, 0, 2]


def test_slices_in_one_of_several_branches_make_slices_of_all() -> None:
    x, i = pb.placeholder(pb.float32, [3, 2]), pb.placeholder(pb.int32, [])
    v = pb.Variable(0.0)

    def counted() -> Any:
        with pb.control_dependencies([v.assign_add(1.0)]):
            return pb.identity(x)

    y = pb.switch_case(i, [lambda: x, lambda: _some_rows(x, "int32"), counted])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    rows = [session.run(y.indices, {x: np.ones((3, 2)), i: k}).tolist() for k in range(3)]
    assert rows == [[0, 1, 2], [2, 0, 2], [0, 1, 2]]
    assert session.run(v) == 1.0


def test_shapes_that_differ_have_in_common_what_is_known() -> None:
    p = pb.placeholder(pb.bool, [])
    y = pb.cond(p, lambda: pb.zeros([2, 3]), lambda: pb.zeros([4, 3]))
    assert y.shape.as_list() == [None, 3]
    session = pb.Session(engine="numpy")
    assert [session.run(y, {p: flag}).shape for flag in (True, False)] == [(2, 3), (4, 3)]


def test_a_gradient_by_what_one_branch_reads_is_zero_when_the_other_is_run(run: Any) -> None:
    p, a, b = pb.placeholder(pb.bool, []), pb.constant(2.0), pb.constant(3.0)
    y = pb.cond(p, lambda: a * a, lambda: b * b * b)
    dydx = pb.gradients(y, [a, b])
    assert run(dydx, {p: True}) == [4.0, 0.0]
    assert run(dydx, {p: False}) == [0.0, 27.0]
    assert pb.gradients(y, pb.constant(1.0)) == [None]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (True, lambda: 1, lambda: 2),
            TypeError,
            "cond: pred must not be a Python bool, but a tensor; use `if` for True",
        ),
        (([True], 1, lambda: 2), TypeError, "cond: true_fn must be callable, not 1"),
        (([True], lambda: 1, None), TypeError, "cond: false_fn must be callable, not None"),
    ],
)
def test_arguments_are_refused_at_the_door(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        pb.cond(*arguments)
    assert str(found.value) == message


def test_a_predicate_must_be_one_truth_value() -> None:
    with pytest.raises(TypeError, match=r"cond: pred must be a scalar of truth values, not bool\[2\]"):
        pb.cond([True, False], lambda: 1.0, lambda: 2.0)
    with pytest.raises(TypeError, match=r"cond: pred must be a scalar of truth values, not float32\[\]"):
        pb.cond(1.0, lambda: 1.0, lambda: 2.0)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_dtypes_must_agree(kind: type[Exception]) -> None:
    p = pb.placeholder(pb.bool, [])
    with pytest.raises(
        kind, match=r"cond: true_fn and false_fn arguments to pb\.cond must have the same number, type, and overall"
    ):
        pb.cond(p, lambda: 1.0, lambda: 2)


def test_structures_must_agree() -> None:
    p = pb.placeholder(pb.bool, [])
    before = str(p.graph)
    with pytest.raises(
        ValueError,
        match=r"cond: true_fn and false_fn arguments to pb\.cond must have the same number, type",
    ):
        pb.cond(p, lambda: [1.0], lambda: [1.0, 2.0])
    assert str(p.graph) == before


def test_a_tensor_of_one_branch_cannot_be_used_in_the_other() -> None:
    p = pb.placeholder(pb.bool, [])
    kept: list[pb.Tensor] = []

    def true_fn() -> Any:
        kept.append(pb.constant(1.0, name="inside"))
        return kept[0] * 2.0

    with pytest.raises(pb.errors.InaccessibleTensorError) as error:
        pb.cond(p, true_fn, lambda: kept[0] * 3.0)
    assert "float32[] 'inside:0'" in str(error.value)
    assert "is inside the body 'true_fn' and cannot be used in 'false_fn'; return it from its body instead." in str(
        error.value
    )


def test_a_list_of_one_is_unpacked_where_asked() -> None:
    p = pb.placeholder(pb.bool, [])
    assert isinstance(pb.cond(p, lambda: [1.0], lambda: [2.0], strict=False), pb.Tensor)
    assert isinstance(pb.cond(p, lambda: [1.0], lambda: [2.0]), list)


@pytest.mark.parametrize("alone", [False, True])
def test_a_value_and_a_list_of_it_are_alike_where_lists_are_unpacked(alone: bool, run: Any) -> None:
    p = pb.placeholder(pb.bool, [])
    branches = [lambda: (pb.constant(1.0),), lambda: pb.constant(2.0)]
    y = pb.compat.v1.cond(p, branches[alone], branches[not alone])
    z = pb.case([(p, branches[alone])], branches[not alone])
    for choice in (True, False):
        assert run([y, z], {p: choice}) == [2.0 - (choice != alone)] * 2
    with pytest.raises(
        ValueError,
        match=r"cond: true_fn and false_fn arguments to pb\.cond must have the same number, type",
    ):
        pb.cond(p, *branches)


def test_case_runs_the_first_that_is_true(run: Any) -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.case([(x < 0.0, lambda: -x), (x < 1.0, lambda: x * x)], default=lambda: pb.sqrt(x))
    (dx,) = pb.gradients(y, x)
    assert [run([y, dx], {x: v}) for v in (-2.0, 0.5, 4.0)] == [[2.0, -1.0], [0.25, 1.0], [2.0, 0.25]]


def test_case_without_a_default_fails_where_no_predicate_is_true(run: Any) -> None:
    x = pb.placeholder(pb.float32, [])
    y = pb.case({x < 0.0: lambda: -x, x < 1.0: lambda: x * x})
    assert run(y, {x: 0.5}) == 0.25
    with pytest.raises(pb.errors.InvalidArgumentError, match="case: no predicate is true, and there is no default:"):
        run(y, {x: 3.0})


@pytest.mark.parametrize("value", [True, [True], [[True]]])
def test_a_predicate_of_one_element_may_have_axes_in_a_run(value: Any, run: Any) -> None:
    p = pb.placeholder(pb.bool)
    assert run(pb.cond(p, lambda: 1.0, lambda: 2.0), {p: value}) == 1.0


def test_an_assertion_of_a_branch_that_is_not_taken_does_not_fail(run: Any) -> None:
    def never() -> Any:
        with pb.control_dependencies([pb.debugging.Assert(False, ["never"])]):
            return pb.constant(2.0)

    p = pb.placeholder(pb.bool, [])
    y = pb.cond(p, lambda: pb.constant(1.0), never)
    assert run(y, {p: True}) == 1.0
    with pytest.raises(pb.errors.InvalidArgumentError, match="assertion failed: never"):
        run(y, {p: False})


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([], ValueError, "case: pred_fn_pairs must have at least one pair"),
        ([1], TypeError, "case: pred_fn_pairs must be pairs of a predicate and a function, not 1"),
    ],
)
def test_case_refuses_what_are_no_pairs(pairs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        pb.case(pairs)
    assert str(found.value) == message


@pytest.mark.parametrize(
    "branches",
    [
        [lambda: 10.0, lambda: 20.0],
        [(1, lambda: 20.0), (0, lambda: 10.0)],
        {0: lambda: 10.0, 1: lambda: 20.0},
    ],
)
def test_switch_case_takes_lists_pairs_and_dictionaries(run: Any, branches: Any) -> None:
    i = pb.placeholder(pb.int32, [])
    y = pb.switch_case(i, branches)
    assert [run(y, {i: n}) for n in (0, 1, 2, -1)] == [10.0, 20.0, 20.0, 20.0]


@pytest.mark.parametrize(
    ("branches", "error", "message"),
    [
        ([], ValueError, "switch_case: branch_fns must have at least one function"),
        (
            {0: lambda: 1.0, 2: lambda: 2.0},
            ValueError,
            "switch_case: the numbers of branch_fns must form contiguous ones, 0 to 1, not [0, 2]",
        ),
        (
            [(0, lambda: 1.0), (0, lambda: 2.0)],
            ValueError,
            "switch_case: the numbers of branch_fns must form contiguous ones, 0 to 1, not [0, 0]",
        ),
        (
            {0: lambda: 1.0, 0.5: lambda: 2.0},
            TypeError,
            "switch_case: each number of branch_fns must be a Python `int`, not one of [0, 0.5]",
        ),
        ([3], TypeError, "switch_case: branches must be callable, not 3"),
    ],
)
def test_switch_case_refuses_other_branches(branches: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        pb.switch_case(pb.constant(0), branches)
    assert str(found.value) == message


def test_switch_case_needs_an_int32() -> None:
    with pytest.raises(TypeError, match=r"switch_case: branch_index must be a scalar of int32, not float32\[\]"):
        pb.switch_case(1.0, [lambda: 1.0])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_an_operation_from_outside_that_a_branch_returns_is_run_whatever_is_chosen(engine: str) -> None:
    v, p = pb.Variable(1.0), pb.placeholder(pb.bool, [])
    grown = pb.group(v.assign_add(1.0))
    chosen = [
        pb.cond(p, lambda: grown, pb.no_op),
        pb.cond(p, lambda: [grown, pb.constant(1)], lambda: [pb.no_op(), pb.constant(2)]),
        pb.cond(p, lambda: pb.cond(p, lambda: grown, pb.no_op), pb.no_op),
        pb.switch_case(pb.cast(p, pb.int32), [pb.no_op, lambda: grown]),
    ]
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        for i, fetch in enumerate(chosen):
            session.run(fetch, {p: i % 2 == 0})
            assert session.run(v) == 2.0 + i


def test_a_branch_of_many_is_named_by_its_number() -> None:
    left: list[pb.Tensor] = []

    def first() -> pb.Tensor:
        left.append(pb.constant(1.0, name="inside"))
        return left[0]

    with pytest.raises(ValueError, match=r"^Tensor inside:0 in branch 0 is accessed from branch 1\. "):
        pb.switch_case(pb.constant(1), [first, lambda: left[0] + 1.0])
