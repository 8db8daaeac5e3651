"""Shaping, joining and making tensors: what is refused, and slices through a concatenation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: pb.reshape(x, [4, 2]), ValueError, "reshape: float32[2,3] has 6 elements, but [4, 2] needs 8"),
        (
            lambda x: pb.reshape(x, [4, -1]),
            ValueError,
            "reshape: float32[2,3] has 6 elements, which do not fill [4, -1]",
        ),
        (
            lambda x: pb.broadcast_to(x, [3, 3]),
            ValueError,
            "broadcast_to: float32[2,3] does not broadcast to (3, 3)",
        ),
        (
            lambda x: pb.concat([x, pb.zeros([2, 4])], 0),
            ValueError,
            "concat: these differ elsewhere than at axis 0: float32[2,3], float32[2,4]",
        ),
        (
            lambda x: pb.concat([x, x], 2),
            ValueError,
            "concat: Expected axis in the range [-2, 2), but got 2: float32[2,3]",
        ),
        (
            lambda x: pb.concat([x, pb.zeros([2, 3], pb.int32)], 0),
            TypeError,
            "concat: dtypes differ: float32[2,3], int32[2,3]; convert some with pb.cast",
        ),
        (lambda x: pb.concat([], 0), ValueError, "concat: the list of tensors is empty"),
        (lambda x: pb.concat([x, x], [1]), ValueError, "concat: axis must be a scalar, not [1]"),
        (
            lambda x: pb.concat(x, pb.placeholder(pb.int32, [1], name="a")),
            ValueError,
            "concat: axis must be one integer, not int32[1] 'a:0'",
        ),
        (
            lambda x: pb.concat([x, x], pb.placeholder(pb.float32, [], name="a")),
            TypeError,
            "concat: axis must be one integer, not float32[] 'a:0'",
        ),
        (lambda x: pb.cumsum(x, [0]), ValueError, "cumsum: axis must be a scalar, not [0]"),
        (
            lambda x: pb.cumsum(x, 2),
            pb.errors.InvalidArgumentError,
            "cumsum: Expected scan axis in the range [-2, 2), not 2, of float32[2,3]",
        ),
        (
            lambda x: pb.concat(0, [x, x]),
            TypeError,
            "concat: the axis must be a number, not a list: the list of tensors comes first, then the axis",
        ),
        (
            lambda x: pb.stack([x, pb.zeros([3])]),
            ValueError,
            "stack: all must be of one type, but these differ: float32[2,3], float32[3]",
        ),
        (
            lambda x: pb.unstack(pb.placeholder(pb.float32, [None], name="u")),
            ValueError,
            "unstack: the length of axis 0 of float32[?] 'u:0' is unknown; pass num=",
        ),
        (
            lambda x: pb.split(x, 2, 1),
            ValueError,
            "split: axis 1 of float32[2,3] cannot be cut into 2 equal parts",
        ),
        (
            lambda x: pb.split(x, [1, 1], 1),
            ValueError,
            "split: lengths [1, 1] do not make up axis 1 of float32[2,3]",
        ),
        (
            lambda x: pb.transpose(x, [0, 0]),
            ValueError,
            "transpose: perm [0, 0] is no permutation of the axes of float32[2,3] 'x:0'",
        ),
        (lambda x: pb.squeeze(x, [0]), ValueError, "squeeze: axis 0 of float32[2,3] has length 2, not 1"),
        (
            lambda x: pb.expand_dims(x, 4),
            ValueError,
            "expand_dims: Expected axis in the range [-3, 3), but got 4: float32[2,3]",
        ),
        (
            lambda x: pb.tile(x, [2]),
            ValueError,
            "tile: multiples must be 2 counts, one for each axis of float32[2,3], not [2]",
        ),
        (
            lambda x: pb.pad(x, [[1, 1]]),
            ValueError,
            "pad: paddings must be two lengths for each axis of float32[2,3] 'x:0', not [[1, 1]]",
        ),
        (
            lambda x: pb.pad(x, [[2, 0], [0, 0]], "REFLECT"),
            ValueError,
            "pad: axis 0 of float32[2,3] is too short to be mirrored by [2, 0]",
        ),
        (
            lambda x: pb.pad(pb.cast(x, pb.int32), [[0, 0], [1, 0]], constant_values=1.5),
            TypeError,
            "1.5 was given where int32 is needed; convert it with pb.cast or NumPy's astype",
        ),
        (
            lambda x: pb.pad(pb.cast(x, pb.uint8), [[0, 0], [1, 0]], constant_values=-1),
            TypeError,
            "-1 does not fit uint8",
        ),
        (
            lambda x: pb.slice(x, [0, 0], [3, 1]),
            ValueError,
            "slice: 3 elements from 0 on are not inside axis 0 of float32[2,3]",
        ),
        (
            lambda x: pb.slice(x, pb.placeholder(pb.int32, [2]), [2, 4]),
            ValueError,
            "slice: 4 elements are not inside axis 1 of float32[2,3]",
        ),
        (lambda x: pb.fill([2], x), ValueError, "fill: value must be a scalar, not float32[2,3] 'x:0'"),
        (lambda x: pb.range(0, 3, 0), ValueError, "range: a step of 0 leads nowhere"),
        (
            lambda x: pb.placeholder_with_default(x, [3, None]),
            ValueError,
            "placeholder_with_default: float32[2,3] cannot stand for a placeholder of shape (3, None)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: object, error: type[Exception], text: str) -> None:
    x = pb.placeholder(pb.float32, [2, 3], name="x")
    with pytest.raises(error) as caught:
        call(x)  # type: ignore[operator]
    assert str(caught.value) == text


def test_the_gradient_of_slices_needs_to_know_the_axis() -> None:
    x = pb.placeholder(pb.float32)
    seed = pb.IndexedSlices(pb.zeros([2, 3]), pb.constant([0, 1]), pb.constant([2, 3]))
    with pytest.raises(ValueError, match="concat") as caught:
        pb.gradients(pb.concat([x, x], -1), x, grad_ys=seed)
    assert str(caught.value) == (
        "concat: the gradient of slices needs an axis from the front or a known rank, not axis -1"
    )


def test_each_part_of_a_concatenation_gets_its_rows() -> None:
    a, b = pb.zeros([2, 1]), pb.zeros([3, 1])
    da, db = pb.gradients(pb.gather(pb.concat([a, b], 0), [4, 0, 4]), [a, b])
    with pb.Session(engine="numpy") as session:
        values = session.run([pb.convert_to_tensor(da), pb.convert_to_tensor(db)])
    np.testing.assert_array_equal(values[0], [[1], [0]])
    np.testing.assert_array_equal(values[1], [[0], [0], [2]])


def test_ranges_take_the_widest_dtype() -> None:
    assert pb.range(3).dtype == pb.int32
    assert pb.range(0, pb.constant(3, pb.int64)).dtype == pb.int64
    assert pb.range(0, 1.0, 0.5).dtype == pb.float32
    assert pb.range(3, dtype=pb.float64).dtype == pb.float64


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("rank_is_known", [True, False])
def test_tensors_are_joined_along_an_axis_that_only_the_run_knows(rank_is_known: bool, axis: int, engine: str) -> None:
    types = [[None] * 3 if rank_is_known else None] * 2
    x, y = (pb.placeholder(pb.float64, of) for of in types)
    place = pb.placeholder(pb.int64, [])
    z = pb.concat([x, y], place)
    assert z.shape.rank == (3 if rank_is_known else None)
    dx, dy = pb.gradients(pb.reduce_sum(z * z * z), [x, y])
    (ddy,) = pb.gradients(pb.reduce_sum(dy), y)
    a, b = np.arange(24.0).reshape(2, 3, 4), -np.arange(24.0).reshape(2, 3, 4)
    b = np.concatenate([b, b], axis)
    found = pb.Session(engine=engine).run([z, dx, dy, ddy], {x: a, y: b, place: axis})
    for value, expected in zip(found, [np.concatenate([a, b], axis), 3 * a * a, 3 * b * b, 6 * b], strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("sizes", [2, [1, -1], [4, 2]])
def test_a_tensor_is_cut_along_an_axis_that_only_the_run_knows(sizes: Any, axis: int, engine: str) -> None:
    x, place = pb.placeholder(pb.float64, [None, None, None]), pb.placeholder(pb.int64, [])
    first, second = pb.split(x, sizes, place)
    (dx,) = pb.gradients(pb.reduce_sum(first**3) + pb.reduce_sum(second**2), x)
    value = np.arange(6.0**3).reshape(6, 6, 6)
    cut = [3] if sizes == 2 else [sizes[0]]
    a, b = np.split(value, cut, axis)
    found = pb.Session(engine=engine).run([first, second, dx], {x: value, place: axis})
    for part, expected in zip(found, [a, b, np.concatenate([3 * a * a, 2 * b], axis)], strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_computed_axis_that_is_not_there_cannot_be_cut(engine: str) -> None:
    place = pb.placeholder(pb.int32, [])
    parts = pb.split(pb.zeros([2, 2]), 2, place)
    with pytest.raises(pb.errors.InvalidArgumentError, match="split: "):
        pb.Session(engine=engine).run(parts, {place: 2})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_is_no_number_is_joined_along_a_computed_axis_too(engine: str) -> None:
    axis = pb.placeholder(pb.int32, [])
    z = pb.concat([[[True, False]], [[False, True]], [[True, True]]], axis)
    assert pb.Session(engine=engine).run(z, {axis: 1}).tolist() == [[True, False, False, True, True, True]]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(("other", "axis"), [((2, 2, 6), 0), ((2, 3, 4), 3), ((2, 3, 4), -4), ((1, 3, 4), 1)])
def test_what_cannot_be_joined_along_a_computed_axis_fails_in_the_run(
    other: tuple[int, ...], axis: int, engine: str
) -> None:
    place, y = pb.placeholder(pb.int32, []), pb.placeholder(pb.float32, [None] * 3)
    z = pb.concat([pb.zeros([2, 3, 4]), y], place)
    with pytest.raises(pb.errors.InvalidArgumentError, match="concat"):
        pb.Session(engine=engine).run(z, {place: axis, y: np.zeros(other)})


def test_more_cannot_be_cut_from_blocks_than_there_is() -> None:
    with pb.Graph().as_default():
        x, crops = pb.placeholder(pb.float32, [2, None, 2], name="x"), pb.placeholder(pb.int32, [1, 2], name="crops")
        y = pb.batch_to_space(x, [2], crops)
        with pytest.raises(pb.errors.InvalidArgumentError, match="batch_to_space: 1 elements cannot be cut from the 0"):
            pb.Session(engine="numpy").run(y, {x: np.zeros((2, 0, 2)), crops: [[0, 1]]})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("order", [[0, 0], [0], [0, 2]])
def test_an_order_of_axes_that_a_run_computes_is_checked_there(order: list[int], engine: str) -> None:
    perm = pb.placeholder(pb.int32, [None])
    y = pb.transpose(pb.zeros([2, 3]), perm)
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"transpose: perm .* is no permutation of the axes"):
        pb.Session(engine=engine).run(y, {perm: order})


def test_an_order_of_axes_is_a_vector_of_integers() -> None:
    with pytest.raises(ValueError, match=r"^transpose: perm must be a vector of integers, not float32\[2\]$"):
        pb.transpose(pb.zeros([2, 3]), pb.placeholder(pb.float32, [2]))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_more_elements_than_there_are_cannot_be_the_largest(engine: str) -> None:
    k = pb.placeholder(pb.int32, [])
    for y in (pb.math.top_k(pb.zeros([3]), k), pb.math.top_k(pb.placeholder_with_default(np.zeros(3), None), 4)):
        with pytest.raises(pb.errors.InvalidArgumentError, match=r"top_k: there are no"):
            pb.Session(engine=engine).run(y.values, {k: 4})


def test_rows_along_a_computed_axis_are_not_looked_up_in_batches() -> None:
    axis = pb.placeholder(pb.int32, [], name="axis")
    with pytest.raises(ValueError, match=r"with batch_dims=1 the axis must be known while the graph is built"):
        pb.gather(pb.zeros([2, 3]), [[0], [1]], axis=axis, batch_dims=1)


@pytest.mark.parametrize("known", [True, False])
def test_scalars_are_not_joined(known: bool) -> None:
    axis = 0 if known else pb.placeholder(pb.int32, [])
    with pytest.raises(
        ValueError,
        match=r"^concat: Can't concatenate scalars \(use pb.stack instead\): float32\[\] 'a:0', float32\[\] 'b:0'$",
    ):
        pb.concat([pb.placeholder(pb.float32, [], name="a"), pb.placeholder(pb.float32, [], name="b")], axis)


def test_the_axis_of_a_single_tensor_is_a_number_too() -> None:
    with pytest.raises(TypeError, match=r"^concat: axis must be integers, not 4.2$"):
        pb.concat([[1, 2]], 4.2)  # type: ignore[arg-type]


def test_a_rank_that_one_of_the_joined_has_is_that_of_all() -> None:
    axis = pb.placeholder(pb.int32)
    unknown, matrix = pb.placeholder(pb.float32, None), pb.zeros([2, 3])
    assert pb.concat([unknown, matrix], axis).shape.rank == 2
    with pytest.raises(ValueError, match=r"^concat: the ranks differ: "):
        pb.concat([matrix, unknown, pb.zeros([2])], axis)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("value", [np.arange(2.0), np.arange(6.0).reshape(2, 3)])
def test_diagonals_lines_and_stitches_of_any_rank(value: Any, engine: str) -> None:
    x = pb.placeholder(pb.float64, None)
    whole = pb.linalg.tensor_diag(x)
    ys = [
        pb.linalg.tensor_diag_part(whole),
        pb.reduce_sum(whole),
        pb.linspace(x, 3.0 * x, 3)[1],
        pb.dynamic_stitch([[1], [0]], [x[:1], x[1:]]),
    ]
    (dx,) = pb.gradients(ys, x)
    found = pb.Session(engine=engine).run([*ys, dx], {x: value})
    for a, b in zip(found, [value, value.sum(), 2 * value, value[::-1], np.full(value.shape, 5.0)], strict=True):
        np.testing.assert_allclose(a, b)


def test_slices_stay_slices_through_a_cast() -> None:
    table = pb.Variable(np.ones((4, 2), np.float32))
    rows = pb.gather(pb.cast(table, pb.float64), [1, 3])
    (dtable,) = pb.gradients(rows * rows, table)
    assert isinstance(dtable, pb.IndexedSlices)
    assert dtable.dtype == pb.float32


_NEGATIVE = {
    "reshape": lambda lengths: pb.reshape(pb.zeros([12]), lengths([-2, 6])),
    "reshape_twice": lambda lengths: pb.reshape(pb.zeros([12]), lengths([-1, -1])),
    "fill": lambda lengths: pb.fill(lengths([-1, 2]), 1.0),
    "broadcast_to": lambda lengths: pb.broadcast_to(pb.ones([1, 3]), lengths([-1, 3])),
    "tile": lambda lengths: pb.tile(pb.ones([2, 3]), lengths([-1, 2])),
    "one_hot": lambda lengths: pb.one_hot([0], lengths(-2)),
    "eye": lambda lengths: pb.eye(lengths(-2)),
    "scatter_nd": lambda lengths: pb.scatter_nd([[0]], [1.0], lengths([-2])),
    "random": lambda lengths: pb.random.uniform(lengths([-1, 2])),
    "unsorted_segment_sum": lambda lengths: pb.math.unsorted_segment_sum([1.0], [0], lengths(-1)),
}


@pytest.mark.parametrize("made", _NEGATIVE.values(), ids=_NEGATIVE)
def test_no_shape_has_a_negative_length(made: Any) -> None:
    with pytest.raises(ValueError, match="negative"):
        made(lambda n: n)
    with pb.Graph().as_default():
        y = made(lambda n: pb.placeholder_with_default(n, [None] * np.ndim(n)))
        for engine in ("numpy", "xla"):
            with pytest.raises(pb.errors.InvalidArgumentError, match="negative"):
                pb.Session(engine=engine).run(y)


@pytest.mark.parametrize(
    ("axis", "error", "found"),
    [([1], ValueError, r"int32\[1\]"), (1.0, TypeError, r"float32\[\]")],
    ids=["list", "float"],
)
def test_a_computed_axis_is_one_integer(axis: Any, error: type[Exception], found: str) -> None:
    place = pb.placeholder_with_default(pb.constant(axis), np.shape(axis))
    for name, call in {
        "concat": lambda x: pb.concat([x, x], place),
        "gather": lambda x: pb.gather(x, [0], axis=place),
        "split": lambda x: pb.split(x, 2, place),
    }.items():
        with pytest.raises(error, match=f"^{name}: axis must be one integer, not {found}"):
            call(pb.zeros([2, 2]))


@pytest.mark.parametrize("mode", ["CONSTANT", "SYMMETRIC"])
def test_paddings_of_a_known_number_say_the_rank_of_what_is_padded(mode: str) -> None:
    x = pb.placeholder(pb.float32)
    for rows, rank in ((2, 2), (None, None)):
        assert pb.pad(x, pb.placeholder(pb.int32, [rows, 2]), mode).shape.rank == rank
    value = pb.placeholder(pb.float32, [])
    assert pb.pad(x, pb.placeholder(pb.int32, [2, 2]), constant_values=value).shape.rank == 2
    assert pb.pad(x, pb.placeholder(pb.int32)).shape.rank is None


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_arrays_are_coordinates_row_by_row(indexing: str) -> None:
    given = [[1, 2, 3], [[4, 5], [6, 7]]]
    found = pb.Session(engine="numpy").run(pb.meshgrid(*given, indexing=indexing))
    for a, b in zip(found, np.meshgrid(*given, indexing=indexing), strict=True):  # type: ignore[call-overload]
        np.testing.assert_array_equal(a, b)


def test_spaces_between_integers_are_of_float64() -> None:
    found = pb.Session(engine="numpy").run(pb.linspace(0, 10, 5))
    assert (found.dtype, found.tolist()) == (np.float64, [0.0, 2.5, 5.0, 7.5, 10.0])
    with pytest.raises(TypeError, match="start and stop must be numbers"):
        pb.linspace(1j, 2j, 3)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0, 0, 1], "0 is duplicated in the input"),
        ([0, 3], "3 is not between 0 and 2"),
        ([-1], "-1 is not between 0 and 1"),
    ],
)
def test_what_is_no_permutation_is_not_inverted(x: list[int], message: str, engine: str) -> None:
    session, given = pb.Session(engine=engine), pb.placeholder(pb.int32, [None])
    y = pb.math.invert_permutation(given)
    assert session.run(y, {given: []}).tolist() == []
    elsewhere = "a number stands twice" if "duplicated" in message else "a number is not a position"
    said = message if engine == "numpy" else elsewhere
    with pytest.raises(pb.errors.InvalidArgumentError, match=f"invert_permutation: {said}"):
        session.run(y, {given: x})


def test_permutations_of_any_length_are_inverted_in_onnxruntime() -> None:
    given = pb.placeholder(pb.int32, [None])
    session = pb.Session(engine="onnxruntime")
    y = pb.math.invert_permutation(given)
    assert [session.run(y, {given: x}).tolist() for x in ([2, 0, 1], [0], [])] == [[1, 2, 0], [0], []]
    with pytest.raises(pb.errors.InvalidArgumentError):
        session.run(y, {given: [0, 7]})


@pytest.mark.parametrize("engine", ["numpy", "xla", "onnxruntime"])
@pytest.mark.parametrize("shape", [None, [None], [6]])
def test_one_computed_length_of_a_split_may_be_the_rest(shape: Any, engine: str) -> None:
    x, lengths = pb.placeholder(pb.float32, shape), pb.placeholder(pb.int32, [3])
    parts = pb.split(x, lengths)
    dx = pb.gradients(parts, x, grad_ys=[pb.ones_like(y) * float(i) for i, y in enumerate(parts)])
    session = pb.Session(engine=engine)
    *found, slope = session.run([*parts, *dx], {x: np.arange(6.0), lengths: [2, -1, 1]})
    assert [y.tolist() for y in found] == [[0, 1], [2, 3, 4], [5]]
    assert slope.tolist() == [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("lengths", [[-1, -1], [-2, 8], [7, -1], [2, 3]])
def test_computed_lengths_of_a_split_that_do_not_fit(lengths: list[int]) -> None:
    given = pb.placeholder(pb.int32, [2])
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.Session(engine="numpy").run(pb.split(pb.zeros([6]), given), {given: lengths})
    assert f"split: lengths {lengths} do not make up axis 0 of length 6" in str(caught.value)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("axis", [-4, -3, -2, -1, 0, 1, 2, 3])
def test_the_axis_of_one_hot_is_looked_at_where_a_run_knows_the_rank(axis: int, engine: str) -> None:
    unknown, known = pb.placeholder(pb.int32, None), pb.placeholder(pb.int32, [2, 3])
    given, session = np.array([[0, 1, 2], [2, 1, 0]], np.int32), pb.Session(engine=engine)
    y = pb.one_hot(unknown, 4, axis=axis)
    if -3 <= axis < 3:
        expected = np.moveaxis(np.eye(4)[given], -1, axis)
        np.testing.assert_array_equal(session.run(y, {unknown: given}), expected)
        assert pb.one_hot(known, 4, axis=axis).shape == expected.shape
        return
    text = rf"one_hot: Expected axis in the range \[-3, 3\), but got {axis}: int32\[2,3\]"
    with pytest.raises(pb.errors.InvalidArgumentError, match=text):
        session.run(y, {unknown: given})


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_no_numbers_between_two(engine: str) -> None:
    num, session = pb.placeholder(pb.int32, []), pb.Session(engine=engine)
    assert session.run(pb.linspace([0.0, 3.0], [1.0, 2.0], num), {num: 0}).shape == (0, 2)
    assert session.run(pb.linspace(0.0, 1.0, 0)).shape == (0,)
    with pytest.raises(ValueError, match=r"^linspace: num must not be negative, but it is -1$"):
        pb.linspace(0.0, 1.0, -1)
    with pytest.raises(pb.errors.InvalidArgumentError, match="linspace: num must not be negative"):
        session.run(pb.linspace(0.0, 1.0, num), {num: -1})
