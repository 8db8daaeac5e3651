"""Graphs as GraphDefs: written with TensorFlow's op types, they say what they said before when they are read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import UnimplementedError
from pullback.graphdef.body import set_attribute
from pullback.graphdef.signatures import SIGNATURES

Built = tuple[list[pb.Tensor], dict[pb.Tensor, Any]]
RANDOM = np.random.RandomState(0)


def drawn(*shape: int) -> Any:
    """Some float32."""
    return RANDOM.randn(*shape).astype(np.float32)


def perceptron() -> Built:
    x, t = pb.placeholder(pb.float32, [None, 8], name="x"), pb.placeholder(pb.int32, [None], name="t")
    w, b = pb.constant(drawn(8, 4)), pb.constant(drawn(4))
    h = pb.nn.relu(pb.matmul(x, w) + b)
    loss = pb.reduce_mean(pb.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=h))
    return [loss, *pb.gradients(loss, [x, w, b])], {x: drawn(3, 8), t: np.array([0, 3, 1], np.int32)}


def convolution() -> Built:
    x, f = pb.placeholder(pb.float32, [None, 8, 8, 3], name="x"), pb.constant(drawn(3, 3, 3, 4))
    y = pb.nn.max_pool(pb.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = pb.nn.avg_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    y = pb.reduce_sum(pb.square(pb.nn.softmax(pb.tanh(pb.reshape(y, [-1, 16])))), 1)
    return [y, *pb.gradients(y, [x, f])], {x: drawn(2, 8, 8, 3)}


def loop_over_rows() -> Built:
    x, w = pb.placeholder(pb.float32, [None, 5, 8], name="x"), pb.constant(drawn(8, 8))
    rows = pb.transpose(x, [1, 0, 2])
    state = pb.zeros([pb.shape(x)[0], 8])
    _, h = pb.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, pb.tanh(pb.matmul(h, w) + rows[i])), [0, state])
    total = pb.reduce_sum(h)
    return [total, *pb.gradients(total, [w, x])], {x: drawn(2, 5, 8)}


def loop_of_unknown_length() -> Built:
    x = pb.placeholder(pb.float32, [], name="x")
    y, n = pb.while_loop(lambda y, n: y < 100.0, lambda y, n: (y * x + 1.0, n + 1), [x, 0])
    (dy,) = pb.gradients(y, x)
    return [y, n, dy, *pb.gradients(dy, x)], {x: np.float32(1.7)}


def scan_and_map() -> Built:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    ys = [pb.scan(lambda a, row: pb.tanh(a * row + 0.1), x), pb.map_fn(lambda row: pb.reduce_sum(row * row), x)]
    return [*ys, *pb.gradients(ys, x)], {x: drawn(4, 3)}


def branches() -> Built:
    x = pb.placeholder(pb.float32, [3], name="x")
    y = pb.cond(pb.reduce_sum(x) > 0, lambda: x * 2, lambda: pb.exp(x))
    z = pb.switch_case(pb.constant(1), [lambda: x, lambda: pb.sin(x) * y])
    return [y, z, *pb.gradients([y, z], x)], {x: drawn(3)}


def functions() -> Built:
    f = pb.function(lambda a, b: (pb.tanh(a @ b), pb.reduce_sum(a)))
    x = pb.placeholder(pb.float32, [2, 2], name="x")
    y, s = f(x, x)
    z, _ = f(y, x)
    return [z, s, *pb.gradients([z, s], x)], {x: drawn(2, 2)}


def embedding() -> Built:
    e, i = pb.placeholder(pb.float32, [10, 4], name="e"), pb.placeholder(pb.int32, [None], name="i")
    y = pb.nn.embedding_lookup(e, i)
    z = pb.pad(pb.transpose(pb.stack([pb.concat([y, y], 1)[:, 1:5]] * 2)), [[1, 1], [0, 0], [0, 0]])
    mean, variance = pb.nn.moments(z, [0, 1])
    total = pb.reduce_sum(pb.sqrt(variance + 1.0) * mean) + pb.reduce_max(z)
    (slices,) = pb.gradients(total, [e])
    return [total, pb.convert_to_tensor(slices)], {e: drawn(10, 4), i: np.array([1, 3, 1], np.int32)}


def attention() -> Built:
    q, k = (pb.placeholder(pb.float32, [2, 4, 6, 8], name=name) for name in "qk")
    y = pb.matmul(pb.nn.softmax(pb.matmul(q, k, transpose_b=True) / 3.0), k)
    y = pb.nn.gelu(pb.reshape(pb.transpose(y, [0, 2, 1, 3]), [-1, 6, 32]))
    mean = pb.reduce_mean(y, -1, keepdims=True)
    y = (y - mean) * pb.rsqrt(pb.reduce_mean(pb.square(y - mean), -1, keepdims=True) + 1e-5)
    total = pb.reduce_sum(y * y * y)
    return [total, *pb.gradients(total, [q, k])], {q: drawn(2, 4, 6, 8), k: drawn(2, 4, 6, 8)}


def arrays() -> Built:
    x = pb.placeholder(pb.float32, [4, 3], name="x")
    array = pb.TensorArray(pb.float32, 4, element_shape=[3]).unstack(x)
    _, array = pb.while_loop(
        lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i + 1, pb.tanh(a.read(i)) * 2.0)), [pb.constant(0), array]
    )
    y = array.stack()
    return [y, *pb.gradients(y, x)], {x: drawn(4, 3)}


def parts() -> Built:
    x = pb.placeholder(pb.float32, [4, 4], name="x")
    values, _ = pb.nn.top_k(x, 2)
    ys = [pb.cumsum(x, 1), pb.linalg.band_part(x, 1, 0), pb.roll(x, 1, 0), pb.linalg.inv(x + 5.0 * pb.eye(4)), values]
    ys.append(pb.math.unsorted_segment_sum(x, [1, 0, 1, 2], 3))
    return [*ys, *pb.gradients(ys[:4], x)], {x: drawn(4, 4)}


def slices() -> Built:
    x, n = pb.placeholder(pb.float32, [4, 5, 6], name="x"), pb.placeholder(pb.int32, [], name="n")
    ys = [x[1], x[:, ::2], x[..., None, n], x[2:, 1:-1], x[::-1, n]]
    return [*ys, *pb.gradients(ys, x)], {x: drawn(4, 5, 6), n: np.int32(2)}


MODELS: list[Callable[[], Built]] = [
    *(perceptron, convolution, loop_over_rows, loop_of_unknown_length, scan_and_map),
    *(branches, functions, embedding, attention, slices, arrays, parts),
]
"""Models, with their derivatives; TensorFlow 2.21 gives equal values for all."""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_what_is_written_is_read_again_with_equal_values(model: Callable[[], Built]) -> None:
    fetches, feeds = model()
    wanted = pb.Session(engine="numpy").run(fetches, feeds)
    data = fetches[0].graph.as_graph_def().SerializeToString()
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
        found = pb.Session(engine="numpy").run([y.name for y in fetches], {x.name: a for x, a in feeds.items()})
    for a, b in zip(found, wanted, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert graph is not fetches[0].graph


def test_what_the_outputs_do_not_need_is_left_out() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    y = pb.tanh(x, name="y")
    pb.image.resize(pb.zeros([1, 4, 4, 1]), [8, 8])
    assert [node.name for node in pb.graphdef.export(outputs=[y]).node] == ["x", "y"]


def test_every_operation_is_there_under_its_name() -> None:
    fetches, _ = embedding()
    graph = fetches[0].graph
    nodes = {node.name: node.op for node in graph.as_graph_def().node}
    assert {op.name for op in graph.operations} <= nodes.keys()
    assert {op.type for op in graph.operations if op.type in SIGNATURES} <= set(nodes.values()) | {"Moments", "Pad"}


def test_controls_and_devices_are_kept() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    shown = pb.print("before", x, name="a")
    with pb.device("/cpu:0"), pb.control_dependencies([shown]):
        y = pb.tanh(x, name="y")
    node = next(node for node in y.graph.as_graph_def().node if node.name == "y")
    assert (list(node.input), node.device) == (["x", "^a"], "/device:CPU:0")


def test_a_training_step_is_written_with_its_variables() -> None:
    w = pb.Variable([1.0, 2.0], name="w")
    pb.train.AdamOptimizer(0.1).minimize(pb.reduce_sum(pb.square(w)))
    ops = [node.op for node in w.graph.as_graph_def().node]
    assert {"VarHandleOp", "ReadVariableOp", "AssignVariableOp", "NoOp"} <= set(ops)


OPTIMIZERS = ("GradientDescent", "Momentum", "Adagrad", "Adadelta", "Adam", "RMSProp", "Ftrl")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_that_change_rows_do_so_when_they_are_read_again(name: str) -> None:
    table, w = pb.get_variable("table", [5, 2]), pb.get_variable("w", [2, 3])
    x = pb.placeholder(pb.int32, [None], name="x")
    loss = pb.reduce_sum(pb.square(pb.gather(table, x) @ w))
    options = {"momentum": 0.9} if name == "Momentum" else {}
    step = getattr(pb.train, f"{name}Optimizer")(0.1, **options).minimize(loss, name="step")
    begin, ids = pb.global_variables_initializer(), [1, 4, 1]
    session = pb.Session(engine="numpy")
    session.run(begin)
    values = {v.op.name: session.read_variable(v.op) for v in pb.global_variables()}
    data = loss.graph.as_graph_def().SerializeToString()
    for _ in range(3):
        session.run(step, {x: ids})
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
        again = pb.Session(engine="numpy")
        for key, value in values.items():
            again.write_variable(graph.get_operation_by_name(key), value)
        for _ in range(3):
            again.run("step", {"x:0": ids})
        found = {key: again.read_variable(graph.get_operation_by_name(key)) for key in values}
    for key, value in found.items():
        np.testing.assert_allclose(value, session.read_variable(loss.graph.get_operation_by_name(key)), rtol=1e-5)


def test_masks_and_draws_have_their_distribution_when_they_are_read_again() -> None:
    x = pb.ones([20000])
    ys = [
        pb.nn.dropout(x, rate=0.25, name="dropped"),
        pb.random.uniform([20000], 3, 7, pb.int32, name="whole"),
        pb.random.gamma([20000], 2.0, name="gamma"),
        pb.random.poisson([20000], 3.0, name="poisson"),
        pb.random.categorical(pb.math.log([[0.2, 0.8]]), 20000, name="classes"),
        pb.random.shuffle(pb.range(100), name="shuffled"),
    ]
    data = x.graph.as_graph_def().SerializeToString()
    with pb.Graph().as_default():
        pb.import_graph_def(data, name="")
        dropped, whole, gamma, poisson, classes, shuffled = pb.Session(engine="numpy").run([y.name for y in ys])
    assert np.unique(dropped).tolist() == pytest.approx([0.0, 4 / 3])
    assert dropped.mean() == pytest.approx(1.0, abs=0.05)
    assert np.unique(whole).tolist() == [3, 4, 5, 6]
    assert gamma.mean() == pytest.approx(2.0, abs=0.1)
    assert poisson.mean() == pytest.approx(3.0, abs=0.1)
    assert classes.mean() == pytest.approx(0.8, abs=0.05)
    assert sorted(shuffled.tolist()) == list(range(100))


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_derivatives_of_a_loop_over_rows_are_read_again_for_both_engines(engine: str) -> None:
    x = pb.placeholder(pb.float32, [3, 2], name="x")
    y = pb.scan(lambda a, row: pb.tanh(a * row + 0.1), x)
    dx = pb.identity(pb.gradients(y, x)[0], name="dx")
    wanted = pb.Session(engine="numpy").run(dx, {x: drawn(3, 2) * 0 + 0.5})
    data = x.graph.as_graph_def().SerializeToString()
    with pb.Graph().as_default():
        pb.import_graph_def(data, name="")
        found = pb.Session(engine=engine).run("dx:0", {"x:0": np.full((3, 2), 0.5, np.float32)})
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["reciprocal", "sqrt", "rsqrt", "tanh", "sigmoid"])
def test_derivatives_of_complex_functions_conjugate_as_tensorflow_does(name: str) -> None:
    """Its nodes of the first three conjugate their input; those of the others are given the conjugate."""
    z = pb.placeholder(pb.complex128, [3], name="z")
    y = getattr(pb.math, name)(z)
    dz = pb.identity(pb.gradients(pb.math.real(y) * 2.0 + pb.math.imag(y), z)[0], name="dz")
    at = np.array([1 + 2j, -0.5 + 0.3j, 0.2 - 0.7j])
    wanted = pb.Session(engine="numpy").run(dz, {z: at})
    made = pb.graphdef.export(dz.graph, [dz])
    (node,) = [node for node in made.node if node.op == f"{name.capitalize()}Grad"]
    conjugated = {n.name for n in made.node if n.op == "Conj"}
    inputs, depth = node.input[0], 0
    while inputs in conjugated:
        inputs, depth = next(n.input[0] for n in made.node if n.name == inputs), depth + 1
    assert depth % 2 == (0 if name in ("reciprocal", "sqrt", "rsqrt") else 1)
    with pb.Graph().as_default():
        pb.import_graph_def(made, name="")
        np.testing.assert_allclose(pb.Session(engine="numpy").run("dz:0", {"z:0": at}), wanted, rtol=1e-12)


def test_rows_of_a_loop_that_nobody_reads_are_left_out() -> None:
    pb.while_loop(lambda i: i < 3, lambda i: (i + 1,), [pb.constant(0)])
    made = pb.get_default_graph().as_graph_def()
    assert "EmptyTensorList" not in [node.op for node in made.node]
    assert {"while_Loop_body", "while_Loop_cond"} <= {f.signature.name for f in made.library.function}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "uint8", "uint32"])
@pytest.mark.parametrize("length", [None, 6])
def test_orders_of_the_extremes_of_a_dtype_are_read_again(dtype: str, length: int | None) -> None:
    """Of NaN, of the least integer, which has no negative, and of equals."""
    floats = np.dtype(dtype).kind == "f"
    least, most = (-np.inf, np.nan) if floats else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    values = np.array([[3, most, least, 2, 3, least], [most, 0, 3, most, 1, 0]], dtype)
    x = pb.placeholder(dtype, [2, length], name="x")
    fetches = [
        f(x, axis, direction)
        for f in (pb.sort, pb.argsort)
        for axis in (0, 1)
        for direction in ("ASCENDING", "DESCENDING")
    ]
    wanted = pb.Session(engine="numpy").run(fetches, {x: values})
    data = pb.graphdef.export(x.graph, fetches).SerializeToString()
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(data, name="")
        found = pb.Session(graph=graph, engine="numpy").run([y.name for y in fetches], {"x:0": values})
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_texts_are_written() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    pb.strings.join([pb.strings.as_string(x, precision=2), "!"], name="y")
    nodes = {node.name: node for node in x.graph.as_graph_def().node}
    assert nodes["y"].attr["N"].i == 2
    assert [n.attr["value"].tensor.string_val[:] for n in nodes.values() if n.op == "Const"] == [[b"!"]]


def test_what_has_no_pendant_is_refused_by_name_and_line() -> None:
    pb.math.unsorted_segment_sum(pb.linalg.expm(pb.zeros([2, 2]), name="grown"), [0, 1], 2)
    with pytest.raises(UnimplementedError) as caught:
        pb.graphdef.export()
    assert str(caught.value).startswith(
        "graphdef.export: operation 'grown' (MatrixExponential, made at test_export.py:"
    )
    assert str(caught.value).endswith("TensorFlow has no such operation; take it out, or write it with others")


@pytest.mark.parametrize("as_text", [True, False])
def test_files_are_read_again(as_text: bool, tmp_path: Path) -> None:
    y = pb.tanh(pb.placeholder(pb.float32, [3], name="x"), name="y")
    path = pb.train.write_graph(y.graph, tmp_path / "new", "graph.pbtxt" if as_text else "graph.pb", as_text)
    with pb.Graph().as_default():
        assert str(pb.graphdef.load(path).get_tensor_by_name("y:0")) == "float32[3] 'y:0'"


@pytest.mark.parametrize(
    ("value", "field", "wanted"),
    [(True, "b", True), (3, "i", 3), (0.5, "f", 0.5), ("a", "s", b"a"), (np.dtype("float32"), "type", 1)],
)
def test_attributes_have_the_kind_of_their_value(value: Any, field: str, wanted: Any) -> None:
    from tensorboard.compat.proto.attr_value_pb2 import AttrValue

    attribute = AttrValue()
    set_attribute(attribute, value)
    assert (attribute.WhichOneof("value"), getattr(attribute, field)) == (field, wanted)


def test_a_rule_that_an_operation_has_instead_of_its_own_is_that_of_what_is_read() -> None:
    pb.RegisterGradient("TenTimes")(lambda op, dy: 10.0 * dy)
    x = pb.placeholder(pb.float64, [3], name="x")
    with x.graph.gradient_override_map({"Square": "TenTimes", "Selu": "TenTimes"}):
        pb.square(x, name="y")
        pb.nn.selu(x, name="z")
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(pb.graphdef.export(x.graph), name="")
        x, y, z = [graph.get_tensor_by_name(f"{name}:0") for name in "xyz"]
        found = pb.Session(engine="numpy").run(pb.gradients([y, z], x)[0], {x: np.ones(3)})
    np.testing.assert_array_equal(found, [20, 20, 20])


def test_such_a_rule_holds_in_functions_and_branches_that_are_read() -> None:
    pb.RegisterGradient("HundredTimes")(lambda op, dy: 100.0 * dy)

    @pb.function
    def squared(a: Any) -> Any:
        with pb.get_default_graph().gradient_override_map({"Square": "HundredTimes"}):
            return pb.square(a)

    x = pb.placeholder(pb.float64, [3], name="x")
    y = pb.cond(pb.reduce_sum(x) > 0.0, lambda: squared(x) * 2.0, lambda: x) + squared(x)
    pb.identity(y, name="y")
    with pb.Graph().as_default() as graph:
        pb.import_graph_def(pb.graphdef.export(x.graph), name="")
        x, y = [graph.get_tensor_by_name(f"{name}:0") for name in "xy"]
        found = pb.Session(engine="numpy").run(pb.gradients(y, x)[0], {x: np.ones(3)})
    np.testing.assert_array_equal(found, [300, 300, 300])


def test_attributes_of_all_operations_are_written_and_colocation_with_what_is_there() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    y = pb.tanh(x, name="y")
    with x.graph.colocate_with(y), pb.xla.experimental.jit_scope():
        z = pb.exp(x, name="z")
    attributes = {node.name: node.attr for node in pb.graphdef.export(x.graph).node}
    assert attributes["z"]["_class"].list.s == [b"loc:@y"]
    assert attributes["z"]["_XlaCompile"].b
    (alone,) = [node for node in pb.graphdef.export(x.graph, [z]).node if node.name == "z"]
    assert "_class" not in alone.attr
