"""Batches of small operations that are alike, in whatever order they stand: fewer operations, the same derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor
from pullback.passes.reroll import rolled

SPECIES, RATES = 6, 4
Code = Callable[[Sequence[Tensor], Sequence[Tensor], int], Tensor]


def reactions(x: Sequence[Tensor], p: Sequence[Tensor], size: int) -> Tensor:
    """Rates of a network of reactions, of two kinds in any order, and how fast each species changes by them."""
    random = np.random.default_rng(0)
    changes: list[Any] = [0.0] * SPECIES
    for _ in range(size):
        a, b, c = random.choice(SPECIES, 3, replace=False)
        k, m = random.choice(RATES, 2)
        rate = p[k] * x[a] * x[b] if random.random() < 0.5 else p[k] * x[a] / (p[m] + x[a])
        changes[a], changes[c] = changes[a] - rate, changes[c] + float(random.integers(1, 3)) * rate
    return pb.stack(changes)


def terms(x: Sequence[Tensor], p: Sequence[Tensor], size: int) -> Tensor:
    """One sum of which each term is another selection of the same few products."""
    random = np.random.default_rng(0)
    total: Any = 0.0
    for _ in range(size):
        products = [x[random.integers(SPECIES)] * p[random.integers(RATES)] for _ in range(random.integers(2, 5))]
        total = total + pb.exp(-products[0] * products[1]) * sum(products[1:])
    return total


def conditions(x: Sequence[Tensor], p: Sequence[Tensor], size: int) -> Tensor:
    """Comparisons, integers and powers; sums of different lengths."""
    random = np.random.default_rng(0)
    sums = []
    for _ in range(size):
        a, b = x[random.integers(SPECIES)], p[random.integers(RATES)]
        y = pb.where(a * b > 0.5, pb.pow(a, 2.0), b - a)
        sums.append(pb.add_n([y, *x[: random.integers(2, SPECIES)]]) * pb.cast(random.integers(3), pb.float64))
    return pb.stack([pb.reduce_max(pb.stack(sums)), pb.add_n(sums)])


def points(x: Sequence[Tensor], p: Sequence[Tensor], size: int) -> Tensor:
    """Small vectors beside numbers, some of which only other operations give."""
    random = np.random.default_rng(0)
    corners = [pb.stack([x[i], p[i % RATES], x[(i + 1) % SPECIES]]) for i in range(SPECIES)]
    areas = []
    for _ in range(size):
        a, b = (corners[random.integers(SPECIES)] for _ in range(2))
        areas.append(pb.reduce_sum(pb.square(a - b * p[random.integers(RATES)])))
    return pb.add_n([pb.tanh(area) for area in areas])


CODES: list[Code] = [reactions, terms, conditions, points]


def built(code: Code, size: int) -> tuple[list[Tensor], Tensor]:
    """Placeholders, and what code makes of their rows."""
    x, p = (pb.placeholder(pb.float64, [n], name=name) for n, name in ((SPECIES, "x"), (RATES, "p")))
    return [x, p], code(pb.unstack(x), pb.unstack(p), size)


def feeds(xs: Sequence[Tensor]) -> dict[Tensor, np.ndarray[Any, Any]]:
    random = np.random.default_rng(1)
    return {x: random.uniform(0.5, 2.0, x.shape.as_list()) for x in xs}


def are_equal(y: Tensor, z: Tensor, xs: Sequence[Tensor], given: Any, engine: str = "numpy") -> None:
    """That two tensors have the same values and first and second derivatives, dense ones."""
    outputs = []
    for value in (y, z):
        slopes = pb.gradients(value, xs, unconnected_gradients="zero")
        assert all(isinstance(slope, Tensor) for slope in slopes)
        bends = pb.gradients([pb.sin(slope) for slope in slopes], xs, unconnected_gradients="zero")
        outputs.append([value, *slopes, *bends])
    for a, b in zip(*pb.Session(engine=engine).run(outputs, given), strict=True):
        scale = max(1.0, float(np.abs(a).max()))
        np.testing.assert_allclose(a / scale, b / scale, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.__name__)
def test_values_and_derivatives_are_the_same(code: Code, engine: str) -> None:
    with pb.Graph().as_default():
        xs, y = built(code, 60)
        z, report = pb.reroll(y)
        assert report.repeats
        assert z.shape.as_list() == y.shape.as_list()
        are_equal(y, z, xs, feeds(xs), engine)


@pytest.mark.parametrize("code", [reactions, terms, conditions], ids=lambda code: code.__name__)
def test_the_gradient_has_as_many_operations_however_long_the_code_is(code: Code) -> None:
    counts = []
    for size in (200, 800):
        with pb.Graph().as_default() as graph:
            xs, y = built(code, size)
            z = pb.reroll(y).fetches
            before = len(graph.get_operations())
            pb.gradients(z, xs)
            counts.append(len(graph.get_operations()) - before)
    assert counts[1] <= counts[0] + 10


def random_program(random: np.random.Generator, numbers: list[Tensor], vectors: list[Tensor]) -> Tensor:
    """Some hundred small operations, which read what came before at random, deep or wide."""
    deep = random.random() < 0.5

    def number() -> Tensor:
        recent = numbers[-12:] if deep and random.random() < 0.3 else numbers
        return recent[random.integers(len(recent))]

    def vector() -> Tensor:
        return vectors[random.integers(len(vectors))]

    makers: list[Callable[[], Tensor]] = [
        lambda: number() * number(),
        lambda: number() - number() + number() - number(),
        lambda: pb.sin(number()),
        lambda: number() / (2.0 + pb.square(number())),
        lambda: pb.where(number() > number(), number(), number() * 0.5),
        lambda: pb.add_n([number() for _ in range(random.integers(2, 7))]) * 0.3,
        lambda: pb.tanh(number()) * float(random.choice([0.5, 0.25, 2.0])),
        lambda: pb.reduce_sum(vector()) * 0.1,
    ]
    of_vectors: list[Callable[[], Tensor]] = [
        lambda: vector() * number() * 0.5,
        lambda: vector() - pb.sin(vector()) + vector(),
        lambda: pb.stack([number(), number(), number()]),
    ]
    chosen = random.choice(len(makers), random.integers(2, len(makers)))
    for _ in range(random.integers(60, 200)):
        if random.random() < 0.85:
            numbers.append(pb.tanh(makers[random.choice(chosen)]()))
        else:
            vectors.append(of_vectors[random.integers(len(of_vectors))]())
    if random.random() < 0.5:
        return pb.stack([number() for _ in range(20)])
    return pb.add_n([number() for _ in range(20)]) + pb.reduce_sum(pb.add_n(vectors))


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 200))])
def test_random_programs_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pullback.passes.agenda.LEAST_COUNT", 3 + seed % 6)
    random = np.random.default_rng(seed)
    with pb.Graph().as_default():
        x, rows = pb.placeholder(pb.float64, [7]), pb.placeholder(pb.float64, [5, 3])
        loose = [pb.placeholder(pb.float64, []) for _ in range(3)]
        y = random_program(random, [*pb.unstack(x), *loose], [rows[i] for i in range(5)])
        (z,), _ = rolled([y], frozenset(), "rolled", 1)
        xs = [x, rows, *loose]
        are_equal(y, z, xs, {each: random.normal(size=each.shape.as_list()) for each in xs})


def test_branches_of_one_tensor_that_are_added_as_a_tree_are_summed_at_once() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [100])
        terms = [pb.sin(x * (1.0 + 0.01 * k)) for k in range(51)]
        while len(terms) > 1:
            terms = [*map(pb.add, terms[::2], terms[1::2]), *(terms[-1:] if len(terms) % 2 else [])]
        z, report = pb.reroll(terms[0])
        assert str(report).splitlines()[0] == "152 of 153 operations became 2 batches"
        are_equal(terms[0], z, [x], feeds([x]))


def test_operations_whose_result_has_the_shape_of_one_operand_are_batched() -> None:
    """What all of them read is repeated there: `x` decides the shape, and sums do not broadcast."""
    with pb.Graph().as_default():
        x, limits = pb.placeholder(pb.float64, [5]), pb.placeholder(pb.float64, [30])
        rows = pb.unstack(limits)
        y = pb.stack([pb.clip_by_value(x, row - 1.0, row) for row in rows])
        z, report = pb.reroll(y)
        assert "a batch of 30 operations of type ClipByValue" in str(report)
        are_equal(y, z, [x, limits], feeds([x, limits]))
        w = pb.stack([pb.add_n([x, row * x]) for row in rows])
        are_equal(w, pb.reroll(w).fetches, [x, limits], feeds([x, limits]))


def test_the_report_says_what_became_a_batch() -> None:
    with pb.Graph().as_default():
        report = pb.reroll(built(terms, 60)[1]).report
    lines = str(report).splitlines()
    assert lines[0] == "598 of 602 operations became 8 batches"
    assert lines[1].startswith("  a batch of 179 operations of type Mul (test_agenda.py:")
    assert any(line.startswith("  1 sum of 60 operations (test_agenda.py:") for line in lines)


def test_equal_operations_are_computed_once() -> None:
    with pb.Graph().as_default():
        xs, _ = built(terms, 1)
        x, p = map(pb.unstack, xs)
        products = [x[n % 3] * p[n % 2] if n % 4 else p[n % 2] * x[n % 3] for n in range(60)]
        z = pb.reroll(pb.stack([pb.sin(y) for y in products])).fetches
        sines = [op.outputs[0].shape.as_list() for op in z.graph.get_operations() if op.name.startswith("rerolled/Sin")]
    assert sines == [[6]]


def test_what_has_effects_keeps_its_order() -> None:
    with pb.Graph().as_default():
        xs, y = built(terms, 30)
        count = pb.Variable(1.0, dtype=pb.float64)
        doubled = count.assign(count * 2.0 + y)
        with pb.control_dependencies([doubled]):
            added = count.assign_add(y)
        with pb.control_dependencies([added]):
            both = pb.add_n([y, count.read_value()])
        z = pb.reroll(both).fetches
        found = []
        for value in (both, z):
            session = pb.Session()
            session.run(count.initializer)
            found.append(session.run([value, count], feeds(xs)))
    np.testing.assert_allclose(found[0], found[1])


@pb.RegisterGradient("SinOfAgenda")
def _halved(op: pb.Operation, dy: Tensor) -> Tensor:
    return 0.5 * dy * pb.cos(op.inputs[0])


def test_what_others_wait_for_stays_and_rules_of_ones_own_hold() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float64, [60])
        rows = pb.unstack(x)
        with graph.gradient_override_map({"Sin": "SinOfAgenda"}):
            sines = [pb.sin(row) for row in rows]
        awaited = [pb.cos(row) for row in rows]
        exponentials = [pb.exp(y) for y in sines]
        with pb.control_dependencies(awaited):
            y = pb.add_n(exponentials)
        z, report = pb.reroll(y)
        assert {repeat.operations[0].type for repeat in report.repeats} == {"Sin", "Exp"}
        assert set(z.op.controls) == {c.op for c in awaited}
        are_equal(y, z, [x], {x: np.linspace(0.0, 2.0, 60)})


@pytest.mark.parametrize(("level", "size", "batches"), [("fast", 300, True), ("fast", 20, False), ("safe", 300, False)])
def test_many_are_batched_where_a_graph_is_optimised_at_the_level_fast(level: str, size: int, batches: bool) -> None:
    with pb.Graph().as_default():
        xs, y = built(terms, size)
        z, report = pb.optimize(y, level)
        assert ("pieces that repeat" in report.counts) == batches
        are_equal(y, z, xs, feeds(xs))


def test_rows_in_any_order_have_a_dense_derivative() -> None:
    with pb.Graph().as_default():
        table = pb.placeholder(pb.float64, [40, 100])
        y = pb.add_n([pb.exp(pb.sin(table[7 * k % 40])) for k in range(40)])
        z, report = pb.reroll(y)
        assert [repeat.is_batch for repeat in report.repeats] == [True]
        are_equal(y, z, [table], {table: np.random.default_rng(0).normal(size=[40, 100])})


def test_a_batched_model_is_exported() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    with pb.Graph().as_default():
        xs, y = built(reactions, 200)
        z = pb.reroll(y).fetches
        model = pb.onnx.export({"z": z, "dx": pb.gradients(z, xs[0])[0]})
        given = feeds(xs)
        expected = pb.Session().run([y, *pb.gradients(y, xs[0])], given)
    assert len(model.graph.node) < 100
    session = onnxruntime.InferenceSession(model.SerializeToString())
    found = session.run(["z", "dx"], {x.op.name: value for x, value in given.items()})
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
