"""What devices send each other is read from the text of the compiled program."""

from __future__ import annotations

import pytest

import pullback as pb
from pullback.engines.xla.collectives import bytes_by_kind

from .on_devices import run_on_devices

TEXT = """
  %all-reduce.1 = f32[8,16]{1,0} all-reduce(%x), channel_id=1, to_apply=%add
  %both = (f32[4]{0}, bf16[2,3]{1,0}) all-reduce(%x, %y), channel_id=2
  %gather-start = (s64[2]{0}, s64[8]{0}) all-gather-start(%z), dimensions={0}
  %gather-done = s64[8]{0} all-gather-done(%gather-start)
  %scalar = pred[] collective-permute(%w)
  ROOT %fusion = f32[100]{0} fusion(%all-reduce.1), kind=kLoop
"""


def test_bytes_are_those_of_the_results() -> None:
    assert bytes_by_kind(TEXT) == {"all-reduce": 512 + 16 + 12, "all-gather": 64, "collective-permute": 1}


def test_one_device_is_sent_nothing(session: pb.Session) -> None:
    assert session.compiled_communication(pb.exp(pb.placeholder_with_default(1.0, []))) == {}


def test_data_parallel_steps_sum_their_gradients_once() -> None:
    pytest.importorskip("jax")
    run_on_devices(
        4,
        """
    x = pb.placeholder(pb.float32, [None, 32])
    w = pb.Variable(np.ones((32, 8), np.float32))
    loss = pb.reduce_mean(pb.square(pb.sharding(x, ["data", None]) @ w))
    step = pb.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = pb.Session(engine="xla", mesh={"data": 4})
    session.run(w.initializer)
    assert session.compiled_communication(step, {x: np.ones((16, 32))}) == {"all-reduce": 32 * 8 * 4}
    """,
    )
