"""All rows of the case table, by family, and the ways of building and running one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

import pullback as pb
import tests.cases
from pullback.core.matmul_precision import precision_of
from pullback.core.traits import multiplies
from pullback.primitives.base.state import AbstractStateful

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


def together(rows: Sequence[Any], most: int = 8) -> list[Any]:
    """Parameters of up to `most` rows of a family: one program of them all compiles in half the time of many."""
    import pytest

    found = []
    for (family, marks), alike in groupby(rows, lambda row: (row.id.split("-")[0], tuple(row.marks))):
        cases = [row.values[0] for row in alike]
        for part in [cases[i : i + most] for i in range(0, len(cases), most)]:
            found.append(pytest.param(part, id=f"{family}-{'+'.join(case.name for case in part)}", marks=marks))
    return found


def each(rows: Sequence[Any]) -> Callable[[Callable[[Case], None]], Callable[[list[Case]], None]]:
    """Makes what checks one row a test of several, since a test takes longer to report than most rows to check."""
    import pytest

    def test_of(check: Callable[[Case], None]) -> Callable[[list[Case]], None]:
        def test(cases: list[Case]) -> None:
            for case in cases:
                try:
                    check(case)
                except BaseException as error:
                    error.add_note(f"in the row {case}")
                    raise

        test.__name__, test.__qualname__, test.__module__ = check.__name__, check.__qualname__, check.__module__
        return pytest.mark.parametrize("cases", together(rows))(test)

    return test_of


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
    """A row as a graph, or as one of several in a graph: placeholders, results, and the arrays that feed the former."""

    case: Case
    graph: pb.Graph
    xs: list[Any]
    ys: list[Any]
    arrays: list[np.ndarray[Any, Any]]
    begins: int
    """How many operations were there before it."""

    def run(self, fetches: Any, engine: str = "numpy", arrays: Sequence[Any] | None = None, **options: Any) -> Any:
        """The values of `fetches` for `arrays`, the row's own where none are given, in a session with `options`."""
        feeds = dict(zip(self.xs, self.arrays if arrays is None else arrays, strict=True))
        return run(self.graph, fetches, feeds, engine, **options)

    def float32_tolerance(self, precision: str) -> float:
        """How far XLA may be from NumPy in float32, where products are computed with that precision."""
        multiplied = any(multiplies(op.primitive.traits) and precision_of(op) is None for op in self.operations())
        own = self.case.float32_tolerance
        return max(own, PRODUCT_TOLERANCE[precision]) if multiplied else own

    def operations(self) -> list[pb.Operation]:
        """All of the row and those of functions in them; of rows that come after it, too."""
        found = list(self.graph.operations[self.begins :])
        for op in found:
            found += [inner for function in op.primitive.functions for inner in function.operations]
        return found

    def changes_from_run_to_run(self) -> bool:
        """Whether something writes state: assigns to variables or draws random numbers."""
        primitives = [op.primitive for op in self.operations()]
        return any(isinstance(p, AbstractStateful) and p.writes_state for p in primitives)


@contextmanager
def building(case: Case, shape_of: ShapeOf = same_shape, dtype: Any = np.float64) -> Iterator[Built]:
    """A row built in a graph of its own, which is the default one inside the block."""
    with pb.Graph().as_default():
        yield build_here(case, shape_of, dtype)


def build_here(case: Case, shape_of: ShapeOf = same_shape, dtype: Any = np.float64) -> Built:
    """A row built in the default graph."""
    graph, arrays = pb.get_default_graph(), case.arrays(dtype)
    begins = len(graph.operations)
    xs = [pb.placeholder(a.dtype, shape_of(a), name=f"x{i}") for i, a in enumerate(arrays)]
    ys = case.build(*xs)
    return Built(case, graph, xs, list(ys) if isinstance(ys, list | tuple) else [ys], arrays, begins)


def run(graph: pb.Graph, fetches: Any, feeds: Any, engine: str, **options: Any) -> Any:
    """The values of `fetches` where the variables of the graph are as they were initialized."""
    return runs(graph, fetches, feeds, engine, 1, **options)[0]


def runs(graph: pb.Graph, fetches: Any, feeds: Any, engine: str, count: int, **options: Any) -> list[Any]:
    """Those of so many runs in one session."""
    with pb.Session(graph=graph, engine=engine, **options) as session:
        if graph.get_collection("variables"):
            session.run(pb.variables_initializer(graph.get_collection("variables")))
        return [session.run(fetches, feeds) for _ in range(count)]


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
