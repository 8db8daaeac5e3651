"""Bytes that a step sends each device: what the guide predicts is what the compiled program's collectives give."""

from __future__ import annotations

import pytest

from .on_devices import run_on_devices

pytest.importorskip("jax")
pytestmark = pytest.mark.slow

STEP = """
def sent(mesh, loss, feeds, optimizer=None):
    train = (optimizer or pb.train.AdamOptimizer(0.1)).minimize(loss)
    with pb.Session(mesh=mesh) as session:
        session.run(pb.global_variables_initializer())
        return session.compiled_communication([loss, train], feeds)
"""


def test_rows_of_a_batch_cost_the_bytes_of_the_variables_however_many_devices_there_are() -> None:
    run_on_devices(
        8,
        STEP
        + """
for devices in (2, 4, 8):
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [4 * devices, 16])
        w = pb.Variable(pb.sharding(pb.zeros([16, 32]), [None, None]))
        loss = pb.reduce_mean(pb.square(pb.sharding(x, ["data", None]) @ w))
        found = sent({"data": devices}, loss, {x: np.ones((4 * devices, 16), np.float32)})
        assert found == {"all-reduce": 16 * 32 * 4 + 4}, found  # The loss is added up, too.
""",
    )


def test_columns_of_a_layer_cost_the_activations_that_come_together_again() -> None:
    run_on_devices(
        8,
        STEP
        + """
for devices in (2, 4, 8):
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [4, 16])
        first = pb.Variable(pb.sharding(pb.zeros([16, 4 * devices]), [None, "model"]))
        second = pb.Variable(pb.sharding(pb.zeros([4 * devices, 8]), ["model", None]))
        loss = pb.reduce_mean(pb.square(pb.tanh(x @ first) @ second))
        found = sent({"model": devices}, loss, {x: np.ones((4, 16), np.float32)})
        assert found == {"all-reduce": 4 * 8 * 4}, found
""",
    )


def test_rows_of_a_table_cost_the_rows_of_the_whole_batch_twice_and_its_ids_three_times() -> None:
    run_on_devices(
        8,
        STEP
        + """
for devices in (2, 4, 8):
    with pb.Graph().as_default():
        rows = 4 * devices
        ids = pb.placeholder(pb.int32, [rows])
        table = pb.Variable(pb.sharding(pb.zeros([4096, 16]), ["data", None]))
        loss = pb.reduce_sum(pb.square(pb.nn.embedding_lookup(table, pb.sharding(ids, ["data"]))))
        found = sent({"data": devices}, loss, {ids: np.arange(rows, dtype=np.int32)})
        assert found == {"all-gather": 3 * rows * 4, "all-reduce": 2 * rows * 16 * 4 + 4}, found
""",
    )


def test_rows_of_a_table_that_an_optimizer_reads_cost_the_rows_of_the_whole_batch_each() -> None:
    run_on_devices(
        2,
        STEP
        + """
read = {
    pb.train.AdamOptimizer(0.1): 0,
    pb.train.MomentumOptimizer(0.1, 0.9): 1,
    pb.train.AdagradOptimizer(0.1): 1,
    pb.train.RMSPropOptimizer(0.1): 2,
    pb.train.AdadeltaOptimizer(0.1): 2,
    pb.train.FtrlOptimizer(0.1): 3,
}
for optimizer, times in read.items():
    with pb.Graph().as_default():
        ids = pb.placeholder(pb.int32, [8])
        table = pb.Variable(pb.sharding(pb.zeros([4096, 16]), ["data", None]))
        loss = pb.reduce_sum(pb.square(pb.nn.embedding_lookup(table, pb.sharding(ids, ["data"]))))
        found = sent({"data": 2}, loss, {ids: np.arange(8, dtype=np.int32)}, optimizer)
        assert found == {"all-gather": 3 * 8 * 4, "all-reduce": (2 + times) * 8 * 16 * 4 + 4}, (optimizer, found)
""",
    )
