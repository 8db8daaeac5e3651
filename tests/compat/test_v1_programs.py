"""What programs of TensorFlow 1 use around their graphs: flags, logging, files, test cases."""

from __future__ import annotations

import logging
import re
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf
from pullback.compat.v1.flags import FlagValues


def some_flags() -> FlagValues:
    """A flag of each kind."""
    values = FlagValues()
    tf.flags.DEFINE_string("name", "a", "a text", flag_values=values)
    tf.flags.DEFINE_integer("count", 3, "a number", lower_bound=1, flag_values=values)
    tf.flags.DEFINE_float("rate", 0.5, "a number", flag_values=values)
    tf.flags.DEFINE_boolean("fast", False, "a switch", flag_values=values)
    tf.flags.DEFINE_enum("mode", "train", ["train", "test"], flag_values=values)
    tf.flags.DEFINE_list("sizes", "1,2", flag_values=values)
    return values


DEFAULTS = {"name": "a", "count": 3, "rate": 0.5, "fast": False, "mode": "train", "sizes": ["1", "2"]}


@pytest.mark.parametrize(
    ("arguments", "changed", "rest"),
    [
        ([], {}, []),
        (["--name=b", "--count", "7"], {"name": "b", "count": 7}, []),
        (["-rate=2", "--fast", "--sizes=3, 4"], {"rate": 2.0, "fast": True, "sizes": ["3", "4"]}, []),
        (["--fast=false", "--nofast", "file"], {"fast": False}, ["file"]),
        (["--mode=test", "--", "--name=b"], {"mode": "test"}, ["--name=b"]),
        (["--other=1", "more"], {}, ["--other=1", "more"]),
    ],
)
def test_flags_are_read_as_by_tensorflow(arguments: list[str], changed: dict[str, Any], rest: list[str]) -> None:
    values = some_flags()
    assert values(["program", *arguments]) == ["program", *rest]
    assert values.flag_values_dict() == DEFAULTS | changed


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--count=x"], "flag --count=x: invalid literal for int() with base 10: 'x'"),
        (["--count=0"], "flag --count=0: it must be from 1 to inf"),
        (["--mode=run"], "flag --mode=run: it is one of train, test"),
        (["--fast=maybe"], "flag --fast=maybe: it is true or false"),
        (["--name"], "flag --name needs a value: --name=..."),
    ],
)
def test_values_of_another_kind_are_refused(arguments: list[str], text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        some_flags()(["program", *arguments])


def test_flags_are_attributes_that_can_be_set() -> None:
    values = some_flags()
    values(["program"])
    values.count = 9
    assert (values.count, values["count"].value, "count" in values, "other" in values) == (9, 9, True, False)
    with pytest.raises(AttributeError, match="no flag 'other' is defined; there are name, count"):
        _ = values.other
    with pytest.raises(ValueError, match="the flag 'count' is defined twice"):
        tf.flags.DEFINE_integer("count", 1, flag_values=values)


def test_what_is_known_of_a_flag_is_found_by_its_name() -> None:
    values = some_flags()
    assert (values["count"].value, len(values), sorted(values)) == (3, 6, dir(values))
    values(["program", "--count=4", "--nofast"])
    flag = values["count"]
    assert (flag.name, flag.value, flag.default, flag.present, flag.help) == ("count", 4, 3, 1, "a number")
    assert {name: flag.value for name, flag in values.__flags.items()} == DEFAULTS | {"count": 4}
    assert values._flags() is values.__flags
    assert values.flags_into_string() == "--name=a\n--count=4\n--rate=0.5\n--nofast\n--mode=train\n--sizes=1,2\n"
    assert [flag.name for flag in values.get_key_flags_for_module(__name__)] == list(values)
    values.set_default("count", 7)
    values.set_default("rate", 0.25)
    assert (values.count, values["count"].default, values.rate) == (4, 7, 0.25)
    values.unparse_flags()
    assert values["count"].value == 7
    for name in list(values._flags()):
        values.__delattr__(name)
    assert len(values) == 0


def test_flags_are_read_from_files(tmp_path: Path) -> None:
    values = some_flags()
    values(["program", "--count=9", "--fast"])
    values.append_flags_into_file(str(tmp_path / "flags.txt"))
    others = some_flags()
    assert others(["program", f"--flagfile={tmp_path / 'flags.txt'}", "more", "--count=8"]) == ["program", "more"]
    assert others.flag_values_dict() == DEFAULTS | {"count": 8, "fast": True}


def test_validators_are_asked_when_flags_are_read() -> None:
    values = FlagValues()
    rate = tf.flags.DEFINE_float("rate", 0.5, flag_values=values)
    tf.flags.DEFINE_string("data", None, flag_values=values)
    tf.flags.DEFINE_string("cache", None, flag_values=values)
    tf.flags.register_validator("rate", lambda x: x > 0, "it must be positive", values)
    tf.flags.mark_flag_as_required("data", values)
    tf.flags.mark_flags_as_mutual_exclusive(["data", "cache"], flag_values=values)
    with pytest.raises(tf.flags.IllegalFlagValueError, match=r"^the flag --data must be given$"):
        values(["program"])
    with pytest.raises(ValueError, match=r"^flag --rate: it must be positive$"):
        values(["program", "--data=x", "--rate=-1"])
    with pytest.raises(ValueError, match=r"^at most one of the flags data, cache may be given$"):
        values(["program", "--cache=x", "--rate=1"])
    values.unparse_flags()
    values(["program", "--data=x", "--rate=2"])
    assert (rate.value, rate.default, rate.name) == (2.0, 0.5, "rate")


def test_a_program_ends_with_what_its_main_returns() -> None:
    with pytest.raises(SystemExit) as end:
        tf.app.run(lambda argv: len(argv), ["program", "a", "b"])
    assert end.value.code == 3


def test_messages_go_to_the_logger_of_tensorflow(caplog: pytest.LogCaptureFixture) -> None:
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    with caplog.at_level(logging.INFO, "tensorflow"):
        tf.logging.info("step %d", 3)
        tf.logging.warn("slow")
        for _ in range(4):
            tf.logging.log_first_n(tf.logging.WARN, "twice", 2)
    tf.logging.set_verbosity(before)
    assert [r.getMessage() for r in caplog.records] == ["step 3", "slow", "twice", "twice"]


def test_files_are_made_found_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    tf.gfile.MakeDirs(folder)
    tf.gfile.MakeDirs(folder)
    with tf.gfile.GFile(folder / "x.txt", "w") as file:
        file.write("ä")
    assert tf.gfile.Open(folder / "x.txt", "rb").read() == b"\xc3\xa4"
    tf.gfile.Copy(folder / "x.txt", folder / "y.txt")
    with pytest.raises(FileExistsError):
        tf.gfile.Rename(folder / "x.txt", folder / "y.txt")
    assert tf.gfile.ListDirectory(folder) == ["x.txt", "y.txt"]
    assert tf.gfile.Glob(str(folder / "*.txt")) == [str(folder / "x.txt"), str(folder / "y.txt")]
    tf.gfile.Remove(folder / "x.txt")
    assert not tf.gfile.Exists(folder / "x.txt")
    tf.gfile.DeleteRecursively(tmp_path / "a")
    assert not tf.gfile.IsDirectory(folder)


class Case(tf.test.TestCase):  # type: ignore[misc]
    """As programs write them."""

    __test__ = False

    def runTest(self) -> None:
        with self.test_session() as session:
            x = tf.constant([1.0, 2.0])
            self.assertAllClose(session.run(x * x), [1.0, 4.0])
            self.assertAllEqual(x.eval(), [1.0, 2.0])
            self.assertShapeEqual(np.zeros(2), x)
            self.assertNear(tf.test.compute_gradient_error(x, [2], x * x, [2]), 0.0, 1e-2)
            self.assertAllClose(*tf.test.compute_gradient(x, [2], x * x, [2]), atol=1e-2)
        self.assertAllClose({"a": [tf.constant(1.0)]}, {"a": [1.0]})
        with pytest.raises(AssertionError):
            self.assertAllClose([1.0], [1.1])
        self.assertAllCloseAccordingToType(np.float16([1.0]), [1.0009])
        self.assertAllCloseAccordingToType([1.0], tf.constant([1.05]), float_rtol=0.1)
        with pytest.raises(AssertionError):
            self.assertAllCloseAccordingToType([1.0], [1.05], half_rtol=0.1)


def test_a_test_case_has_a_graph_of_its_own() -> None:
    before = len(tf.get_default_graph().operations)
    result = unittest.TestResult()
    Case().run(result)
    assert (result.testsRun, result.failures, result.errors) == (1, [], [])
    assert len(tf.get_default_graph().operations) == before


class KeptValues(tf.test.TestCase):  # type: ignore[misc]
    __test__ = False

    def runTest(self) -> None:
        v = tf.Variable(1.0)
        self.evaluate(tf.global_variables_initializer())
        self.evaluate(v.assign_add(1.0))
        self.assertAllEqual(self.evaluate(v), 2.0)
        with self.cached_session() as session, self.test_session() as again:
            assert session is again
            self.assertAllEqual(v.eval(), 2.0)
        with self.session() as other:
            assert other is not session
            assert not other.has_variable(v.handle.op)


def test_the_variables_of_a_test_case_keep_their_values_throughout_a_test() -> None:
    result = unittest.TestResult()
    for case in [KeptValues(), KeptValues()]:
        case.run(result)
    assert (result.testsRun, result.failures, result.errors) == (2, [], [])


def test_texts_and_bytes() -> None:
    assert (tf.compat.as_bytes("ä"), tf.compat.as_str(b"\xc3\xa4"), tf.compat.as_text("ä")) == (b"\xc3\xa4", "ä", "ä")
    assert (tf.compat.as_str_any(3), tf.compat.path_to_str(Path("a"))) == ("3", "a")
    assert tf.compat.v1 is tf


def test_sessions_take_all_the_messages_of_their_configuration() -> None:
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1, opt_level=tf.OptimizerOptions.L0)
    config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
    config.gpu_options.allow_growth = True
    tf.ConfigProto().graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF
    assert tf.Session(config=config).run(tf.constant(1.0)) == 1.0


def test_an_operation_says_what_it_is_by_the_names_of_tensorflow() -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    part = tf.split(x, 2, name="parts")[1]
    with tf.device("/cpu:0"), tf.control_dependencies([tf.no_op(name="first")]):
        node = tf.add(part, x[:2], name="sum").op.node_def
    assert (node.name, node.op, node.input[0], node.device) == ("sum", "AddV2", "parts:1", "/device:CPU:0")
    assert tf.identity(part).op.node_def.input == ["parts:1"]
    assert part.op.node_def.attr["num"] == 2


def test_blocks_of_images_and_devices_by_position() -> None:
    x = tf.constant(np.arange(16.0).reshape(1, 4, 4, 1))
    y = tf.space_to_batch(x, [[0, 0], [0, 0]], 2)
    assert y.shape == (4, 2, 2, 1)
    z = tf.batch_to_space(y, crops=[[0, 0], [1, 0]], block_size=2)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(z), session.run(x)[:, :, 1:])
    with tf.device(device_name_or_function="/cpu:0"):
        assert tf.constant(1.0).op.device == "/device:CPU:0"
        with tf.device(None):
            assert tf.constant(1.0).op.device == ""
