"""Models that are broken, or made to do harm: each is an error in words, within the limits of reading, or left out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto, helper, numpy_helper

import pullback as pb
from pullback.core.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError, UnimplementedError

OPSETS = {"": 18}


def text(body: str, opset: int = 18) -> ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> g {body}')


def nodes(*made: NodeProto, initializers: Any = (), opsets: dict[str, int] = OPSETS) -> ModelProto:
    """A model of these nodes from `x` to `y`, which nobody has checked."""
    entries = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph(made, "g", entries[:1], entries[1:], list(initializers))
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def scaled_by(tensor: TensorProto) -> ModelProto:
    return nodes(helper.make_node("Mul", ["x", "w"], ["y"]), initializers=[tensor])


def tensor(dims: list[int], data_type: int = TensorProto.FLOAT, **more: Any) -> TensorProto:
    return TensorProto(name="w", data_type=data_type, dims=dims, **more)


def beside(**entries: str) -> TensorProto:
    """A tensor of which the elements are said to be in a file."""
    made = tensor([2], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        made.external_data.add(key=key, value=value)
    return made


def sparse(dims: list[int], place: int) -> ModelProto:
    model = nodes(helper.make_node("Mul", ["x", "w"], ["y"]))
    made = SparseTensorProto(dims=dims)
    made.values.CopyFrom(numpy_helper.from_array(np.ones(1, np.float32), "w"))
    made.indices.CopyFrom(numpy_helper.from_array(np.array([place], np.int64)))
    model.graph.sparse_initializer.append(made)
    return model


def body(inputs: str, outputs: str) -> GraphProto:
    """A loop's body of these inputs and outputs: i is the number, c the condition, others are vectors."""
    kinds = {"i": (TensorProto.INT64, []), "c": (TensorProto.BOOL, []), "d": (TensorProto.BOOL, [])}
    ends = [[helper.make_tensor_value_info(n, *kinds.get(n, (1, [2]))) for n in names] for names in (inputs, outputs)]
    made = [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Neg", ["a"], ["b"])]
    return helper.make_graph(made, "steps", *ends)


def loop(inputs: str, outputs: str) -> ModelProto:
    count = numpy_helper.from_array(np.int64(3), "n")
    made = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body(inputs, outputs))
    return nodes(made, initializers=[count])


def bytes_in(model: ModelProto, wrong: bytes) -> ModelProto:
    """The model with other bytes in place of the text QQQQ."""
    return onnx.load_from_string(model.SerializeToString().replace(b"QQQQ", wrong))


