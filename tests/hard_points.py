"""Hard points of the rows of the case table: values and derivatives there, of a graph and of what a file made of it.

Some numbers, or a whole row of them, are zeros of either sign, ones, infinities or NaN: ends of domains, kinks, poles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.primitives.random.stateful import AbstractDraw

from .cases.case import Case
from .cases.table import Built, building, differentiable, families, together, weights_like
from .test_cases import assert_close

Arrays = list[np.ndarray[Any, Any]]
HARD = {
    "zero": [0.0],
    "minus zero": [-0.0],
    "one": [1.0],
    "minus one": [-1.0],
    "inf": [np.inf],
    "minus inf": [-np.inf],
    "nan": [np.nan],
    "all": [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan],
}
FEW = 2
"""So many numbers of an array are hard."""
WITHOUT_END = {"control_flow": "a loop that ends by its numbers may not end"}
"""The families that are left alone."""


def hard_rows(where: str, *fields: str, every: int = 1, without: Collection[str] = ()) -> list[Any]:
    """Parameters of rows, several of a family each, but for those that say why they are other `where`.

    All but each so many are marked slow.
    """
    kept = [
        pytest.param(case, id=f"{family}-{case.name}", marks=[pytest.mark.slow] if case.slow or i % every else [])
        for family, cases in families().items()
        for i, case in enumerate(cases)
        if family not in (*WITHOUT_END, *without)
        and not case.not_differentiable
        and case.differentiated()
        and where not in case.other_at_hard_points
        and not any(getattr(case, field) for field in ("not_on_numpy", "not_exact", *fields))
    ]
    return together(sorted(kept, key=lambda row: (row.id.split("-")[0], len(row.marks))))


def orders(case: Case) -> int:
    """How many derivatives a row has, at most two."""
    return 1 if case.not_second_order else 2


def hard_inputs(case: Case, arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    """The inputs as they are, and with hard numbers in those that derivatives are taken by."""
    moved = [i for i in case.differentiated() if arrays[i].dtype.kind == "f" and arrays[i].size]
    yield "as they are", arrays
    for name, numbers in HARD.items():
        made = [a.copy() for a in arrays]
        for i in moved:
            random = np.random.default_rng([i, made[i].size])
            places = random.permutation(made[i].size)[: FEW if len(numbers) == 1 else None]
            made[i].reshape(-1)[places] = np.resize(random.permutation(numbers), len(places))
        yield name, made
    for name, numbers in HARD.items() if any(arrays[i].ndim for i in moved) else ():
        made = [a.copy() for a in arrays]
        for i in moved:
            made[i][(0,) * max(made[i].ndim - 1, 0)] = np.resize(numbers, made[i].shape[-1:])
        yield f"a row: {name}", made


def with_derivatives(ys: Sequence[Any], xs: Sequence[Any], seeds: Sequence[Arrays]) -> list[Any]:
    """`ys` and their derivatives, of as many orders as there are `seeds`, cotangents.

    There is a pole in the graph, as a formula may be in a loaded one: zeros of masks win then.
    """
    found, last = list(ys), differentiable(ys)
    with ys[0].graph.as_default(), pb.densify_policy("allow"):
        pb.math.log(pb.placeholder(pb.float32, []))
        for weights in seeds:
            dxs = pb.gradients(last, xs, grad_ys=weights, unconnected_gradients="zero")
            last = [pb.convert_to_tensor(dx) for dx in dxs]
            found += last
    return found


def cotangents(case: Case, dtype: Any) -> list[Arrays]:
    """Random cotangents for the derivatives of a row, of a graph of their own."""
    seeds: list[Arrays] = []
    with building(case, dtype=dtype) as built:
        last, xs = differentiable(built.ys), [built.xs[i] for i in case.differentiated()]
        for order in range(1, orders(case) + 1):
            seeds.append(weights_like(built.run(last), order))
            last = with_derivatives(built.ys, xs, seeds)[-len(xs) :]
    return seeds


def keeps_state(built: Built) -> bool:
    """Whether a row draws numbers or has variables."""
    draws = any(isinstance(op.primitive, AbstractDraw) for op in built.graph.operations)
    return draws or bool(built.graph.get_collection("variables"))


def assert_same(
    built: Built, expected: Sequence[Any], found: Callable[[Arrays], Sequence[Any]], tolerance: float
) -> None:
    """What `found` gives for hard inputs is what `expected`, tensors of the row, are there."""
    with pb.Session(graph=built.graph, engine="numpy") as session:
        for name, arrays in hard_inputs(built.case, built.arrays):
            try:
                wanted = session.run(list(expected), dict(zip(built.xs, arrays, strict=True)))
            except (pb.errors.PullbackError, ValueError):
                continue
            with np.errstate(all="ignore"):
                for y, a, b in zip(expected, found(arrays), wanted, strict=True):
                    assert_close(a, b, tolerance, f"{built.case} at {name}: {y}")
