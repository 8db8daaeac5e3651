"""Models as graphs: names, operands of a run, numbers, old opsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pullback as pb
from pullback.core import errors

from .models import CHAIN, Array, element, model_of, of_node, parsed, run

# Names


def test_every_value_keeps_its_name() -> None:
    graph = pb.onnx.load(parsed(CHAIN))
    assert list(graph.values) == ["x", "w", "h", "r", "y"]
    assert graph.inputs == (graph["x"],)
    assert graph.outputs == (graph["y"],)
    assert graph.initializers == {"w": graph["w"]}
    assert graph.input_names == ("x",)
    assert graph.output_names == ("y",)
    assert graph.name_of(graph["r"]) == "r"
    assert "h" in graph
    assert "other" not in graph


def test_a_name_that_is_not_there_names_the_nearest() -> None:
    text = CHAIN.replace("h = Mul", "hidden = Mul").replace("(h)", "(hidden)").replace("r, h", "r, hidden")
    graph = pb.onnx.load(parsed(text))
    with pytest.raises(KeyError, match="the model has no value 'hiden'; near it are 'hidden'"):
        graph["hiden"]


def test_symbolic_lengths_keep_their_names() -> None:
    graph = pb.onnx.load(parsed(CHAIN))
    assert graph.dims == {"x": ("batch", 3), "y": ("batch", 3)}
    assert graph["y"].shape.as_list() == [None, 3]


def test_initializers_and_intermediates_are_xs() -> None:
    graph = pb.onnx.load(parsed(CHAIN))
    with graph.as_default():
        dxs = pb.gradients(graph["y"], [graph["w"], graph["h"], graph["x"]])
    x = np.array([[0.1, 0.2, 0.3]], np.float32)
    dw, dh, dx = run(graph, dxs, x=x)
    w = np.array([1, 2, 3], np.float32)
    by_h = 2 - np.tanh(x * w) ** 2
    np.testing.assert_allclose(dh, by_h, rtol=1e-5)
    np.testing.assert_allclose(dw, (by_h * x)[0], rtol=1e-5)
    np.testing.assert_allclose(dx, by_h * w, rtol=1e-5)


def test_a_value_that_is_the_same_under_another_name_is_another_x() -> None:
    graph = pb.onnx.load(parsed("g (float[2] x) => (float[2] y) { a = Identity(x)  b = Mul(a, x)  y = Add(b, x) }"))
    with graph.as_default():
        da, dx = pb.gradients(graph["y"], [graph["a"], graph["x"]])
    x = np.array([2.0, 3.0], np.float32)
    assert [v.tolist() for v in run(graph, [da, dx], x=x)] == [[2, 3], [5, 7]]


def test_bodies_are_written_without_types_that_they_did_not_have() -> None:
    model = parsed(
        """g (bool c, float[2] x) => (float[2] y) { y = If(c) <
            then_branch = t () => (float[2] a) { b = Neg(x)  a = Exp(b) },
            else_branch = e () => (float[2] d) { d = Abs(x) }
        > }"""
    )
    graph = pb.onnx.load(model)
    written = pb.onnx.export({"y": graph["y"]}, {"c": graph["c"], "x": graph["x"]})
    assert not any(attribute.g.value_info for attribute in written.graph.node[0].attribute)


def test_each_tensor_says_which_node_it_comes_from() -> None:
    graph = pb.onnx.load(
        parsed("g (float[4] x) => (float[2] a, float[2] b) { a, b = Split<axis=0, num_outputs=2>(x) }")
    )
    assert [graph.origin[y] for y in graph.outputs] == [graph.nodes[0]] * 2
    assert graph.nodes[0].op_type == "Split"


def test_names_that_operations_cannot_have_are_kept_all_the_same() -> None:
    node = helper.make_node("Neg", ["/in:put 1"], ["/out"], name="/model.1/Neg")
    entry = helper.make_tensor_value_info("/in:put 1", 1, [2])
    graph = pb.onnx.load(model_of([node], [entry], [helper.make_tensor_value_info("/out", 1, [2])]))
    assert graph["/in:put 1"].op.name == "in_put_1"
    assert graph["/out"].op.name == "model.1/Neg/Neg"


# Operands that a run decides

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7.5

REDUCTIONS: dict[str, Callable[..., Array]] = {
    "ReduceSum": np.sum,
    "ReduceMean": np.mean,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceL1": lambda x, axis, keepdims: np.abs(x).sum(axis, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims)),
    "ReduceSumSquare": lambda x, axis, keepdims: (x * x).sum(axis, keepdims=keepdims),
    "ReduceLogSumExp": lambda x, axis, keepdims: np.log(np.exp(x).sum(axis, keepdims=keepdims)),
}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [[0, -1], [1], []], ids=str)
def test_a_run_decides_the_axes_of_a_reduction(op: str, keepdims: int, axes: list[int]) -> None:
    x = X / 4
    y = of_node(op, {"x": x, "axes": np.array(axes, np.int64)}, keepdims=keepdims)
    wanted = REDUCTIONS[op](x, tuple(axes) if axes else None, keepdims=bool(keepdims))
    np.testing.assert_allclose(y, wanted, rtol=2e-5)


@pytest.mark.parametrize("op", [*REDUCTIONS, "ReduceLogSum"])
def test_a_reduction_over_axes_of_a_run_is_differentiated(op: str) -> None:
    x = np.array([[1.5, 0.5, 2.5], [3.0, 0.25, 0.75]], np.float64)
    node = helper.make_node(op, ["x", "axes"], ["y"], keepdims=0)
    entries = [helper.make_tensor_value_info("x", 11, [None, None]), helper.make_tensor_value_info("axes", 7, [1])]
    graph = pb.onnx.load(model_of([node], entries, [helper.make_tensor_value_info("y", 11, None)]))
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"] * graph["y"], graph["x"])
        static = pb.onnx.load(
            model_of(
                [node],
                entries[:1],
                [helper.make_tensor_value_info("y", 11, None)],
                [numpy_helper.from_array(np.array([1]), "axes")],
            )
        )
    with static.as_default():
        (wanted,) = pb.gradients(static["y"] * static["y"], static["x"])
    found = run(graph, dx, x=x, axes=np.array([1]))
    np.testing.assert_allclose(found, run(static, wanted, x=x), rtol=1e-12)


def test_an_empty_list_of_axes_does_nothing_where_the_node_says_so() -> None:
    axes = np.array([], np.int64)
    y = of_node("ReduceSumSquare", {"x": X, "axes": axes}, fixed=["axes"], noop_with_empty_axes=1)
    np.testing.assert_array_equal(y, X * X)
    np.testing.assert_array_equal(of_node("ReduceSum", {"x": X, "axes": axes}, noop_with_empty_axes=1), X)


SHAPED: list[tuple[str, dict[str, Array], dict[str, Any], Array]] = [
    ("Reshape", {"x": X, "shape": np.array([0, -1])}, {}, X.reshape(2, 12)),
    ("Reshape", {"x": X[:0], "shape": np.array([3, 0])}, {"allowzero": 1}, np.zeros((3, 0), np.float32)),
    ("Squeeze", {"x": X[:1, :, :1], "axes": np.array([0, -1])}, {}, X[0, :, 0]),
    ("Expand", {"x": X[:, :1], "shape": np.array([5, 1, 3, 1])}, {}, np.broadcast_to(X[:, :1], (5, 2, 3, 4))),
    ("Tile", {"x": X, "repeats": np.array([1, 2, 1])}, {}, np.tile(X, (1, 2, 1))),
    (
        "Slice",
        {"x": X, "s": np.array([-1, 5]), "e": np.array([-9, 0]), "a": np.array([1, 2]), "t": np.array([-1, -2])},
        {},
        X[:, ::-1, :0:-2],
    ),
    ("Slice", {"x": X, "s": np.array([1]), "e": np.array([2**62])}, {}, X[1:]),
    ("Pad", {"x": X, "pads": np.array([0, 1, -1, 0, 0, 2])}, {}, np.pad(X, ((0, 0), (1, 0), (0, 2)))[:, :, 1:]),
    (
        "Pad",
        {"x": X, "pads": np.array([2, 1]), "": X, "axes": np.array([-1])},
        {"mode": "edge"},
        np.pad(X, ((0, 0), (0, 0), (2, 1)), "edge"),
    ),
    (
        "Pad",
        {"x": X, "pads": np.array([0, 2, 0, 0, 1, 0])},
        {"mode": "reflect"},
        np.pad(X, ((0, 0), (2, 1), (0, 0)), "reflect"),
    ),
    (
        "Pad",
        {"x": X, "pads": np.array([0, 4, 0, 0, 0, 0])},
        {"mode": "wrap"},
        np.pad(X, ((0, 0), (4, 0), (0, 0)), "wrap"),
    ),
    (
        "CenterCropPad",
        {"x": X, "shape": np.array([4, 1])},
        {"axes": [0, 1]},
        np.pad(X, ((1, 1), (0, 0), (0, 0)))[:, 1:2],
    ),
    ("Trilu", {"x": X, "k": np.array(1)}, {"upper": 0}, np.tril(X, 1)),
    ("CumSum", {"x": X, "axis": np.array(-1)}, {"reverse": 1}, X[..., ::-1].cumsum(-1)[..., ::-1]),
    ("GatherND", {"x": X, "i": np.array([[-1], [0]])}, {"batch_dims": 1}, np.stack([X[0, -1], X[1, 0]])),
    ("GatherElements", {"x": X, "i": np.array([[[-1, 0]]])}, {"axis": 2}, np.take(X[:1, :1], [3, 0], 2)),
]


@pytest.mark.parametrize("static", [False, True], ids=["run", "static"])
@pytest.mark.parametrize("row", SHAPED, ids=[f"{i}-{row[0]}" for i, row in enumerate(SHAPED)])
def test_operands_may_be_known_or_computed_in_a_run(row: Any, static: bool) -> None:
    op, inputs, attributes, wanted = row
    y = of_node(op, inputs, fixed=[n for n in inputs if n not in ("x", "")] if static else [], **attributes)
    np.testing.assert_allclose(y, wanted, rtol=1e-6)


def test_a_run_decides_where_axes_are_put_in() -> None:
    graph = pb.onnx.load(parsed("g (float[n, 3] x, int64[2] axes) => (float y) { y = Unsqueeze(x, axes) }"))
    y = run(graph, graph["y"], x=X[0, :, :3], axes=np.array([-1, 0]))
    np.testing.assert_array_equal(y, X[None, 0, :, :3, None])


def test_the_k_largest_where_a_run_decides_k() -> None:
    values, places = of_node("TopK", {"x": X, "k": np.array([2])}, kinds=[None, int], axis=1, largest=0)
    np.testing.assert_array_equal(values, X[:, :2])
    np.testing.assert_array_equal(places, np.broadcast_to(np.array([0, 1])[:, None], (2, 2, 4)))


def test_parts_whose_lengths_a_run_decides() -> None:
    a, b = of_node("Split", {"x": X, "split": np.array([1, 2])}, kinds=[None, None], axis=1)
    np.testing.assert_array_equal(a, X[:, :1])
    np.testing.assert_array_equal(b, X[:, 1:])


def test_equal_parts_of_a_length_that_a_run_decides_may_end_in_a_shorter_one() -> None:
    a, b = of_node("Split", {"x": X}, kinds=[None, None], axis=1, num_outputs=2)
    np.testing.assert_array_equal(a, X[:, :2])
    np.testing.assert_array_equal(b, X[:, 2:])


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_the_batch_may_have_any_length(engine: str) -> None:
    text = """g (float[n, 2, 3] x) => (float[n, 6] y)
    <int64[1] last = {-1}> { s = Shape<start=0, end=1>(x)  d = Concat<axis=0>(s, last)  y = Reshape(x, d) }"""
    graph = pb.onnx.load(parsed(text))
    assert graph["y"].shape.as_list() == [None, 6] or graph["y"].shape.rank == 2
    for n in (1, 4):
        assert run(graph, graph["y"], engine, x=np.zeros((n, 2, 3), np.float32)).shape == (n, 6)


# Numbers


def test_integers_are_divided_toward_zero() -> None:
    a, b = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])
    assert of_node("Div", {"a": a, "b": b}).tolist() == [3, -3, -3, 3]
    assert of_node("Mod", {"a": a, "b": b}).tolist() == [1, 1, -1, -1]
    assert of_node("Mod", {"a": a, "b": b}, fmod=1).tolist() == [1, -1, 1, -1]


def test_extrema_hand_on_nan() -> None:
    a, b = np.array([1.0, np.nan, 3.0], np.float32), np.array([2.0, 2.0, np.nan], np.float32)
    np.testing.assert_array_equal(of_node("Max", {"a": a, "b": b}), [2, np.nan, np.nan])
    np.testing.assert_array_equal(of_node("Min", {"a": a, "b": b}), [1, np.nan, np.nan])


@pytest.mark.parametrize(("high", "slopes"), [(6, [0, 1, 0]), (7, [1, 1, 1])])
def test_a_clip_from_0_to_6_is_relu6_and_its_bounds_are_outside(high: int, slopes: list[int]) -> None:
    graph = pb.onnx.load(
        parsed(
            f"g (float[3] x) => (float[3] y) <float low = {{0}}, float high = {{{high}}}> {{ y = Clip(x, low, high) }}"
        )
    )
    with graph.as_default():
        (dx,) = pb.gradients(graph["y"], graph["x"])
    assert run(graph, dx, x=np.array([0, 1, 6], np.float32)).tolist() == slopes


@pytest.mark.parametrize("fixed", [(), ("low", "high")])
def test_a_lower_bound_above_the_upper_one_gives_the_upper_one(fixed: Sequence[str]) -> None:
    inputs = {"x": np.array([0.0, 5.0, 9.0], np.float32), "low": np.float32(6) + np.zeros((), np.float32)}
    inputs["high"] = np.array(3.0, np.float32)
    assert of_node("Clip", inputs, fixed=fixed).tolist() == [3, 3, 3]


def test_halves_are_rounded_to_even() -> None:
    x = np.array([0.5, 1.5, -2.5, 2.4], np.float32)
    assert of_node("Round", {"x": x}).tolist() == [0, 2, -2, 2]


@pytest.mark.parametrize(("positive", "negative", "wanted"), [(1, 0, [1, 0, 0]), (0, 1, [0, 1, 0]), (0, 0, [0, 0, 0])])
def test_signs_of_infinity(positive: int, negative: int, wanted: list[int]) -> None:
    x = np.array([np.inf, -np.inf, np.nan], np.float32)
    y = of_node("IsInf", {"x": x}, kinds=[bool], detect_positive=positive, detect_negative=negative)
    assert y.astype(int).tolist() == wanted


def test_powers_have_the_dtype_of_the_base() -> None:
    y = of_node("Pow", {"a": np.array([2, 3], np.int32), "b": np.array([0.5, 2.0], np.float32)})
    assert y.dtype == np.int32
    assert y.tolist() == [1, 9]


# Old and new opsets


@pytest.mark.parametrize("opset", range(7, 14))
def test_old_opsets_are_converted(opset: int) -> None:
    """Axes were attributes, initializers were inputs, softmax flattened what follows its axis."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("ReduceMean", ["h"], ["m"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["h", "m"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"], axis=1),
    ]
    w = np.arange(6, dtype=np.float32).reshape(3, 2) / 6
    model = model_of(
        nodes,
        [helper.make_tensor_value_info("x", 1, [4, 3]), helper.make_tensor_value_info("w", 1, [3, 2])],
        [helper.make_tensor_value_info("y", 1, [4, 2])],
        [numpy_helper.from_array(w, "w")],
        opset,
    )
    model.ir_version = 3
    graph = pb.onnx.load(model)
    assert graph.input_names == ("x",)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    e = np.exp(x @ w - (x @ w).mean(1, keepdims=True))
    np.testing.assert_allclose(run(graph, graph["y"], x=x), e / e.sum(1, keepdims=True), rtol=1e-5)