WINDOWS = "(float[1, 2, 8, 8] x, float[2, 2, 3, 3] w) => (float[1, 2, a, b] y)"
MATRIX = "(float[4, 4] x) => (float[a, b] y)"
CONV = "onnx.load: node 'y' (Conv, opset 21): "
BROKEN: dict[str, tuple[ModelProto, type[Exception], str]] = {
    "a convolution of stride 0": (
        text(f"{WINDOWS} {{ y = Conv <strides = [0, 0]> (x, w) }}"),
        InvalidArgumentError,
        f"{CONV}its attribute 'strides' must be 2 numbers of at least 1, not [0, 0]",
    ),
    "a pool of stride 0": (
        text("(float[1, 2, 8, 8] x) => (float[1, 2, a, b] y) { y = MaxPool <kernel_shape = [2], strides = [0]> (x) }"),
        InvalidArgumentError,
        "onnx.load: node 'y' (MaxPool, opset 21): its attribute 'strides' must be 2 numbers of at least 1, not [0]",
    ),
    "a dilation of 0": (
        text(f"{WINDOWS} {{ y = ConvTranspose <dilations = [0, 1]> (x, w) }}"),
        InvalidArgumentError,
        "onnx.load: node 'y' (ConvTranspose, opset 21): its attribute 'dilations' must be 2 numbers of at least 1, not "
        "[0, 1]",
    ),
    "pads that take more than there is": (
        text(
            "(float[1, 2, 3, 1] x, float[2, 2, 3, 3] w) => (float[1, 2, a, b] y)"
            "{ y = ConvTranspose <pads = [1, 2, 1, 2]> (x, w) }"
        ),
        InvalidArgumentError,
        "onnx.load: node 'y' (ConvTranspose, opset 21): its pads ((1, 1), (2, 2)) take more than there is",
    ),
    "no groups": (
        text(f"{WINDOWS} {{ y = Conv <group = 0> (x, w) }}"),
        InvalidArgumentError,
        f"{CONV}0 groups do not divide 2 channels for filters that read 2 and make 2",
    ),
    "groups that do not divide": (
        text(f"{WINDOWS} {{ y = Conv <group = 2> (x, w) }}"),
        InvalidArgumentError,
        f"{CONV}2 groups do not divide 2 channels for filters that read 2 and make 2",
    ),
    "a padding of another kind": (
        text(f'{WINDOWS} {{ y = Conv <auto_pad = "LEFT"> (x, w) }}'),
        InvalidArgumentError,
        f"{CONV}its attribute 'auto_pad' must be one of NOTSET, SAME_UPPER, SAME_LOWER, VALID, not 'LEFT'",
    ),
    "two lengths of -1": (
        text(f"{MATRIX} {{ n = Constant <value_ints = [-1, -1]> () y = Reshape (x, n) }}"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Reshape, opset 21): a shape has one -1 at most, and nothing below, not [-1, -1]",
    ),
    "an index outside": (
        text(f"{MATRIX} {{ n = Constant <value_ints = [1, -5]> () y = Gather (x, n) }}"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Gather, opset 21): the index -5 is outside axis 0 of float32[4,4] 'x:0'",
    ),
    "a place outside": (
        text(f"{MATRIX} {{ n = Constant <value = int64[1, 2] {{3, 4}}> () u = Gather (x, n) y = GatherND (x, n) }}"),
        InvalidArgumentError,
        "onnx.load: node 'u' (Gather, opset 21): the index 4 is outside axis 0 of float32[4,4] 'x:0'",
    ),
    "elements put outside": (
        text(f"{MATRIX} {{ n = Constant <value = int64[1, 1] {{4}}> () y = ScatterElements (x, n, x) }}"),
        InvalidArgumentError,
        "onnx.load: node 'y' (ScatterElements, opset 21): the index 4 is outside axis 0 of float32[4,4] 'x:0'",
    ),
    "five parts for two outputs": (
        text("(float[4] x) => (float[a] y, float[b] z) { y, z = Split <num_outputs = 5> (x) }"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Split) has num_outputs=5, but 2 outputs",
    ),
    "no outputs": (
        nodes(helper.make_node("Split", ["x"], [], name="s", num_outputs=3), helper.make_node("Relu", ["x"], ["y"])),
        InvalidArgumentError,
        "onnx.load: node 's' (Split) has no outputs",
    ),
    "axes beyond memory": (
        text("(float[1] x, int64[8589934592] n) => (float[a] y) { y = Expand (x, n) }"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Expand) would have an array of 8589934592 axes: so many elements has 'n', and 64 are "
        "the most",
    ),
    "an operand left out among any number": (
        nodes(helper.make_node("Einsum", ["x", ""], ["y"], equation="i,i->i")),
        InvalidArgumentError,
        "onnx.load: node 'y' (Einsum, opset 21): its input 1 ('Inputs') is missing",
    ),
    "a million million parts": (
        text("(float[4] x) => (float[a] y) { y = Split <num_outputs = 1000000000000> (x) }"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Split) has num_outputs=1000000000000, but 1 outputs",
    ),
    "three lengths for two outputs": (
        text(
            "(float[4] x) => (float[a] y, float[b] z) { n = Constant <value_ints = [2, 1, 1]> () y, z = Split (x, n) }"
        ),
        InvalidArgumentError,
        "onnx.load: node 'y' (Split, opset 21): it has 2 outputs, but 3 lengths of parts",
    ),
    "a loop's body with too many inputs": (
        loop("icae", "db"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Loop, opset 21): its body has 4 inputs and 2 outputs; for 1 values that are "
        "carried there "
        "must be 3 inputs and at least 2 outputs",
    ),
    "a loop's body with too few outputs": (
        loop("ica", "d"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Loop, opset 21): its body has 3 inputs and 1 outputs; for 1 values that are "
        "carried there "
        "must be 3 inputs and at least 2 outputs",
    ),
    "a loop's value that becomes another": (
        loop("ica", "dd"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Loop, opset 21): loop: 'a' is carried as float32[...], but a step makes it bool[]",
    ),
    "a scan of more than there is": (
        nodes(helper.make_node("Scan", ["x"], ["y"], body=body("ca", "db"), num_scan_inputs=5)),
        InvalidArgumentError,
        "onnx.load: node 'y' (Scan, opset 21): num_scan_inputs must be from 1 to 1, not 5",
    ),
    "an operand that is left out": (
        nodes(helper.make_node("Mul", ["x", ""], ["y"])),
        InvalidArgumentError,
        "onnx.load: the model is not valid: Node ()'s input 1 is marked single but has an empty string in the graph "
        "(Bad node spec for node. Name: OpType: Mul)",
    ),
    "a sequence in place of a tensor": (
        text("(float[2] x) => (float[2] y) { s = SequenceConstruct (x) y = Neg (s) }"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Neg, opset 21): its input 'X' is seq, and must be tensor(float) or tensor(int)",
    ),
    "numbers of another kind": (
        text("(float[2] x, float[1] i) => (float[a] y) { y = Gather (x, i) }"),
        InvalidArgumentError,
        "onnx.load: node 'y' (Gather, opset 21): its input 'indices' is tensor(float), and must be tensor(int)",
    ),
    "an opset of tomorrow": (
        nodes(helper.make_node("Neg", ["x"], ["y"]), opsets={"": 999}),
        UnimplementedError,
        f"onnx.load: the model is of version 999 of the operators of onnx; onnx {onnx.__version__}, which is "
        f"installed, "
        f"knows them up to {onnx.defs.onnx_opset_version()}. Install a newer one, or export the model for an "
        f"older one.",
    ),
    "an element type that nobody knows": (
        scaled_by(tensor([2], 77, raw_data=bytes(8))),
        UnimplementedError,
        "onnx.load: the tensor 'w' is of element type 77, which onnx does not define",
    ),
    "a cast to what nobody knows": (
        nodes(helper.make_node("Cast", ["x"], ["y"], to=77)),
        UnimplementedError,
        "onnx.load: node 'y' (Cast, opset 21): there is no dtype for tensors of element type 77",
    ),
    "lengths whose product is too large for 64 bits": (
        scaled_by(tensor([2**33, 2**33], raw_data=b"")),
        DataLossError,
        "onnx.load: the tensor 'w' needs 295147905179352825856 bytes, but 0 are there",
    ),
    "a negative length": (
        scaled_by(tensor([-2], raw_data=bytes(8))),
        DataLossError,
        "onnx.load: the tensor 'w' has a negative length: [-2]",
    ),
    "fewer elements than said": (
        scaled_by(tensor([2**40], float_data=[1.0])),
        DataLossError,
        "onnx.load: the elements of the tensor 'w' cannot be: cannot reshape array of size 1 into shape "
        "(1099511627776,)",
    ),
    "a shape that no array has": (
        text("(float[4611686018427387904] x) => (float[a] y) { y = Neg (x) }"),
        InvalidArgumentError,
        "onnx.load: the input 'x' would be float32[4611686018427387904], which no array can be",
    ),
    "a place outside a sparse tensor": (
        sparse([2], 7),
        DataLossError,
        "onnx.load: the sparse tensor 'w' of the shape [2] cannot be: index 7 is out of bounds for axis 0 with size 2",
    ),
    "a sparse tensor of terabytes": (
        sparse([2**20, 2**20], 7),
        ResourceExhaustedError,
        "onnx.load: this takes more than 1,073,741,824 bytes for one array. If you trust who made it, read it inside "
        "'with pb.config.Limits(bytes=...):'",
    ),
    "a transform along the axis of real and imaginary parts": (
        text("(float[1,6,10,2] x) => (float[1,6,10,2] y) { y = DFT <axis: int = 23> (x) }", 19),
        InvalidArgumentError,
        "onnx.load: node 'y' (DFT, opset 21): axis 23 is none of those along which float32[1,6,10,2] has numbers",
    ),
    "a name that is no text": (
        bytes_in(nodes(helper.make_node("Neg", ["x"], ["y"], name="QQQQ")), b"\xff\xfe\xfdQ"),
        DataLossError,
        "onnx.load: a name in the model is no text (UTF-8): b'\\xff\\xfe\\xfdQ'",
    ),
    "an operator that is no text": (
        bytes_in(nodes(helper.make_node("QQQQ", ["x"], ["y"])), b"\xff\xfe\xfdQ"),
        DataLossError,
        "onnx.load: a name in the model is no text (UTF-8): b'\\xff\\xfe\\xfdQ'",
    ),
    "escape sequences in names": (
        nodes(
            helper.make_node("Frob", ["x"], ["y"], name="\x1b]0;title\x07\x1b[2J", domain="f"), opsets=OPSETS | {"f": 1}
        ),
        UnimplementedError,
        "onnx.load: the model holds what pullback does not read:\n"
        "  f::Frob (an operator that onnx does not define): node '\\x1b]0;title\\x07\\x1b[2J'\n"
        "Take these nodes out of the model, or write a reader for each: see pullback.onnx.reader.",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_said(what: str) -> None:
    model, error, said = BROKEN[what]
    with pytest.raises(error) as caught:
        pb.onnx.load(model)
    assert str(caught.value) == said


@pytest.mark.parametrize(("skipped", "column"), [(2**31, 0), (2**62, 0), (1, 2**40), (1, 2**62)])
def test_n_grams_have_room(skipped: int, column: int) -> None:
    stated = {"mode": "TF", "min_gram_length": 2, "max_gram_length": 2, "ngram_counts": [0, 0], "pool_int64s": [3, 4]}
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **stated, max_skip_count=skipped, ngram_indexes=[column])
    x, y = [helper.make_tensor_value_info(n, t, [6]) for n, t in (("x", TensorProto.INT64), ("y", TensorProto.FLOAT))]
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])
    with pytest.raises(ResourceExhaustedError):
        pb.onnx.load(model)


