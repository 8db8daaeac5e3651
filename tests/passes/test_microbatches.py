"""Micro-batches: a step on parts of the batch, where that much less memory is asked for; what cannot be divided."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.control_flow.loop import Loop
from pullback.core.graph import Tensor
from pullback.engines.plan import make_plan

BATCH, PIXELS, CHANNELS, CLASSES = 16, 16, 8, 5
LARGE = (32, 32, 32, 16)
Net = Callable[[Tensor, list[Any]], Tensor]


def filters(channels: int) -> list[Any]:
    random = np.random.default_rng(0)
    return [pb.Variable((random.normal(size=(3, 3, channels, channels)) / 9).astype(np.float32)) for _ in range(3)]


def unet(x: Tensor, w: list[Any]) -> Tensor:
    def block(x: Tensor, w: Any) -> Tensor:
        return pb.nn.relu(pb.nn.conv2d(x, w, 1, "SAME"))

    first = block(x, w[0])
    batch, n, _, channels = x.shape.known
    halved = pb.reduce_mean(pb.reshape(first, [batch, n // 2, 2, n // 2, 2, channels]), [2, 4])
    second = block(halved, w[1])
    return block(pb.repeat(pb.repeat(second, 2, 1), 2, 2) + first, w[2])


def attention(x: Tensor, w: list[Any]) -> Tensor:
    """The batch is merged with other axes, apart again, and beside values for each position."""
    y = pb.reshape(x, [BATCH * PIXELS, PIXELS * CHANNELS])
    y = pb.tile(y[:, :24] @ pb.reshape(w[0], [24, 24]), [1, 3])
    heads = pb.transpose(pb.reshape(y, [BATCH, PIXELS, 9, 8]), [0, 2, 1, 3])
    weights = pb.nn.softmax(pb.matmul(heads, heads, transpose_b=True) + pb.linspace(0.0, 1.0, PIXELS))
    mixed = pb.einsum("bhij,bhjc->bihc", weights, heads)
    return pb.concat([mixed[:, ::2], pb.pad(mixed[:, 1:, :, :4], [[0, 0], [0, 1], [0, 0], [0, 4]])[:, ::2]], 1)


NETS: list[Net] = [unet, attention]


def images(*shape: int) -> Any:
    shape = shape or (BATCH, PIXELS, PIXELS, CHANNELS)
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def labels() -> Any:
    return np.arange(BATCH, dtype=np.int32) % CLASSES


def built(net: Net) -> tuple[list[Tensor], list[Tensor]]:
    """What is fed; a loss, the share that is right, and the derivatives by filters, and by images."""
    x = pb.placeholder(pb.float32, [BATCH, PIXELS, PIXELS, CHANNELS])
    classes = pb.placeholder(pb.int32, [BATCH])
    w = filters(CHANNELS)
    y = net(x, w)
    logits = pb.reshape(y, [BATCH, -1])[:, :CLASSES]
    losses = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
    loss = pb.reduce_mean(losses) + pb.reduce_mean(pb.square(y)) + 0.01 * pb.nn.l2_loss(w[0])
    right = pb.reduce_mean(pb.cast(pb.equal(pb.argmax(logits, 1, output_type=pb.int32), classes), pb.float32))
    return [x, classes], [loss, right, *[g for g in pb.gradients(loss, [*w, x]) if g is not None]]


def within(fetches: Any, share: float) -> Any:
    plain = pb.rematerialize(fetches, "1TB").report.plain_peak
    return pb.rematerialize(fetches, round(plain * share))


@pytest.mark.parametrize("engine", ["numpy", "xla", "onnxruntime"])
@pytest.mark.parametrize("net", NETS, ids=lambda f: f.__name__)
def test_values_are_the_same(net: Net, engine: str) -> None:
    with pb.Graph().as_default():
        fed, fetches = built(net)
        found, report = within(fetches, 0.5)
        assert report.microbatches > 1
        assert report.recomputed == ()
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        values = dict(zip(fed, [images(), labels()], strict=True))
        for a, b in zip(session.run(fetches, values), session.run(found, values), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)


def steps(share: float) -> list[float]:
    """The losses of three steps of training."""
    with pb.Graph().as_default():
        (x, classes), (loss, *_) = built(unet)
        train = pb.train.AdamOptimizer(0.01).minimize(loss)
        (train, loss), report = within([train, loss], share)
        assert (report.microbatches > 1) == (share < 1)
        session = pb.Session()
        session.run(pb.global_variables_initializer())
        return [session.run([loss, train], {x: images(), classes: labels()})[0] for _ in range(3)]


def test_a_training_step_is_divided_with_one_update() -> None:
    np.testing.assert_allclose(steps(1.0), steps(0.5), rtol=1e-5)


def loss_and_slopes() -> tuple[Tensor, list[Tensor]]:
    x = pb.placeholder(pb.float32, LARGE)
    w = filters(LARGE[-1])
    loss = pb.reduce_mean(pb.square(unet(x, w)))
    return x, [loss, *[g for g in pb.gradients(loss, w) if g is not None]]


def measured(fetches: Sequence[Tensor], x: Tensor) -> int:
    """The most bytes that are in use during a run on NumPy."""
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    run = session.make_callable(list(fetches), [x])
    array = images(*LARGE)
    run(array)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = run(array)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    del result
    return peak


@pytest.mark.parametrize("share", [0.5, 0.35, 0.2, 0.12])
def test_the_peak_is_the_predicted_one(share: float) -> None:
    with pb.Graph().as_default():
        x, fetches = loss_and_slopes()
        found, report = within(fetches, share)
        assert report.peak <= report.budget
        assert measured(found, x) == pytest.approx(report.peak, rel=0.1)


@pytest.mark.parametrize("share", [0.5, 0.35])
def test_the_peak_of_a_compiled_program_is_the_predicted_one(share: float) -> None:
    with pb.Graph().as_default():
        x, fetches = loss_and_slopes()
        found, report = within(fetches, share)
        session = pb.Session(engine="xla")
        session.run(pb.global_variables_initializer())
        taken = session.compiled_memory(found, {x: images(*LARGE)})
        assert taken["temporary"] + taken["outputs"] == pytest.approx(report.compiled_peak, rel=0.1)


def test_the_fewest_parts_are_taken_and_the_report_says_so() -> None:
    with pb.Graph().as_default():
        _, fetches = loss_and_slopes()
        counts = [within(fetches, share).report.microbatches for share in (0.6, 0.3, 0.2)]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]
        lines = str(within(fetches, 0.2).report).splitlines()
        assert lines[2:] == ["0 operations are computed again", f"in {counts[-1]} micro-batches"]


def test_random_numbers_are_drawn_once() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float32, [64, 64])
        y = x
        for i in range(4):
            y = pb.sin(y) * pb.random_uniform([64, 64], seed=i)
        fetches = [pb.reduce_sum(y), *pb.gradients(y, x)]
        plain = pb.rematerialize(fetches, "1TB").report.plain_peak
        before = len(graph.operations)
        found, report = pb.rematerialize(fetches, plain * 5 // 8)
        made = graph.operations[before:]
        inside = [op.type for call in made for f in call.primitive.functions for op in f.operations]
        assert not any("Random" in kind for kind in [*inside, *[op.type for op in made]])
        assert report.microbatches == 1 or "Sin" in inside
        a, b = [pb.Session(engine="numpy").run(f, {x: np.ones([64, 64])}) for f in (fetches, found)]
        np.testing.assert_allclose(a[0], b[0], rtol=1e-5)


def refusal(loss: Tensor, xs: Any) -> str:
    fetches = [loss, *pb.gradients(loss, xs)]
    with pytest.raises(pb.errors.ResourceExhaustedError) as raised:
        pb.rematerialize(fetches, 2000)
    return str(raised.value)


def test_statistics_of_the_batch_are_refused() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [BATCH, CHANNELS])
        y = x
        for _ in range(6):
            y = pb.tanh(y)
        mean, variance = pb.nn.moments(y, [0])
        y = pb.nn.batch_normalization(y, mean, variance, None, None, 1e-3)
        message = refusal(pb.reduce_sum(pb.square(y)), x)
        assert "It cannot be run in micro-batches: '" in message
        assert message.endswith("takes rows of the batch together otherwise than in a sum, or is not known to.")
        centred = x - pb.reduce_mean(x, 0)
        for _ in range(6):
            centred = pb.tanh(centred)
        message = refusal(pb.reduce_sum(centred), x)
        assert "reads the batch by rows, and 'Mean', which follows from all of its rows." in message


def test_effects_on_rows_and_controls_are_refused() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [BATCH, 64])
        kept = pb.Variable(np.zeros([BATCH, 64], np.float32))
        y = x
        for _ in range(6):
            y = pb.tanh(y)
        stored = pb.assign(kept, y)
        with pb.control_dependencies([stored.op]):
            loss = pb.reduce_sum(pb.square(y))
        assert "It cannot be run in micro-batches: " in refusal(loss, x)


def test_what_cannot_be_met_names_the_least_of_both_ways() -> None:
    with pb.Graph().as_default() as graph:
        x = pb.placeholder(pb.float32, [8])
        y = x
        for _ in range(4):
            y = pb.sin(y)
        loss = pb.reduce_sum(y)
        fetches = [loss, *pb.gradients(loss, x)]
        count = len(graph.operations)
        with pytest.raises(pb.errors.ResourceExhaustedError) as raised:
            pb.rematerialize(fetches, 20)
        assert len(graph.operations) == count
    assert "rematerialize: the budget is 20 bytes, and the least for which an order was found " in str(raised.value)
    assert " In micro-batches the least is " in str(raised.value)


def test_without_a_batch_there_are_none() -> None:
    with pb.Graph().as_default():
        y = x = pb.Variable(images(8)).read_value()
        for _ in range(4):
            y = pb.sin(y)
        with pytest.raises(pb.errors.ResourceExhaustedError) as raised:
            pb.rematerialize(pb.gradients(y, x), 20)
    assert str(raised.value).endswith(" It cannot be run in micro-batches: no value of known length is fed.")


def perceptron(x: Tensor, labels: Tensor) -> tuple[Tensor, list[Any]]:
    random = np.random.default_rng(2)
    ws = [pb.Variable(random.normal(size=(32, 32)).astype(np.float32) / 5) for _ in range(5)]
    for w in ws:
        mean, variance = pb.nn.moments(x, [-1], keepdims=True)
        x = pb.nn.relu((x - mean) * pb.rsqrt(variance + 0.1) @ w + pb.reduce_mean(w, 0))
    logits = pb.reshape(pb.pad(x[:, 1:], [[0, 0], [0, 1]]), [-1, 4, 8])
    losses = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits[:, 0])
    return pb.reduce_mean(losses) + 0.1 * pb.reduce_mean(pb.nn.softmax(logits)), ws


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_batch_whose_length_is_given_is_divided_and_others_are_refused(engine: str) -> None:
    with pb.Graph().as_default():
        x, labels = pb.placeholder(pb.float32, [None, 32]), pb.placeholder(pb.int32, [None])
        loss, ws = perceptron(x, labels)
        fetches = [loss, *pb.gradients(loss, ws)]
        sizes = {x: [64, 32], labels: [64]}
        plain = pb.rematerialize(fetches, "1TB", sizes=sizes).report.plain_peak
        found, report = pb.rematerialize(fetches, round(plain * 0.3), sizes=sizes)
        assert report.microbatches > 1
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        feeds = {x: images(64, 32), labels: np.arange(64) % 8}
        for a, b in zip(session.run(fetches, feeds), session.run(found, feeds), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)
        with pytest.raises(pb.errors.InvalidArgumentError, match="cannot have shape"):
            session.run(found, {x: images(32, 32), labels: np.arange(32) % 8})


def test_gradients_divide_a_batch_whose_length_is_given() -> None:
    with pb.Graph().as_default():
        x, labels = pb.placeholder(pb.float32, [None, 32]), pb.placeholder(pb.int32, [None])
        loss, ws = perceptron(x, labels)
        sizes = {x: [64, 32], labels: [64]}
        less = pb.gradients(loss, ws, memory=pb.Memory(budget="50kB", sizes=sizes))
        assert any(isinstance(op.primitive, Loop) for op in pb.get_default_graph().operations)
        session = pb.Session(engine="numpy")
        session.run(pb.global_variables_initializer())
        a, b = session.run([pb.gradients(loss, ws), less], {x: images(64, 32), labels: np.arange(64) % 8})
        for y, z in zip(a, b, strict=True):
            np.testing.assert_allclose(z, y, rtol=1e-4, atol=1e-6)


def slopes_within(share: float) -> tuple[Tensor, Tensor, list[Any], list[Any], int]:
    """What is fed, a loss, its derivatives, those in a share of the memory, and how much that is."""
    x = pb.placeholder(pb.float32, LARGE)
    w = filters(LARGE[-1])
    loss = pb.reduce_mean(pb.square(unet(x, w))) + 0.01 * pb.nn.l2_loss(w[0])
    plain = pb.gradients(loss, w)
    budget = round(share * pb.rematerialize([loss, *plain], "1TB").report.plain_peak)
    return x, loss, plain, pb.gradients(loss, w, memory=pb.Memory(budget=budget)), budget


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_gradients_are_divided_and_the_loss_beside_them_is_not_computed_apart(engine: str) -> None:
    with pb.Graph().as_default():
        x, loss, plain, less, budget = slopes_within(0.3)
        assert measured([loss, *less], x) < 1.1 * budget
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        for a, b in zip(*session.run([[loss, *plain], [loss, *less]], {x: images(*LARGE)}), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)
        plan = make_plan([loss, *less], [], [x])
        assert [step.op.type for step in plan.steps].count("Conv2D") == 0
        both = make_plan([loss, *plain, *less], [], [x])
        assert [step.op.type for step in both.steps].count("Conv2D") == 3


def test_what_is_fed_on_the_way_is_read() -> None:
    with pb.Graph().as_default() as graph:
        x, loss, _, less, _ = slopes_within(0.3)
        first = graph.get_tensor_by_name("Relu:0")
        session = pb.Session()
        session.run(pb.global_variables_initializer())
        given = {x: images(*LARGE), first: np.ones(LARGE, np.float32)}
        np.testing.assert_allclose(session.run([loss, *less], given)[0], session.run(loss, given), rtol=1e-6)


def test_an_effect_after_the_batch_is_not_run_twice() -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [64, 64])
        y = x
        for _ in range(6):
            y = pb.sin(y)
        total = pb.reduce_sum(y)
        loss = total + pb.stop_gradient(pb.assign_add(pb.Variable(1.0), total))
        with pytest.raises(pb.errors.ResourceExhaustedError) as raised:
            pb.gradients(loss, x, memory=pb.Memory(budget="40kB"))
        assert str(raised.value).endswith(" follows from all rows of the batch, and would be run twice.")


def test_the_parts_are_steps_of_one_loop() -> None:
    with pb.Graph().as_default() as graph:
        _, fetches = loss_and_slopes()
        before = len(graph.operations)
        report = within(fetches, 0.3).report
        (loop,) = [op.primitive for op in graph.operations[before:] if op.primitive.functions]
        assert isinstance(loop, Loop)
        assert loop.length == report.microbatches
        assert [op.type for op in graph.operations[before:]].count("Conv2D") == 0


def test_derivatives_in_a_part_are_those_of_operations_in_it() -> None:
    with pb.Graph().as_default() as graph:
        _, fetches = loss_and_slopes()
        before = len(graph.operations)
        within(fetches, 0.3)
        (body,) = [f for op in graph.operations[before:] for f in op.primitive.functions]
        derivatives = [op for op in body.operations if op.original_op is not None]
        assert {op.original_op.type for op in derivatives if op.type == "Conv2DBackpropFilter"} == {"Conv2D"}
        assert all(op.original_op.graph is body.graph for op in derivatives if op.original_op is not None)


def test_what_operations_need_beside_their_results_is_part_of_the_plain_peak() -> None:
    """A kernel of many steps takes more than all results together."""
    x = pb.placeholder(pb.float64, [8, 4])
    loss = pb.reduce_sum(pb.math.betainc(pb.constant(np.float64(0.7)), pb.constant(np.float64(1.3)), x))
    fetches = [loss, *pb.gradients(loss, x)]
    plain = pb.rematerialize(fetches, "1TB").report.plain_peak
    found, report = pb.rematerialize(fetches, plain // 2)
    assert report.microbatches > 1
    assert report.plain_peak == plain
    feed = {x: np.linspace(0.1, 0.9, 32).reshape(8, 4)}
    for one, other in zip(*pb.Session(engine="numpy").run([fetches, found], feed), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def language_model(table: Any, ids: Tensor, labels: Tensor) -> tuple[Tensor, list[Any]]:
    """Of numbers of tokens alone, with one table for what goes in and what comes out."""
    w = pb.Variable(images(16, 16) / 4)
    y = pb.gather(table, ids) if isinstance(table, pb.Variable) else pb.gather_nd(table, ids[..., None])
    for _ in range(4):
        shares = pb.nn.softmax(pb.matmul(y, y, transpose_b=True))
        y = pb.sort(pb.tanh(pb.tensordot(shares @ y, w, 1)), axis=-1)
    last = pb.gather(y, pb.argmax(y, 1)[:, :3], batch_dims=1, axis=1)
    logits = pb.tensordot(y, pb.transpose(table), 1) + pb.reduce_mean(last, [1, 2], keepdims=True)
    return pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)), [table, w]


@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize("trained", [True, False], ids=["variable", "tensor"])
def test_numbers_of_tokens_are_a_batch(trained: bool, engine: str) -> None:
    tokens = np.arange(16 * 8).reshape(16, 8) % 21
    with pb.Graph().as_default():
        ids, labels = [pb.placeholder(pb.int32, [16, 8]) for _ in range(2)]
        table = pb.Variable(images(21, 16)) if trained else pb.constant(images(21, 16))
        loss, xs = language_model(table, ids, labels)
        fetches = [loss, *[pb.convert_to_tensor(g) for g in pb.gradients(loss, xs)]]
        found, report = within(fetches, 0.25)
        assert report.microbatches > 1
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        values = {ids: tokens, labels: tokens[::-1]}
        for a, b in zip(session.run(fetches, values), session.run(found, values), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "optimizer", [pb.train.GradientDescentOptimizer, pb.train.AdagradOptimizer, pb.train.AdamOptimizer]
)
def test_rows_of_a_table_are_changed_once_by_all_parts(optimizer: Any) -> None:
    tokens = np.arange(16 * 8).reshape(16, 8) % 21
    losses = []
    for share in (1.0, 0.4):
        with pb.Graph().as_default():
            ids = pb.placeholder(pb.int32, [16, 8])
            y = x = pb.gather(pb.Variable(images(21, 32)), ids)
            for _ in range(6):
                y = pb.tanh(pb.sin(y) * y)
            loss = pb.reduce_mean(pb.square(pb.reduce_sum(y, 1)) + pb.reduce_sum(x, 1))
            (loss, train), report = within([loss, optimizer(0.1).minimize(loss)], share)
            assert (report.microbatches > 1) == (share < 1)
            session = pb.Session()
            session.run(pb.global_variables_initializer())
            losses.append([session.run([loss, train], {ids: tokens})[0] for _ in range(3)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_rows_of_a_variable_are_read_before_it_is_changed() -> None:
    with pb.Graph().as_default():
        ids = pb.placeholder(pb.int32, [16, 8])
        table = pb.Variable(np.ones([21, 16], np.float32))
        y = pb.gather(table, ids)
        change = table.assign_add(images(21, 16))
        for _ in range(6):
            y = pb.sin(pb.exp(y) * y)
        with pytest.raises(
            pb.errors.ResourceExhaustedError, match="changes a variable of which rows of the batch were read before"
        ):
            within([pb.reduce_sum(y), change.op], 0.2)
