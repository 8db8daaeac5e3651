"""Writes the GraphDefs and SavedModels of `fixtures/` with TensorFlow 2.21, and what it computes for them.

Run by hand, in an environment that has TensorFlow: `python tests/graphdef/make_fixtures.py`. Tests only read what it
wrote. For each graph there is a `.pb` and a `.npz` whose entries are called `feed|x:0`, `value|y:0` and `grad|y:0|x:0`.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from fixture_operations import operations, values
from fixture_ragged import Ragged
from fixture_texts import write_texts

v1 = tf.compat.v1
FIXTURES = Path(__file__).with_name("fixtures")


def weights(name: str, *shape: int) -> Any:
    return v1.get_variable(name, initializer=values(*shape) * 0.5, use_resource=name.endswith("r"))


def write(
    name: str, build: Callable[[], Mapping[str, Any]], functional: bool = False, differentiated: bool = False
) -> None:
    """A frozen graph of version 1: `build` returns feeds by name, and lists of the names of ys and xs.

    With `differentiated` it is frozen after its derivatives were made: functional loops keep what those read.
    """
    v1.reset_default_graph()
    v1.disable_control_flow_v2()
    if functional:
        v1.enable_control_flow_v2()
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        made = build()
        forward, fetches = graph.as_graph_def(), to_compute(graph, made)
        if differentiated:
            forward = graph.as_graph_def()
        session.run(v1.global_variables_initializer())
        outputs = [y.partition(":")[0] for y in made["ys"]]
        constant = v1.graph_util.convert_variables_to_constants(session, forward, outputs)
        (FIXTURES / f"{name}.pb").write_bytes(constant.SerializeToString())
        entries = session.run(fetches, made["feed"]) | {f"feed|{key}": x for key, x in made["feed"].items()}
    np.savez_compressed(FIXTURES / f"{name}.npz", **packed(entries))


def packed(entries: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Many small arrays as four: a file has some hundred bytes for each of its entries."""
    if len(entries) < 100:
        return dict(entries)
    return {
        "names": np.array(list(entries)),
        "ranks": np.array([x.ndim for x in entries.values()], np.int8),
        "lengths": np.array([n for x in entries.values() for n in x.shape], np.int16),
        "elements": np.concatenate([x.astype(np.float32).ravel() for x in entries.values()]),
    }


def to_compute(graph: Any, made: Mapping[str, Any]) -> dict[str, Any]:
    """The values and the derivatives to compare with."""
    fetches = {}
    for y in made["ys"]:
        tensor = graph.get_tensor_by_name(y)
        fetches[f"value|{y}"] = tensor
        for x in made["xs"]:
            try:
                (dx,) = tf.gradients(tensor, graph.get_tensor_by_name(x))
            except LookupError:
                continue
            if dx is not None:
                fetches[f"grad|{y}|{x}"] = tf.convert_to_tensor(dx)
    return fetches


def image(channels: int = 2, size: int = 8) -> Any:
    return v1.placeholder(tf.float32, [None, size, size, channels], name="image")


def lenet() -> Mapping[str, Any]:
    x = image()
    h = tf.nn.relu(
        tf.nn.bias_add(tf.nn.conv2d(x, weights("conv1/weights", 3, 3, 2, 4), 1, "SAME"), values(4)), "conv1/Relu"
    )
    h = tf.nn.max_pool2d(h, 2, 2, "VALID")
    h = tf.reshape(h, [-1, 4 * 4 * 4])
    logits = tf.matmul(h, weights("dense/kernel", 64, 5)) + weights("dense/bias", 5)
    labels = v1.placeholder(tf.int32, [None], name="labels")
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.reduce_mean(loss, name="loss")
    tf.nn.softmax(logits, name="probabilities")
    feed = {"image:0": values(3, 8, 8, 2), "labels:0": np.array([0, 4, 2], np.int32)}
    return {"feed": feed, "ys": ["loss:0", "probabilities:0"], "xs": ["image:0", "conv1/weights:0", "conv1/Relu:0"]}


