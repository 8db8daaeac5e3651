"""Exported models: how many nodes, which names and types, what files; and what is refused, word for word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

import pullback as pb

onnxruntime = pytest.importorskip("onnxruntime")

MLP = """<ir_version: 10, opset_import: ["" : 21]>
mlp (float[N,8] x, float[8,16] w1, float[16] b1, float[16,4] w2, float[4] b2) => (float loss) {
  h = Gemm(x, w1, b1)  a = Tanh(h)  y = Gemm(a, w2, b2)  s = Mul(y, y)  loss = ReduceMean<keepdims = 0>(s)
}"""
WRITTEN_BY_HAND = 22
"""5 forward; 3 for the share of each element of the mean, 2 for its square; 3 for each product and bias, 3 for tanh."""


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, Any]:
    """The outputs by name, on onnxruntime."""
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [y.name for y in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def op_types(model: onnx.ModelProto) -> list[str]:
    """The operators of the nodes, in order."""
    return [node.op_type for node in model.graph.node]


def gradient_of_mlp() -> tuple[onnx.ModelProto, Any]:
    """The perceptron with its gradient by all inputs."""
    graph = pb.onnx.load(parser.parse_model(MLP))
    made = pb.onnx.differentiate(graph)
    outputs = dict(zip(graph.output_names, graph.outputs, strict=True)) | made.outputs
    return pb.onnx.export(outputs, dict(zip(graph.input_names, graph.inputs, strict=True))), graph


def test_the_gradient_of_a_perceptron_has_no_more_nodes_than_one_written_by_hand() -> None:
    model, _ = gradient_of_mlp()
    assert len(model.graph.node) <= WRITTEN_BY_HAND


def test_nodes_of_a_loaded_model_are_written_as_they_were() -> None:
    model, graph = gradient_of_mlp()
    for node, before in zip(model.graph.node, graph.model.graph.node, strict=False):
        assert node == before


def test_names_and_symbolic_lengths_of_a_loaded_model_are_kept() -> None:
    model, _ = gradient_of_mlp()
    assert [x.name for x in model.graph.input] == ["x", "w1", "b1", "w2", "b2"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    assert [y.name for y in model.graph.output] == ["loss", *[f"gradients/{x}" for x in ("x", "w1", "b1", "w2", "b2")]]


def test_added_nodes_are_named_gradients() -> None:
    model, _ = gradient_of_mlp()
    assert all(node.name.startswith("gradients/") for node in list(model.graph.node)[5:])


def test_operators_are_of_the_default_domain_and_of_opset_18() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    model = pb.onnx.export(pb.gradients(pb.sin(x), x)[0])
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 18)]
    assert model.ir_version == 10
    assert {node.domain for node in model.graph.node} == {""}


def test_a_seed_of_ones_is_not_multiplied_with() -> None:
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    model = pb.onnx.export(pb.gradients(pb.reduce_sum(pb.exp(x)), x)[0])
    assert op_types(model) == ["Exp"]


def test_equal_nodes_are_one() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    assert op_types(pb.onnx.export([pb.tanh(x) + pb.tanh(x), pb.tanh(x) * 2.0])).count("Tanh") == 1


def test_transpositions_that_cancel_are_left_out() -> None:
    x = pb.placeholder(pb.float32, [2, 3, 4], name="x")
    y = pb.transpose(pb.exp(pb.transpose(pb.transpose(x, [2, 0, 1]), [1, 2, 0])), [0, 1, 2])
    assert op_types(pb.onnx.export(y)) == ["Exp"]


def test_what_small_constants_give_is_computed_while_writing() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    model = pb.onnx.export(x * (pb.constant([1.0, 2.0, 3.0]) + 1.0))
    assert op_types(model) == ["Mul"]
    assert numpy_helper.to_array(model.graph.initializer[0]).tolist() == [2, 3, 4]


def test_static_shapes_need_no_arithmetic() -> None:
    x = pb.placeholder(pb.float32, [4, 6], name="x")
    y = pb.reduce_sum(pb.reshape(x, [-1, 3]) * pb.cast(pb.shape(x)[1], pb.float32), 0)
    model = pb.onnx.export(pb.gradients(y, x)[0])
    assert not {"Shape", "Cast", "Gather"} & set(op_types(model))


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "uint16", "int64"])
def test_casts_stand_around_what_onnxruntime_has_no_kernel_for(dtype: str) -> None:
    x = pb.placeholder(dtype, [3], name="x")
    y = pb.cast(pb.maximum(x, x + x), pb.float32) if "f" not in dtype else pb.cast(pb.atan(x), pb.float32)
    values = np.array([1, 2, 3])
    session = pb.Session(engine="onnxruntime")
    expected = np.arctan(values) if "f" in dtype else 2 * values
    np.testing.assert_allclose(session.run(y, {x: values}), expected, rtol=1e-2)


def test_a_constant_among_the_inputs_has_its_value_where_none_is_given() -> None:
    w = pb.constant([2.0, 3.0], name="w")
    x = pb.placeholder(pb.float32, [2], name="x")
    model = pb.onnx.export({"y": x * w}, {"x": x, "w": w})
    ones = np.ones(2, np.float32)
    assert run(model, {"x": ones})["y"].tolist() == [2, 3]
    assert run(model, {"x": ones, "w": ones})["y"].tolist() == [1, 1]


def test_an_inner_tensor_can_be_an_input() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    h = pb.exp(x)
    model = pb.onnx.export({"y": h * 2.0}, {"h": h})
    assert op_types(model) == ["Mul"]
    assert [entry.name for entry in model.graph.input] == ["h"]


def test_slices_are_two_outputs() -> None:
    table = pb.placeholder(pb.float32, [5, 2], name="table")
    slices = pb.gradients(pb.gather(table, [1, 3]), table)[0]
    model = pb.onnx.export({"d": slices}, {"table": table})
    assert [entry.name for entry in model.graph.output] == ["d/values", "d/indices"]


def test_a_training_step_takes_variables_and_gives_new_ones() -> None:
    w = pb.Variable([1.0, 2.0], name="w")
    x = pb.placeholder(pb.float32, [2], name="x")
    loss = pb.reduce_sum(w * w * x)
    step = pb.train.GradientDescentOptimizer(0.5).minimize(loss)
    model = pb.onnx.export([loss, step], names={loss: "loss"})
    found = run(model, {"x": np.ones(2, np.float32), "w": np.array([1, 2], np.float32)})
    assert found["new/w"].tolist() == [0, 0]


def test_variables_have_the_values_of_a_session() -> None:
    w = pb.Variable([1.0, 2.0], name="w")
    x = pb.placeholder(pb.float32, [2], name="x")
    session = pb.Session(engine="numpy")
    session.run(w.initializer)
    model = pb.onnx.export({"y": w * x}, session=session)
    assert [entry.name for entry in model.graph.input] == ["x"]
    assert run(model, {"x": np.ones(2, np.float32)})["y"].tolist() == [1, 2]


def test_a_loop_of_a_count_known_at_run_time_is_differentiated() -> None:
    x, n = pb.placeholder(pb.float32, [2], name="x"), pb.placeholder(pb.int32, [], name="n")
    _, y = pb.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, pb.ones_like(x)))
    model = pb.onnx.export({"dx": pb.gradients(y, x)[0]}, {"x": x, "n": n})
    assert op_types(model).count("Loop") == 2
    two = np.array([2, 3], np.float32)
    for count in (0, 1, 4):
        expected = count * two ** max(count - 1, 0) * (count > 0)
        np.testing.assert_allclose(run(model, {"x": two, "n": np.array(count, np.int32)})["dx"], expected)


def test_names_are_unique_across_graphs_in_nodes() -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    y = pb.cond(x > 0.0, lambda: pb.cond(x > 1.0, lambda: pb.exp(x), lambda: pb.sin(x)), lambda: pb.exp(-x))
    model = pb.onnx.export(pb.gradients(y, x)[0])
    names: list[str] = []
    pending = [model.graph]
    while pending:
        graph = pending.pop()
        for node in graph.node:
            names.extend(node.output)
            pending.extend([a.g for a in node.attribute if a.HasField("g")])
    assert len(set(names)) == len(names)


def external_model(folder: Path) -> Path:
    """A model whose weights are in a file beside it."""
    w = np.arange(2000, dtype=np.float32).reshape(1000, 2)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1000])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    return folder / "m.onnx"


def test_weights_in_a_file_stay_there(tmp_path: Path) -> None:
    graph = pb.onnx.load(external_model(tmp_path))
    made = pb.onnx.differentiate(graph, of=["y"])
    path = tmp_path / "grad.onnx"
    pb.onnx.export(made.outputs, dict(zip(graph.input_names, graph.inputs, strict=True)), path)
    assert {p.name for p in tmp_path.iterdir()} == {"m.onnx", "m.data", "grad.onnx"}
    assert path.stat().st_size < 2000
    session = onnxruntime.InferenceSession(str(path))
    (dx,) = session.run(None, {name.name: np.ones((1, 1000), np.float32) for name in session.get_inputs()})
    np.testing.assert_allclose(dx[0], np.arange(2000).reshape(1000, 2).sum(1))


def test_weights_from_another_folder_are_put_into_the_model(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    graph = pb.onnx.load(external_model(tmp_path / "a"))
    pb.onnx.export({"y": graph["y"]}, {"x": graph["x"]}, tmp_path / "b" / "m.onnx")
    assert [p.name for p in (tmp_path / "b").iterdir()] == ["m.onnx"]
    assert onnx.load(tmp_path / "b" / "m.onnx").graph.initializer[0].name == "w"


def test_constants_beyond_the_largest_model_go_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pullback.onnx.files._LARGEST_MODEL", 1000)
    x = pb.placeholder(pb.float32, [1000], name="x")
    y = x * pb.constant(np.arange(1000, dtype=np.float32), name="w")
    pb.onnx.export({"y": y}, path=tmp_path / "m.onnx")
    data, model = sorted([p.name for p in tmp_path.iterdir()], key=len, reverse=True)
    assert model == "m.onnx"
    assert re.fullmatch(r"m\.onnx\.[0-9a-f]{8}\.data", data)
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    np.testing.assert_array_equal(session.run(None, {"x": np.ones(1000, np.float32)})[0], np.arange(1000))


def test_what_cannot_be_written_is_listed_at_once_and_leaves_no_file(tmp_path: Path) -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    spec = pb.TensorSpec([3], pb.float32)
    y = pb.numpy_function(np.sort, [x], spec, name="sorted")
    z = pb.math.nextafter(y, y, name="after")
    with pytest.raises(pb.errors.UnimplementedError) as error:
        pb.onnx.export({"z": z}, path=tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
    lines = str(error.value).splitlines()
    assert lines[0] == "onnx.export: these operations cannot be written:"
    assert lines[1].startswith("  NextAfter: 'after' (made at test_export.py:")
    assert lines[2].startswith("  PyFunc: 'sorted' (made at test_export.py:")
    assert lines[3] == "Leave them out, or write a writer for each: see pullback.onnx.writer."


def test_neither_what_is_computed_from_it_nor_what_holds_it_is_listed() -> None:
    x = pb.placeholder(pb.float32, [2])
    inside = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, pb.math.nextafter(y, x)), (0, x))[1]
    beside = pb.tanh(pb.py_function(np.sin, [x], pb.float32)) * inside
    with pytest.raises(pb.errors.UnimplementedError) as caught:
        pb.onnx.export({"y": beside})
    assert [line.split(":")[0] for line in str(caught.value).splitlines()[1:-1]] == ["  EagerPyFunc", "  NextAfter"]


def test_an_input_that_is_missing_is_named() -> None:
    x, z = pb.placeholder(pb.float32, [3], name="x"), pb.placeholder(pb.float32, [3], name="z")
    message = "^onnx.export: the outputs depend on 'z', which is not among the inputs$"
    with pytest.raises(pb.errors.InvalidArgumentError, match=message):
        pb.onnx.export(x + z, [x])


def test_another_opset_is_refused() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"^onnx.export: opset must be from 18 to 26, not 12$"):
        pb.onnx.export(x + x, opset=12)


def test_no_outputs_are_refused() -> None:
    with pytest.raises(pb.errors.InvalidArgumentError, match=r"^onnx.export: there are no outputs$"):
        pb.onnx.export([])


def test_more_branches_in_each_other_than_a_file_can_hold_are_refused() -> None:
    p, x = pb.placeholder(pb.bool, [], name="p"), pb.placeholder(pb.float32, [3], name="x")

    def nested(depth: int, x: pb.Tensor) -> pb.Tensor:
        return pb.cond(p, lambda: nested(depth - 1, x + 1.0), lambda: x) if depth else x * 1.5

    onnx.ModelProto.FromString(pb.onnx.export(nested(31, x)).SerializeToString())
    with pytest.raises(pb.errors.NestingError) as raised:
        pb.onnx.export(nested(32, x))
    assert str(raised.value) == (
        "onnx.export: more than 31 branches and loops lie in each other in 'cond_1/If', which no ONNX file can hold. "
        "Use a loop where branches lie deep in each other, or export parts."
    )


def test_variables_of_complex_numbers_are_refused_in_words() -> None:
    v = pb.Variable(np.ones(2, np.complex64), name="v")
    for y in (pb.real(v * 2.0), v.assign(v + v)):
        with pytest.raises(pb.errors.UnimplementedError, match="variables of complex numbers are not written"):
            pb.onnx.export(y)
