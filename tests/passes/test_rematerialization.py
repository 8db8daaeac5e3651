"""Rematerialisation: the same values, in the memory that was asked for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor
from pullback.passes.eviction import Node
from pullback.passes.keeping import keeping_more

ENGINES = ["numpy", "xla", "onnxruntime"]
Array = np.ndarray[Any, Any]
Net = Callable[[Tensor], Tensor]
WIDTH, ROWS = 64, 256


def chain(x: Tensor) -> Tensor:
    for i in range(12):
        x = pb.tanh(x @ pb.constant(np.random.default_rng(i).normal(size=(WIDTH, WIDTH)) / 8, pb.float32))
    return x


def with_skips(x: Tensor) -> Tensor:
    """As a U-net: what the first layers give is read by the last ones."""
    kept = []
    for _ in range(6):
        x = pb.sin(x) * 1.1
        kept.append(x)
    for y in reversed(kept):
        x = pb.tanh(x + y * y)
    return x


def with_control_flow(x: Tensor) -> Tensor:
    for _ in range(3):
        x = pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, pb.sin(y) * 1.1], [0, x])[1]
        x = pb.cond(pb.reduce_sum(x) > 0, lambda x=x: pb.tanh(x), lambda x=x: x * x)
        x = pb.exp(pb.sin(x))
    return x


def with_slices_of_rows(x: Tensor) -> Tensor:
    for _ in range(6):
        x = pb.concat([pb.sin(x[:32]), pb.reshape(pb.exp(pb.sin(x[32:])), [-1, WIDTH])], 0)
    return x


NETS = [chain, with_skips, with_control_flow, with_slices_of_rows]


def built(net: Net, x: Tensor) -> list[Tensor]:
    loss = pb.reduce_sum(pb.square(net(x)))
    return [loss, *pb.gradients(loss, x)]


def feed() -> Array:
    return np.random.default_rng(7).normal(size=(ROWS, WIDTH)).astype(np.float32)


def within(fetches: Any, share: float, **more: Any) -> Any:
    """`fetches` in a share of the memory that they take."""
    plain = pb.rematerialize(fetches, "1TB", **more).report.plain_peak
    return pb.rematerialize(fetches, round(plain * share), **more)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("net", NETS, ids=lambda f: f.__name__)
def test_the_values_are_the_same(net: Net, engine: str) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        fetches = built(net, x)
        found, report = within(fetches, 0.75)
        assert report.recomputed or report.microbatches > 1
        session = pb.Session(engine=engine)
        for a, b in zip(session.run(fetches, {x: feed()}), session.run(found, {x: feed()}), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def measured(fetches: Sequence[Tensor], x: Tensor, given: Array | None = None) -> int:
    """The most bytes that are in use during a run on NumPy."""
    run = pb.Session(engine="numpy").make_callable(list(fetches), [x])
    array = feed() if given is None else given
    run(array)
    tracemalloc.start()
    run(array)
    _, found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return found


@pytest.mark.parametrize(("net", "share"), [(chain, 0.75), (chain, 0.4), (with_skips, 0.7), (with_slices_of_rows, 0.7)])
def test_the_peak_is_the_one_that_was_predicted(net: Net, share: float) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        fetches = built(net, x)
        found, report = within(fetches, share)
        assert report.peak <= report.budget
        assert measured(found, x) == pytest.approx(report.peak, rel=0.1)
        assert measured(fetches, x) == pytest.approx(report.plain_peak, rel=0.1)


def with_convolutions(x: Tensor) -> Tensor:
    for i in range(5):
        filters = pb.constant(np.random.default_rng(i).normal(size=(3, 3, 16, 16)) / 12, pb.float32)
        x = pb.nn.relu(pb.nn.conv2d(x, filters, 1, "SAME"))
    return x


def test_convolutions_take_little_beside_their_results() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [64, 16, 32, 16])
        images = np.random.default_rng(0).normal(size=x.shape.known).astype(np.float32)
        fetches = built(with_convolutions, x)
        found, report = within(fetches, 0.7)
        assert measured(found, x, images) == pytest.approx(report.peak, rel=0.1)
        assert measured(fetches, x, images) == pytest.approx(report.plain_peak, rel=0.1)


def test_what_comes_again_before_it_is_read_is_computed_once() -> None:
    given, large = Node((), 1, 0, 1), Node((0,), 8, 0, 5)
    nodes = [given, large, Node((0,), 1, 0, 1), Node((1, 2), 1, 0, 1, kept=True)]
    assert keeping_more(nodes, [0, 1, 2, 1, 3], 100) == [0, 2, 1, 3]


def test_compiled_programs_need_less_memory() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        fetches = built(chain, x)
        found, report = within(fetches, 0.4)
        session = pb.Session(engine="xla")
        plain, less = [session.compiled_memory(f, {x: feed()}) for f in (fetches, found)]
        assert less["temporary"] < 0.75 * plain["temporary"]
        assert less["temporary"] + less["outputs"] == pytest.approx(report.compiled_peak, rel=0.1)


@pytest.mark.parametrize("window", [3, 5, 7])
def test_depthwise_layers_take_the_predicted_memory_when_compiled(window: int) -> None:
    with pb.Graph().as_default():
        y = x = pb.placeholder(pb.float32, [32, 32, 32, 32])
        filters = [pb.constant(np.full([window, window, 32, 1], 0.1, np.float32)) for _ in range(3)]
        for f in filters:
            y = pb.nn.relu(pb.nn.depthwise_conv2d(y, f, [1, 1, 1, 1], "SAME"))
        fetches = pb.gradients(pb.reduce_mean(y * y), filters)
        peak = pb.rematerialize(fetches, "1TB").report.compiled_peak
        taken = pb.Session(engine="xla").compiled_memory(fetches, {x: np.ones([32, 32, 32, 32], np.float32)})
        assert taken["temporary"] + taken["outputs"] == pytest.approx(peak, rel=0.1)


def test_random_numbers_and_effects_come_once() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        count = pb.Variable(0)
        y = x
        for i in range(6):
            y = pb.tanh(pb.exp(pb.sin(y)))
            with pb.control_dependencies([pb.assign_add(count, 1)]):
                y = pb.nn.dropout(y, rate=0.5, seed=i)
        dx = pb.gradients(pb.reduce_sum(y * y), x)[0]
        (found, step), report = within([dx, pb.group(y)], 0.8)
        kinds = {r.operation.type for r in report.recomputed}
        assert report.recomputed
        assert not any("Random" in kind or "Assign" in kind for kind in kinds)
        session = pb.Session()
        session.run(pb.global_variables_initializer())
        session.run([found, step], {x: feed()})
        assert session.run(count) == 6


def test_a_training_step_is_rewritten_with_its_update() -> None:
    results = []
    for share in (1.0, 0.6):
        with pb.Graph().as_default():
            x = pb.placeholder(pb.float32, [ROWS, WIDTH])
            w = pb.Variable(np.eye(WIDTH, dtype=np.float32) * 1.1)
            y = x
            for _ in range(8):
                y = pb.tanh(y @ w)
            loss = pb.reduce_mean(y * y)
            train = pb.train.AdamOptimizer(0.01).minimize(loss)
            (train, loss), _ = within([train, loss], share)
            session = pb.Session()
            session.run(pb.global_variables_initializer())
            results.append([session.run([loss, train], {x: feed()})[0] for _ in range(3)])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_lengths_that_only_a_run_knows_are_given() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, ["rows", WIDTH], name="x")
        other = pb.placeholder(pb.float32, [None, WIDTH])
        fetches = built(chain, x)
        (loss, _), report = within(fetches, 0.5, sizes={"rows": ROWS})
        assert report.peak <= report.budget < report.plain_peak
        assert np.isfinite(pb.Session().run(loss, {x: feed()[:5]}))
        assert within(built(chain, other), 0.5, sizes={other: [ROWS, WIDTH]}).report.peak == report.peak
        with pytest.raises(pb.errors.InvalidArgumentError, match="depends on rows: give a number in `sizes`"):
            pb.rematerialize(fetches, "1MB")


MATRIX = np.random.default_rng(1).normal(size=(WIDTH, WIDTH)).astype(np.float32) / WIDTH


def as_function(x: Tensor, w: Tensor) -> Tensor:
    return x + pb.tanh(pb.matmul(pb.nn.relu(pb.matmul(x, w)), w))


def as_branches(x: Tensor, w: Tensor) -> Tensor:
    return pb.cond(pb.reduce_sum(x) > 0, lambda: pb.tanh(pb.matmul(x, w)), lambda: pb.sin(pb.matmul(x, w)) * x)


@pytest.mark.parametrize("layer", [pb.function(as_function), as_branches], ids=["calls", "branches"])
@pytest.mark.parametrize("engine", ENGINES)
def test_layers_of_which_one_derivative_is_fetched_and_another_handed_on_keep_to_budgets(
    layer: Any, engine: str
) -> None:
    with pb.Graph().as_default():
        x = y = pb.placeholder(pb.float32, [ROWS, WIDTH])
        weights = [pb.constant(MATRIX * 0.1 * k) for k in range(1, 9)]
        for w in weights:
            y = layer(y, w)
        loss = pb.reduce_mean(y * y)
        fetches = [loss, *pb.gradients(loss, weights)]
        found, report = within(fetches, 0.8)
        assert report.recomputed
        if engine == "numpy":
            assert measured(fetches, x) == pytest.approx(report.plain_peak, rel=0.1)
            assert measured(found, x) == pytest.approx(report.peak, rel=0.1)
        session = pb.Session(engine=engine)
        for a, b in zip(session.run(fetches, {x: feed()}), session.run(found, {x: feed()}), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
        if engine == "xla":
            taken = session.compiled_memory(found, {x: feed()})
            assert taken["temporary"] + taken["outputs"] < 1.1 * report.compiled_peak


@pytest.mark.parametrize("given", [-1, 2.5, None, [ROWS], [-1, WIDTH]], ids=str)
def test_sizes_that_are_none_are_refused(given: Any) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, ["rows", WIDTH], name="x")
        fetches = built(chain, x)
        with pytest.raises(pb.errors.InvalidArgumentError, match=r"^sizes: .* give a number for each length, "):
            pb.rematerialize(fetches, "1MB", sizes={x if isinstance(given, list) else "rows": given})


def test_sizes_that_contradict_each_other_or_a_shape_are_refused() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, pb.TensorShape(["rows", 64]))
        loss = pb.reduce_sum(pb.tanh(x))
        for sizes, said in (({x: [9, 65]}, "is 64, not 65"), ({"rows": 8, x: [9, 64]}, "is 8, not 9")):
            with pytest.raises(
                pb.errors.InvalidArgumentError, match=rf"^sizes: .* cannot be .*: a length of it {said}"
            ):
                pb.rematerialize(loss, "1MB", sizes=sizes)


def test_slices_and_none_stay_what_they_are() -> None:
    with pb.Graph().as_default():
        table = pb.placeholder(pb.float32, [ROWS, WIDTH])
        y = chain(pb.gather(table, list(range(0, ROWS, 2))))
        grads = pb.gradients(pb.reduce_sum(y), [table, pb.constant(1.0)])
        (found, none), _ = within(grads, 0.6)
        assert none is None
        assert isinstance(found, pb.IndexedSlices)
        session = pb.Session()
        a, b = session.run([grads[0], found], {table: feed()})
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_allclose(a.values, b.values, rtol=1e-5)


def test_what_was_rewritten_can_be_differentiated_again() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        fetches = built(with_skips, x)
        found, _ = within(fetches, 0.7)
        second = [pb.gradients(pb.reduce_sum(dx * dx), x)[0] for dx in (fetches[1], found[1])]
        a, b = pb.Session().run(second, {x: feed()})
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_budget_that_is_enough_changes_nothing() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        fetches = built(chain, x)
        count = len(graph.operations)
        found, report = pb.rematerialize(fetches, "1GB")
        assert found == fetches
        assert report.extra_flops == 0
        assert len(graph.operations) == count


def test_a_budget_that_cannot_be_kept_to_names_the_least_one_and_what_needs_it() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float32, [8])
        y = x
        for _ in range(4):
            y = pb.sin(y)
        fetches = pb.gradients(y, x)
        count = len(graph.operations)
        with pytest.raises(pb.errors.ResourceExhaustedError) as raised:
            pb.rematerialize(fetches, 50)
        assert len(graph.operations) == count
    message = str(raised.value)
    assert message.startswith(
        "rematerialize: the budget is 50 bytes, and the least for which an order was found 136 (plain: 168); the "
        "memory is fullest at 'gradients/"
    )
    assert "test_rematerialization.py" in message


def test_the_report_fits_a_screen() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        lines = str(within(built(chain, x), 0.4).report).splitlines()
    assert lines[0].startswith("peak ")
    assert lines[2].endswith(" operations are computed again")
    assert len(lines) <= 14


def test_an_exported_model_computes_again_what_it_does_not_keep() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH], name="x")
        (loss, dx), report = within(built(chain, x), 0.5)
        nodes = pb.onnx.export({"loss": loss, "dx": dx}).graph.node
    again = [inner for node in nodes if node.op_type == "If" for inner in node.attribute[0].g.node]
    count = sum(r.times for r in report.recomputed if r.operation.type == "Tanh")
    assert [node.op_type for node in again].count("Tanh") == count
    assert [node.op_type for node in nodes].count("Tanh") == 12


@pytest.mark.parametrize("rows", [ROWS, "rows"])
def test_gradients_keep_to_a_budget(rows: int | str) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [rows, WIDTH])
        loss = pb.reduce_sum(pb.square(chain(x)))
        plain = pb.gradients(loss, x)
        less = pb.gradients(loss, x, memory=pb.Memory(budget="500kB", sizes={"rows": ROWS}))
        assert measured([loss, *plain], x) > 900_000
        assert measured([loss, *less], x) < 550_000
        a, b = pb.Session().run([plain, less], {x: feed()})
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_gradients_within_a_budget_that_cannot_be_are_refused_and_leave_no_trace() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        y = chain(x)
        count = len(graph.operations)
        with pytest.raises(pb.errors.ResourceExhaustedError, match=r"^rematerialize: the budget is 1,000 bytes, "):
            pb.gradients(y, x, memory=pb.Memory(budget="1kB"))
        assert len(graph.operations) == count


def test_gradients_without_loops_ask_for_the_lengths_that_a_budget_depends_on() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, ["rows", WIDTH])
        with pytest.raises(pb.errors.InvalidArgumentError, match="depends on rows: give a number in `sizes`"):
            pb.gradients(chain(x), x, memory=pb.Memory(budget="1kB"))


def test_budgets_of_loops_hold_whatever_lengths_are_known() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [None])
        y = pb.while_loop(lambda i, y: i < 50, lambda i, y: [i + 1, pb.sin(y)], [0, x])[1]
        dx = pb.gradients(y, x, memory=pb.Memory(budget="1kB"))
        values = pb.Session().run([dx, pb.gradients(y, x)], {x: [0.5, 1.0]})
    np.testing.assert_allclose(*values, rtol=1e-5)


def test_a_loop_that_needs_more_than_the_budget_is_told_of() -> None:
    x = pb.placeholder(pb.float64, [200], name="x")
    y = pb.while_loop(lambda i, y: i < 100, lambda i, y: [i + 1, pb.cos(y * x)], [0, x])[1]
    told = (
        r"^gradients: a budget of 1,000 bytes cannot be met: 'gradients/while/Loop_grad/Loop' \(made at "
        r"test_rematerialization\.py:\d+: .*\) needs 17,808 by itself\. Loops keep as few states as they can\.$"
    )
    with pytest.warns(UserWarning, match=told) as warned:
        pb.gradients(y, x, memory=pb.Memory(budget=1000))
    assert warned[0].filename == __file__


def turned(a: Tensor) -> Tensor:
    return pb.concat([a[3:], a[:3]], 0)


def random_net(seed: int, x: Tensor) -> Tensor:
    """Operations of one, two or more earlier values, by chance; shapes vary."""
    random = np.random.default_rng(seed)
    made = [x, pb.sin(x)]
    kinds: list[Net] = [pb.sin, pb.tanh, pb.transpose, pb.nn.softmax, turned, lambda a: pb.reshape(a, [-1, 8]) * 1.5]
    for _ in range(int(random.integers(10, 40))):
        a = made[-min(int(random.geometric(0.4)), len(made))]
        b = made[int(random.integers(len(made)))]
        unary, product = random.random() < 0.6, random.random() < 0.4
        y = kinds[int(random.integers(len(kinds)))](a) if unary else a @ b * 0.1 if product else 0.3 * a + pb.tanh(b)
        made.append(y)
    return pb.add_n([pb.reduce_sum(y) for y in made[-3:]])


@pytest.mark.parametrize("seed", [*range(10), 45, 91, 96])
def test_random_graphs_have_the_same_values_to_the_last_bit(seed: int) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float64, [8, 8])
        y = random_net(seed, x)
        fetches = [y, *pb.gradients(y, x)]
        plain = pb.rematerialize(fetches, "1TB").report.plain_peak
        outputs = [fetches]
        for share in (0.85, 0.7, 0.55):
            try:
                outputs.append(pb.rematerialize(fetches, round(plain * share)).fetches)
            except pb.errors.ResourceExhaustedError:
                break
        first, *others = pb.Session(engine="numpy").run(outputs, {x: np.random.default_rng(1).normal(size=(8, 8))})
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_is_fed_needs_no_memory() -> None:
    x = pb.placeholder(pb.float32, [3])
    found = pb.rematerialize([x], 1)
    assert found.fetches == [x]
    assert str(found.report).splitlines()[0] == "peak 0 -> 0 bytes (budget 1; compiled 0)"


def in_steps(x: Tensor) -> Tensor:
    """A loop, each step of which is a net of its own."""
    return pb.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, chain(y)], [0, x])[1]


def in_a_call(x: Tensor) -> Tensor:
    return pb.function(chain)(x)


@pytest.mark.parametrize("net", [in_steps, in_a_call], ids=lambda f: f.__name__)
@pytest.mark.parametrize("engine", ["numpy", pytest.param("xla", marks=pytest.mark.slow)])
def test_bodies_keep_to_the_budget_too(net: Net, engine: str) -> None:
    with pb.Graph().as_default(), pb.memory_policy(pb.Memory(every=1)):
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        fetches = built(net, x)
        found, report = within(fetches, 0.5)
        assert report.peak <= report.budget
        assert report.extra_flops > 0
        assert f"and some inside of {report.inside[0].name} (test_rematerialization.py" in str(report)
        assert measured(fetches, x) - measured(found, x) == pytest.approx(report.plain_peak - report.peak, rel=0.1)
        plain, less = pb.Session(engine=engine).run([fetches, found], {x: feed()})
        np.testing.assert_allclose(plain[1], less[1], rtol=1e-4, atol=1e-6)


def test_much_work_is_not_done_again_where_the_batch_can_be_divided() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [ROWS, WIDTH])
        y = pb.placeholder(pb.float32, [1, ROWS, WIDTH])
        report = within(built(chain, x), 0.25).report
        assert report.microbatches > 1
        assert report.extra_flops < 0.001 * report.flops
        whole = within(built(chain, pb.squeeze(y, 0)), 0.3).report
        assert whole.microbatches == 1
        assert whole.extra_flops > 0.5 * whole.flops