def resnet() -> Mapping[str, Any]:
    x = image()
    h = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    h = tf.nn.conv2d(h, weights("stem/w_r", 3, 3, 2, 4), 2, "VALID")
    for i in range(2):
        with v1.variable_scope(f"block{i}"):
            y, _, _ = v1.nn.fused_batch_norm(h, values(4), values(4), values(4), values(4, low=0.5), is_training=False)
            y = tf.nn.conv2d(tf.nn.relu(y), weights("w", 3, 3, 4, 4), 1, "SAME")
            y = y * tf.sigmoid(tf.reduce_mean(y, [1, 2], keepdims=True))
            h = tf.add(h, y, name="sum")
    tf.reduce_sum(tf.square(tf.reduce_mean(h, [1, 2])), name="loss")
    return {"feed": {"image:0": values(2, 8, 8, 2)}, "ys": ["loss:0"], "xs": ["image:0", "stem/w_r:0", "block0/sum:0"]}


def mobilenet() -> Mapping[str, Any]:
    x = image()
    h = tf.nn.depthwise_conv2d(x, weights("depthwise", 3, 3, 2, 2), [1, 2, 2, 1], "SAME")
    h = tf.nn.relu6(h * 4.0)
    h = tf.nn.conv2d(h, weights("pointwise", 1, 1, 4, 6), 1, "VALID")
    h = tf.nn.conv2d(h, weights("explicit", 3, 3, 6, 3), 1, [[0, 0], [1, 0], [0, 2], [0, 0]])
    h = tf.nn.leaky_relu(tf.nn.avg_pool2d(h, 2, 2, "SAME"), 0.1)
    h = tf.nn.local_response_normalization(h, 1, 1.0, 0.5, 0.75)
    tf.reduce_sum(tf.nn.l2_loss(h), name="loss")
    return {"feed": {"image:0": values(2, 8, 8, 2)}, "ys": ["loss:0"], "xs": ["image:0", "depthwise:0", "explicit:0"]}


def unet() -> Mapping[str, Any]:
    x = image()
    down = tf.nn.elu(tf.nn.conv2d(x, weights("down", 3, 3, 2, 3), 2, "SAME"))
    shape = tf.shape(x)
    up = tf.nn.conv2d_transpose(down, weights("up", 3, 3, 2, 3), tf.stack([shape[0], 8, 8, 2]), 2, "SAME")
    resized = v1.image.resize_bilinear(down, [8, 8], align_corners=True)
    nearest = v1.image.resize_nearest_neighbor(down, [8, 8])
    joined = tf.concat([x, up, resized, nearest[..., ::-1]], 3)
    h = tf.nn.conv2d(joined, weights("out", 3, 3, 10, 1), 1, "VALID", dilations=2)
    tf.sigmoid(h, name="mask")
    tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(h), logits=h), name="loss")
    return {"feed": {"image:0": values(2, 8, 8, 2)}, "ys": ["loss:0"], "xs": ["image:0", "down:0", "up:0"]}


def volumes() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [None, 4, 4, 4, 1], name="image")
    h = tf.nn.conv3d(x, weights("w", 2, 2, 2, 1, 3), [1] * 5, "SAME")
    h = tf.nn.max_pool3d(tf.nn.softplus(h), 2, 2, "VALID")
    h = tf.einsum("bxyzc,cd->bxyzd", h, weights("mix", 3, 2))
    mean, variance = tf.nn.moments(h, [1, 2, 3])
    tf.add(tf.reduce_sum(mean), tf.reduce_sum(tf.sqrt(variance + 0.1)), name="loss")
    return {"feed": {"image:0": values(2, 4, 4, 4, 1)}, "ys": ["loss:0"], "xs": ["image:0", "w:0"]}


def lstm_step(x: Any, state: Any, kernel: Any, bias: Any) -> Any:
    c, h = state
    i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), kernel) + bias, 4, 1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


