"""`compat.install()` and `pullback run`: programs that say `import tensorflow as tf` run as they are."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pullback as pb

from .programs import run_program

SLIM = "pullback.compat.v1.contrib.slim"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("tensorflow", "placeholder", "pullback.compat.v1.placeholder"),
        ("tensorflow.compat.v1", "Session", "pullback.Session"),
        ("tensorflow.compat.v1.nn", "conv2d", "pullback.compat.v1.nn.conv2d"),
        ("tensorflow.nn", "relu", "pullback.compat.v1.nn.relu"),
        ("tensorflow.compat.v2", "reduce_sum", "pullback.reduce_sum"),
        ("tensorflow.python.framework.ops", "RegisterGradient", "pullback.RegisterGradient"),
        ("tensorflow.python.ops.math_ops", "matmul", "pullback.compat.v1.matmul"),
        ("tensorflow.python.ops.nn_ops", "softmax", "pullback.compat.v1.nn.softmax"),
        ("tensorflow.python.ops.rnn_cell_impl", "BasicLSTMCell", "pullback.nn.rnn_cell.BasicLSTMCell"),
        ("tensorflow.python.training.moving_averages", "AdamOptimizer", "pullback.train.AdamOptimizer"),
        ("tensorflow.python.platform.gfile", "GFile", "pullback.compat.v1.gfile.GFile"),
        ("tensorflow.python.ops.variable_scope", "variable_scope", "pullback.compat.v1.variable_scope"),
        ("tensorflow.contrib.slim", "conv2d", "pullback.compat.v1.contrib.layers.conv2d"),
        ("tensorflow.contrib.layers.python.layers.layers", "conv2d", "pullback.compat.v1.contrib.layers.conv2d"),
        ("tensorflow.python.ops.metrics_impl", "mean", "pullback.compat.v1.metrics.mean"),
        ("tensorflow.python.ops.distributions.normal", "Normal", "pullback.compat.v1.distributions.Normal"),
        ("tensorflow.python.util.nest", "flatten", "pullback.nest.flatten"),
        ("tensorflow.python.util.deprecation", "deprecated", "pullback.compat.v1.python_util.deprecated"),
        ("tensorflow.python.ops.gradient_checker", "compute_gradient", "pullback.test.compute_gradient_v1"),
        ("tensorflow.python.ops.gradient_checker_v2", "compute_gradient", "pullback.test.compute_gradient"),
        ("tensorflow.python.ops.array_ops_v2", "boolean_mask", "pullback.boolean_mask"),
        ("tensorflow.python.ops.gradients_impl", "_hessian_vector_product", "pullback.hessian_vector_product"),
        ("tensorflow.python.ops.gen_nn_ops", "relu_grad", "pullback.compat.v1.backprop.relu_grad"),
        ("tensorflow.python.ops.gen_nn_ops", "_max_pool_grad", "pullback.compat.v1.backprop.max_pool_grad"),
        ("tensorflow.python.ops.nn_ops", "conv2d_backprop_input", "pullback.compat.v1.nn.conv2d_backprop_input"),
        ("tensorflow.contrib.layers.python.layers.utils", "static_cond", f"{SLIM}.utils.static_cond"),
        ("tensorflow.contrib.slim.python.slim.data.data_decoder", "DataDecoder", f"{SLIM}.data_decoder.DataDecoder"),
        ("tensorflow.python.keras", "Input", "pullback.compat.v1.keras.Input"),
        ("tensorflow.python.keras.engine.input_spec", "InputSpec", "pullback.compat.v1.keras.layers.InputSpec"),
        ("tensorflow.python.keras.layers", "Dense", "pullback.compat.v1.keras.layers.Dense"),
        ("tensorflow.python.ops.rnn.rnn_cell_impl", "LSTMCell", "pullback.nn.rnn_cell.LSTMCell"),
        ("tensorflow.compat", "as_bytes", "pullback.compat.v1.compat.as_bytes"),
    ],
)
def test_a_name_is_found_where_tensorflow_has_it(module: str, name: str, expected: str) -> None:
    place, _, last = expected.rpartition(".")
    owner: object = pb
    for part in place.split(".")[1:]:
        owner = getattr(owner, part)
    assert getattr(importlib.import_module(module), name) is getattr(owner, last)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_texts_are_fed_where_dtypes_are_objects(engine: str) -> None:
    import tensorflow as tf  # type: ignore[import-not-found, unused-ignore]

    x, y = tf.placeholder(tf.string, []), tf.placeholder(tf.string, [None])
    with tf.Session(engine=engine) as session:
        for text in ("a", b"a", np.array(b"a", object)):
            assert session.run(tf.identity(x), {x: text}) == b"a"
        assert session.run(tf.string_join([x, y]), {x: "a", y: ["b", "c"]}).tolist() == [b"ab", b"ac"]


@pytest.mark.usefixtures("installed")
def test_what_is_not_there_is_named() -> None:
    tensorflow = importlib.import_module("tensorflow")
    with pytest.raises(AttributeError, match=r"^module 'tensorflow' has no attribute 'lite' in pullback: .*'lite'"):
        _ = tensorflow.lite
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tensorflow.lite'$"):
        importlib.import_module("tensorflow.lite")


@pytest.mark.usefixtures("installed")
def test_a_name_that_is_not_there_is_not_taken_for_a_module() -> None:
    with pytest.raises(
        ImportError, match=r"^cannot import name 'no_such_function' from 'tensorflow.python.ops.math_ops'"
    ):
        exec("from tensorflow.python.ops.math_ops import no_such_function")


@pytest.mark.usefixtures("installed")
def test_what_is_a_module_in_a_package_is_none_of_its_functions() -> None:
    from tensorflow.python.ops import variable_scope  # type: ignore[import-not-found]

    assert variable_scope.variable_scope is pb.compat.v1.variable_scope
    tensorflow = importlib.import_module("tensorflow")
    assert tensorflow.python.ops.variable_scope.get_variable is pb.compat.v1.get_variable


@pytest.mark.usefixtures("installed")
def test_a_class_is_no_module() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tensorflow.layers.Dense'"):
        importlib.import_module("tensorflow.layers.Dense")


@pytest.mark.parametrize("v2_names", [False, True])
def test_it_says_which_version_it_is(v2_names: bool) -> None:
    pb.compat.install(v2_names=v2_names)
    try:
        assert importlib.import_module("tensorflow.python.tf2").enabled() is v2_names
    finally:
        pb.compat.uninstall()


def test_without_it_there_is_no_tensorflow() -> None:
    pb.compat.install()
    pb.compat.uninstall()
    assert "tensorflow" not in sys.modules
    if importlib.util.find_spec("tensorflow") is None:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("tensorflow")


def test_it_does_not_take_the_place_of_tensorflow_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    with pytest.raises(RuntimeError, match=r"^compat\.install: TensorFlow itself is imported already; install before"):
        pb.compat.install()


def test_names_of_version_2() -> None:
    pb.compat.install(v2_names=True)
    assert importlib.import_module("tensorflow").argmax is pb.argmax
    pb.compat.uninstall()


TRAINING = """
    import helper
    import numpy as np
    import tensorflow as tf
    from tensorflow.python.ops import math_ops

    flags = tf.app.flags
    flags.DEFINE_integer("steps", 5, "how many")
    flags.DEFINE_boolean("verbose", False, "say more")
    FLAGS = flags.FLAGS

    def main(argv):
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(math_ops.square(tf.matmul(helper.DATA, w) - 1.0))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(FLAGS.steps):
                session.run(step)
            print(session.run(loss) < 0.5, FLAGS.steps, FLAGS.verbose, argv[1:], session.engine)

    if __name__ == "__main__":
        tf.app.run()
