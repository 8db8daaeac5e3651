"""Model analysis: numbers of parameters and of operations on floats, beside those of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pullback as pb
import pullback.compat.v1 as tf

Builder = tf.profiler.ProfileOptionBuilder


@pytest.fixture(autouse=True)
def graph() -> Iterator[pb.Graph]:
    with pb.Graph().as_default() as new:
        yield new


def x(*lengths: int | None) -> Any:
    return tf.placeholder(tf.float32, lengths or [3, 4])


def slopes(y: Any, *xs: Any) -> Any:
    return tf.gradients(y, list(xs))


def image_slopes(image: Any, kernel: Any) -> Any:
    return slopes(tf.nn.conv2d(image, kernel, 1, "SAME"), image, kernel)


COUNTS: dict[str, tuple[Any, int]] = {
    "matmul": (lambda: tf.matmul(x(4, 3), x(4, 5), transpose_a=True), 120),
    "matmul of stacks": (lambda: tf.matmul(x(2, 3, 4), x(2, 4, 5)), 240),
    "add to rows": (lambda: x() + x(4), 12),
    "divide": (lambda: x() / x(), 12),
    "compare": (lambda: x() > x(), 12),
    "squared difference": (lambda: tf.squared_difference(x(), x()), 24),
    "rsqrt and its slope": (lambda: (lambda a: slopes(tf.rsqrt(a), a))(x()), 72),
    "softmax": (lambda: tf.nn.softmax(x()), 60),
    "l2_loss": (lambda: tf.nn.l2_loss(x()), 35),
    "sum of rows": (lambda: tf.reduce_sum(x(), 1), 9),
    "mean of all": (lambda: tf.reduce_mean(x()), 12),
    "argmax": (lambda: tf.argmax(x(), 1), 9),
    "add_n": (lambda: tf.add_n([x(), x(), x()]), 24),
    "convolution with strides": (lambda: tf.nn.conv2d(x(2, 8, 8, 3), x(3, 3, 3, 5), 2, "VALID"), 4860),
    "convolution and its slopes": (lambda: image_slopes(x(2, 8, 8, 3), x(3, 3, 3, 5)), 103680),
    "depthwise": (lambda: tf.nn.depthwise_conv2d(x(2, 8, 8, 3), x(3, 3, 3, 2), [1, 1, 1, 1], "SAME"), 13824),
    "volumes": (lambda: tf.nn.conv3d(x(2, 4, 8, 8, 3), x(3, 3, 3, 3, 5), [1] * 5, "SAME"), 414720),
    "dilation": (lambda: tf.nn.dilation2d(x(2, 8, 8, 3), x(3, 3, 3), [1] * 4, [1] * 4, "SAME"), 6912),
    "pool and its slope": (lambda: (lambda a: slopes(tf.nn.max_pool(a, 2, 2, "VALID"), a))(x(2, 8, 8, 3)), 864),
    "mean pool, slope": (lambda: (lambda a: slopes(tf.nn.avg_pool(a, 2, 2, "VALID"), a))(x(2, 8, 8, 3)), 1152),
    "bias and its slope": (lambda: (lambda b: slopes(tf.nn.bias_add(x(), b), b))(x(4)), 20),
    "not counted": (lambda: tf.nn.relu(tf.exp(x())), 0),
    "of unknown length": (lambda: tf.matmul(x(None, 4), x(4, 5)), 0),
    "a loop": (lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a @ a), [0, x(3, 3)]), 54),
}


@pytest.mark.parametrize("name", COUNTS)
def test_operations_on_floats_are_counted_as_in_tensorflow(name: str) -> None:
    build, count = COUNTS[name]
    build()
    options = Builder(Builder.float_operation()).with_accounted_types(
        ["(?!Less$|AddV2$).*"] if name == "a loop" else [".*"]
    )
    for cmd in ("scope", "op"):
        assert tf.profiler.profile(cmd=cmd, options=options.with_empty_output().build()).total_float_ops == count


def network() -> None:
    with tf.variable_scope("a"):
        y = tf.matmul(x(), tf.get_variable("w", initializer=tf.ones([4, 5]))) + tf.get_variable(
            "b", initializer=tf.ones([5])
        )
    with tf.variable_scope("b"):
        tf.matmul(y, tf.get_variable("w", initializer=tf.ones([5, 2])))
    tf.Variable(tf.zeros([100]), trainable=False, name="step")


PARAMETERS = """\
node name | # parameters
_TFProfRoot (--/35 params)
  a (--/25 params)
    a/b (5, 5/5 params)
    a/w (4x5, 20/20 params)
  b (--/10 params)
    b/w (5x2, 10/10 params)
"""


def test_parameters_are_those_of_trainable_variables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    network()
    options = Builder.trainable_variables_parameter()
    found = tf.profiler.profile(options=options)
    assert (found.total_parameters, [child.total_parameters for child in found.children]) == (35, [25, 10])
    assert capsys.readouterr().out == PARAMETERS
    file = tmp_path / "profile"
    tf.profiler.Profiler().profile_name_scope(Builder(options).with_file_output(str(file)).build())
    assert (file.read_text(), capsys.readouterr().out) == (PARAMETERS, "")


def test_options_choose_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    network()

    def builder() -> Any:
        return Builder(Builder.float_operation())

    for options, shown in [
        (builder(), {"a": 135, "b": 60}),
        (builder().with_node_names(show_name_regexes=["a/M.*"]), {"a": 120}),
        (builder().with_node_names(hide_name_regexes=["a"]), {"b": 60}),
        (builder().with_node_names(start_name_regexes=["b"]), {"b": 60}),
        (builder().with_node_names(trim_name_regexes=["a"]), {"b": 60}),
        (builder().with_min_float_operations(61), {"a": 120}),
        (builder().with_max_depth(1), {"a": 135, "b": 60}),
    ]:
        root = tf.profiler.profile(options=options.with_empty_output().build())
        assert {child.name: child.total_float_ops for child in root.children} == shown
    assert [child.children for child in root.children] == [[], []]
    chosen = Builder().select(["params", "float_ops"]).order_by("params").with_min_parameters(1)
    tf.profiler.Profiler().profile_graph(chosen.with_stdout_output().account_displayed_op_only(True).build())
    assert capsys.readouterr().out.startswith(
        "node name | # parameters, # float_ops\n_TFProfRoot (--/135 params, --/0 "
    )
    with pytest.raises(ValueError, match="cmd must be 'scope', 'graph', 'code' or 'op', not 'all'"):
        tf.profiler.profile(cmd="all")