def lstm_while() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [5, None, 3], name="x")
    kernel, bias = weights("kernel", 7, 16), weights("bias", 16)
    zeros = tf.zeros(tf.stack([tf.shape(x)[1], 4]))

    def body(t: Any, c: Any, h: Any) -> Any:
        return (t + 1, *lstm_step(x[t], (c, h), kernel, bias))

    _, _, h = tf.while_loop(lambda t, c, h: t < 5, body, (0, zeros, zeros))
    tf.reduce_sum(tf.square(h), name="loss")
    return {"feed": {"x:0": values(5, 2, 3)}, "ys": ["loss:0"], "xs": ["x:0", "kernel:0", "bias:0"]}


def dynamic_rnn() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [None, None, 3], name="x")
    lengths = v1.placeholder(tf.int32, [None], name="lengths")
    kernel, bias = weights("kernel", 7, 16), weights("bias", 16)
    rows = tf.transpose(x, [1, 0, 2])
    time, batch = tf.shape(rows)[0], tf.shape(rows)[1]
    inputs = v1.TensorArray(tf.float32, size=time, name="inputs").unstack(rows)
    outputs = v1.TensorArray(tf.float32, size=time, name="outputs")
    zeros = tf.zeros(tf.stack([batch, 4]))

    def body(t: Any, out: Any, c: Any, h: Any) -> Any:
        row = inputs.read(t)
        row.set_shape([None, 3])
        c2, h2 = lstm_step(row, (c, h), kernel, bias)
        going = tf.tile((t < lengths)[:, None], [1, 4])
        y = tf.where(going, h2, tf.zeros_like(h2))
        return t + 1, out.write(t, y), tf.where(going, c2, c), tf.where(going, h2, h)

    _, outputs, _, h = tf.while_loop(
        lambda t, *_: t < time, body, (tf.constant(0), outputs, zeros, zeros), name="rnn/while"
    )
    ys = tf.transpose(outputs.stack(), [1, 0, 2], name="outputs_by_batch")
    tf.add(tf.reduce_sum(ys * ys), tf.reduce_sum(h), name="loss")
    feed = {"x:0": values(2, 4, 3), "lengths:0": np.array([4, 2], np.int32)}
    return {"feed": feed, "ys": ["loss:0", "outputs_by_batch:0"], "xs": ["x:0", "kernel:0"]}


def nested_while() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [3], name="x")
    w = weights("w", 3)

    def inner(total: Any, rate: Any) -> Any:
        return tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.sin(z * w) + rate), (0, total))[1]

    def outer(i: Any, y: Any) -> Any:
        return i + 1, inner(y, tf.cast(i, tf.float32)) * x

    _, y = tf.while_loop(lambda i, y: tf.logical_and(i < 3, tf.reduce_sum(y) < 100.0), outer, (0, x))
    tf.reduce_sum(y, name="loss")
    return {"feed": {"x:0": values(3)}, "ys": ["loss:0"], "xs": ["x:0", "w:0"]}


def growing_while() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [None, 2], name="x")

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.concat([y, y * x[:1]], 0)

    shapes = (tf.TensorShape([]), tf.TensorShape([None, 2]))
    _, y = tf.while_loop(lambda i, y: i < 2, body, (0, x), shape_invariants=shapes)
    tf.reduce_sum(tf.tanh(y), name="loss")
    return {"feed": {"x:0": values(2, 2)}, "ys": ["loss:0"], "xs": ["x:0"]}


def cond() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [3], name="x")
    flag = v1.placeholder(tf.bool, [], name="flag")
    w = weights("w", 3)
    a, b = v1.cond(flag, lambda: (tf.sqrt(x + 2.0) * w, tf.constant(2.0)), lambda: (x * x, tf.reduce_sum(w)))
    c = v1.cond(tf.reduce_sum(a) > 1.0, lambda: v1.cond(flag, lambda: a * b, lambda: a), lambda: tf.exp(a))
    tf.reduce_sum(c, name="loss")
    return {"feed": {"x:0": values(3), "flag:0": np.array(True)}, "ys": ["loss:0"], "xs": ["x:0", "w:0"]}


