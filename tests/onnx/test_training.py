"""What a training step learns: parameters, and not the constants that an exporter has written beside them."""

from __future__ import annotations

import onnx
import pytest

import pullback as pb
import pullback.onnx

LAYER = """<ir_version: 10, opset_import: ["" : 18]>
layer (float[n, 2] x) => (float[n, 2] y) <float[2, 2] {weight} = {{1, 2, 3, 4}}, float {number} = {{0.5}}> {{
h = MatMul(x, {weight}) y = Mul(h, {number}) }}"""


def step_of(weight: str, number: str, **options: object) -> pb.onnx.TrainingStep:
    """A training step of a layer whose initializers have the names given."""
    model = onnx.parser.parse_model(LAYER.format(weight="WEIGHT", number="NUMBER"))
    names = {"WEIGHT": weight, "NUMBER": number}
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    graph = pb.onnx.load(model, training=True)
    return pb.onnx.training_step(graph, criterion="mean-squared-error", **options)  # type: ignore[arg-type]


EXPORTERS = ["val_0", "_val_3", "onnx::Mul_12", "scalar_tensor_default_2", "/act/Constant_1_output_0", "layer/mul/y:0"]


@pytest.mark.parametrize("number", EXPORTERS)
def test_a_number_that_an_exporter_named_is_not_learned(number: str) -> None:
    step = step_of("fc.weight", number)
    assert (list(step.parameters), step.constants) == (["fc.weight"], (number,))
    assert f"new/{number}" not in step.outputs


@pytest.mark.parametrize("number", ["logit_scale", "w", "w1", "prelu.weight", "constraint", "value_0"])
def test_a_number_with_a_name_of_its_own_is_learned(number: str) -> None:
    step = step_of("fc.weight", number)
    assert (list(step.parameters), step.constants) == (["fc.weight", number], ())


@pytest.mark.parametrize("weight", ["val_7", "onnx::MatMul_31"])
def test_a_matrix_that_rows_are_multiplied_with_is_learned_whatever_its_name(weight: str) -> None:
    assert list(step_of(weight, "val_0").parameters) == [weight]


def test_a_folded_table_that_is_only_added_is_not_learned() -> None:
    text = """<ir_version: 10, opset_import: ["" : 18]>
    masked (float[n, 2] x) => (float[n, 2] y) <float[2] val_4 = {0, -9}, float[2] bias = {1, 1}> {
    h = Add(x, val_4) y = Add(h, bias) }"""
    step = pb.onnx.training_step(pb.onnx.load(onnx.parser.parse_model(text), training=True))
    assert (list(step.parameters), step.constants) == (["bias"], ("val_4",))


def test_a_number_that_is_asked_for_is_learned() -> None:
    step = step_of("fc.weight", "val_0", parameters=["val_0"])
    assert (list(step.parameters), step.constants) == (["val_0"], ())


def test_where_only_constants_are_there_the_error_names_them() -> None:
    text = """<ir_version: 10, opset_import: ["" : 18]>
    half (float[n] x) => (float[n] y) <float val_0 = {0.5}> { y = Mul(x, val_0) }"""
    graph = pb.onnx.load(onnx.parser.parse_model(text), training=True)
    with pytest.raises(pb.errors.InvalidArgumentError) as caught:
        pb.onnx.training_step(graph)
    assert str(caught.value) == (
        "onnx.training_step: the loss depends on no initializer of floats: there is nothing to learn "
        "(constants of the exporter: val_0)"
    )
