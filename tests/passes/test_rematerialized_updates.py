"""Updates in less memory: whatever an optimizer reads of variables between its changes of them, it reads as before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.graph import Tensor
from pullback.passes import rematerialization

t = pb.train
OPTIMIZERS = {
    "sgd": lambda: t.GradientDescentOptimizer(0.1),
    "momentum": lambda: t.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: t.AdamOptimizer(0.1),
    "adagrad": lambda: t.AdagradOptimizer(0.1),
    "adadelta": lambda: t.AdadeltaOptimizer(0.1),
    "rmsprop": lambda: t.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "ftrl": lambda: t.FtrlOptimizer(0.1),
    "proximal": lambda: t.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
}
TOKENS = np.arange(64 * 8).reshape(64, 8) % 53
IMAGES = np.random.default_rng(0).normal(size=(64, 53, 16)).astype(np.float32)


def model(ids: Tensor) -> Tensor:
    random = np.random.default_rng(1)
    y = pb.nn.embedding_lookup(pb.Variable(random.normal(size=(53, 16)).astype(np.float32), name="table"), ids)
    for i in range(8):
        w = pb.Variable(random.normal(size=(16, 16)).astype(np.float32) / 4, name=f"w{i}")
        y = pb.tanh(pb.tensordot(y, w, 1))
    return pb.reduce_mean(pb.square(pb.reduce_sum(y, 1)))


def trained(optimizer: str, share: float, engine: str, parts: bool) -> dict[str, Any]:
    """The variables after two steps in a share of the memory."""
    with pb.Graph().as_default():
        given = pb.placeholder(pb.int32, [64, 8])
        loss = model(given)
        fetches: Any = [loss, OPTIMIZERS[optimizer]().minimize(loss)]
        if share < 1:
            plain = pb.rematerialize(fetches, "1GB").report.plain_peak
            fetches, report = pb.rematerialize(fetches, round(plain * share))
            assert bool(report.recomputed) != parts
            assert (report.microbatches > 1) == parts
        session = pb.Session(engine=engine)
        session.run(pb.global_variables_initializer())
        for _ in range(2):
            session.run(fetches, {given: TOKENS.reshape(given.shape.known)})
        return {v.name: session.run(v) for v in pb.global_variables()}


def slow_if(condition: bool) -> Any:
    return pytest.mark.slow if condition else ()


@pytest.mark.parametrize(
    ("optimizer", "engine"),
    [
        pytest.param(name, engine, marks=slow_if(engine == "xla" and name != "adam"))
        for name in OPTIMIZERS
        for engine in ("numpy", "xla")
    ],
)
@pytest.mark.parametrize("parts", [False, True], ids=["again", "parts"])
def test_updates_are_the_same(optimizer: str, parts: bool, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = trained(optimizer, 1.0, engine, parts)
    monkeypatch.setattr(rematerialization, "_MUCH", -1.0 if parts else 10.0)
    less = trained(optimizer, 0.9 if parts else 0.75, engine, parts)
    for name, value in plain.items():
        np.testing.assert_allclose(less[name], value, rtol=2e-3, atol=2e-4, err_msg=name)


def test_what_is_read_after_a_change_is_read_after_it() -> None:
    for by_controls in (True, False):
        with pb.Graph().as_default():
            x = pb.constant(IMAGES[0])
            count = pb.Variable(1.0)
            y = x
            for _ in range(8):
                y = pb.tanh(pb.exp(pb.sin(y)))
            dx = pb.gradients(pb.reduce_sum(y * y), x)[0]
            change = count.assign_add(pb.reduce_sum(dx) * 0 + 4)
            with pb.control_dependencies([change] if by_controls else []):
                read = count.read_value() * 2
            fetches = [dx, change.op, read]
            plain = pb.rematerialize(fetches, "1GB").report.plain_peak
            found, report = pb.rematerialize(fetches, round(plain * 0.6))
            assert report.recomputed
            for engine in ("numpy", "xla"):
                session = pb.Session(engine=engine)
                session.run(count.initializer)
                assert session.run(found)[2] == 10


def test_variables_made_after_a_change_by_the_batch_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rematerialization, "_MUCH", -1.0)
    with pb.Graph().as_default():
        ids = pb.placeholder(pb.int32, [64, 8])
        loss = model(ids)
        seen = pb.Variable(0.0).assign_add(loss)
        variables = len(pb.global_variables())
        train = pb.train.AdagradOptimizer(0.1).minimize(loss)
        slots = len(pb.global_variables()) - variables
        plain = pb.rematerialize([loss, seen.op, train], "1GB").report.plain_peak
        found, report = pb.rematerialize([loss, seen.op, train], round(plain * 0.9))
        assert report.microbatches > 1
        assert len(pb.global_variables()) == variables + slots
        session = pb.Session(engine="numpy")
        session.run(pb.global_variables_initializer())
        first, *_ = session.run(found, {ids: TOKENS})
        assert session.run(found, {ids: TOKENS})[0] < first


def by_the_batch(table: Any, y: Tensor) -> Any:
    return table.assign_add(pb.zeros([53, 16]) + pb.reduce_mean(y))


def by_itself(table: Any, y: Tensor) -> Any:
    del y
    return table.assign_add(pb.ones([53, 16]))


def in_a_branch(table: Any, y: Tensor) -> Any:
    del y
    return pb.cond(
        table[0, 0] > -100.0, lambda: table.assign_add(pb.ones([53, 16])), lambda: table.assign(pb.zeros([53, 16]))
    )


@pytest.mark.parametrize("rows", [64, None], ids=["known", "given"])
@pytest.mark.parametrize("change", [by_the_batch, by_itself, in_a_branch])
@pytest.mark.parametrize("reads", ["before", "after", "whole"])
def test_tables_are_read_before_or_after_they_are_changed(
    change: Any, reads: str, rows: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where that cannot be in micro-batches it is refused, and computed again or not at all."""
    values: list[Any] = []
    for threshold in (None, -1.0, 10.0):
        with pb.Graph().as_default():
            ids, x = pb.placeholder(pb.int32, [rows, 8]), pb.placeholder(pb.float32, [rows, 8, 16])
            sizes = {ids: [64, 8], x: [64, 8, 16]}
            table = pb.Variable(IMAGES[0].reshape(53, 16) * 0.1)
            y = pb.gather(table, ids) + x if reads == "before" else x
            for _ in range(6):
                y = pb.tanh(pb.exp(pb.sin(y)))
            changed = change(table, y)
            if reads != "before":
                y = y + (pb.gather(table, ids) if reads == "after" else pb.reduce_mean(table.read_value(), 0))
            loss = pb.reduce_mean(pb.square(pb.tanh(y)))
            fetches: Any = [loss, *pb.gradients(loss, x), changed.op]
            if threshold is not None:
                monkeypatch.setattr(rematerialization, "_MUCH", threshold)
                plain = pb.rematerialize(fetches, "1GB", sizes=sizes).report.plain_peak
                try:
                    fetches = pb.rematerialize(fetches, round(plain * 0.8), sizes=sizes).fetches
                except pb.errors.ResourceExhaustedError:
                    continue
            session = pb.Session(engine="numpy")
            session.run(table.initializer)
            loss_and_slopes = session.run(fetches, {ids: TOKENS, x: np.resize(IMAGES, [64, 8, 16])})[:2]
            values.append([*loss_and_slopes, session.run(table)])
    assert len(values) > 1
    for found in values[1:]:
        for a, b in zip(values[0], found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-7)
