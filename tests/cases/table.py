"""All rows of the case table, by family, and the ways of building and running one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb
import tests.cases
from pullback.core.matmul_precision import precision_of
from pullback.core.traits import multiplies

from .case import PRODUCT_TOLERANCE, Case

_NOT_FAMILIES = {"case", "table"}
ShapeOf = Callable[[np.ndarray[Any, Any]], Any]


def families() -> dict[str, list[Case]]:
    """The rows of each family: a module or a folder of modules beside this file."""
    found: dict[str, list[Case]] = {}
    for module in sorted(pkgutil.walk_packages(tests.cases.__path__, "tests.cases."), key=lambda m: m.name):
        family = module.name.split(".")[2]
        if not module.ispkg and family not in _NOT_FAMILIES:
            found.setdefault(family, []).extend(importlib.import_module(module.name).CASES)
    return found


def rows(*without: str, mark_slow: bool = False) -> list[Any]:
    """pytest parameters for the rows that give no reason under any of the fields `without`."""
    import pytest

    return [
        pytest.param(case, id=f"{family}-{case.name}", marks=[pytest.mark.slow] if mark_slow and case.slow else [])
        for family, cases in families().items()
        for case in cases
        if not any(getattr(case, field) for field in without)
    ]


def same_shape(array: np.ndarray[Any, Any]) -> Any:
    """The static shape in full."""
    return array.shape


def erased_lengths(array: np.ndarray[Any, Any]) -> Any:
    """Only the rank."""
    return [None] * array.ndim


def named_lengths(array: np.ndarray[Any, Any]) -> Any:
    """A name for each length but 0 and 1, one for equal ones."""
    return [f"n{n}" if n > 1 else n for n in array.shape]


def erased_rank(array: np.ndarray[Any, Any]) -> Any:
    """Nothing."""
    del array


@dataclass
class Built:
    """A row as a graph: placeholders, results, and the arrays that feed the former."""

    case: Case
    graph: pb.Graph
    xs: list[Any]
    ys: list[Any]
    arrays: list[np.ndarray[Any, Any]]

    def run(self, fetches: Any, engine: str = "numpy", arrays: Sequence[Any] | None = None, **options: Any) -> Any:
        """The values of `fetches` for `arrays`, the row's own where none are given, in a session with `options`."""
        feeds = dict(zip(self.xs, self.arrays if arrays is None else arrays, strict=True))
        with pb.Session(graph=self.graph, engine=engine, **options) as session:
            if self.graph.get_collection("variables"):
                session.run(pb.variables_initializer(self.graph.get_collection("variables")))
            return session.run(fetches, feeds)

    def float32_tolerance(self, precision: str) -> float:
        """How far XLA may be from NumPy in float32, where products are computed with that precision."""
        pending = list(self.graph.operations)
        for op in pending:
            if multiplies(op.primitive.traits) and precision_of(op) is None:
                return max(self.case.float32_tolerance, PRODUCT_TOLERANCE[precision])
            pending += [inner for function in op.primitive.functions for inner in function.operations]
        return self.case.float32_tolerance


@contextmanager
def building(case: Case, shape_of: ShapeOf = same_shape, dtype: Any = np.float64) -> Iterator[Built]:
    """A row built in a graph of its own, which is the default one inside the block."""
    arrays = case.arrays(dtype)
    graph = pb.Graph()
    with graph.as_default():
        xs = [pb.placeholder(a.dtype, shape_of(a), name=f"x{i}") for i, a in enumerate(arrays)]
        ys = case.build(*xs)
        yield Built(case, graph, xs, list(ys) if isinstance(ys, list | tuple) else [ys], arrays)


def differentiable(ys: Sequence[Any]) -> list[Any]:
    """Those of `ys` that can have a derivative."""
    return [y for y in ys if y.dtype.kind in "fcV"]


def weights_like(values: Sequence[Any], seed: int) -> list[np.ndarray[Any, Any]]:
    """Arrays of random numbers of the shapes and dtypes of `values`."""
    random = np.random.default_rng(seed)
    result = []
    for value in values:
        array = np.asarray(value)
        numbers = random.normal(size=array.shape)
        if array.dtype.kind == "c":
            numbers = numbers + 1j * random.normal(size=array.shape)
        result.append(np.asarray(numbers).astype(array.dtype))
    return result


def differentiate(built: Built, ys: Sequence[Any], seed: int) -> list[Any]:
    """The gradients of `ys` by the row's inputs, for random cotangents; zeros where there is none."""
    xs = [built.xs[i] for i in built.case.differentiated()]
    weights = weights_like(built.run(list(ys)), seed)
    with pb.densify_policy("allow"):
        dxs = pb.gradients(list(ys), xs, grad_ys=weights, unconnected_gradients="zero")
        return [pb.convert_to_tensor(dx) for dx in dxs]
