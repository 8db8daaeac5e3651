"""onnxruntime's kernels at the edges: each operation of the case table, alone, beside the NumPy engine.

What is tried: numbers instead of arrays, arrays without elements, NaN, both zeros, infinities, the largest and the
smallest floats and integers. Where onnxruntime answers otherwise, it is said here why that stays so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.primitive import Primitive
from pullback.core.traits import ELEMENTWISE
from tests.programs.samples import Sample, index, row_count, samples

pytest.importorskip("onnxruntime")
Arrays = list[np.ndarray[Any, Any]]
FLOATS = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 1.5, -2.5, np.finfo("f").max, np.finfo("f").min, 1e-30], "f")
MOST_OF_A_TYPE = 6
EXCEPTIONS: dict[str, tuple[str, ...]] = {
    "powers of integers are computed in float64": ("Pow",),
    "they are products with steps, for what a run provides is taken for finite": ("ReluGrad", "Relu6Grad"),
    "its largest element skips NaN": ("MaxPool", "MaxPoolGrad", "MaxPoolPlaces"),
    "beside an infinity it skips NaN": ("LogSumExp",),
    "squares of the largest numbers, or sums of them, overflow earlier or later": (
        *(
            "Standardize",
            "StandardizeGrad",
            "SoftmaxGrad",
            "Dct",
            "Atan2Grad",
            "FFTND",
            "RFFTND",
            "IRFFTND",
            "MatrixLogarithm",
            "Conv3DBackpropInputV2",
        ),
    ),
    "matrices of infinities and NaN are taken apart by other steps": (
        *(
            "LogMatrixDeterminant",
            "MatrixDeterminant",
            "Cofactors",
            "Qr",
            "Lu",
            "Svd",
            "SelfAdjointEigV2",
            "MatrixTriangularSolve",
        ),
        *("Eig", "MatrixInverse", "MatrixSolve", "Cholesky", "PseudoInverse", "MatrixExponential", "PositiveSolve"),
    ),
    "outside of where it is defined SciPy has other conventions": (
        *("Zeta", "Polygamma", "Igamma", "Igammac", "Betainc", "Spence", "GammaDensity", "BetaDensity"),
        *("IgammaRatio", "IgammaGradA", "BetaincByParameters", "SpenceSlope", "Digamma", "Lgamma"),
    ),
    "infinite filters meet the zeros beyond an edge, as on XLA": ("DepthwiseConv2dNativeBackpropInput",),
    "it is given sorted numbers, or finite ones": ("SearchSorted", "IsotonicRegression"),
    "it is given numbers of elements that are there": (
        *("VectorsFromFront", "SparseSoftmaxCrossEntropyWithLogits", "TensorListGetItem", "TakeAlong"),
    ),
}
"""The operations that differ, by reason."""
_DIFFER = {name for names in EXCEPTIONS.values() for name in names}


def edges(sample: Sample) -> Iterator[Arrays]:
    """Inputs for an operation."""
    arrays = list(sample.arrays)
    if ELEMENTWISE in sample.primitive.traits:
        places = (
            np.meshgrid(*[np.arange(10)] * len(arrays)) if len(arrays) < 3 else [_drawn(i) for i in range(len(arrays))]
        )
        special = [_edge_numbers(a)[place.reshape(-1)] for a, place in zip(arrays, places, strict=True)]
        yield special
        yield from [[x[i] for x in special] for i in (3, len(special[0]) // 3)]
        yield [np.zeros((0, 3), a.dtype) for a in arrays]
        return
    for seed in range(2):
        yield [np.random.default_rng(seed).choice(FLOATS, a.shape) if a.dtype == np.float32 else a for a in arrays]
    for n in {n for a in arrays for n in a.shape} if not sample.derived else ():
        yield from [_with_length(sample, n, m) for m in (0, 1) if m != n]


def _drawn(seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 10, 60)


def _edge_numbers(like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Ten numbers of a dtype."""
    if like.dtype == np.float32:
        return FLOATS
    if like.dtype.kind in "iu":
        limits = np.iinfo(like.dtype)
        return np.array([limits.min, limits.max, 0, 1, 2, 3, 5, 7, 100, limits.max - 1], like.dtype)
    return np.resize(like, 10) if like.size else np.zeros(10, like.dtype)


def _with_length(sample: Sample, n: int, m: int) -> Arrays:
    """The sample with lengths of n replaced by m."""
    kept = sample.primitive.shape_inputs
    shapes = [[m if k == n else k for k in a.shape] for a in sample.arrays]
    pairs = zip(sample.arrays, shapes, strict=True)
    return [a if i in kept else np.resize(a, shape).astype(a.dtype) for i, (a, shape) in enumerate(pairs)]


def computed(p: Primitive, arrays: Arrays, engine: str) -> list[Any]:
    """The outputs of one operation; what says shapes is constant."""
    with pb.Graph().as_default():
        xs = [pb.constant(a) if i in p.shape_inputs else pb.placeholder(a.dtype, a.shape) for i, a in enumerate(arrays)]
        feeds = {x: a for i, (x, a) in enumerate(zip(xs, arrays, strict=True)) if i not in p.shape_inputs}
        found: list[Any] = pb.Session(engine=engine).run(list(p.operation(*xs).outputs), feeds)
        return found


def expected(p: Primitive, arrays: Arrays) -> list[Any] | None:
    """What NumPy gives; None where it refuses, too."""
    try:
        with np.errstate(all="ignore"):
            return computed(p, arrays, "numpy")
    except (ValueError, TypeError, NotImplementedError):
        return None


def compare(type_name: str) -> None:
    """All that is tried of a type of operations."""
    tried: dict[Any, Sample] = {}
    for row in range(row_count(type_name)):
        for sample in samples("float32", type_name, row):
            if not (sample.case.not_onnx or sample.case.not_exact):
                tried.setdefault((repr(sample.primitive), *[(a.dtype, a.ndim) for a in sample.arrays]), sample)
    for sample in list(tried.values())[:MOST_OF_A_TYPE]:
        for arrays in edges(sample):
            wanted = expected(sample.primitive, arrays)
            if wanted is not None:
                with suppress(pb.errors.UnimplementedError):
                    for a, b in zip(computed(sample.primitive, arrays, "onnxruntime"), wanted, strict=True):
                        _assert_same(a, b, f"{sample.primitive} of {arrays}")


def _assert_same(a: Any, b: Any, what: str) -> None:
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"{what}: {a.shape}, on NumPy {b.shape}"
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=what)


TYPES = sorted(index().rows)


@pytest.mark.parametrize("type_name", [name for name in TYPES[::12] if name not in _DIFFER])
def test_edges_are_those_of_numpy(type_name: str) -> None:
    compare(type_name)


@pytest.mark.slow
@pytest.mark.parametrize("type_name", [name for name in TYPES if name not in _DIFFER])
def test_edges_of_all_operations_are_those_of_numpy(type_name: str) -> None:
    compare(type_name)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("name", ["floordiv", "truncatediv", "floormod", "truncatemod"])
def test_quotients_and_remainders_of_extreme_integers(name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    numbers = np.array([limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max], dtype)
    a, b = [x.reshape(-1) for x in np.meshgrid(numbers, np.append(numbers, numbers[2:3] - np.ones((), dtype)))]
    f = getattr(pb.math, name, None) or getattr(pb, name)
    x, y = pb.placeholder(dtype, [a.size]), pb.placeholder(dtype, [a.size])
    found = [pb.Session(engine=e).run(f(x, y), {x: a, y: b}) for e in ("numpy", "onnxruntime", "xla")]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