def test_a_complex_padding_is_written() -> None:
    graph = pb.onnx.load(
        text(
            "(float[3] x, int64[2] pads, complex128 value, int64[1] axes) => (float[?] y) "
            "{ y = Pad (x, pads, value, axes) }",
            25,
        )
    )
    made = pb.onnx.differentiate(graph)
    pb.onnx.export(made.outputs, graph.input_tensors)


EXTERNAL: dict[str, tuple[TensorProto, type[Exception], str]] = {
    "a negative offset": (
        beside(location="w.bin", offset="-8"),
        DataLossError,
        "onnx.load: the data of 'w' have the offset '-8', which is no number",
    ),
    "an offset in words": (
        beside(location="w.bin", offset="eight"),
        DataLossError,
        "onnx.load: the data of 'w' have the offset 'eight', which is no number",
    ),
    "a length of many digits": (
        beside(location="w.bin", length="9" * 5000),
        DataLossError,
        f"onnx.load: the data of 'w' have the length '{'9' * 80}', which is no number",
    ),
    "an offset behind the end": (
        beside(location="w.bin", offset="64"),
        DataLossError,
        "onnx.load: the tensor 'w' needs 8 bytes of 'w.bin', but 0 are there",
    ),
    "no end of a path": (
        beside(location="w\0.bin"),
        InvalidArgumentError,
        "onnx.load: the data of 'w' are in no file that can be: 'w\\x00.bin'",
    ),
    "a path that is too long": (
        beside(location="w" * 5000),
        InvalidArgumentError,
        f"onnx.load: the data of 'w' are in no file that can be: '{'w' * 80}'",
    ),
    "a path that leads out": (
        beside(location="../../etc/passwd"),
        InvalidArgumentError,
        "onnx.load: the data of 'w' are in '../../etc/passwd', which is outside the model's folder",
    ),
    "a link that leads out": (
        beside(location="link.bin"),
        InvalidArgumentError,
        "onnx.load: the data of 'w' are in 'link.bin', which is outside the model's folder",
    ),
}


