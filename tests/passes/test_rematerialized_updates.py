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
