"""Differential testing of derivatives: what two ways of asking for the same derivative have to give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

import pullback as pb
from pullback.core.dtypes import COMPLEX, FLOATING
from pullback.passes.reroll import rolled

from .differences import distance
from .program import Program
from .properties import (
    Array,
    Built,
    build,
    differentiable,
    differentiate,
    few_roundings,
    is_determined,
    nudged,
    precision,
    weights_like,
)

WAYS = (pb.AggregationMethod.EXPERIMENTAL_TREE, pb.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
MOST_ENTRIES = 400
"""The largest Jacobians that are computed whole."""


def forward_and_reverse_agree(program: Program) -> None:
    """w · (J v) is (Jᵀ w) · v, of the program and of its first derivatives."""
    built = build(program)
    ys, xs = differentiable(built.ys), built.moved()
    if not ys or not xs or not is_determined(program):
        return
    for order in (1, 2):
        weights = weights_like(built.run(ys), order)
        dxs = differentiate(built, ys, order)
        directions = weights_like(built.run([pb.convert_to_tensor(built.xs[i]) for i in xs]), order + 10)
        with built.graph.as_default(), pb.densify_policy("allow"):
            beside = [*ys, *[-y for y in ys]]  # Cotangents of ones cancel, and hide nothing.
            dys = pb.jvp(beside, [built.xs[i] for i in xs], directions)[: len(ys)]
        forward, reverse = (_terms(built, *pair) for pair in ((dys, weights), (dxs, directions)))
        beside_it = _terms(built, dxs, directions, nudged(program))
        _compare_sums(forward, reverse, beside_it, max(1e-7, 30 * precision(program)), f"derivative {order}")
        if any(case.not_second_order for case in program.cases()):
            return
        ys = dxs


def _terms(
    built: Built, tensors: Sequence[pb.Tensor], weights: Sequence[Array], arrays: Sequence[Array] | None = None
) -> list[float]:
    values = built.run(list(tensors), arrays=arrays)
    return [float(x) for a, w in zip(values, weights, strict=True) for x in np.real(np.conj(w) * a).ravel()]


def _compare_sums(
    found: Sequence[float], expected: Sequence[float], beside_it: Sequence[float], base: float, what: str
) -> None:
    """Equal as far as rounding is not magnified, as `beside_it`, for inputs that are hardly others, shows."""
    sizes = sum(map(abs, found)), sum(map(abs, expected))
    if np.all(np.isfinite(sizes)):
        moved = abs(sum(beside_it) - sum(expected))
        allowed = base * max(*sizes, 1e-2) + (30 * moved if np.isfinite(moved) else 0)
        assert abs(sum(found) - sum(expected)) <= allowed, f"{what}: {sum(found)} is not {sum(expected)}"


def jets_are_nested_products(program: Program) -> None:
    """The first, second and third derivatives along a line are products of products."""
    built = build(program)
    ys, moved = differentiable(built.ys), built.moved()
    if not ys or not moved or not program.smooth() or any(case.not_second_order for case in program.cases()):
        return
    with built.graph.as_default(), pb.densify_policy("allow"):
        xs = [built.xs[i] for i in moved]
        vs = weights_like([program.inputs[i].value.array for i in moved], 3)
        jets = pb.jet(ys, xs, 3, vs)
        nested, derivatives = list(ys), []
        for _ in range(3):
            nested = pb.jvp(nested, xs, vs)
            derivatives.append(nested)
    found = [[orders[k] for orders in jets] for k in range(3)]
    _compare(built, [y for ys in found for y in ys], [y for ys in derivatives for y in ys])


def _compare(built: Built, found: Sequence[Any], expected: Sequence[Any], base: float = 1e-8) -> None:
    """Equal as far as rounding is not magnified, where the expected values are finite."""
    values, moved = built.run([list(found), list(expected)]), built.run(list(expected), arrays=nudged(built.program))
    for y, z, p, q, r in zip(found, expected, *values, moved, strict=True):
        if np.all(np.isfinite(np.asarray(q).astype(complex))):
            assert distance(p, q) <= max(base, few_roundings(built.program)) + 30 * distance(r, q), (
                f"{y} is {p}, but {z} is {q}"
            )


def jacobians_are_made_of_gradients(program: Program) -> None:
    """Rows of Jacobians, dense by rows and columns and sparse, are gradients."""
    built = build(program)
    ys, moved = differentiable(built.ys)[:1], built.moved()[:2]
    if not ys or not moved or np.iscomplexobj(built.run(ys)[0]):
        return
    arrays = [program.inputs[i].value.array for i in moved]
    size = np.size(built.run(ys)[0])
    if any(size * a.size > MOST_ENTRIES or a.dtype.kind == "c" for a in arrays) or not size:
        return
    with built.graph.as_default(), pb.densify_policy("allow"):
        xs = [built.xs[i] for i in moved]
        rows, columns = (pb.jacobian(ys[0], xs, mode=mode) for mode in ("reverse", "forward"))
        shape = pb.shape(ys[0])
        units = [pb.reshape(pb.constant(row, ys[0].dtype), shape) for row in np.eye(size)]
        gradients = [pb.gradients(ys[0], xs, [unit], unconnected_gradients="zero") for unit in units]
        expected = [pb.stack([pb.convert_to_tensor(g[k]) for g in gradients]) for k in range(len(xs))]
        for found in (rows, columns):
            flat = [
                pb.zeros_like(e) if j is None else pb.reshape(j, pb.shape(e))
                for j, e in zip(found, expected, strict=True)
            ]
            _compare(built, flat, expected)


def hessians_are_made_of_products(program: Program) -> None:
    """Dense and sparse Hessians are the products with unit vectors."""
    built = build(program)
    moved = [i for i in built.moved() if 0 < program.inputs[i].value.array.size <= 20][:1]
    ys = [y for y in differentiable(built.ys) if y.dtype not in COMPLEX]
    if not ys or not moved or not program.smooth() or any(case.not_second_order for case in program.cases()):
        return
    x, array = built.xs[moved[0]], program.inputs[moved[0]].value.array
    units = [np.reshape(row, array.shape).astype(array.dtype) for row in np.eye(array.size)]
    given = [x.value.array for x in program.inputs]
    with built.graph.as_default(), built.session("numpy", given), pb.densify_policy("allow"):
        total = pb.add_n([pb.reduce_sum(pb.cast(y, pb.float64) * 1.5) for y in ys])
        rows = [pb.convert_to_tensor(pb.hessian_vector_product(total, x, v)[0]) for v in units]
        expected = pb.reshape(pb.stack(rows), [array.size, array.size])
        (dense,) = pb.hessians(total, x)
        sparse = pb.sparse_hessian(total, x, dict(built.fed()))
        numbers = pb.constant(np.stack([sparse.rows, sparse.columns], 1).astype(np.int64))
        found = [pb.reshape(dense, [array.size, array.size]), pb.scatter_nd(numbers, sparse.values, sparse.shape)]
        _compare(built, found, [expected, expected])


def options_of_gradients_change_what_they_say(program: Program) -> None:
    """Ways of adding up change nothing; held tensors are constants; what is unconnected is None, or zeros."""
    built = build(program)
    ys, moved = differentiable(built.ys), built.moved()
    if not ys or not moved:
        return
    weights = weights_like(built.run(ys), 1)
    with built.graph.as_default(), pb.densify_policy("allow"):
        xs = [built.xs[i] for i in moved]
        plain = pb.gradients(ys, xs, weights)
        filled = pb.gradients(ys, xs, weights, unconnected_gradients="zero")
        ways = [pb.gradients(ys, xs, weights, aggregation_method=way) for way in WAYS]
        gated = pb.gradients(ys, xs, weights, gate_gradients=True)
        alone = [pb.gradients(ys, [x], weights)[0] for x in xs]
        held = pb.gradients(ys, xs[:1], weights, stop_gradients=xs[1:])
        copies = build(program, held=moved[1:])
        for found in (*ways, gated, alone):
            assert [dx is None for dx in found] == [dx is None for dx in plain]
        there = [i for i, dx in enumerate(plain) if dx is not None]
        for found in (filled, *ways, gated, alone):
            _compare(built, [_dense(found[i]) for i in there], [_dense(plain[i]) for i in there], 1e-9)
    with copies.graph.as_default(), pb.densify_policy("allow"):
        expected = pb.gradients(differentiable(copies.ys), [copies.xs[moved[0]]], weights)
        assert (held[0] is None) == (expected[0] is None)
        if held[0] is not None:
            assert distance(built.run(_dense(held[0])), copies.run(_dense(expected[0]))) <= 1e-9


def _dense(dx: Any) -> pb.Tensor:
    return pb.convert_to_tensor(dx)


def recomputed_and_rolled_programs_give_the_same(program: Program) -> None:
    """What is computed again within few bytes, and pieces that became loops and batches, give what they gave."""
    built = build(program, static=True)
    ys, moved = differentiable(built.ys), built.moved()
    fetches = [*built.ys, *(differentiate(built, ys, 1) if ys and moved else [])]
    with built.graph.as_default():
        with patch("pullback.passes.agenda.LEAST_COUNT", 2):
            found, _ = rolled(fetches, frozenset(built.placeholders()), "rolled", least=1)
        _compare(built, found, fetches, 1e-9)
        sizes = {x: x.shape.known for x in built.placeholders()}
        try:
            budget = pb.rematerialize(fetches, 1 << 40, sizes=sizes).report.plain_peak
            lean, _ = pb.rematerialize(fetches, int(budget * 0.8), sizes=sizes)
        except (pb.errors.ResourceExhaustedError, pb.errors.InvalidArgumentError):
            return
        _compare(built, lean, fetches, 0.0)


def examples_are_mapped(program: Program) -> None:
    """The program, and its gradient, of two examples at once are those of each."""
    built = build(program, static=True)
    given = [x.value.array for x in program.inputs]
    other = nudged(program, 0.1 / max(precision(program), 1e-16))
    stacked = [np.stack(pair) for pair in zip(given, other, strict=True)]
    mapped = [i for i, kind in enumerate(built.kinds()) if kind == "placeholder"]
    if not mapped or "variable" in built.kinds():
        return
    ys, moved = differentiable(built.ys), built.moved()
    fetches = [*built.ys, *(differentiate(built, ys, 1) if ys and moved else [])]
    expected = built.run(fetches), built.run(fetches, arrays=other)
    graph = pb.Graph()
    with graph.as_default(), pb.densify_policy("allow"):
        batches = [pb.placeholder(stacked[i].dtype, stacked[i].shape) for i in mapped]

        def one(rows: Any) -> Any:
            at = dict(zip(mapped, rows, strict=True))
            tensors = [at[i] if i in at else pb.constant(given[i]) for i in range(len(given))]
            results = program.block.build({}, tensors)
            wanted = differentiable(results)
            if not wanted or not moved:
                return list(results)
            weights = weights_like(built.run(ys), 1)
            dxs = pb.gradients(wanted, [tensors[i] for i in moved], weights, unconnected_gradients="zero")
            return [*results, *[pb.convert_to_tensor(dx) for dx in dxs]]

        found = pb.vectorized_map(one, batches)
        with pb.Session(graph=graph, engine="numpy") as session:
            values = session.run(found, dict(zip(batches, [stacked[i] for i in mapped], strict=True)))
    for y, both, a, b in zip(fetches, values, *expected, strict=True):
        for row, one_alone in zip(both, (a, b), strict=True):
            assert distance(row, one_alone) <= max(1e-8, few_roundings(program)), (
                f"{y} is {one_alone}, but {row} in a map"
            )


def a_model_has_the_same_derivatives(program: Program) -> None:
    """What is exported to ONNX, loaded again and differentiated, has the same derivatives."""
    built = build(program, static=True)
    ys = [y for y in dict.fromkeys(differentiable(built.ys)) if y.dtype not in COMPLEX]
    fed = built.placeholders()
    xs = [x for x in fed if x.dtype in FLOATING]
    if not ys or not xs or any(x.dtype in COMPLEX for x in fed) or not is_determined(program) or not program.smooth():
        return
    given = [x.value.array for x in program.inputs]
    weights = weights_like(built.run(ys), 1)
    with built.graph.as_default(), pb.densify_policy("allow"):
        expected = [_dense(dx) for dx in pb.gradients(ys, xs, weights, unconnected_gradients="zero")]
    try:
        with built.session("numpy", given) as session:
            loaded = pb.onnx.load(pb.onnx.export(ys, fed, session=session))
        places = [fed.index(x) for x in xs]
        with loaded.as_default(), pb.densify_policy("allow"):
            again = [loaded.inputs[i] for i in places]
            found = [
                _dense(dx) for dx in pb.gradients(list(loaded.outputs), again, weights, unconnected_gradients="zero")
            ]
    except (pb.errors.UnimplementedError, LookupError):
        return
    arrays = [a for a, kind in zip(given, built.kinds(), strict=True) if kind == "placeholder"]
    with pb.Session(graph=loaded, engine="numpy") as session:
        values = session.run(found, dict(zip(loaded.inputs, arrays, strict=True)))
    for x, a, b, c in zip(xs, values, built.run(expected), built.run(expected, arrays=nudged(program)), strict=True):
        if np.all(np.isfinite(b)):
            assert distance(a, b) <= 1e-4 + 30 * distance(c, b), f"the derivative by {x} is {b}, but {a} of the model"
