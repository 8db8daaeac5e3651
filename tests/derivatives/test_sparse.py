"""Sparse Jacobians and Hessians: patterns, colours, values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import pullback as pb
from pullback.derivatives.colouring import colour_columns, colour_symmetric
from pullback.derivatives.pattern import jacobian_pattern
from pullback.primitives.indexing.index_arithmetic import FromFront

N = 6
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "by element": lambda x: pb.sin(x) * x,
    "differences": lambda x: x[1:] - x[:-1],
    "strides": lambda x: pb.square(x[::2]) * x[1::2],
    "sum": pb.reduce_sum,
    "mean of rows": lambda x: pb.reduce_mean(pb.reshape(x, [2, 3]), axis=1),
    "transposed": lambda x: pb.transpose(pb.reshape(x, [2, 3])) * 2.0,
    "gathered": lambda x: pb.gather(x, [5, 0, 0]),
    "concatenated": lambda x: pb.concat([x[3:], x[:1] * 2.0], 0),
    "stacked": lambda x: pb.stack([x, pb.exp(x)], axis=1),
    "broadcast": lambda x: pb.reshape(x, [2, 3]) * pb.reshape(x[:2], [2, 1]),
    "segments": lambda x: pb.math.unsorted_segment_sum(x * x, [0, 2, 2, 0, 1, 1], 4),
    "product of matrices": lambda x: pb.matmul(pb.reshape(x, [3, 2]), np.ones((2, 2))),
    "both sides": lambda x: pb.matmul(pb.reshape(x, [2, 3]), pb.reshape(x, [2, 3]), transpose_b=True),
    "padded": lambda x: pb.pad(x, [[1, 2]]),
    "selected": lambda x: pb.where([True, False] * 3, x, pb.reverse(x, [0])),
    "mixed": lambda x: pb.nn.softmax(x),
    "nothing": lambda x: pb.zeros([2], pb.float64),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_pattern_holds_wherever_the_jacobian_is_not_zero(name: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    y = FUNCTIONS[name](x)
    point = np.linspace(0.5, 1.5, N)
    found = jacobian_pattern(y, x).toarray()
    full = pb.jacobian(y, x)
    value = np.zeros(found.shape) if full is None else pb.Session(engine="numpy").run(full, {x: point})
    actual = value.reshape(found.shape) != 0
    assert not (actual & ~found).any()
    if name not in ("mixed", "selected"):
        np.testing.assert_array_equal(found, actual)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "nothing"])
def test_a_sparse_jacobian_is_the_jacobian(name: str, engine: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    y = FUNCTIONS[name](x)
    session = pb.Session(engine=engine)
    feeds = {x: np.linspace(0.5, 1.5, N)}
    matrix = pb.sparse_jacobian(y, x)
    expected = session.run(pb.jacobian(y, x), feeds).reshape(matrix.shape)
    np.testing.assert_allclose(matrix.eval(feeds, session).toarray(), expected, atol=1e-12)


def test_a_sparse_hessian_is_the_hessian() -> None:
    x = pb.placeholder(pb.float64, [N])
    y = pb.reduce_sum(pb.sin(x[1:] * x[:-1])) + x[0] * pb.reduce_sum(pb.square(x))
    matrix = pb.sparse_hessian(y, x)
    feeds = {x: np.linspace(0.5, 1.5, N)}
    session = pb.Session(engine="numpy")
    np.testing.assert_allclose(matrix.eval(feeds, session).toarray(), session.run(pb.hessians(y, x)[0], feeds))


def test_a_chain_needs_three_colours_whatever_its_length() -> None:
    x = pb.placeholder(pb.float64, [1000])
    y = pb.reduce_sum(100.0 * pb.square(x[1:] - pb.square(x[:-1])) + pb.square(1.0 - x[:-1]))
    assert pb.sparse_hessian(y, x).colours == 3


def test_an_arrow_needs_two_colours() -> None:
    arrow = np.eye(20, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert colour_symmetric(sp.csr_array(arrow))[0].max() + 1 == 2


@pytest.mark.parametrize("seed", range(20))
def test_every_entry_of_a_symmetric_matrix_stands_alone_in_a_product(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 25))
    matrix = random.random((n, n)) < random.random() * 0.5
    matrix |= matrix.T
    colours, _ = colour_symmetric(sp.csr_array(matrix))
    for i, j in np.argwhere(matrix):
        alone = [(matrix[a] & (colours == colours[b])).sum() == 1 for a, b in ((i, j), (j, i))]
        assert any(alone)


@pytest.mark.parametrize("seed", range(10))
def test_columns_of_one_colour_share_no_row(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((12, 17)) < 0.2
    colours = colour_columns(sp.csr_array(matrix))
    for colour in range(colours.max() + 1):
        assert matrix[:, colours == colour].sum(axis=1).max() <= 1


@pytest.mark.parametrize(
    ("pattern", "colours"),
    [
        (np.kron(np.eye(7, dtype=bool), np.ones((3, 3), bool)), 3),
        (np.abs(np.subtract.outer(range(9), range(9))) <= 2, 5),
        (np.eye(4, dtype=bool), 1),
        (np.zeros((3, 2), bool), 1),
    ],
)
def test_bands_and_blocks_need_as_many_colours_as_their_longest_row_has_entries(pattern: Any, colours: int) -> None:
    found = colour_columns(sp.csr_array(pattern))
    assert found.max() + 1 == colours
    assert all(pattern[:, found == c].sum(axis=1).max() <= 1 for c in range(colours))


def test_a_matrix_that_is_changed_in_place_changes_no_other() -> None:
    x = pb.placeholder(pb.float64, [4])
    matrix = pb.sparse_jacobian(x[1:] * x[:-1], x)
    feeds = {x: np.array([1.0, 0.0, 0.0, 2.0])}
    before = matrix.eval(feeds).toarray()
    matrix.eval(feeds).eliminate_zeros()
    matrix.eval(feeds).data[:] = 7.0
    np.testing.assert_array_equal(matrix.eval(feeds).toarray(), before)


def test_a_matrix_is_fetched_beside_others() -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    matrix = pb.sparse_jacobian(x[1:] * x[:-1], x)
    total, found = pb.Session().run([pb.reduce_sum(x), matrix])
    assert total == 6.0
    assert found.toarray().tolist() == [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]


def test_a_pattern_of_another_shape_is_refused() -> None:
    x = pb.placeholder(pb.float64, [3])
    with pytest.raises(ValueError, match=r"sparse_jacobian: the pattern is \(2, 2\), but .* is \(3, 3\)"):
        pb.sparse_jacobian(x * x, x, pattern=np.eye(2))


def test_positions_that_are_fed_are_looked_at() -> None:
    x, rows = pb.placeholder(pb.float64, [4]), pb.placeholder(pb.int32, [2])
    y = pb.gather(x, rows)
    pattern = jacobian_pattern(y, x, {rows: [3, 1]})
    np.testing.assert_array_equal(pattern.toarray(), np.eye(4, dtype=bool)[[3, 1]])


DECIDED_BY_FLOATS: dict[str, Callable[[Any], Any]] = {
    "sorted": pb.sort,
    "the largest ones": lambda x: pb.nn.top_k(x, 2)[0],
    "masked": lambda x: pb.boolean_mask(x, x > 0.0),
    "sum of what is masked": lambda x: pb.reduce_sum(pb.boolean_mask(x, x > 0.0)) * x,
    "gathered": lambda x: pb.gather(x, pb.argmax(x)),
    "rolled": lambda x: pb.roll(x, pb.cast(pb.argmax(x[:4]), pb.int32), 0),
    "shuffled": pb.random.shuffle,
    "put into zeros": lambda x: (
        pb.tensor_scatter_nd_update(np.zeros(N), pb.reshape(pb.argsort(x)[:2], [2, 1]), x[:2]) * x
    ),
    "sorted in a branch": lambda x: pb.cond(x[0] > 0.0, lambda: pb.sort(x[:4]), lambda: x[2:] * x[:4]),
    "sorted in steps": lambda x: pb.scan(lambda s, row: pb.sort(s * row), pb.reshape(x, [3, 2])),
    "steps counted by floats": lambda x: pb.while_loop(
        lambda s: pb.reduce_sum(s) < 5.0, lambda s: (s * pb.roll(s, 1, 0) + 1.0,), [x]
    )[0],
    "pooled by windows that are drawn": lambda x: pb.nn.fractional_max_pool(
        pb.reshape(x, [1, N, 1, 1]), [1.0, 1.5, 1.0, 1.0]
    )[0],
}


@pytest.mark.parametrize("name", DECIDED_BY_FLOATS)
def test_a_pattern_holds_for_other_floats_than_those_it_was_found_with(name: str) -> None:
    x = pb.placeholder(pb.float64, [N])
    slope = pb.convert_to_tensor(pb.gradients(pb.reduce_sum(pb.sin(DECIDED_BY_FLOATS[name](x))), x)[0])
    full, session, draw = pb.jacobian(slope, x), pb.Session(engine="numpy"), np.random.default_rng(0)
    met = np.any([session.run(full, {x: 2.0 * draw.normal(size=N)}) != 0 for _ in range(20)], axis=0)
    for point in (np.arange(1.0, 1.0 + N), -np.arange(1.0, 1.0 + N)):
        assert not (met & ~jacobian_pattern(slope, x, {x: point}).toarray()).any()


def test_what_is_sorted_stays_in_its_row() -> None:
    x = pb.placeholder(pb.float64, [N])
    pattern = jacobian_pattern(pb.sort(pb.reshape(x, [2, 3])), x, {x: np.arange(float(N))})
    np.testing.assert_array_equal(pattern.toarray(), np.kron(np.eye(2, dtype=bool), np.ones((3, 3), bool)))


def test_indices_from_the_end_are_those_of_a_shape_and_no_float_decides_them() -> None:
    x = pb.placeholder(pb.float64, [N])
    y = pb.gather(x, FromFront(0)(pb.constant([-1, 0]), x))
    np.testing.assert_array_equal(jacobian_pattern(y, x, {x: np.ones(N)}).toarray(), np.eye(N)[[-1, 0]])


@pytest.mark.parametrize("shape", [["n"], [None], None])
def test_lengths_that_are_fed_do_not_make_elements_mix(shape: Any) -> None:
    x = pb.placeholder(pb.float64, shape)
    y = pb.concat([x, pb.zeros(pb.shape(x), pb.float64)], 0)[1:] * 2.0
    assert jacobian_pattern(y, x, {x: np.ones(4)}).nnz == 3


def test_the_derivative_by_a_variable_counts_all_of_its_reads() -> None:
    v = pb.Variable(np.array([1.0, 2.0, 3.0]))
    rows = pb.Variable(np.arange(8.0).reshape(4, 2))
    y = v * v + 0.0
    picked = pb.gather(rows, [3, 1, 3])
    session = pb.Session(engine="numpy")
    session.run([v.initializer, rows.initializer])
    np.testing.assert_array_equal(pb.sparse_jacobian(y, v).eval(session=session).toarray(), np.diag([2.0, 4.0, 6.0]))
    assert pb.sparse_hessian(pb.reduce_sum(y * y), v).eval(session=session).diagonal().tolist() == [12.0, 48.0, 108.0]
    found = pb.sparse_jacobian(picked * 2.0, rows).eval(session=session).toarray()
    np.testing.assert_array_equal(found, 2.0 * np.kron(np.eye(4)[[3, 1, 3]], np.eye(2)))


def test_the_derivative_by_a_variable_of_unknown_shape() -> None:
    v = pb.Variable(np.array([1.0, 2.0]), shape=[None])
    session = pb.Session(engine="numpy")
    session.run(v.initializer)
    with session.as_default():
        matrix = pb.sparse_hessian(pb.reduce_sum(v * v * v), v)
    assert matrix.eval(session=session).toarray().tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.parametrize("dtype", [pb.float16, pb.bfloat16, pb.float32])
def test_places_are_counted_exactly_in_any_dtype(dtype: Any) -> None:
    x = pb.placeholder(dtype, [6000])
    y = pb.math.segment_sum(x, np.repeat(np.arange(3000), 2))
    expected = np.kron(np.eye(3000, dtype=bool), np.ones((1, 2), bool))
    np.testing.assert_array_equal(jacobian_pattern(y, x).toarray(), expected)


@pb.RegisterGradient("StraightThroughForSparse")
def _straight_through(op: Any, dy: Any) -> Any:
    del op
    return dy


def test_overridden_rules_decide_the_pattern() -> None:
    x = pb.placeholder(pb.float64, [3])
    with pb.get_default_graph().gradient_override_map({"Round": "StraightThroughForSparse"}):
        y = pb.round(x) * pb.constant(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(pb.sparse_jacobian(y, x).eval({x: np.ones(3)}).toarray(), np.diag([1.0, 2.0, 3.0]))


def test_chosen_rules_decide_the_pattern() -> None:
    x = pb.placeholder(pb.float64, [3])

    def reversed_(op: Any, dy: Any) -> Any:
        del op
        return pb.reverse(dy, [0])

    matrix = pb.sparse_jacobian(pb.sin(x), x, rules={"Sin": reversed_})
    np.testing.assert_array_equal(matrix.eval({x: np.ones(3)}).toarray(), np.eye(3)[::-1])
    stopped = pb.sparse_hessian(pb.reduce_sum(pb.sin(x) + x * x), x, rules={"Sin": None})
    np.testing.assert_array_equal(stopped.eval({x: np.ones(3)}).toarray(), 2.0 * np.eye(3))


def test_unknown_ranks_are_those_of_what_is_fed() -> None:
    x = pb.placeholder(pb.float64, None)
    feeds = {x: np.array([[1.0, 2.0], [3.0, 4.0]])}
    hessian = pb.sparse_hessian(pb.reduce_sum(x * x * x), x, feeds)
    np.testing.assert_array_equal(hessian.eval(feeds).toarray(), np.diag([6.0, 12.0, 18.0, 24.0]))
    jacobian = pb.sparse_jacobian(pb.sin(x), x, feeds)
    np.testing.assert_allclose(jacobian.eval(feeds).toarray(), np.diag(np.cos([1.0, 2.0, 3.0, 4.0])))


def test_a_custom_gradient_decides_the_pattern() -> None:
    x = pb.placeholder(pb.float64, [3])
    other = pb.sin(x)

    @pb.custom_gradient
    def doubled(z: Any) -> Any:
        return z * other, lambda dy: 2.0 * dy * pb.stop_gradient(other)

    pattern = jacobian_pattern(doubled(x * x), x)
    np.testing.assert_array_equal(pattern.toarray(), np.eye(3, dtype=bool))


def test_looking_for_a_pattern_leaves_the_graph_as_it_was() -> None:
    x = pb.placeholder(pb.float64, [3])
    with pb.get_default_graph().gradient_override_map({"Round": "StraightThroughForSparse"}):
        y = pb.round(x) * pb.sin(x)
    graph = str(pb.get_default_graph())
    jacobian_pattern(y, x)
    assert str(pb.get_default_graph()) == graph


def hessian_places(f: Callable[[Any], Any], shape: Sequence[int]) -> tuple[Any, Any]:
    """Where `sparse_hessian` has entries, and where that of one of many points is not zero."""
    x = pb.placeholder(pb.float64, shape)
    y = f(x)
    found, full = pb.sparse_hessian(y, x), pb.hessians(y, x)[0]
    places = sp.csr_array((np.ones(len(found.rows), bool), (found.rows, found.columns)), found.shape).toarray()
    session, draw = pb.Session(engine="numpy"), np.random.default_rng(0)
    met = [session.run(full, {x: draw.normal(size=shape)}).reshape(found.shape) != 0 for _ in range(30)]
    return places, np.any(met, 0)


KINKED: dict[str, Callable[[Any], Any]] = {
    "relu": lambda z: pb.nn.relu(z),
    "relu6": lambda z: pb.nn.relu6(z),
    "leaky_relu": lambda z: pb.nn.leaky_relu(z),
    "abs": pb.abs,
    "hinge": lambda z: pb.maximum(z, 0.0),
    "clipped": lambda z: pb.clip_by_value(z, -1.0, 1.0),
    "selected": lambda z: pb.where(z > 0.5, 2.0 * z, z),
}


@pytest.mark.parametrize("name", KINKED)
def test_where_a_slope_jumps_there_is_no_second_derivative(name: str) -> None:
    places, met = hessian_places(lambda x: pb.reduce_sum(KINKED[name](x[1:] - x[:-1])), [6])
    assert not met.any()
    assert not places.any()
    places, met = hessian_places(lambda x: pb.reduce_sum(pb.square(KINKED[name](x[1:] - x[:-1]))), [6])
    np.testing.assert_array_equal(places, met)


@pytest.mark.parametrize(("stride", "padding"), [(2, "VALID"), (1, "SAME"), (2, "SAME")])
def test_a_second_derivative_of_max_pooling_is_by_the_chosen_element_alone(stride: int, padding: str) -> None:
    places, met = hessian_places(lambda x: pb.reduce_sum(pb.square(pb.nn.max_pool1d(x, 2, stride, padding))), [1, 8, 2])
    np.testing.assert_array_equal(places, met)
    np.testing.assert_array_equal(places, np.eye(16, dtype=bool))


def test_what_an_override_makes_of_max_pooling_is_by_whole_windows() -> None:
    def means(op: Any, dy: Any) -> Any:
        del op
        return pb.repeat(dy, 2, axis=1) / 2.0

    x = pb.placeholder(pb.float64, [1, 4, 1])
    y = pb.reduce_sum(pb.square(pb.nn.max_pool1d(x, 2, 2, "VALID")))
    found = pb.sparse_hessian(y, x, rules={"MaxPool": means}).eval({x: np.arange(4.0).reshape(1, 4, 1)}).toarray()
    np.testing.assert_array_equal(found, np.kron(np.eye(2), np.full((2, 2), 0.5)))


def test_second_derivatives_of_a_gradient_by_rows_of_what_was_joined() -> None:
    x = pb.constant([1.0, 2.0, 3.0])
    rows = pb.gather(pb.concat([x * x, [4.0, 5.0]], 0), [0, 4, 0, 2])
    (dx,) = pb.gradients(pb.reduce_sum(rows**3.0), x)
    loss = pb.reduce_sum(dx * dx)
    dense = pb.Session(engine="numpy").run(pb.hessians(loss, x)[0])
    np.testing.assert_allclose(pb.sparse_hessian(loss, x).eval().toarray(), dense, rtol=1e-6)


@pytest.mark.parametrize("function", [pb.linalg.expm, pb.linalg.sqrtm], ids=lambda f: f.__name__)
def test_hessians_of_what_holds_second_derivatives_of_functions_of_matrices(function: Callable[[Any], Any]) -> None:
    x = pb.constant(np.array([0.3, 0.5]))
    loss = pb.reduce_sum(function(pb.linalg.diag(x) + np.eye(2)) * [[1.0, 2.0], [3.0, 4.0]])
    for _ in range(2):
        loss = pb.reduce_sum(pb.gradients(loss, x)[0] ** 2)
    dense = pb.Session(engine="numpy").run(pb.hessians(loss, x)[0])
    np.testing.assert_allclose(pb.sparse_hessian(loss, x).eval().toarray(), dense, rtol=1e-6, atol=1e-6)


LOSS_BY: dict[str, Callable[[pb.Tensor, Any], Any]] = {
    "sparse_jacobian": pb.sparse_jacobian,
    "sparse_hessian": pb.sparse_hessian,
    "hessians": lambda y, x: pb.hessians(y, [x]),
    "jvp": lambda y, x: pb.jvp(y, [x], [1.0]),
    "hessian_vector_product": lambda y, x: pb.hessian_vector_product(y, [x], [1.0]),
    "jet": lambda y, x: pb.jet(y, [x], 2),
}


@pytest.mark.parametrize("name", LOSS_BY)
def test_a_list_in_the_place_of_a_tensor_is_refused(name: str) -> None:
    """A stack would be made of it, by which all derivatives are zero."""
    x = pb.placeholder(pb.float64, [1, 3])
    text = r"^gradients: xs\[0\] is a list of tensors, and no y depends on what would be made of them; pass the tensors"
    with pytest.raises(TypeError, match=text):
        LOSS_BY[name](pb.reduce_sum(x**3.0), [x])
