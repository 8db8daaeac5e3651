"""Sorting on XLA, as of integers: the order is NumPy's for every dtype, and no sort calls a function to compare."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb
from pullback.core.dtypes import FLOATING

pytest.importorskip("jax")

EDGES = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 2.0]
DTYPES = [
    *("float16", "bfloat16", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
]
FUNCTIONS: dict[str, Callable[[pb.Tensor], list[pb.Tensor]]] = {
    "argsort": lambda x: [pb.argsort(x)],
    "argsort down": lambda x: [pb.argsort(x, direction="DESCENDING")],
    "argsort of columns": lambda x: [pb.argsort(x, axis=0)],
    "sort": lambda x: [pb.sort(x), pb.sort(x, axis=0, direction="DESCENDING")],
    "top_k": lambda x: [*pb.math.top_k(x, 3), *pb.math.top_k(x, 20)],
}


def numbers(dtype: str) -> np.ndarray:
    """Rows with equal elements, and the ends of the dtype."""
    random = np.random.default_rng(0)
    if pb.as_dtype(dtype) in FLOATING:
        x = np.concatenate([random.choice(EDGES, [4, 20]), random.normal(size=[4, 20])], axis=1)
        return x.astype(np.float32).astype(pb.as_dtype(dtype))
    ends = np.iinfo(dtype)
    return random.choice(np.array([ends.min, ends.max, ends.max // 2 + 1, 5, 6], dtype), [4, 40])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_order_is_that_of_numpy(dtype: str, function: str) -> None:
    at = numbers(dtype)
    x = pb.placeholder(dtype, at.shape)
    fetches = FUNCTIONS[function](x)
    found, wanted = (pb.Session(engine=engine).run(fetches, {x: at}) for engine in ("xla", "numpy"))
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.astype(float), b.astype(float))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_that_xla_takes_for_zero_are_in_order(dtype: str) -> None:
    least = np.finfo(dtype).smallest_subnormal
    at = np.array([least, 0, -least, 2 * least, -0.0, -2 * least], dtype)
    x = pb.placeholder(dtype, [6])
    order, ordered = pb.Session(engine="xla").run([pb.argsort(x), pb.sort(x)], {x: at})
    assert order.tolist() == [5, 2, 1, 4, 0, 3]
    assert ordered.tobytes() == at[order].tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sort_has_one_array_of_integers(dtype: str) -> None:
    x = pb.placeholder(dtype, [4, 40])
    fetches = [y for name, function in FUNCTIONS.items() if name != "top_k" for y in function(x)]
    text = pb.xla.to_stablehlo(fetches, [x], platform="cpu").mlir_module()
    sorts = re.findall(r'"stablehlo\.sort"\(([^)]*)\)', text)
    assert sorts
    assert not [operands for operands in sorts if "," in operands]