"""


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_a_program_runs_unchanged(engine: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import numpy as np\nDATA = np.eye(2, dtype=np.float32)\n")
    printed = run_program(tmp_path, TRAINING, "--steps=30", "--verbose", "rest", options=("--engine", engine))
    assert printed.splitlines() == [f"True 30 True ['rest'] {engine}"]


def test_a_program_that_is_not_there_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pullback", "run", "no.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "pullback run: there is no file no.py\n")


def test_names_that_numpy_had_are_there_for_programs(tmp_path: Path) -> None:
    program = """
        import numpy as np, tensorflow as tf
        print(np.zeros([1], np.float).dtype, np.product([2, 3]), np.Inf, np.array([1], np.int).dtype.kind)
        print(np.reshape(np.zeros(6), newshape=[2, -1]).shape, np.reshape([1, 2], (2, 1)).shape)
    """
    printed = run_program(tmp_path, program, options=("--engine", "numpy"))
    assert printed == "float64 6 inf i\n(2, 3) (2, 1)\n"


@pytest.mark.usefixtures("installed")
def test_the_devices_of_this_machine_are_listed() -> None:
    from tensorflow.python.client import device_lib  # type: ignore[import-not-found]

    assert device_lib.list_local_devices()[0].device_type == "CPU"


def test_summaries_are_written_where_tensorflow_is_stood_in_for(tmp_path: Path) -> None:
    program = """
        import sys, tensorflow as tf

        tf.summary.scalar("loss", tf.constant(2.0))
        merged = tf.summary.merge_all()
        with tf.Session() as session:
            writer = tf.summary.FileWriter(sys.argv[1], session.graph)
            writer.add_summary(session.run(merged), 3)
            writer.close()
        from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

        for event in LegacyEventFileLoader(tf.gfile.Glob(sys.argv[1] + "/*")[0]).Load():
            print(event.step, event.WhichOneof("what"))
    """
    printed = run_program(tmp_path, program, str(tmp_path / "log"), options=("--engine", "numpy"))
    assert printed.split() == ["0", "file_version", "0", "graph_def", "3", "summary"]


@pytest.mark.parametrize(
    "program",
    [
        "from tensorflow.contrib.rnn import *; BasicLSTMCell(3)",
        "from tensorflow.python.ops.rnn_cell_impl import *; LSTMStateTuple(1, 2), list(range(3))",
        "from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import *; AttentionWrapper, hardmax",
        "from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import _maybe_mask_score, hardmax",
        "from tensorflow.contrib.seq2seq.python.ops import attention_wrapper; attention_wrapper._compute_attention",
        "from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear, _linear",
        "from tensorflow.python.ops import rnn_cell_impl; rnn_cell_impl._like_rnncell(rnn_cell_impl.GRUCell(3))",
        "from tensorflow.python.ops.rnn import _transpose_batch_time, _rnn_step, dynamic_rnn",
    ],
)
@pytest.mark.usefixtures("installed")
def test_programs_reach_into_the_modules_of_recurrent_networks(program: str) -> None:
    exec(program, {})


@pytest.mark.usefixtures("installed")
def test_a_name_that_no_module_of_contrib_has_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'no_such_thing'"):
        exec("from tensorflow.contrib.rnn.python.ops.rnn_cell import no_such_thing", {})
