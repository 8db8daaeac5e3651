"""Arrays of length 0 in loops that make no step and branches that are not taken: engines agree to any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb


def added_up(x: Any) -> Any:
    """A loop over the elements of a vector, read one by one."""
    return pb.while_loop(
        lambda i, y: i < pb.shape(x)[0], lambda i, y: (i + 1, y * pb.sin(x[i]) + x[i]), [0, pb.constant(1.0, x.dtype)]
    )[1]


def gathered(x: Any) -> Any:
    """The same over rows that are gathered."""

    def body(i: Any, y: Any) -> Any:
        return i + 1, y + pb.reduce_sum(pb.gather(x, [i, 0])) ** 2 + pb.gather_nd(x, [[i]])[0]

    return pb.while_loop(lambda i, y: i < pb.shape(x)[0], body, [0, pb.constant(1.0, x.dtype)])[1]


def read_from_array(x: Any) -> Any:
    """The same over a TensorArray."""
    n = pb.shape(x)[0]
    array = pb.TensorArray(x.dtype, size=n).unstack(x)
    return pb.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y * array.read(i) ** 2), [0, pb.constant(2.0, x.dtype)]
    )[1]


def written_to_array(x: Any) -> Any:
    """As many squares as there are elements, written one by one."""
    n = pb.shape(x)[0]
    array = pb.TensorArray(x.dtype, size=n, element_shape=[])
    array = pb.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, x[i] ** 4)), [0, array])[1]
    return pb.reduce_sum(pb.square(array.stack()))


@pytest.mark.parametrize("length", [0, 2])
@pytest.mark.parametrize("loop", [added_up, gathered, read_from_array, written_to_array])
def test_a_loop_over_a_vector_may_make_no_step(loop: Callable[[Any], Any], length: int) -> None:
    x = pb.placeholder(pb.float64, [None])
    ys = [loop(x)]
    for _ in range(2):
        ys += pb.gradients(ys[-1], x, unconnected_gradients="zero")
    fed = {x: np.linspace(0.5, 0.7, length)}
    found, expected = [pb.Session(engine=engine).run(ys, fed) for engine in ("xla", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_branch_that_is_not_taken_may_read_what_is_not_there(engine: str) -> None:
    x, i, wanted = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.int32, []), pb.placeholder(pb.bool, [])
    y = pb.cond(wanted, lambda: x[i], lambda: 7.0)
    session = pb.Session(engine=engine)
    assert session.run(y, {x: [], i: 0, wanted: False}) == 7.0
    assert session.run(y, {x: [3.0], i: 0, wanted: True}) == 3.0


READS: dict[str, Callable[[Any, Any], Any]] = {
    "element": lambda x, i: x[i[0]],
    "rows": lambda x, i: pb.gather(x, i),
    "columns": lambda x, i: pb.gather(pb.zeros([2, 0]), i, axis=1),
    "batches": lambda x, i: pb.gather(pb.zeros([1, 0]), i[None], batch_dims=1),
    "places": lambda x, i: pb.gather_nd(x, i[:, None]),
    "pieces": lambda x, i: pb.TensorArray(pb.float32, size=0).unstack(x).gather(i),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_of_nothing_is_out_of_range(name: str) -> None:
    """An error on NumPy; NaN on XLA, as the page of edges says."""
    x, i = pb.placeholder(pb.float32, [None]), pb.placeholder(pb.int32, [None])
    y, fed = READS[name](x, i), {x: [], i: [0, 1]}
    assert np.isnan(pb.Session(engine="xla").run(y, fed)).all()
    with pytest.raises(pb.errors.InvalidArgumentError):
        pb.Session(engine="numpy").run(y, fed)


def test_rows_of_a_variable_without_rows() -> None:
    table, i = pb.Variable(np.zeros((0, 2), np.float32)), pb.placeholder(pb.int32, [None])
    with pb.Session(engine="xla") as session:
        session.run(table.initializer)
        assert np.isnan(session.run(pb.nn.embedding_lookup(table, i), {i: [0]})).all()
        session.run(table.scatter_add(pb.IndexedSlices(pb.ones([1, 2]), i)), {i: [0]})
        assert session.run(table).shape == (0, 2)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_what_is_looked_for_among_nothing_belongs_at_its_beginning(engine: str) -> None:
    x = pb.placeholder(pb.float32, [None])
    assert pb.Session(engine=engine).run(pb.searchsorted(x, [1.0, 2.0]), {x: []}).tolist() == [0, 0]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_branch_that_is_not_taken_may_read_the_first_element_of_nothing(engine: str) -> None:
    x, p = pb.placeholder(pb.float64, [None, 2]), pb.placeholder(pb.bool, [])
    y = pb.cond(p, lambda: x[0] * 2.0 + x[-1], lambda: pb.constant([-1.0, 3.0], pb.float64))
    ys = [y, *pb.gradients(y, x)]
    found = pb.Session(engine=engine).run(ys, {x: np.zeros((0, 2)), p: False})
    assert [a.tolist() for a in found] == [[-1.0, 3.0], []]


def test_the_first_element_of_nothing_is_an_error_where_it_is_surely_read() -> None:
    x = pb.placeholder(pb.float64, [None])
    with pytest.raises(pb.errors.InvalidArgumentError, match="index 0 is out of bounds for axis 0"):
        pb.Session(engine="xla").run(pb.recompute_grad(lambda x: x[0] * 2.0)(x), {x: []})