def cond_in_while() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [3], name="x")
    check = v1.Assert(tf.reduce_all(x < 5.0), ["x is too large", x])

    def body(i: Any, y: Any) -> Any:
        return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: tf.sin(y) * x, lambda: y + tf.cos(x))

    with tf.control_dependencies([check]):
        start = tf.identity(x)
    _, y = tf.while_loop(lambda i, y: i < 5, body, (0, start))
    tf.reduce_sum(y, name="loss")
    return {"feed": {"x:0": values(3)}, "ys": ["loss:0"], "xs": ["x:0"]}


def while_in_cond() -> Mapping[str, Any]:
    x = v1.placeholder(tf.float32, [3], name="x")
    n = v1.placeholder(tf.int32, [], name="n")
    y = v1.cond(
        n > 2, lambda: tf.while_loop(lambda i, z: i < n, lambda i, z: (i + 1, z * x), (0, x + 1.0))[1], lambda: x - 1.0
    )
    tf.reduce_sum(y, name="loss")
    return {"feed": {"x:0": values(3), "n:0": np.array(4, np.int32)}, "ys": ["loss:0"], "xs": ["x:0"]}


def embedding() -> Mapping[str, Any]:
    ids = v1.placeholder(tf.int32, [None, None], name="ids")
    table = weights("table_r", 10, 4)
    rows = tf.nn.embedding_lookup(table, ids, name="rows")
    mask = tf.cast(tf.not_equal(ids, 0), tf.float32)[..., None]
    pooled = tf.reduce_sum(rows * mask, 1) / tf.maximum(tf.reduce_sum(mask, 1), 1.0)
    scores = tf.matmul(pooled, weights("w", 4, 3))
    best, _ = tf.nn.top_k(scores, 2)
    tf.add(tf.reduce_logsumexp(scores), tf.reduce_sum(best), name="loss")
    feed = {"ids:0": np.array([[1, 2, 0], [9, 1, 1]], np.int32)}
    return {"feed": feed, "ys": ["loss:0"], "xs": ["table_r:0", "w:0"]}


def transformer() -> Mapping[str, Any]:
    ids = v1.placeholder(tf.int32, [None, None], name="ids")
    table = weights("embedding", 11, 8)
    h = tf.gather(table, ids) + tf.one_hot(tf.range(tf.shape(ids)[1]), 8)

    def norm(x: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-5)

    def heads(x: Any, name: str) -> Any:
        y = tf.tensordot(x, weights(name, 8, 8), 1)
        y = tf.reshape(y, tf.concat([tf.shape(y)[:2], [2, 4]], 0))
        return tf.transpose(y, [0, 2, 1, 3])

    x = norm(h)
    q, k, v = heads(x, "q"), heads(x, "k"), heads(x, "v")
    scores = tf.matmul(q, k, transpose_b=True) / 2.0
    causal = tf.linalg.band_part(tf.ones_like(scores), -1, 0)
    scores = tf.where(causal > 0.0, scores, -1e9 * tf.ones_like(scores))
    mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
    h += tf.reshape(mixed, tf.shape(h))
    h += tf.tensordot(tf.nn.gelu(tf.tensordot(norm(h), weights("up", 8, 16), 1)), weights("down", 16, 8), 1)
    logits = tf.einsum("btd,vd->btv", h, table)
    target = tf.roll(ids, -1, 1)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    tf.reduce_mean(loss[:, :-1], name="loss")
    feed = {"ids:0": np.array([[1, 2, 3, 4], [10, 0, 5, 1]], np.int32)}
    return {"feed": feed, "ys": ["loss:0"], "xs": ["embedding:0", "q:0", "down:0"]}


