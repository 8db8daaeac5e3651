"""`gradients` does what graph-mode TensorFlow's does where the other files here do not say so already."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def compute(fetches: Any, feeds: Any = None) -> Any:
    return pb.Session(engine="numpy").run(fetches, feeds)


def with_variables(fetches: Any) -> Any:
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session.run(fetches)


# Arguments


def test_all_arguments_are_taken_by_position() -> None:
    x, other = pb.constant(2.0), pb.constant([1.0])
    found = pb.gradients([x * x], [x, other], [3.0], "mine", True, True, pb.AggregationMethod.ADD_N, [], "zero")
    assert found[0].name.startswith("mine/")
    values = compute(found)
    assert [values[0], values[1].tolist()] == [12.0, [0.0]]


def test_a_list_inside_a_list_is_one_tensor() -> None:
    x = pb.constant(1.0)
    assert compute(pb.gradients([[x * 2.0, x * 3.0]], x)) == [5.0]
    assert pb.gradients(x * 2.0, [[x, x]]) == [None]


def test_a_truth_value_that_is_x_has_a_truth_value() -> None:
    x = pb.constant(True)
    assert compute(pb.gradients(x, x)) == [True]


def test_a_number_that_y_cannot_hold_is_no_cotangent() -> None:
    x = pb.constant(2)
    with pytest.raises(TypeError, match=r"2\.5 was given where int32 is needed"):
        pb.gradients(x, x, grad_ys=2.5)


@pytest.mark.parametrize("what", ["x", "y"])
def test_a_structure_that_is_made_of_tensors_is_no_x_and_no_y(what: str) -> None:
    rows = pb.sparse.SparseTensor([[0, 1]], [1.0], [2, 2])
    call = {"x": lambda: pb.gradients(rows.values, rows), "y": lambda: pb.gradients(rows, rows.values)}[what]
    with pytest.raises(ValueError, match="Type SparseTensor is not supported as a gradient source or gradient target"):
        call()


def test_an_array_is_no_y_but_what_is_read_of_it_is() -> None:
    x = pb.constant([1.0, 2.0])
    array = pb.TensorArray(pb.float32, size=2).unstack(x)
    with pytest.raises(ValueError, match="Type TensorArray is not supported as a gradient source or gradient target"):
        pb.gradients(array, x)
    assert compute(pb.gradients(array.read(1), x)[0]).tolist() == [0.0, 1.0]


# Variables


def test_a_variable_counts_all_reads_and_one_read_only_itself() -> None:
    v = pb.Variable(3.0)
    read = v.read_value()
    assert with_variables(pb.gradients(v * read, [v, v.handle, read])) == [6.0, 6.0, 3.0]


def test_a_variable_and_what_its_name_stands_for_are_ys() -> None:
    v = pb.Variable(3.0)
    assert compute(pb.gradients(v, v)) == [1.0]
    assert compute(pb.gradients(v.graph.as_graph_element(v), v)) == [1.0]


def test_a_handle_as_y_needs_a_number_for_cotangent() -> None:
    v = pb.Variable(3.0)
    assert compute(pb.gradients(v.handle, v, grad_ys=[2.5])) == [2.5]
    with pytest.raises(TypeError, match=r"must be numeric to obtain a default gradient; pass grad_ys\[0\]"):
        pb.gradients(v.handle, v)
    with pytest.raises(TypeError, match="should not be a resource"):
        pb.gradients(v.handle, v, grad_ys=[v.handle])


def test_assigning_breaks_the_path() -> None:
    v, x = pb.Variable(3.0), pb.constant(2.0)
    assert pb.gradients(v.assign(x * x), x) == pb.gradients(v.assign_add(x), x) == [None]


def test_zeros_of_an_unconnected_variable_have_its_shape_and_stand_outside_the_scope() -> None:
    x, v, n = pb.constant(2.0), pb.Variable([1.0, 2.0]), pb.constant([1, 2])
    dv, dn = pb.gradients(x * x, [v, n], unconnected_gradients=pb.UnconnectedGradients.ZERO)
    assert [dv.name, dn.name] == ["zeros:0", "zeros_like:0"]
    assert [a.tolist() for a in with_variables([dv, dn])] == [[0.0, 0.0], [0, 0]]


def test_zeros_stand_for_a_none_beside_a_result_that_has_a_cotangent() -> None:
    whole = pb.constant([1.0, 2.0])
    first, second = pb.split(whole, 2)
    assert pb.gradients(second * 2.0, [first]) == [None]
    assert compute(pb.gradients(second * 2.0, [first], unconnected_gradients="zero")[0]).tolist() == [0.0]


# Dtypes


def test_complex_numbers_through_real_ones() -> None:
    x = pb.constant(3 + 4j, pb.complex128)
    functions: list[Callable[[Any], Any]] = [lambda z: pb.real(z * z), pb.abs, lambda z: 3.0 * pb.cast(z, pb.float64)]
    slopes = [pb.gradients(f(x), x)[0] for f in functions]
    np.testing.assert_allclose(compute(slopes), [6 - 8j, 0.6 + 0.8j, 3.0])


def test_a_cast_between_floats_is_cast_back_and_one_to_integers_ends_the_path() -> None:
    x = pb.constant(1.5)
    (dx,) = pb.gradients(pb.cast(x, pb.float64), x)
    assert dx.dtype == pb.float32
    assert pb.gradients(pb.cast(pb.cast(x, pb.int32), pb.float32), x) == [None]


# Cotangents and their order


def test_cotangents_of_ys_that_feed_each_other_are_added_where_they_meet() -> None:
    x = pb.constant(2.0)
    y = x * x
    z = y * 3.0
    assert compute(pb.gradients([z, y], [x, y], grad_ys=[1.0, 10.0])) == [52.0, 13.0]
    assert compute(pb.gradients([y, z], [x, y], grad_ys=[10.0, 1.0])) == [52.0, 13.0]


def test_cotangents_have_names_that_say_which_they_are() -> None:
    x = pb.constant([1.0, 2.0])
    (first,), (twice,) = pb.gradients(x, x), pb.gradients([x, x], x)
    assert [first.name, twice.name] == ["gradients/grad_ys_0:0", "gradients_1/AddN:0"]
    (given,) = pb.gradients(x, x, grad_ys=x * 2.0)
    assert [given.name, given.op.type] == ["gradients_2/grad_ys_0:0", "Identity"]
    rows = pb.IndexedSlices(pb.constant([1.0]), pb.constant([0]), pb.constant([2]))
    (sparse,) = pb.gradients(x, x, grad_ys=[rows])
    names = [t.op.name for t in (sparse.values, sparse.indices, sparse.dense_shape)]
    assert names == [f"gradients_3/grad_ys_0_{part}" for part in ("values", "indices", "shape")]


def test_a_rule_of_several_results_sees_zeros_for_floats_and_none_for_integers() -> None:
    seen: list[Any] = []

    @pb.RegisterGradient("ReferenceSeesAll")
    def rule(op: pb.Operation, *dys: Any) -> Any:
        seen.extend(dys)
        return [None, None, dys[0]]

    a, b, n = pb.constant(1.0), pb.constant([2.0]), pb.constant(3)
    with a.graph.gradient_override_map({"IdentityN": "ReferenceSeesAll"}):
        x, _, _ = pb.identity_n([a, b, n])
    pb.gradients(x * 2.0, a)
    assert seen[2] is None
    assert compute(seen[1]).tolist() == [0.0]


@pytest.mark.parametrize(("name", "prefix"), [(None, "gradients/"), ("mine", "mine/"), ("a/b", "a/b/"), ("", "")])
def test_the_name_is_the_scope(name: str | None, prefix: str) -> None:
    x = pb.constant([1.0, 2.0])
    (dx,) = pb.gradients(pb.sin(x, name="y"), x, name=name)
    assert dx.name.startswith(prefix + "y_grad/")


def test_a_second_visit_has_a_name_of_its_own() -> None:
    x = pb.constant(1.0)
    y = pb.sin(x, name="y")
    names = [pb.gradients(y, x, name="")[0].name for _ in range(2)]
    assert [name.partition("/")[0] for name in names] == ["y_grad", "y_grad_1"]


def test_names_with_a_mark_for_their_owner_are_taken() -> None:
    rule = pb.RegisterGradient("Mine>Reference")(lambda op, dy: 7.0 * dy)
    x = pb.constant(1.0)
    with x.graph.gradient_override_map({"Sin": "Mine>Reference"}):
        y = pb.sin(x)
    assert y.op.get_attr("_gradient_op_type") == b"Mine>Reference"
    assert compute(pb.gradients(y, x)) == [7.0]
    assert rule(None, 1.0) == 7.0


@pytest.mark.parametrize("gated", [True, 1, "yes"])
def test_any_true_value_gates(gated: Any) -> None:
    a, b = pb.constant(2.0), pb.constant(3.0)
    found = pb.gradients(pb.multiply(a, b, name="y"), [a, b], gate_gradients=gated)
    assert [dx.op.name for dx in found] == [f"gradients/y_grad/tuple/control_dependency{k}" for k in ("", "_1")]


# Rows


@pytest.mark.parametrize(
    ("read", "sparse"),
    [
        (lambda t: pb.gather(t, [1]), True),
        (lambda t: pb.gather(t, [1], axis=1), False),
        (lambda t: pb.gather(t, [[1], [0], [1]], batch_dims=1), False),
        (lambda t: pb.gather_nd(t, [[1], [2]]), True),
        (lambda t: pb.gather_nd(t, [[1, 0]]), False),
        (lambda t: pb.gather(pb.identity(t), [1]), True),
        (lambda t: pb.gather(pb.identity_n([t])[0], [1]), True),
        (lambda t: pb.gather(-t, [1]), True),
        (lambda t: pb.gather(pb.concat([t, t], 0), [1, 4]), True),
        (lambda t: pb.gather(pb.concat([t, t], 1), [1, 2]), True),
        (lambda t: pb.gather(pb.tile(t, [2, 1]), [1, 4]), True),
        (lambda t: pb.gather(pb.reshape(t, [6, 1]), [1]), False),
        (lambda t: pb.gather(pb.gather(t, [2, 1]), [1, 1]), True),
        (lambda t: pb.gather(2.0 * t, [1]), False),
    ],
)
def test_who_makes_rows_and_who_hands_them_on(read: Callable[[Any], Any], sparse: bool) -> None:
    table = pb.constant(np.arange(6.0).reshape(3, 2))
    (dt,) = pb.gradients(pb.square(read(table)), table)
    assert isinstance(dt, pb.IndexedSlices) is sparse
    exact = pb.test.compute_gradient(lambda t: pb.reduce_sum(pb.square(read(t))), [np.arange(6.0).reshape(3, 2)])[1][0]
    np.testing.assert_allclose(compute(pb.convert_to_tensor(dt)).reshape(-1), exact.reshape(-1), atol=1e-6)


def test_rows_are_described_by_their_values() -> None:
    rows = pb.IndexedSlices(pb.constant([[1.0]], name="v"), pb.constant([0]))
    assert [rows.dtype, rows.name, rows.op.name, rows.device] == [pb.float32, "v:0", "v", ""]
    assert rows.graph is pb.get_default_graph()
    assert rows.shape.rank is None
    assert pb.IndexedSlices(rows.values, rows.indices, pb.constant([4, 1])).shape.as_list() == [4, 1]


def test_rows_are_fetched_and_fed_as_their_parts() -> None:
    values, indices = pb.placeholder(pb.float32, [None, 1]), pb.placeholder(pb.int32, [None])
    rows = pb.IndexedSlices(values, indices, pb.constant([3, 1]))
    found = compute(rows, {rows: pb.IndexedSlicesValue(np.array([[5.0]]), np.array([2]), np.array([3, 1]))})
    assert isinstance(found, pb.IndexedSlicesValue)
    assert [part.tolist() for part in found] == [[[5.0]], [2], [3, 1]]


def test_rows_of_another_dtype_are_refused_and_nothing_is_added() -> None:
    rows = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([0]), pb.constant([2, 1]))
    before = str(rows.graph)
    with pytest.raises(TypeError, match=r"was given where float64 is needed; convert its values with pb\.cast"):
        pb.convert_to_tensor(rows, pb.float64)
    assert str(rows.graph) == before


def test_only_large_arrays_are_worth_a_warning() -> None:
    rows = pb.IndexedSlices(pb.zeros([1, 10_000]), pb.constant([0]), pb.constant([10_000, 10_000]))
    with pytest.warns(UserWarning, match="Converting sparse IndexedSlices to a dense Tensor with 100000000 elements"):
        pb.convert_to_tensor(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pb.convert_to_tensor(pb.IndexedSlices(pb.zeros([1, 10]), pb.constant([0]), pb.constant([10_000, 10])))


# Where operations have no one derivative

HARD: list[tuple[str, Callable[[Any], Any], list[float], list[float]]] = [
    ("reduce_max shares", pb.reduce_max, [2.0, 1.0, 2.0], [0.5, 0.0, 0.5]),
    ("reduce_min shares", pb.reduce_min, [1.0, 1.0, 2.0], [0.5, 0.5, 0.0]),
    ("segment_max shares", lambda x: pb.math.segment_max(x, [0, 0, 1]), [1.0, 1.0, 5.0], [0.5, 0.5, 1.0]),
    (
        "unsorted_segment_min shares",
        lambda x: pb.math.unsorted_segment_min(x, [0, 0, 0], 1),
        [1.0, 1.0, 5.0],
        [0.5, 0.5, 0],
    ),
    ("maximum gives to the first", lambda x: pb.maximum(x, [1.0, 1.0, 1.0]), [1.0, 0.0, 2.0], [1.0, 0.0, 1.0]),
    ("maximum takes from the second", lambda x: pb.maximum([1.0, 1.0, 1.0], x), [1.0, 0.0, 2.0], [0.0, 0.0, 1.0]),
    ("minimum gives to the first", lambda x: pb.minimum(x, [1.0, 1.0, 1.0]), [1.0, 0.0, 2.0], [1.0, 1.0, 0.0]),
    ("top_k gives to the chosen", lambda x: pb.nn.top_k(x, 2)[0], [3.0, 3.0, 3.0], [1.0, 1.0, 0.0]),
    ("abs", pb.abs, [-1.0, 0.0, 2.0], [-1.0, 0.0, 1.0]),
    ("relu", pb.nn.relu, [-1.0, 0.0, 2.0], [0.0, 0.0, 1.0]),
    ("relu6", pb.nn.relu6, [0.0, 6.0, 3.0], [0.0, 0.0, 1.0]),
    ("sign is flat", pb.sign, [-1.0, 0.0, 2.0], [0.0, 0.0, 0.0]),
    ("clip_by_value holds its bounds", lambda x: pb.clip_by_value(x, 0.0, 1.0), [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]),
    ("reduce_prod at a zero", pb.reduce_prod, [2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
    ("reduce_prod at two zeros", pb.reduce_prod, [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    ("cumprod at a zero", lambda x: pb.math.cumprod(x), [2.0, 0.0, 3.0], [1.0, 8.0, 0.0]),
    ("pow by its exponent", lambda x: pb.pow([2.0, 0.0, -1.0], x), [1.0, 1.0, 1.0], [2 * np.log(2.0), 0.0, 0.0]),
    ("divide_no_nan", lambda x: pb.math.divide_no_nan(x, [0.0, 2.0, 4.0]), [1.0, 1.0, 1.0], [0.0, 0.5, 0.25]),
    ("xlogy", lambda x: pb.math.xlogy(x, [0.0, 1.0, np.e]), [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]),
    ("reduce_mean", pb.reduce_mean, [1.0, 2.0, 3.0], [1 / 3] * 3),
    ("where", lambda x: pb.where([True, False, True], x, 5.0 * x), [1.0, 2.0, 3.0], [1.0, 5.0, 1.0]),
    ("floormod by its divisor", lambda x: pb.floormod([7.0, 7.0, -7.0], x), [3.0, 4.0, 2.0], [-2.0, -1.0, 4.0]),
    ("norm at 0", lambda x: pb.norm(x), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
]


@pytest.mark.parametrize(("function", "at", "slope"), [pytest.param(*row[1:], id=row[0]) for row in HARD])
def test_at_a_hard_point(function: Callable[[Any], Any], at: list[float], slope: list[float]) -> None:
    x = pb.constant(at)
    np.testing.assert_allclose(compute(pb.gradients(function(x), x)[0]), slope, rtol=1e-6)


def test_at_all_hard_points_on_xla() -> None:
    points = [pb.placeholder_with_default(np.float32(at), [3]) for _, _, at, _ in HARD]
    slopes = [pb.gradients(row[1](x), x)[0] for row, x in zip(HARD, points, strict=True)]
    for found, (name, _, _, slope) in zip(pb.Session(engine="xla").run(slopes), HARD, strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    "function",
    [pb.floor, pb.ceil, pb.round, pb.rint, pb.argmax, pb.argmin, lambda x: pb.floordiv(x, 2.0), lambda x: x > 1.0],
)
def test_steps_have_no_derivative(function: Callable[[Any], Any]) -> None:
    x = pb.constant([1.5, 2.5])
    assert pb.gradients(function(x), x) == [None]


def test_the_first_of_equal_maxima_in_a_window_has_all() -> None:
    x = pb.ones([1, 2, 2, 1])
    (dx,) = pb.gradients(pb.nn.max_pool2d(x, 2, 2, "VALID"), x)
    assert compute(dx).reshape(-1).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_value_that_pads_has_no_derivative() -> None:
    x, value = pb.constant([1.0]), pb.constant(9.0)
    padded = pb.pad(x, [[1, 1]], constant_values=value) * [5.0, 6.0, 7.0]
    dx, dvalue = pb.gradients(padded, [x, value])
    assert dvalue is None
    assert compute(dx).tolist() == [6.0]


def test_cross_entropies_are_differentiated_by_labels_and_twice_by_logits() -> None:
    labels, logits = pb.constant([[0.25, 0.75]]), pb.constant([[1.0, 2.0]])
    loss = pb.nn.softmax_cross_entropy_with_logits(labels, logits)
    dlabels, dlogits = pb.gradients(loss, [labels, logits])
    p = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    second = pb.gradients(dlogits[0, 0], logits)[0]
    found = compute([dlabels, dlogits, second])
    np.testing.assert_allclose(found[0], [-np.log(p)], rtol=1e-5)
    np.testing.assert_allclose(found[1], [p - [0.25, 0.75]], rtol=1e-5)
    np.testing.assert_allclose(found[2], [[p[0] * (1 - p[0]), -p[0] * p[1]]], rtol=1e-5)


def test_draws_are_differentiated_in_their_bounds() -> None:
    low, high = pb.constant(1.0), pb.constant(3.0)
    drawn = pb.random.uniform([100], low, high)
    slopes = [pb.reduce_mean(g) for g in pb.gradients(drawn, [low, high])]
    y, dlow, dhigh = compute([drawn, *slopes])
    np.testing.assert_allclose([dlow, dhigh], [np.sum((3 - y) / 2), np.sum((y - 1) / 2)], rtol=1e-4)