def test_large_constants_and_sparse_initializers_are_weights() -> None:
    values = np.arange(300, dtype=np.float32)
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(values)),
        helper.make_node("Add", ["c", "w"], ["d"]),
        helper.make_node("Mul", ["d", "x"], ["y"]),
    ]
    entries = [helper.make_tensor_value_info("x", 1, [300])], [helper.make_tensor_value_info("y", 1, [300])]
    model = model_of(nodes, *entries)
    places = numpy_helper.from_array(np.array([1, 299]), "places")
    weight = numpy_helper.from_array(np.array([10, 20], np.float32), "w")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(weight, places, [300]))
    graph = pb.onnx.load(model)
    assert set(graph.initializers) == {"c", "w"}
    y = run(graph, graph["y"], x=np.ones(300, np.float32))
    assert [y[0], y[1], y[299]] == [0, 11, 319]


def _scan_of_opset_8(lengths: str) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, 1, [2]) for name in ("s", "row", "s_out", "out")]
    nodes = [helper.make_node("Add", ["s", "row"], ["s_out"]), helper.make_node("Identity", ["s_out"], ["out"])]
    body = helper.make_graph(nodes, "body", values[:2], values[2:])
    node = helper.make_node("Scan", [lengths, "start", "x"], ["end", "all"], num_scan_inputs=1, body=body)
    shapes = {"start": ["n", 2], "x": ["n", 3, 2], "end": ["n", 2], "all": ["n", 3, 2]}
    entries = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    entries.insert(2, helper.make_tensor_value_info("lengths", 7, ["n"]))
    return model_of([node], entries[:3], entries[3:], opset=8)