@pytest.mark.parametrize("what", EXTERNAL)
def test_data_beside_a_model_are_where_and_as_long_as_they_can_be(what: str, tmp_path: Path) -> None:
    made, error, said = EXTERNAL[what]
    (tmp_path / "w.bin").write_bytes(bytes(64))
    os.symlink("/etc/passwd", tmp_path / "link.bin")
    (tmp_path / "model.onnx").write_bytes(scaled_by(made).SerializeToString())
    with pytest.raises(error) as caught:
        pb.onnx.load(tmp_path / "model.onnx")
    assert str(caught.value) == said


def doubling(depth: int) -> ModelProto:
    """Functions of which each calls the next one twice."""
    model = nodes(helper.make_node("F0", ["x"], ["y"], domain="f"), opsets=OPSETS | {"f": 1})
    imports = [helper.make_opsetid(domain, version) for domain, version in (OPSETS | {"f": 1}).items()]
    for i in range(depth):
        name, domain = (f"F{i + 1}", "f") if i + 1 < depth else ("Neg", "")
        calls = [helper.make_node(name, [a], [b], domain=domain) for a, b in ("ab", "bc")]
        model.functions.append(helper.make_function("f", f"F{i}", ["a"], ["c"], calls, imports))
    return model


GROWING = text(
    "(float[2] x) => (float[2] y) { n = Constant <value_int = 1099511627776> () c = Constant <value = bool {1}> ()"
    " s = SequenceConstruct (x) r = Loop (n, c, s) <body = b (int64 i, bool k, seq(float[2]) q) =>"
    " (bool k2, seq(float[2]) q2) { k2 = Identity (k) q2 = SequenceInsert (q, x) }>"
    " z = Constant <value_int = 0> () y = SequenceAt (r, z) }"
)
IN_PIECES = text(
    "(float[1099511627776] x) => (float[n] y)"
    "{ s = SplitToSequence (x) z = Constant <value_int = 0> () y = SequenceAt (s, z) }"
)
RESIZED = text(
    "(float[1, 1, 4, 4] x) => (float[a, b, c, d] y)"
    '{ n = Constant <value_ints = [1, 1, 4, 1000000000]> () y = Resize <mode = "linear"> (x, , , n) }'
)


