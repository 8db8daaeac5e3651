"""Models as graphs: external data, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import pullback as pb
from pullback.core import errors

from .models import CHAIN, model_of, parsed, run

# External data


def _with_external_data(folder: Path) -> Path:
    w = numpy_helper.from_array(np.arange(1024, dtype=np.float32), "w")
    b = numpy_helper.from_array(np.array([-1], np.int64), "b")
    node = helper.make_node("Mul", ["x", "w"], ["y"])
    other = helper.make_node("Reshape", ["y", "b"], ["z"])
    entries = [helper.make_tensor_value_info("x", 1, ["n"])], [helper.make_tensor_value_info("z", 1, [None])]
    path = folder / "model.onnx"
    onnx.save(
        model_of([node, other], *entries, [w, b]),
        path,
        save_as_external_data=True,
        location="model.data",
        size_threshold=0,
    )
    return path


def test_external_data_are_mapped_not_read(tmp_path: Path) -> None:
    graph = pb.onnx.load(_with_external_data(tmp_path))
    value = graph["w"].op.primitive.value
    owner = value
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    assert isinstance(owner, np.memmap)
    assert not value.flags.writeable
    assert graph.external[graph["w"]].path == tmp_path / "model.data"
    assert run(graph, graph["y"], x=np.ones(1, np.float32))[:3].tolist() == [0, 1, 2]


def test_missing_external_data(tmp_path: Path) -> None:
    path = _with_external_data(tmp_path)
    (tmp_path / "model.data").unlink()
    with pytest.raises(errors.NotFoundError) as error:
        pb.onnx.load(path)
    assert str(error.value) == "onnx.load: the data of 'b' are in the file 'model.data', which is not there"


def test_external_data_that_are_too_short(tmp_path: Path) -> None:
    path = _with_external_data(tmp_path)
    (tmp_path / "model.data").write_bytes(bytes(4096 + 8 - 100))
    with pytest.raises(errors.DataLossError) as error:
        pb.onnx.load(path)
    assert "'model.data', but" in str(error.value)


def test_external_data_of_a_model_in_memory_need_a_directory(tmp_path: Path) -> None:
    model = onnx.load(_with_external_data(tmp_path), load_external_data=False)
    with pytest.raises(errors.NotFoundError) as error:
        pb.onnx.load(model)
    assert str(error.value) == (
        "onnx.load: the data of 'b' are in the file 'model.data'; load the model by its path, or say with directory= "
        "where that file is"
    )
    assert pb.onnx.load(model, tmp_path)["w"].shape == [1024]


def test_external_data_outside_the_folder_are_refused(tmp_path: Path) -> None:
    model = onnx.load(_with_external_data(tmp_path), load_external_data=False)
    for tensor in model.graph.initializer:
        tensor.external_data[0].value = "../secret"
    with pytest.raises(errors.InvalidArgumentError) as error:
        pb.onnx.load(model, tmp_path)
    assert str(error.value) == "onnx.load: the data of 'b' are in '../secret', which is outside the model's folder"


# What is refused


def test_all_that_is_not_read_is_listed_at_once() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "acme" : 1]>
    g (float[2] x) => (float[2] y) { a = acme.Frob(x)  b = acme.Frob(a)  c = Tanh(b)  d = acme.Nicate(c)
      y = Neg(d) }"""
    with pytest.raises(errors.UnimplementedError) as error:
        pb.onnx.load(onnx.parser.parse_model(text))
    assert str(error.value) == (
        "onnx.load: the model holds what pullback does not read:\n"
        "  acme::Frob (an operator that onnx does not define): nodes 'a', 'b'\n"
        "  acme::Nicate (an operator that onnx does not define): node 'd'\n"
        "Take these nodes out of the model, or write a reader for each: see pullback.onnx.reader."
    )


