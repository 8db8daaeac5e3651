"""Checkpoints by TensorFlow that the tests read: `python tools/tensorflow_checkpoints.py`, with TensorFlow 2.21.

TensorFlow is no dependency of the project: run this in an environment that has it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).parent.parent / "tests" / "checkpoints" / "tensorflow"
v1 = tf.compat.v1


def saved(graph: tf.Graph, name: str, **settings: object) -> None:
    """Writes the variables of `graph`, with their initial values, and notes that as the latest checkpoint."""
    with graph.as_default(), v1.Session() as session:
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(save_relative_paths=True, **settings)
        saver.save(session, str(FOLDER / name), global_step=7, write_meta_graph=False)


OLD_DTYPES = (
    tf.float16,
    tf.float32,
    tf.float64,
    tf.int8,
    tf.uint8,
    tf.int16,
    tf.int32,
    tf.int64,
    tf.bool,
    tf.complex64,
)
NEW_DTYPES = (*OLD_DTYPES, tf.bfloat16, tf.uint16, tf.uint32, tf.uint64, tf.complex128)


def every_dtype(dtypes: tuple[tf.DType, ...], words: bool) -> tf.Graph:
    """A variable of each dtype, with 0, 1, 2 and its largest number; some without elements, some without axes."""
    graph = tf.Graph()
    with graph.as_default():
        for dtype in dtypes:
            numbers = np.array([[0, 1], [2, 0]]).astype(dtype.as_numpy_dtype)
            numbers[1, 1] = True if dtype == tf.bool else dtype.max if not dtype.is_complex else 1.5 - 2j
            v1.Variable(numbers, name=f"numbers/{dtype.name}")
        if words:
            v1.Variable([[b"", b"one"], [b"\x00\xff", "zwölf".encode()]], name="words")
            v1.Variable(b"x" * 300, name="long_word")
        v1.Variable(tf.zeros([0, 3]), name="nothing")
        v1.Variable(3.5, name="one")
    return graph


def in_parts() -> tf.Graph:
    """A variable in three parts along its first axis, one in two along its second, and a whole one."""
    graph = tf.Graph()
    with graph.as_default():
        thirds, halves = v1.fixed_size_partitioner(3), v1.fixed_size_partitioner(2, axis=1)
        v1.get_variable("rows", initializer=tf.reshape(tf.range(35.0), [7, 5]), partitioner=thirds)
        v1.get_variable("columns", initializer=tf.reshape(tf.range(200, dtype=tf.int64), [2, 100]), partitioner=halves)
        v1.get_variable("whole", initializer=[1.0, 2.0])
    return graph


def on_devices() -> tf.Graph:
    """Variables of three devices: `sharded=True` writes a file for each."""
    graph = tf.Graph()
    with graph.as_default():
        for i in range(3):
            with tf.device(f"/cpu:{i}"):
                v1.Variable([float(i), i + 0.5], name=f"on_{i}")
    return graph


def of_objects() -> None:
    """A checkpoint of objects: keys are ways through them."""
    layer = tf.Module()
    layer.kernel = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="dense/kernel")
    layer.bias = tf.Variable([0.5, -0.5], name="dense/bias")
    tf.train.Checkpoint(layer=layer, step=tf.Variable(12, dtype=tf.int64, name="step")).write(str(FOLDER / "objects"))


def many() -> tf.Graph:
    """So many names with a long common beginning that the index has several places to start from."""
    graph = tf.Graph()
    with graph.as_default():
        for i in range(40):
            v1.Variable([i, i * i], name=f"a/{'long/' * 10}name_{i:03}")
    return graph


if __name__ == "__main__":
    v1.disable_resource_variables()
    v1.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 3
    )
    old = v1.train.SaverDef.V1
    saved(every_dtype(OLD_DTYPES, words=False), "old_dtypes", write_version=old)
    saved(in_parts(), "old_parts", write_version=old)
    saved(on_devices(), "old_sharded", write_version=old, sharded=True)
    saved(every_dtype(NEW_DTYPES, words=True), "dtypes")
    saved(in_parts(), "parts")
    saved(on_devices(), "sharded", sharded=True)
    of_objects()
    saved(many(), "many")
