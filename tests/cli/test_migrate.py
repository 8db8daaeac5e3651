"""`pullback migrate`: the names of TensorFlow that programs use and that are not there."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pullback as pb
from pullback.cli.main import main
from pullback.compat.names_used import names_of

PROGRAM = """
import tensorflow as tf
from tensorflow.python.ops import math_ops
import tensorflow.contrib.layers as layers

x = tf.nn.relu(math_ops.square(layers.flatten(tf.zeros([2, 3]))))
tf.no_such.thing(tf.no_such.other)
layers.no_layer(x)
with tf.jit as jit:
    tf.train.Saver.no_attribute
"""


@pytest.fixture(autouse=True)
def leave_no_stand_in() -> Iterator[None]:
    yield
    pb.compat.uninstall()


def test_what_is_missing_is_said_once_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "net.py").write_text(PROGRAM)
    (tmp_path / "fine.py").write_text("import tensorflow as tf\ntf.Session()\n")
    (tmp_path / "other.py").write_text("import json\n")
    assert main(["migrate", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "models/net.py: 3 of 12 names",
        "  line 7: tf.no_such",
        "  line 8: layers.no_layer",
        "  line 9: tf.jit; use pb.function",
        "2 files use TensorFlow; 3 names are missing in 1 of them",
    ]


def test_nothing_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "net.py"
    file.write_text("from tensorflow.contrib import slim\nimport tensorflow as tf\nslim.conv2d, tf.float32.max\n")
    assert main(["migrate", str(file)]) == 0
    assert capsys.readouterr().out == "1 file uses TensorFlow; every name is there\n"


def test_a_program_of_python_2_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.py").write_text('print "x"\n')
    assert main(["migrate", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "old.py"
    assert lines[1].startswith("  cannot be read as Python 3: ")
    assert lines[2] == "0 files use TensorFlow; every name is there; 1 could not be read"


def test_a_program_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import tensorflow\nraise SystemExit(7)\n")
    assert main(["migrate", str(tmp_path)]) == 0


def test_names_of_version_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.py").write_text("import tensorflow as tf\ntf.contrib.layers.flatten\n")
    assert main(["migrate", "--v2-names", str(tmp_path)]) == 1
    said = "TensorFlow 2 removed tf.contrib; look for the function in pb.nn, pb.train or pb.linalg"
    assert f"  line 2: tf.contrib; {said}" in capsys.readouterr().out


def test_a_folder_without_programs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"pullback migrate: there is no file of Python in {tmp_path}\n"


def test_a_deep_program_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    assert main(["migrate", str(tmp_path)]) == 1


def test_names_from_modules_that_are_not_there() -> None:
    pb.compat.install()
    found = names_of("from tensorflow.no_such.place import thing as t\nt.x\n")
    assert found.missing == [(1, "tensorflow.no_such", "")]


def test_messages_that_are_in_no_package_are_missing_and_no_crash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.py").write_text("from tensorflow.core.protobuf import saved_model_pb2, config_pb2\n")
    assert main(["migrate", str(tmp_path)]) == 1
    assert "  line 1: tensorflow.core.protobuf.saved_model_pb2\n" in capsys.readouterr().out


def test_what_needs_a_package_that_is_not_installed_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    (tmp_path / "net.py").write_text("from tensorflow.core.protobuf import config_pb2\n")
    assert main(["migrate", str(tmp_path)]) == 1
    assert "config_pb2; config_pb2: messages of TensorFlow need the package tensorboard" in capsys.readouterr().out