def test_a_reader_of_ones_own() -> None:
    @pb.onnx.reader("Half", domain="test_load")
    def half(node: pb.onnx.Node, x: pb.Tensor) -> pb.Tensor:
        return x * node.attribute("by", 0.5)

    text = """<ir_version: 10, opset_import: ["" : 21, "test_load" : 1]>
    g (float[2] x) => (float[2] y) { y = test_load.Half(x) }"""
    graph = pb.onnx.load(onnx.parser.parse_model(text))
    assert run(graph, graph["y"], x=np.array([1.0, 2.0], np.float32)).tolist() == [0.5, 1]


def test_without_onnx_it_is_said_what_to_install() -> None:
    code = "import sys, pullback as pb; sys.modules['onnx'] = None; pb.onnx"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith(
        "ImportError: pullback.onnx needs the package onnx; install it with: pip install 'pullback[onnx]'"
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError) as error:
        pb.onnx.load(tmp_path / "none.onnx")
    assert str(error.value) == f"onnx.load: there is no file '{tmp_path / 'none.onnx'}'"


@pytest.mark.parametrize("size", [0, 40, -20])
def test_a_torn_file(tmp_path: Path, size: int) -> None:
    path = tmp_path / "torn.onnx"
    path.write_bytes(parsed(CHAIN).SerializeToString()[:size])
    with pytest.raises(errors.DataLossError, match=r"^onnx.load: .*torn, or is not an ONNX model"):
        pb.onnx.load(path)


def _bare(nodes: Any) -> onnx.ModelProto:
    entries = [helper.make_tensor_value_info("x", 1, [2])], [helper.make_tensor_value_info("y", 1, [2])]
    return model_of(nodes, *entries)


BAD = {
    "a cycle": (
        _bare([helper.make_node("Add", ["x", "b"], ["y"], name="sum"), helper.make_node("Neg", ["y"], ["b"])]),
        "onnx.load: the model is not valid: Nodes in a graph must be topologically sorted, however input 'b' of node: "
        "name: sum OpType: Add is not output of any previous nodes.",
    ),
    "an unknown domain": (
        _bare([helper.make_node("Frob", ["x"], ["y"], name="f", domain="acme")]),
        "onnx.load: the model is not valid: No opset import for domain 'acme' (Bad node spec for node. "
        "Name: f OpType: Frob)",
    ),
    "an unknown operator": (
        _bare([helper.make_node("Frob", ["x"], ["y"], name="f")]),
        "onnx.load: the model is not valid: No Op registered for Frob with domain_version of 21 "
        "(Bad node spec for node. Name: f OpType: Frob)",
    ),
    "shapes that do not fit": (
        _bare(
            [
                helper.make_node("Constant", [], ["c"], value_floats=[1.0, 2.0, 3.0]),
                helper.make_node("Add", ["x", "c"], ["y"], name="sum"),
            ]
        ),
        "onnx.load: node 'sum' (Add, opset 21): add: shapes do not broadcast together: float32[2] and float32[3]",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_models_that_are_not_valid(kind: str) -> None:
    model, text = BAD[kind]
    with pytest.raises(errors.InvalidArgumentError) as error:
        pb.onnx.load(model)
    assert str(error.value).strip() == text


def test_a_node_that_cannot_be_read_is_named() -> None:
    text = """g (float[n, 3] x, int64[m] axes) => (float[k] y) { y = Unsqueeze(x, axes) }"""
    model = parsed(text)
    model.graph.node[0].name = "widen"
    with pytest.raises(errors.UnimplementedError) as error:
        pb.onnx.load(model)
    assert str(error.value).startswith(
        "onnx.load: node 'widen' (Unsqueeze, opset 21): the number of axes, int64[m] 'axes:0'"
    )


def test_an_operation_is_made_at_the_node_and_at_the_line_that_read_it() -> None:
    model = parsed("g (float[n] x) => (float[n] y) { y = Relu(x) }")
    model.graph.node[0].name = "/act"
    graph = pb.onnx.load(model)
    line = "test_load_files.py:{}: graph = pb.onnx.load(model)"
    number = str(graph["y"].op.site).partition("test_load_files.py:")[2].partition(":")[0]
    assert str(graph["y"].op.site) == f"node '/act' (Relu, opset 21), {line.format(number)}"