def test_a_scan_of_opset_8_runs_over_a_batch() -> None:
    graph = pb.onnx.load(_scan_of_opset_8(""))
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    with graph.as_default():
        (dx,) = pb.gradients(graph["end"], graph["x"])
    end, rows, slope = run(graph, [graph["end"], graph["all"], dx], start=np.ones((2, 2), np.float32), x=x)
    np.testing.assert_allclose(rows, 1 + x.cumsum(1))
    np.testing.assert_allclose(end, 1 + x.sum(1))
    np.testing.assert_allclose(slope, np.ones_like(x))


def test_a_scan_of_opset_8_over_sequences_of_several_lengths_is_refused() -> None:
    with pytest.raises(errors.UnimplementedError) as error:
        pb.onnx.load(_scan_of_opset_8("lengths"))
    assert str(error.value).startswith("onnx.load: a model of opset 8 could not be converted to 21: ")


def test_a_model_that_is_given_is_not_changed() -> None:
    model = parsed(CHAIN, 13)
    before = model.SerializeToString()
    pb.onnx.load(model)
    assert model.SerializeToString() == before


@pytest.mark.parametrize("name", ["float8_e4m3fn", "int4", "uint2", "float4_e2m1fn"])
def test_narrow_numbers_are_stored_and_cast(name: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, name))
    narrow = of_node("Cast", {"x": np.array([1.0, 0.0, 3.0], np.float32)}, kinds=[kind], opset=25, to=element(kind))
    assert narrow.dtype == kind
    wide = of_node("Cast", {"x": narrow}, kinds=[np.float32], opset=25, to=TensorProto.FLOAT)
    assert wide.tolist() == [1, 0, 3]


@pytest.mark.parametrize(("own", "functions"), [(21, 18), (18, 21), (22, 21)])
def test_functions_of_another_opset_are_read_where_that_means_the_same(own: int, functions: int) -> None:
    text = f"""<ir_version: 10, opset_import: ["" : {own}, "local" : 1]>
        model (float[2] x) => (float[2] y) {{ y = local.twice(x) }}
        <domain: "local", opset_import: ["" : {functions}]> twice (x) => (y) {{ h = Tanh(x)  y = Add(h, h) }}"""
    graph = pb.onnx.load(onnx.parser.parse_model(text))
    assert pb.Session(graph=graph).run(graph["y"], {graph["x"]: [0.0, 0.5]}).tolist() == pytest.approx([0, 0.924234])