@pytest.mark.parametrize("limit", ["nodes", "seconds"])
def test_a_loop_over_a_growing_sequence_ends_at_a_limit(limit: str) -> None:
    limits = {"nodes": 500} if limit == "nodes" else {"seconds": 0.2}
    with pb.config.Limits(**limits), pytest.raises(ResourceExhaustedError, match=limit):
        pb.onnx.load(GROWING)


@pytest.mark.parametrize("model", [doubling(60), IN_PIECES], ids=["functions", "pieces"])
def test_what_grows_without_end_is_counted_and_not_made(model: ModelProto) -> None:
    with pytest.raises(ResourceExhaustedError, match="this takes more than 1,000,000 nodes"):
        pb.onnx.load(model)


def test_functions_within_the_limits_are_expanded() -> None:
    graph = pb.onnx.load(doubling(5))
    assert len(graph.model.graph.node) == 32
    with pb.config.Limits(nodes=31), pytest.raises(ResourceExhaustedError):
        pb.onnx.load(doubling(5))


def test_tables_for_resizing_have_room() -> None:
    with pytest.raises(ResourceExhaustedError, match="bytes for one array"):
        pb.onnx.load(RESIZED)


def nested(depth: int) -> GraphProto:
    result = helper.make_tensor_value_info(f"t{depth}", TensorProto.FLOAT, [2])
    if not depth:
        return helper.make_graph([helper.make_node("Neg", ["x"], ["t0"])], "b", [], [result])
    branches = {"then_branch": nested(depth - 1), "else_branch": nested(0)}
    return helper.make_graph([helper.make_node("If", ["c"], [f"t{depth}"], **branches)], "b", [], [result])


def branching(depth: int) -> ModelProto:
    model = nodes(helper.make_node("If", ["c"], ["y"], then_branch=nested(depth), else_branch=nested(0)))
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    return model


def test_branches_as_deep_as_the_limit_are_differentiated_and_written() -> None:
    graph = pb.onnx.load(branching(30))
    made = pb.onnx.differentiate(graph, wrt=["x"])
    assert pb.onnx.export(made.outputs).graph.node


def test_branches_in_branches_end_at_a_limit() -> None:
    with (
        pb.config.Limits(depth=5),
        pytest.raises(ResourceExhaustedError, match="more than 5 levels, one inside the other"),
    ):
        pb.onnx.load(branching(10))


@pytest.mark.parametrize("size", [3, 10**6])
def test_an_identity_of_any_size_is_computed_in_the_run(size: int) -> None:
    graph = pb.onnx.load(text(f"(float[{size}, {size}] x) => (float[{size}, {size}] y) {{ y = EyeLike <k = 1> (x) }}"))
    assert graph["y"].shape.as_list() == [size, size]
    if size == 3:
        found = pb.Session(graph=graph, engine="numpy").run(graph["y"], {graph["x"]: np.zeros((3, 3))})
        assert found.tolist() == np.eye(3, k=1).tolist()


def classifier() -> ModelProto:
    """One with an operator that is not read behind the probabilities."""
    domain = "ai.onnx.ml"
    numbers = {"coefficients": [1.0, 2.0, 3.0, 4.0], "intercepts": [0.0, 0.0], "classlabels_ints": [0, 1]}
    linear = helper.make_node(
        "LinearClassifier", ["x"], ["label", "p"], domain=domain, post_transform="SOFTMAX", **numbers
    )
    zipped = helper.make_node("Zip", ["p"], ["y"], domain="acme")
    model = nodes(linear, zipped, opsets=OPSETS | {domain: 1, "acme": 1})
    model.graph.input[0].type.tensor_type.shape.dim.add().dim_value = 2
    model.graph.output.append(helper.make_tensor_value_info("label", TensorProto.INT64, None))
    return model


def test_what_is_not_needed_need_not_be_read() -> None:
    with pytest.raises(UnimplementedError, match="acme::Zip"):
        pb.onnx.load(classifier())
    graph = pb.onnx.load(classifier(), of=["p"])
    assert (graph.left_out, graph.output_names) == (("y",), ("label",))
    made = pb.onnx.differentiate(graph, ["p"])
    assert made.outputs["gradients/x"].shape.as_list() == [2, 2]


def test_what_is_needed_must_be_read() -> None:
    with pytest.raises(UnimplementedError, match="acme::Zip"):
        pb.onnx.load(classifier(), of=["y"])
