"""Rows of the case table without static lengths: what can be written is right, and what cannot is said to be so.

Nothing is silently wrong. How many rows of each family cannot be written is data: it may only become less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from tests.cases.case import Case
from tests.cases.table import building, differentiable, differentiate, erased_lengths, families
from tests.test_cases import assert_close

pytest.importorskip("onnxruntime")
LOOSEST = 6e-5
NOTHING_TO_COMPUTE = "onnxruntime has no kernel for windows over no elements"
NO_STEPS = "a loop of no steps cannot know how long its rows would be"
EXCEPTIONS = {
    "signal-fft_of_no_elements": "the angles of a transform of no elements are a division by zero",
    "control_flow-map_fn_no_rows": NO_STEPS,
    "control_flow-scan_no_rows": NO_STEPS,
    "pooling-max_pool_no_rows": NOTHING_TO_COMPUTE,
    "pooling-avg_pool_no_rows": NOTHING_TO_COMPUTE,
    "pooling-avg_pool_no_images": NOTHING_TO_COMPUTE,
}
"""Rows that are written, and that onnxruntime does not run as NumPy does; all of them have no elements."""
NOT_WRITTEN = {
    "convolution": 81,
    "cumulative": 1,
    "image": 57,
    "indexing": 4,
    "linalg": 147,
    "losses": 8,
    "normalization": 1,
    "pooling": 3,
    "quantization": 3,
    "ragged": 1,
    "random": 9,
    "reduction": 5,
    "segment": 8,
    "shape": 2,
    "signal": 21,
    "sorting": 14,
}
"""Of each family how many rows that is: most take matrices apart, or have filters of unknown size."""


def _rows(family: str) -> Sequence[Case]:
    """The rows of a family that can be compared and have inputs whose lengths can be unknown."""
    fields = ("not_onnx", "not_on_numpy", "not_float32", "not_exact", "not_erased")
    return [case for case in families()[family] if case.inputs and not any(getattr(case, f) for f in fields)]


def _is_written(case: Case) -> bool:
    """Whether the row and its first derivative can be written; they are compared with NumPy then."""
    with building(case, erased_lengths, np.float32) as built:
        fetches: list[Any] = list(built.ys)
        if not case.not_differentiable and case.differentiated():
            fetches += differentiate(built, differentiable(built.ys), 1)
        expected = built.run(fetches)
        try:
            found = built.run(fetches, "onnxruntime")
        except pb.errors.UnimplementedError as error:
            if not str(error).startswith("onnx.export: these operations cannot be written:\n"):
                raise
            return False
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_close(a, b, max(3 * case.float32_tolerance, LOOSEST), f"fetch {i}: {fetches[i]}")
    return True


@pytest.mark.parametrize("family", families())
def test_a_sample_of_rows_without_static_lengths_is_right_or_refused(family: str) -> None:
    for case in _rows(family)[::20]:
        if f"{family}-{case.name}" not in EXCEPTIONS and not case.slow:
            _is_written(case)


@pytest.mark.slow
@pytest.mark.parametrize("family", families())
def test_rows_without_static_lengths_are_right_or_refused(family: str) -> None:
    refused = 0
    for case in _rows(family):
        if f"{family}-{case.name}" not in EXCEPTIONS:
            refused += not _is_written(case)
    assert refused <= NOT_WRITTEN.get(family, 0)


def _compare(build: Any, arrays: Sequence[Any]) -> None:
    """Values and gradients of inputs of unknown ranks are those of NumPy, in shape too."""
    with pb.Graph().as_default() as graph:
        xs = [pb.placeholder(pb.float64, None) for _ in arrays]
        y = build(*xs)
        fetches, feeds = [y, *pb.gradients(y, xs)], dict(zip(xs, arrays, strict=True))
        found, expected = [pb.Session(graph=graph, engine=e).run(fetches, feeds) for e in ("onnxruntime", "numpy")]
        for a, b in zip(found, expected, strict=True):
            assert np.shape(a) == np.shape(b)
            np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(
    "build", [pb.multiply, pb.maximum, pb.atan2, pb.math.igammac, lambda a, b: pb.where(a > b, a, b)]
)
@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (2, 3))])
def test_values_of_unknown_ranks_are_not_taken_for_values_of_one_shape(build: Any, shapes: Any) -> None:
    _compare(build, [np.random.default_rng(i).uniform(0.5, 2.0, shape) for i, shape in enumerate(shapes)])


@pytest.mark.parametrize(
    "build", [pb.transpose, lambda x: pb.reduce_mean(x, []), lambda x: pb.math.reduce_variance(x, [])]
)
def test_orders_and_means_that_name_no_axis_of_unknown_ranks(build: Any) -> None:
    _compare(build, [np.arange(6.0).reshape(2, 3)])


def test_special_functions_of_more_numbers_than_are_computed_at_once_are_in_order() -> None:
    _compare(pb.math.bessel_i1, [np.linspace(0.5, 5.0, 600).reshape(2, 300)])


@pytest.mark.parametrize("axes", [[-1], [0], [-1, 0]])
@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("reduce", [pb.reduce_sum, pb.reduce_prod, pb.reduce_max, pb.reduce_logsumexp])
def test_reductions_of_no_elements_leave_out_axes_that_count_from_the_end(reduce: Any, rank: Any, axes: Any) -> None:
    x = pb.placeholder(pb.float32, None if rank is None else [None] * rank)
    found, expected = [
        pb.Session(engine=engine).run(reduce(x, axes), {x: np.zeros((2, 0))}) for engine in ("onnxruntime", "numpy")
    ]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [5, 6])
def test_transforms_of_real_numbers_and_their_derivatives_are_those_of_any_length(n: int) -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [None])
        y = pb.math.real(pb.signal.rfft(x))
        z = pb.signal.irfft(pb.complex(x, x * x))
        fetches = [y, z, *pb.gradients([y * y, z * z], x)]
    values = np.random.default_rng(n).normal(size=n)
    wanted, found = [pb.Session(engine=e, graph=graph).run(fetches, {x: values}) for e in ("numpy", "onnxruntime")]
    for a, b in zip(found, wanted, strict=True):
        assert_close(a, b, 1e-9, "onnxruntime")


def test_rows_are_repeated_as_often_as_a_run_says() -> None:
    with pb.Graph().as_default() as graph:
        x, counts = pb.placeholder(pb.float32, [None, 2]), pb.placeholder(pb.int32, [None])
        y = pb.repeat(x, counts, axis=0)
        fetches = [y, *pb.gradients(y * y, x)]
    feeds = {x: np.arange(6, dtype=np.float32).reshape(3, 2), counts: [2, 0, 3]}
    wanted, found = [pb.Session(engine=e, graph=graph).run(fetches, feeds) for e in ("numpy", "onnxruntime")]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("lengths", [((1, 3, 0), (2, 0, 5)), ((2, 1, 3, 0), (4, 0, 5)), ((1, 3, 2), (4, 2, 5))])
def test_stacks_repeat_where_products_add_up_nothing(lengths: Any) -> None:
    xs = [pb.placeholder(pb.float32, [None] * len(shape)) for shape in lengths]
    fetches = [pb.matmul(*xs), *pb.gradients(pb.matmul(*xs), xs)]
    feeds = {x: np.ones(shape, np.float32) for x, shape in zip(xs, lengths, strict=True)}
    found, expected = [pb.Session(engine=engine).run(fetches, feeds) for engine in ("onnxruntime", "numpy")]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("lengths", [((2, 0, 3), (2, 0, 5)), ((1, 0, 3), (2, 0, 5)), ((4, 0, 30), (4, 0, 50))])
def test_products_of_transposed_stacks_that_add_up_nothing_are_zero(lengths: Any) -> None:
    """Whatever stood in the memory that onnxruntime gives them."""
    a, b = [pb.placeholder(pb.float32, [None] * 3) for _ in lengths]
    filled = pb.placeholder(pb.float32, [None])
    fetches = [pb.exp(filled), pb.matmul(a, b, transpose_a=True)]
    feeds = {x: np.ones(shape, np.float32) for x, shape in zip((a, b), lengths, strict=True)}
    with pb.Session(engine="onnxruntime") as session:
        for size in (30, 200, 6000):
            _, found = session.run(fetches, {**feeds, filled: np.ones(size, np.float32)})
            assert not found.any()


@pytest.mark.parametrize("shape", [(0, -1), (-1, 0), (0, -1, 2), (3, 0, -1)])
def test_a_length_beside_a_zero_is_worked_out_of_those_that_are_not(shape: Any) -> None:
    """In a model that is written once, for no rows and for no columns."""
    x = pb.placeholder(pb.float32, [None, None, None])
    fetches = [pb.reshape(x, shape), *pb.gradients(pb.reshape(x, shape), x)]
    for lengths in ((0, 2, 3), (2, 3, 0)):
        feeds = {x: np.ones(lengths, np.float32)}
        found, expected = [pb.Session(engine=engine).run(fetches, feeds) for engine in ("onnxruntime", "numpy")]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
