"""onnxruntime's attention with a past, and its quantized operators: its values; derivatives are its differences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import pullback as pb
from pullback.onnx.element_types import element_type_of

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(1)


def normal(*shape: int) -> Array:
    return np.asarray(RANDOM.normal(size=shape), np.float32)


def whole(*shape: int) -> Array:
    return RANDOM.integers(0, 255, shape).astype(np.uint8)


def number(value: float, dtype: Any = np.float32) -> Array:
    return np.array(value, dtype)


class Row(NamedTuple):
    """A node: its operator, inputs (None for one left out), attributes, outputs, and the inputs that are fixed."""

    op_type: str
    inputs: dict[str, Array | None]
    attributes: dict[str, Any] = {}  # noqa: RUF012
    outputs: tuple[str, ...] = ("y",)
    fixed: tuple[str, ...] = ()


PACKED = {"x": normal(2, 3, 8), "w": normal(8, 24), "b": normal(24)}
THREE: dict[str, Array | None] = {"q": normal(2, 3, 8), "k": normal(2, 3, 8), "v": normal(2, 3, 8)}
PAST: dict[str, Array | None] = {"pk": normal(2, 2, 2, 4), "pv": normal(2, 2, 2, 4)}
NOT_THERE: dict[str, Array | None] = {"n0": None, "n1": None, "n2": None}
TABLES: dict[str, Array | None] = {"cos": normal(8, 8), "sin": normal(8, 8)}
BITS = {"K": 40, "N": 3, "block_size": 16}
LINEAR: dict[str, Array | None] = {"x": whole(2, 4), "xs": number(0.05), "xz": number(120, np.uint8)}
SCALED: dict[str, Array | None] = {"ys": number(0.06), "yz": number(100, np.uint8)}
IMAGE: dict[str, Array | None] = {"x": whole(1, 2, 3, 3), "xs": number(0.05), "xz": number(120, np.uint8)}


def grouped(steps: int, past: int, **attributes: Any) -> Row:
    """Two new rows of a batch of one, or, with a past, one."""
    turned = attributes.get("do_rotary", 0)
    inputs: dict[str, Array | None] = {
        "q": normal(1, steps, 64),
        "k": normal(1, steps, 32),
        "v": normal(1, steps, 32),
        "pk": normal(1, 2, past, 16),
        "pv": normal(1, 2, past, 16),
        "last": np.array([past + steps - 1], np.int32),
        "total": number(past + steps, np.int32),
        **(TABLES if turned else {}),
    }
    return Row("GroupQueryAttention", inputs, {"num_heads": 4, "kv_num_heads": 2, **attributes}, ("y", "nk", "nv"))


ROWS: dict[str, Row] = {
    "Attention": Row(
        "Attention", {**PACKED, "m": None, "past": normal(2, 2, 2, 2, 4)}, {"num_heads": 2}, ("y", "present")
    ),
    "Attention, causal": Row(
        "Attention",
        {**PACKED, "m": None, "past": normal(2, 2, 2, 2, 4)},
        {"num_heads": 2, "unidirectional": 1},
        ("y", "present"),
    ),
    "Attention, masked": Row(
        "Attention",
        {**PACKED, "m": np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 1]], np.int32), "past": normal(2, 2, 2, 2, 4)},
        {"num_heads": 2},
        ("y", "present"),
    ),
    "MultiHeadAttention": Row(
        "MultiHeadAttention", {**THREE, **NOT_THERE, **PAST}, {"num_heads": 2}, ("y", "nk", "nv", "scores")
    ),
    "MultiHeadAttention, keys apart": Row(
        "MultiHeadAttention", {"q": normal(2, 3, 8), "k": normal(2, 2, 5, 4), "v": normal(2, 2, 5, 4)}, {"num_heads": 2}
    ),
    "GroupQueryAttention, the first rows": grouped(3, 0),
    "GroupQueryAttention, one row more": grouped(1, 2),
    "GroupQueryAttention, turned": grouped(3, 0, do_rotary=1),
    "GroupQueryAttention, turned by neighbours": grouped(1, 2, do_rotary=1, rotary_interleaved=1),
    "GroupQueryAttention, in a window": grouped(4, 0, local_window_size=2),
    "GroupQueryAttention, capped": grouped(3, 0, softcap=2.0, scale=0.7),
    "RotaryEmbedding": Row(
        "RotaryEmbedding",
        {"x": normal(2, 3, 32), "at": np.array([[0, 1, 2], [2, 0, 1]]), **TABLES},
        {"num_heads": 2},
    ),
    "RotaryEmbedding from a place on": Row(
        "RotaryEmbedding", {"x": normal(2, 2, 3, 16), "at": np.array([1]), **TABLES}, {"interleaved": 1}
    ),
    "FusedMatMul, a batch behind": Row(
        "FusedMatMul", {"a": normal(2, 3, 4), "b": normal(3, 2, 4)}, {"transB": 1, "transBatchB": 1}
    ),
    "FusedMatMul, both behind": Row(
        "FusedMatMul", {"a": normal(4, 2, 3), "b": normal(4, 2, 5)}, {"transA": 1, "transBatchA": 1, "transBatchB": 1}
    ),
    "CDist": Row("CDist", {"a": normal(3, 2), "b": normal(4, 2)}, {"metric": "euclidean"}),
    "MatMulNBits": Row(
        "MatMulNBits",
        {"a": normal(2, 40), "b": whole(3, 3, 8), "s": normal(9), "z": whole(6)},
        {**BITS, "bits": 4},
        fixed=("b", "s", "z"),
    ),
    "MatMulNBits of 8 bits": Row(
        "MatMulNBits", {"a": normal(2, 40), "b": whole(3, 3, 16), "s": normal(9)}, {**BITS, "bits": 8}, fixed=("b", "s")
    ),
    "MatMulIntegerToFloat": Row(
        "MatMulIntegerToFloat",
        {"a": whole(2, 4), "b": whole(4, 3), "as": number(0.1), "bs": number(0.2)}
        | {"az": number(3, np.uint8), "bz": number(120, np.uint8), "bias": normal(3)},
    ),
    "QLinearSigmoid": Row("QLinearSigmoid", {**LINEAR, **SCALED}),
    "QLinearLeakyRelu": Row("QLinearLeakyRelu", {**LINEAR, **SCALED}, {"alpha": 0.1}),
    "QLinearSoftmax": Row("QLinearSoftmax", {**LINEAR, **SCALED}, {"axis": -1, "opset": 13}),
    "QLinearGlobalAveragePool": Row("QLinearGlobalAveragePool", {**IMAGE, **SCALED}),
    "QLinearConcat": Row(
        "QLinearConcat", {**SCALED, **LINEAR, "b": whole(3, 4), "bs": number(0.1), "bz": number(7, np.uint8)}
    ),
}


def model_of(row: Row) -> ModelProto:
    names = [name if array is not None else "" for name, array in row.inputs.items()]
    attributes = {**row.attributes, **({"axis": 0} if row.op_type == "QLinearConcat" else {})}
    node = helper.make_node(row.op_type, names, list(row.outputs), domain="com.microsoft", **attributes)
    given = {name: array for name, array in row.inputs.items() if array is not None}
    inputs = [
        helper.make_tensor_value_info(name, element_type_of(array.dtype), array.shape)
        for name, array in given.items()
        if name not in row.fixed
    ]
    kind = TensorProto.UINT8 if row.op_type.startswith("QLinear") else TensorProto.FLOAT
    made = [helper.make_tensor_value_info(name, kind, None) for name in row.outputs]
    fixed = [numpy_helper.from_array(given[name], name) for name in row.fixed]
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph([node], "one", inputs, made, fixed), opset_imports=sets, ir_version=8)


@pytest.mark.parametrize("name", ROWS)
def test_values_are_those_of_onnxruntime_and_derivatives_its_differences(name: str) -> None:
    row, model = ROWS[name], model_of(ROWS[name])
    feeds = {key: array for key, array in row.inputs.items() if array is not None and key not in row.fixed}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    run = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run
    graph = pb.onnx.load(model)
    expected: Any = run(None, feeds)
    given = {graph[key]: array for key, array in feeds.items()}
    with graph.as_default():
        floats = [key for key, array in feeds.items() if array.dtype == expected[0].dtype == np.float32]
        weights = [np.cos(np.arange(y.size)).reshape(y.shape).astype(np.float32) for y in expected]
        xs = [graph[key] for key in floats]
        dxs = pb.gradients(list(graph.outputs), xs, weights, unconnected_gradients="zero") if xs else []
        dxs = [pb.convert_to_tensor(dx) for dx in dxs]
    *found, slopes = pb.Session(graph=graph, engine="numpy").run([*graph.outputs, dxs], given)
    for y, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(y.astype(np.float64), wanted.astype(np.float64), rtol=1e-4, atol=2e-5)
    direction = {key: normal(*feeds[key].shape) for key in floats}
    sides: Any = [
        run(None, {**feeds, **{k: np.asarray(feeds[k] + h * d) for k, d in direction.items()}}) for h in (3e-3, -3e-3)
    ]
    change = [np.sum(w * (np.asarray(a, np.float64) - b)) for w, a, b in zip(weights, *sides, strict=True)]
    terms = [float(np.sum(dx * d)) for dx, d in zip(slopes, direction.values(), strict=True)]
    assert not floats or abs(sum(terms) - sum(change) / 6e-3) <= 1e-2 * max(sum(map(abs, terms)), 1.0)


def test_a_product_with_what_is_quantized_by_its_range() -> None:
    inputs: dict[str, Array | None] = {
        "a": normal(2, 4),
        "b": whole(4, 3),
        "s": number(0.1),
        "z": number(120, np.uint8),
    }
    model = model_of(Row("DynamicQuantizeMatMul", inputs))
    feeds: Any = dict(inputs)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(
        None, feeds
    )
    graph = pb.onnx.load(model)
    found = pb.Session(graph=graph, engine="numpy").run(graph["y"], {graph[k]: a for k, a in feeds.items()})
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_is_not_read_of_attention_is_refused() -> None:
    inputs = {**PACKED, "m": None, "past": normal(2, 2, 2, 5, 4), "added": None, "length": number(2, np.int32)}
    with pytest.raises(pb.errors.UnimplementedError, match="a past whose buffer is shared is not read"):
        pb.onnx.load(model_of(Row("Attention", inputs, {"num_heads": 2}, ("y", "present"))))


@pytest.mark.parametrize("attributes", [{}, {"interleaved": 1}, {"rotary_embedding_dim": 8}])
def test_the_standard_rotary_embedding_turns_as_the_fused_one(attributes: dict[str, int]) -> None:
    width = attributes.get("rotary_embedding_dim", 16) // 2
    x, cos, sin = normal(2, 2, 3, 16), normal(2, 3, width), normal(2, 3, width)
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in zip("xcs", (x, cos, sin), strict=True)
    ]
    node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"], **attributes)
    graph = helper.make_graph([node], "one", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    standard = pb.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10))
    tables = {"x": x, "at": np.arange(6).reshape(2, 3), "cos": cos.reshape(6, -1), "sin": sin.reshape(6, -1)}
    row = Row("RotaryEmbedding", tables, {**attributes, "num_heads": 2})
    (expected,) = onnxruntime.InferenceSession(
        model_of(row).SerializeToString(), providers=["CPUExecutionProvider"]
    ).run(None, tables)
    given = dict(zip(standard.inputs, (x, cos, sin), strict=True))
    found = pb.Session(graph=standard, engine="numpy").run(standard["y"], given)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