def with_gradient() -> Mapping[str, Any]:
    """A graph that has TensorFlow's derivative in it: its values are those of ours."""
    x = image(2, 6)
    w, b = weights("w", 3, 3, 2, 3), weights("b", 3)
    h = tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b)
    h, _, _ = v1.nn.fused_batch_norm(h, tf.ones([3]), tf.zeros([3]))
    h = tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "SAME")
    h = tf.nn.avg_pool2d(tf.tanh(h[:, 1:, :, ::2]), 2, 1, "VALID")
    loss = tf.reduce_sum(h * h, name="loss")
    dx, dw, db = tf.gradients(loss, [x, w, b])
    for name, dy in (("dx", dx), ("dw", dw), ("db", db)):
        tf.identity(dy, name=name)
    return {"feed": {"image:0": values(2, 6, 6, 2)}, "ys": ["loss:0", "dx:0", "dw:0", "db:0"], "xs": []}


def saved(name: str, module: Any, signature: Any, feed: Sequence[np.ndarray[Any, Any]]) -> None:
    """A SavedModel of version 2, with the values and the derivatives by the arguments of its signature."""
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    concrete = module.f.get_concrete_function(*signature)
    tf.saved_model.save(module, str(folder), signatures=concrete)
    for file in ("fingerprint.pb",):
        (folder / file).unlink(missing_ok=True)
    for empty in ("assets",):
        shutil.rmtree(folder / empty, ignore_errors=True)
    tensors = [tf.constant(x) for x in feed]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = module.f(*tensors)
    xs = [*[x for x in tensors if x.dtype.is_floating], *module.variables_to_learn]
    names = [s.name for s in signature]
    entries = {f"feed|{n}": x for n, x in zip(names, feed, strict=True)} | {"value|y": y["y"].numpy()}
    found = tape.gradient(y["y"], xs)
    keys = [*[n for n, x in zip(names, tensors, strict=True) if x.dtype.is_floating]]
    keys += [v.name.partition(":")[0] for v in module.variables_to_learn]
    entries |= {
        f"grad|y|{k}": tf.convert_to_tensor(dx).numpy() for k, dx in zip(keys, found, strict=True) if dx is not None
    }
    np.savez_compressed(FIXTURES / f"{name}.npz", **entries)


class Dense(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(values(3, 2), name="w")
        self.b = tf.Variable(values(2), name="b")
        self.variables_to_learn = [self.w, self.b]

    @tf.function
    def layer(self, x: Any) -> Any:
        return tf.tanh(x @ self.w + self.b)

    @tf.function
    def f(self, x: Any) -> Any:
        return {"y": tf.reduce_sum(self.layer(x) * self.layer(-2.0 * x), 1)}


class Loop(Dense):
    @tf.function
    def f(self, x: Any, n: Any) -> Any:
        y = x
        for _ in tf.range(n):
            y = tf.sin(y @ self.w @ tf.transpose(self.w)) + x
            if tf.reduce_sum(y) > 10.0:
                break
        return {"y": tf.reduce_sum(y)}


class Growing(Dense):
    @tf.function
    def f(self, x: Any, n: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, 3])
        for i in tf.range(n):
            x = tf.sin(x @ self.w @ tf.transpose(self.w))
            if tf.reduce_sum(x) > 10.0:
                break
            rows = rows.write(i, x)
        return {"y": tf.reduce_sum(rows.stack() ** 2)}


