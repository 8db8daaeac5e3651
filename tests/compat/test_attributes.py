"""Operations and variables by the names of TensorFlow 1: their attributes in its forms, a variable by its tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf
from pullback.compat.v1 import backprop


@pytest.fixture(autouse=True)
def version_1() -> Iterator[None]:
    tf.disable_v2_behavior()
    yield
    tf.enable_v2_tensorshape()
    tf.enable_resource_variables()


def attributes(y: Any, names: str) -> list[Any]:
    return [y.op.get_attr(name) for name in names.split()]


def test_windows_are_those_of_all_axes() -> None:
    x, w, channels_first = tf.ones([1, 4, 6, 2]), tf.ones([2, 2, 2, 1]), tf.ones([1, 2, 4, 6])
    two, four = [1, 2, 2, 1], [1, 1, 1, 1]
    conv = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")
    assert attributes(conv, "strides dilations T") == [[1, 2, 1, 1], four, tf.float32]
    flipped = tf.nn.conv2d(channels_first, w, [1, 1, 2, 2], "VALID", data_format="NCHW")
    assert attributes(flipped, "strides data_format") == [[1, 1, 2, 2], "NCHW"]
    assert attributes(tf.gradients(conv, x)[0], "strides padding") == [[1, 2, 1, 1], b"SAME"]
    assert attributes(tf.nn.max_pool(x, two, two, "SAME"), "ksize strides") == [two, two]
    assert attributes(tf.nn.depthwise_conv2d(x, w, four, "SAME"), "strides") == [four]
    assert attributes(tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([1] * 5), [1] * 5, "SAME"), "strides") == [[1] * 5]
    assert attributes(tf.nn.conv1d(x[0], tf.ones([2, 2, 3]), 2, "SAME"), "strides") == [[1, 1, 2, 1]]
    assert attributes(tf.extract_image_patches(x, two, two, four, "SAME"), "ksizes strides rates") == [two, two, four]
    erosion = tf.nn.dilation2d(x, tf.ones([2, 2, 2]), two, four, "SAME")
    assert attributes(erosion, "strides rates") == [two, four]


def test_names_and_dtypes() -> None:
    x = tf.ones([1, 4, 2])
    assert attributes(tf.cast(x, tf.int32), "SrcT DstT") == [tf.float32, tf.int32]
    assert attributes(tf.reduce_sum(x, 1, keepdims=True), "keep_dims T") == [True, tf.float32]
    assert attributes(tf.squeeze(x, [0]), "squeeze_dims") == [[0]]
    assert attributes(tf.split(x, 2, 2)[0], "num_split") == [2]
    assert attributes(tf.stack([x, x]), "N axis") == [2, 0]
    assert attributes(tf.gather(x, [0]), "Tparams Tindices") == [tf.float32, tf.int32]
    assert attributes(tf.constant(1.0), "dtype") == [tf.float32]
    assert attributes(tf.nn.bias_add(x, [1.0, 2.0]), "data_format T") == [b"NHWC", tf.float32]
    for op, name in [(tf.no_op(), "T"), (x.op, "strides"), (tf.constant([1.0]).op, "Tindices")]:
        with pytest.raises(ValueError, match=rf"^Operation '{op.name}' has no attr named '{name}'\.$"):
            op.get_attr(name)


def test_texts_are_bytes_too() -> None:
    padding = tf.nn.max_pool(tf.ones([1, 2, 2, 1]), 2, 1, "SAME").op.get_attr("padding")
    assert padding == b"SAME"
    assert padding == "SAME"
    assert not padding != b"SAME"  # noqa: SIM202 (the operator itself is tried)
    assert padding != b"VALID"
    assert (padding.decode("utf-8"), {"SAME": 1}[padding]) == ("SAME", 1)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_registered_gradient_hands_attributes_on(engine: str) -> None:
    @tf.RegisterGradient(f"ByHand{engine}")  # type: ignore[untyped-decorator]
    def by_hand(op: Any, dy: Any) -> Any:
        strides, padding, form = (op.get_attr(name) for name in ("strides", "padding", "data_format"))
        if op.type == "MaxPool":
            return backprop.max_pool_grad(op.inputs[0], op.outputs[0], dy, op.get_attr("ksize"), strides, padding)
        x, w = op.inputs
        dx = tf.nn.conv2d_backprop_input(tf.shape(x), w, dy, strides, padding, data_format=form)
        return dx, tf.nn.conv2d_backprop_filter(x, w.shape, dy, strides, padding, data_format=form)

    x = tf.constant(np.random.default_rng(0).normal(size=(2, 6, 5, 2)), tf.float32)
    w = tf.constant(np.random.default_rng(1).normal(size=(3, 2, 2, 4)), tf.float32)

    def net() -> Any:
        y = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")
        return tf.gradients(tf.square(tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")), [x, w])

    plain = net()
    name = f"ByHand{engine}"
    with tf.get_default_graph().gradient_override_map({"Conv2D": name, "MaxPool": name}):
        handmade = net()
    found = pb.Session(engine=engine).run([plain, handmade])
    for expected, y in zip(*found, strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_variable_is_found_by_the_name_of_its_tensor(engine: str) -> None:
    v, graph = tf.Variable([1.0, 2.0], name="v"), tf.get_default_graph()
    found, loss = graph.get_tensor_by_name("v:0"), tf.reduce_sum(v * v)
    assert (found, found.shape, found.dtype, found.name) == (v, [2], tf.float32, "v:0")
    assert graph.as_graph_element("v:0") is graph.as_graph_element(v)
    with pb.Session(engine=engine) as session:
        session.run(v.initializer)
        fetches = [found, found * 2.0, tf.gradients(loss, found)[0], "v:0"]
        assert [y.tolist() for y in session.run(fetches)] == [[1.0, 2.0], [2.0, 4.0], [2.0, 4.0], [1.0, 2.0]]
        assert session.run(loss, {found: [3.0, 4.0]}) == session.run(loss, {"v:0": [3.0, 4.0]}) == 25.0
        session.run(tf.assign(found, [5.0, 6.0]))
        assert session.run(v).tolist() == [5.0, 6.0]
    tf.enable_resource_variables()
    assert graph.get_tensor_by_name("v:0") is v.handle
    assert pb.Session(engine=engine).run("v:0", {"v:0": [3.0, 4.0]}).tolist() == [3.0, 4.0]


def test_names_of_tensors_are_none_of_operations() -> None:
    tf.constant(1.0, name="c")
    with pytest.raises(ValueError, match=r"^The name 'c:0' looks like a tensor's; an operation's has no ':' in it\.$"):
        tf.get_default_graph().get_operation_by_name("c:0")


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_uneven_rows_are_an_error_of_either_kind(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="is not a rectangular array of numbers"):
        tf.constant([[1], [2, 3]])
