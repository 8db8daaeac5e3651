"""`Dimension` and `DType`: lengths and dtypes as programs of TensorFlow 1 ask for them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf


@pytest.fixture(autouse=True)
def version_1() -> Iterator[None]:
    tf.disable_v2_behavior()
    yield
    pb.enable_v2_tensorshape()
    pb.enable_resource_variables()


def images() -> Any:
    return tf.placeholder(tf.float32, [None, 6, 4], "images")


# Lengths


def test_a_length_has_a_value() -> None:
    shape = images().get_shape()
    assert [d.value for d in shape] == [d.value for d in shape.dims] == [None, 6, 4]
    assert shape[0].value is None
    assert shape[-1].value == 4
    assert shape[1:].dims[0].value == 6
    assert tf.TensorShape(None)[3].value is None
    assert tf.TensorShape(None).dims is None


def test_shapes_are_printed_as_version_1_prints_them() -> None:
    shapes = [tf.TensorShape(dims) for dims in ([], [3], [None], [None, 2], None)]
    assert [str(shape) for shape in shapes] == ["()", "(3,)", "(?,)", "(?, 2)", "<unknown>"]
    assert repr(shapes[3]) == "TensorShape([Dimension(None), Dimension(2)])"
    pb.enable_v2_tensorshape()
    assert [str(shape) for shape in shapes] == ["()", "(3,)", "(None,)", "(None, 2)", "<unknown>"]
    assert repr(shapes[3]) == "TensorShape([None, 2])"


def test_a_known_length_is_a_number() -> None:
    shape = images().shape
    assert shape[1] == 6
    assert int(shape[1]) == 6
    assert list(range(10))[shape[2]] == 4
    assert f"{shape[1]}" == "6"
    assert np.prod(shape[1:]) == 24
    assert np.zeros(shape[1:]).shape == (6, 4)


def test_what_is_computed_of_lengths_has_a_value() -> None:
    n, unknown = images().shape[1], images().shape[0]
    assert [(n * 2).value, (2 * n).value, (n + n).value, (n - 1).value, (9 - n).value] == [12, 12, 12, 5, 3]
    assert [(n // 4).value, (20 // n).value, (n % 4).value, (20 % n).value] == [1, 3, 2, 2]
    assert all(d.value is None for d in (n * unknown, unknown * n, 2 - unknown, unknown // 2))


def test_nobody_knows_how_an_unknown_length_compares() -> None:
    unknown = images().shape[0]
    assert (unknown == 3) is (unknown == unknown) is (unknown != 3) is (unknown < 3) is (unknown == None) is None  # noqa: E711


def test_lengths_are_dimensions_by_their_class() -> None:
    assert all(isinstance(d, tf.Dimension) for d in images().shape)
    assert not isinstance(3, tf.Dimension)
    assert repr(tf.Dimension(None)), repr(tf.Dimension(tf.Dimension(3))) == ("Dimension(None)", "Dimension(3)")


def test_lengths_are_merged() -> None:
    assert tf.Dimension(None).merge_with(3).value == tf.Dimension(3).merge_with(None).value == 3
    assert tf.Dimension(3).is_compatible_with(None)
    n = tf.Dimension(3)
    assert [x.value for x in (n + None, None + n, n - None, n * None, n // None, n % None)] == [None] * 6
    assert not tf.Dimension(3).is_compatible_with(4)
    with pytest.raises(ValueError, match=r"^Dimensions 3 and 4 are not compatible$"):
        tf.Dimension(3).merge_with(4)


def test_lengths_go_where_numbers_and_shapes_are_taken() -> None:
    x = images()
    n, h, w = x.shape
    y = tf.placeholder(tf.float32, [n, h * w])
    assert y.shape.as_list() == [None, 24]
    v = tf.get_variable("v", [h, w], initializer=tf.zeros_initializer())
    flat = tf.reshape(x, [-1, h * w]) * h + tf.cast(h, tf.float32) + tf.ones([w * h])
    assert flat.shape.as_list() == [None, 24]
    assert v.shape[0].value == 6
    flat.set_shape([n, w * h])
    with tf.Session() as sess:
        assert sess.run(flat, {x: np.ones([2, 6, 4])}).tolist() == [[13.0] * 24] * 2


def test_derivatives_are_the_same() -> None:
    x = images()
    w = tf.get_variable("w", [x.shape[2].value, 2], initializer=tf.ones_initializer())
    y = tf.nn.softmax(tf.tensordot(x, w, 1)[:, 0] + tf.reduce_mean(x, axis=[1, 2], keepdims=True)[..., 0])
    (dx,) = tf.gradients(y[:, 0] ** 2, x)
    assert dx.shape.dims[1].value == 6
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert np.isfinite(sess.run(dx, {x: np.random.RandomState(0).rand(3, 6, 4)})).all()


# Dtypes

METHODS = {
    "float32": (4, True, False, False, False, False, np.float32),
    "float16": (2, True, False, False, False, False, np.float16),
    "int8": (1, False, True, False, False, False, np.int8),
    "uint8": (1, False, True, True, False, False, np.uint8),
    "complex64": (8, False, False, False, True, False, np.complex64),
    "string": (0, False, False, False, False, False, object),
    "bool": (1, False, False, False, False, True, np.bool_),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_dtype_says_what_it_is(name: str) -> None:
    d = getattr(tf, name)
    asked = (d.size, d.is_floating, d.is_integer, d.is_unsigned, d.is_complex, d.is_bool, d.as_numpy_dtype)
    assert asked == METHODS[name]
    assert (d.name, repr(d), str(d)) == (name, f"tf.{name}", f"<dtype: '{name}'>")


def test_dtypes_have_their_limits() -> None:
    assert (tf.int8.min, tf.int8.max, tf.uint8.limits, tf.float32.limits) == (-128, 127, (0, 255), (0, 1))
    assert tf.float32.max == np.finfo(np.float32).max
    assert tf.bfloat16.max > 3e38
    with pytest.raises(TypeError, match=r"^Cannot find maximum value of <dtype: 'bool'>\.$"):
        _ = tf.bool.max


@pytest.mark.parametrize("make", [images, lambda: tf.Variable(1.0), lambda: tf.TensorArray(tf.float32, 3)])
def test_whatever_has_a_dtype_has_one_with_methods(make: Any) -> None:
    dtype = make().dtype
    assert dtype.base_dtype is tf.float32
    assert dtype.is_compatible_with("float32")
    assert isinstance(dtype, tf.DType)


def test_a_dtype_is_that_of_numpy() -> None:
    d = images().dtype
    assert d == np.float32
    assert np.dtype("float32") == d
    assert d in {np.dtype("float32")}
    assert d != tf.float64
    assert np.zeros(2, d).dtype == np.asarray([1], d).dtype == np.dtype(d) == np.float32
    assert pb.as_dtype(d) is np.dtype("float32")
    assert isinstance(d, np.dtype)
    assert d.real_dtype == tf.as_dtype(tf.complex64).real_dtype == tf.dtypes.float32


def test_a_graph_made_with_such_dtypes_is_as_any_other() -> None:
    def made(dtype: Any) -> str:
        with pb.Graph().as_default() as graph:
            x = pb.placeholder(pb.float32, [None, 2], name="x")
            pb.gradients(pb.reduce_sum(pb.cast(pb.cast(x, dtype), pb.float32) ** 2), x)
        return str(graph) + str(graph.to_dict())

    with_methods = made(tf.float64)
    pb.enable_v2_tensorshape()
    assert with_methods == made(pb.float64)


def test_without_it_lengths_and_dtypes_are_as_ever() -> None:
    pb.enable_v2_tensorshape()
    x = images()
    assert x.shape[0] is None
    assert type(x.shape[1]) is int
    assert type(x.dtype) is type(np.dtype("float32"))
    tf.disable_v2_tensorshape()
    assert x.shape[0].value is None
    assert type(x.dtype) is type(np.dtype("float32"))


def test_dtypes_are_those_of_version_1_wherever_they_are_asked_for() -> None:
    x = images()
    data = tf.data.Dataset.from_tensor_slices({"a": [1.0], "b": [1]})
    iterator = data.make_one_shot_iterator()
    found = [
        x.dtype,
        x.op.get_attr("dtype"),
        tf.Variable(1.0).dtype,
        tf.FIFOQueue(1, tf.float32).dtypes[0],
        data.output_types["a"],
        iterator.output_types["a"],
        tf.data.get_output_types(data)["a"],
        tf.data.get_output_types(iterator)["a"],
        tf.TensorArray(tf.float32, 1).dtype,
        tf.get_variable("v", [1]).dtype,
    ]
    assert [d.as_numpy_dtype for d in found] == [np.float32] * len(found)
    assert {d.as_datatype_enum for d in found} == {1}
    assert (tf.string.as_datatype_enum, tf.bfloat16.as_datatype_enum) == (7, 14)
    assert str(iterator.output_shapes["b"]) == "()"
    assert iterator.output_classes["b"] is tf.Tensor


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_numbers_of_eight_bits_are_moved_and_cast(engine: str) -> None:
    narrow = tf.dtypes.experimental.float8_e5m2
    x = tf.placeholder(tf.float32, [3])
    y = tf.cast(tf.cast(x, narrow)[::-1], tf.float32)
    assert narrow == pb.dtypes.experimental.float8_e5m2
    assert narrow.is_floating
    assert tf.Session(engine=engine).run(y, {x: [1.0, 1.1, 300.0]}).tolist() == [320.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [pb.float32, pb.bfloat16, pb.string, pb.bool, pb.uint64, pb.complex128])
def test_dtypes_have_tensorflows_numbers(dtype: Any) -> None:
    pytest.importorskip("tensorboard")
    number = tf.as_dtype(dtype).as_datatype_enum
    assert tf.as_dtype(number) == tf.as_dtype(number + 100) == tf.DType(number) == dtype
    for wrong in (0, -1, 11, 99, 200 + number, True):
        with pytest.raises(TypeError, match="is not a dtype of pullback"):
            tf.as_dtype(wrong)