class Branches(Dense):
    @tf.function
    def f(self, x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:  # noqa: SIM108 - AutoGraph makes a conditional of it
            y = self.layer(x)
        else:
            y = x[:, :2] * self.b
        z = tf.switch_case(tf.shape(x)[0] - 1, [lambda: y * 2.0, lambda: tf.exp(y), lambda: y])
        return {"y": tf.reduce_sum(z)}


class Mapped(Dense):
    @tf.function
    def f(self, x: Any) -> Any:
        rows = tf.map_fn(lambda row: tf.nn.softmax(row) * tf.reduce_sum(self.w), x)
        last = tf.scan(lambda a, row: a * 0.5 + row, rows)
        return {"y": tf.reduce_sum(last * last)}


class Custom(Dense):
    @tf.function
    def f(self, x: Any) -> Any:
        @tf.custom_gradient
        def log1pexp(z: Any) -> Any:
            e = tf.exp(z)
            return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

        return {"y": tf.reduce_sum(log1pexp(x) @ self.w)}


def meta_graph() -> None:
    """A MetaGraphDef with a saver and a training step, and checkpoint values beside it."""
    v1.reset_default_graph()
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w, b = weights("layer/w", 3, 2), weights("layer/b_r", 2)
        y = tf.identity(tf.matmul(x, w) + b, name="y")
        loss = tf.reduce_mean(tf.square(y), name="loss")
        step = v1.train.get_or_create_global_step()
        train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step, name="train")
        v1.add_to_collection("ys", y)
        v1.summary.scalar("loss", loss)
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        saver.export_meta_graph(str(FIXTURES / "training.meta"))
        feed = {"x:0": values(4, 3)}
        entries = {f"feed|{k}": v for k, v in feed.items()}
        entries |= {f"variable|{v.op.name}": session.run(v) for v in v1.global_variables()}
        losses = []
        for _ in range(4):
            losses.append(session.run(loss, feed))
            session.run(train, feed)
        entries |= {"losses": np.array(losses), "after|layer/w": session.run(w), "after|layer/b_r": session.run(b)}
    np.savez_compressed(FIXTURES / "training.npz", **entries)


def training_of_a_loop() -> None:
    """A MetaGraphDef with a version-1 loop, TensorFlow's derivative of it, and a step of Adam."""
    v1.reset_default_graph()
    v1.disable_control_flow_v2()
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x, w = v1.placeholder(tf.float32, [3], name="x"), weights("w", 3)
        _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.sin(y * w) + x), (0, x))
        loss = tf.reduce_sum(y * y, name="loss")
        step = v1.train.get_or_create_global_step()
        v1.train.AdamOptimizer(0.1).minimize(loss, step, name="train")
        session.run(v1.global_variables_initializer())
        v1.train.export_meta_graph(str(FIXTURES / "training_of_a_loop.meta"))
        feed = {"x:0": values(3)}
        (dw,) = tf.gradients(loss, w)
        entries = {"feed|x:0": feed["x:0"], "variable|w": session.run(w), "grad": session.run(dw, feed)}
    np.savez_compressed(FIXTURES / "training_of_a_loop.npz", **entries)


GRAPHS = [lenet, resnet, mobilenet, unet, volumes, lstm_while, dynamic_rnn, nested_while, growing_while, cond]
GRAPHS += [cond_in_while, while_in_cond, embedding, transformer, with_gradient, operations]
FUNCTIONAL = [lstm_while, dynamic_rnn, cond, cond_in_while]


def main() -> None:
    """Write all, or the frozen graphs whose names are given."""
    if sys.argv[1:]:
        v1.disable_eager_execution()
        for build in GRAPHS:
            if build.__name__ in sys.argv[1:]:
                write(build.__name__, build)
        return
    FIXTURES.mkdir(exist_ok=True)
    x = tf.TensorSpec([None, 3], tf.float32, name="x")
    saved("saved_calls", Dense(), [x], [values(2, 3)])
    saved("saved_while", Loop(), [x, tf.TensorSpec([], tf.int32, name="n")], [values(2, 3), np.array(4, np.int32)])
    saved("saved_growing", Growing(), [x, tf.TensorSpec([], tf.int32, name="n")], [values(2, 3), np.array(3, np.int32)])
    saved("saved_branches", Branches(), [x], [values(2, 3)])
    saved("saved_arrays", Mapped(), [x], [values(4, 3)])
    saved("saved_ragged", Ragged(), [x, tf.TensorSpec([None], tf.int64, name="n")], [values(5, 3), np.array([2, 0, 3])])
    saved("saved_custom_gradient", Custom(), [x], [values(2, 3)])
    v1.disable_eager_execution()
    for build in GRAPHS:
        write(build.__name__, build)
    for build in FUNCTIONAL:
        write(f"{build.__name__}_v2", build, functional=True)
    for build in (nested_while, cond_in_while):
        write(f"{build.__name__}_differentiated", build, functional=True, differentiated=True)
    meta_graph()
    training_of_a_loop()
    write_texts(FIXTURES)


if __name__ == "__main__":
    main()
