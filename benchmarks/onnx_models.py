"""The ONNX models that gradients are measured on, from a seeded generator, and for some the gradient by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .values import normal

OPSET = 18
LIGHT = {
    "alexnet": "bvlc_alexnet",
    "densenet121": "densenet121",
    "inception-v1": "inception_v1",
    "inception-v2": "inception_v2",
    "resnet50": "resnet50",
    "shufflenet": "shufflenet",
    "squeezenet": "squeezenet",
    "vgg19": "vgg19",
    "zfnet512": "zfnet512",
}
Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A model and what is differentiated: its only output by the inputs `wrt`.

    `seed` is the cotangent of the output; None for a scalar, whose cotangent is one. `hand` is the model with the
    gradient as a careful hand writes it. With `sparse` gradients may be indices and rows. Without `optimised`
    onnxruntime leaves nodes as they are.
    """

    model: Any
    wrt: Sequence[str]
    feeds: Arrays
    seed: Any = None
    hand: Any = None
    sparse: bool = False
    optimised: bool = True


def _parsed(text: str, initializers: Arrays | None = None) -> Any:
    onnx = import_module("onnx")
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {OPSET}]>\n{text}')
    for name, array in (initializers or {}).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def perceptron(sizes: Sequence[int], batch: int) -> Case:
    """Relu between dense layers, cross entropy of the softmax; by all weights and biases."""
    random = np.random.default_rng(0)
    layers = range(len(sizes) - 1)
    feeds = {"x": random.standard_normal((batch, sizes[0])).astype(np.float32)}
    labels = np.eye(sizes[-1], dtype=np.float32)[random.integers(0, sizes[-1], batch)]
    feeds["labels"] = -labels / np.float32(batch)
    for i in layers:
        feeds[f"w{i}"] = normal(random, sizes[i], sizes[i + 1])
        feeds[f"b{i}"] = np.float32(0.1) * random.standard_normal(sizes[i + 1]).astype(np.float32)
    inputs = ", ".join(f"float[{','.join(map(str, x.shape))}] {name}" for name, x in feeds.items())
    forward = []
    for i in layers:
        forward.append(f"z{i} = Gemm({f'r{i - 1}' if i else 'x'}, w{i}, b{i})")
        if i < layers[-1]:
            forward.append(f"r{i} = Relu(z{i})")
    last = layers[-1]
    forward += [f"l = LogSoftmax<axis=-1>(z{last})", "t = Mul(labels, l)", "loss = ReduceSum<keepdims=0>(t)"]
    backward = ["p = Exp(l)", "s = ReduceSum<keepdims=1>(labels, last)", "q = Mul(p, s)", f"d{last} = Sub(labels, q)"]
    for i in reversed(layers):
        backward.append(f"dw{i} = Gemm<transA=1>({f'r{i - 1}' if i else 'x'}, d{i})")
        backward.append(f"db{i} = ReduceSum<keepdims=0>(d{i}, first)")
        if i:
            backward.append(f"e{i} = Gemm<transB=1>(d{i}, w{i})")
            backward += [f"m{i} = Greater(r{i - 1}, zero)", f"d{i - 1} = Where(m{i}, e{i}, zero)"]
    wrt = [name for i in layers for name in (f"w{i}", f"b{i}")]
    model = _parsed(f"perceptron ({inputs}) => (float loss) {{ {' '.join(forward)} }}")
    outputs = ", ".join(f"float[{','.join(map(str, feeds[name].shape))}] d{name}" for name in wrt)
    constants = {"first": np.array([0]), "last": np.array([1]), "zero": np.float32(0)}
    hand = _parsed(f"perceptron ({inputs}) => (float loss, {outputs}) {{ {' '.join(forward + backward)} }}", constants)
    return Case(model, wrt, feeds, hand=hand)


def attention(batch: int = 4, length: int = 64, width: int = 128, heads: int = 4) -> Case:
    """A layer normalisation, attention of several heads and the sum with what came in; by all weights and the input."""
    random = np.random.default_rng(0)
    feeds = {"x": random.standard_normal((batch, length, width)).astype(np.float32)}
    feeds |= {name: normal(random, width, width) for name in ("wq", "wk", "wv", "wo")}
    feeds |= {"g": 1 + normal(random, width), "b": normal(random, width)}
    inputs = ", ".join(f"float[{','.join(map(str, x.shape))}] {name}" for name, x in feeds.items())
    constants = {
        "split": np.array([batch, length, heads, width // heads]),
        "joined": np.array([batch, length, width]),
        "scale": np.float32((width // heads) ** -0.5),
    }
    forward = [
        "n = LayerNormalization<axis=-1>(x, g, b)",
        *(f"{c}0 = MatMul(n, w{c}) {c}1 = Reshape({c}0, split)" for c in "qkv"),
        "q = Transpose<perm=[0,2,1,3]>(q1) k = Transpose<perm=[0,2,3,1]>(k1) v = Transpose<perm=[0,2,1,3]>(v1)",
        "s0 = MatMul(q, k) s = Mul(s0, scale) p = Softmax<axis=-1>(s) o0 = MatMul(p, v)",
        "o1 = Transpose<perm=[0,2,1,3]>(o0) o = Reshape(o1, joined) a = MatMul(o, wo) y = Add(x, a)",
        "yy = Mul(y, y) loss = ReduceMean<keepdims=0>(yy)",
    ]
    model = _parsed(f"attention ({inputs}) => (float loss) {{ {' '.join(forward)} }}", constants)
    return Case(
        model,
        ["x", "wq", "wk", "wv", "wo", "g", "b"],
        feeds,
        hand=_attention_by_hand(inputs, forward, constants, feeds),
    )


def _attention_by_hand(inputs: str, forward: Sequence[str], constants: Arrays, feeds: Arrays) -> Any:
    """The products by weights as single ones of matrices; mean and scale from the node that has them."""
    normalised = forward[0].replace("n =", "n, mean, scaled =")
    batch, length, width = feeds["x"].shape
    more = {
        "rows": np.array([batch * length, width]),
        "twice": np.float32(2 / (batch * length * width)),
        "front": np.array([0, 1]),
        "back": np.array([-1]),
        "one": np.float32(1),
    }
    backward = [
        "dy = Mul(y, twice) dyf = Reshape(dy, rows) of = Reshape(o, rows) dwo = Gemm<transA=1>(of, dyf)",
        "do = Gemm<transB=1>(dyf, wo) do1 = Reshape(do, split) do0 = Transpose<perm=[0,2,1,3]>(do1)",
        "pt = Transpose<perm=[0,1,3,2]>(p) dv = MatMul(pt, do0)",
        "vt = Transpose<perm=[0,2,3,1]>(v1) dp = MatMul(do0, vt)",
        "pp = Mul(dp, p) ps = ReduceSum<keepdims=1>(pp, back) pq = Mul(p, ps) ds = Sub(pp, pq) ds0 = Mul(ds, scale)",
        "kt = Transpose<perm=[0,2,1,3]>(k1) dq = MatMul(ds0, kt)",
        "qt = Transpose<perm=[0,2,3,1]>(q1) dk = MatMul(qt, ds0)",
        "dq1 = Transpose<perm=[0,2,1,3]>(dq) dk1 = Transpose<perm=[0,3,1,2]>(dk) dv1 = Transpose<perm=[0,2,1,3]>(dv)",
        "nf = Reshape(n, rows)",
        *(f"{c}f = Reshape(d{c}1, rows) dw{c} = Gemm<transA=1>(nf, {c}f)" for c in "qkv"),
        "dn0 = Gemm<transB=1>(qf, wq) dn1 = Gemm<transB=1>(kf, wk, dn0) dnf = Gemm<transB=1>(vf, wv, dn1)",
        "dn = Reshape(dnf, joined)",
        "xc = Sub(x, mean) xh = Mul(xc, scaled) dnx = Mul(dn, xh) dg = ReduceSum<keepdims=0>(dnx, front)",
        "db = ReduceSum<keepdims=0>(dn, front) h = Mul(dn, g) hm = ReduceMean<keepdims=1>(h, back)",
        "hx = Mul(h, xh) hxm = ReduceMean<keepdims=1>(hx, back) hy = Mul(xh, hxm) h1 = Sub(h, hm) h2 = Sub(h1, hy)",
        "h3 = Mul(h2, scaled) dx = Add(dy, h3)",
    ]
    outputs = ", ".join(f"float[{','.join(map(str, x.shape))}] d{name}" for name, x in feeds.items())
    text = f"attention ({inputs}) => (float loss, {outputs}) {{ {' '.join([normalised, *forward[1:], *backward])} }}"
    return _parsed(text, {**constants, **more})


_STEPS = ["Mul({}, c)", "Add({}, d)", "Tanh({})", "Mul({}, c)"]


def _forward(length: int) -> list[str]:
    """Multiply, add, tanh, and so on, of 8 numbers."""
    names = ["x", *(f"v{i}" for i in range(1, length))]
    steps = [f"v{i + 1} = {_STEPS[i % 4].format(names[i])}" for i in range(length - 1)]
    return [*steps, f"y = ReduceSum<keepdims=0>({names[-1]})"]


def _factors(random: np.random.Generator) -> Arrays:
    shifts = random.standard_normal(8).astype(np.float32) * np.float32(1e-4)
    return {"c": np.full(8, 1.0001, np.float32), "d": shifts}


def long(folder: Path, length: int = 100_000) -> Path:
    """The path of a model of so many nodes in a row."""
    random = np.random.default_rng(0)
    model = _parsed(f"chain (float[8] x) => (float y) {{ {' '.join(_forward(length))} }}", _factors(random))
    path = folder / "long.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def chain(length: int = 16_000) -> Case:
    """So many nodes in a row, and by hand their derivatives."""
    forward, backward, dy = _forward(length), [], "eight"
    for i in reversed(range(length - 1)):
        kind = _STEPS[i % 4].partition("(")[0]
        if kind == "Mul":
            backward.append(f"d{i} = Mul({dy}, c)")
            dy = f"d{i}"
        elif kind == "Tanh":
            backward.append(f"a{i} = Mul(v{i + 1}, v{i + 1}) b{i} = Sub(one, a{i}) d{i} = Mul({dy}, b{i})")
            dy = f"d{i}"
    backward[-1] = backward[-1].replace("d0 =", "dx =")
    random = np.random.default_rng(0)
    feeds = {"x": random.standard_normal(8).astype(np.float32)}
    constants = _factors(random)
    model = _parsed(f"chain (float[8] x) => (float y) {{ {' '.join(forward)} }}", constants)
    more = {**constants, "eight": np.ones(8, np.float32), "one": np.float32(1)}
    text = f"chain (float[8] x) => (float y, float[8] dx) {{ {' '.join(forward + backward)} }}"
    # What onnxruntime does to make nodes fewer takes minutes for so many.
    return Case(model, ["x"], feeds, hand=_parsed(text, more), optimised=False)


def gather(sparse: bool, rows: int = 200_000, width: int = 64, taken: int = 8) -> Case:
    """Some rows of a table, tanh of them; by the table. With `sparse` the gradient is these rows and their numbers."""
    random = np.random.default_rng(0)
    feeds = {"table": random.standard_normal((rows, width)).astype(np.float32), "i": random.integers(0, rows, taken)}
    inputs = f"float[{rows},{width}] table, int64[{taken}] i"
    forward = "r = Gather(table, i) y = Tanh(r) loss = ReduceSum<keepdims=0>(y)"
    backward = "yy = Mul(y, y) values = Sub(one, yy)"
    outputs = f"int64[{taken}] indices, float[{taken},{width}] values"
    constants: dict[str, Any] = {"one": np.float32(1)}
    if sparse:
        backward += " indices = Identity(i)"
    else:
        backward += " z = Expand(zero, shape) at = Unsqueeze(i, last)"
        backward += ' dtable = ScatterND<reduction = "add">(z, at, values)'
        outputs = f"float[{rows},{width}] dtable"
        constants |= {"zero": np.float32(0), "shape": np.array([rows, width]), "last": np.array([1])}
    model = _parsed(f"rows ({inputs}) => (float loss) {{ {forward} }}")
    hand = _parsed(f"rows ({inputs}) => (float loss, {outputs}) {{ {forward} {backward} }}", constants)
    return Case(model, ["table"], feeds, hand=hand, sparse=sparse)


def light(name: str) -> Case:
    """One of the architectures of ONNX's own tests, with random weights, brought to `OPSET`; by the image."""
    onnx = import_module("onnx")
    tests = Path(import_module("onnx.backend.test").__file__).parent
    model = onnx.load(tests / "data" / "light" / f"light_{LIGHT[name]}.onnx")
    given = {x.name for x in model.graph.initializer}
    inputs = [x for x in model.graph.input if x.name not in given]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = 10
    model = onnx.version_converter.convert_version(model, OPSET)
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    random = np.random.default_rng(0)
    _fill(model.graph, random)
    image, scores = model.graph.input[0], model.graph.output[0]
    feeds = {image.name: random.standard_normal(_lengths(image)).astype(np.float32)}
    _temper(model, feeds)
    return Case(model, [image.name], feeds, seed=random.standard_normal(_lengths(scores)).astype(np.float32))


def _lengths(entry: Any) -> list[int]:
    return [d.dim_value for d in entry.type.tensor_type.shape.dim]


def _fill(graph: Any, random: np.random.Generator) -> None:
    """Put random weights in the place of those that the tests fill with one number."""
    onnx = import_module("onnx")
    shapes = {x.name: onnx.numpy_helper.to_array(x) for x in graph.initializer}
    makers = {node.output[0]: node for node in graph.node if node.op_type == "ConstantOfShape"}
    roles = {x: (node.op_type, i) for node in graph.node for i, x in enumerate(node.input)}
    roles |= {node.input[0]: roles[node.output[0]] for node in graph.node if node.op_type == "Unsqueeze"}
    rest = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    used = {x for node in rest for x in node.input}
    kept = [x for x in graph.initializer if x.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(rest)
    graph.initializer.extend(kept)
    for name, node in makers.items():
        array = _weight(random, tuple(shapes[node.input[0]].tolist()), *roles[name])
        graph.initializer.append(onnx.numpy_helper.from_array(array, name))


def _temper(model: Any, feeds: Arrays) -> None:
    """Scale the last dense layer such that the softmax after it is not certain, and has a derivative."""
    onnx = import_module("onnx")
    last = next((node for node in reversed(model.graph.node) if node.op_type == "Gemm"), None)
    if last is None:
        return
    model.graph.output.append(onnx.ValueInfoProto(name=last.output[0]))
    size = np.std(session(model).run([last.output[0]], dict(feeds))[0])
    del model.graph.output[-1]
    names = {*last.input[1:]}
    names |= {node.input[0] for node in model.graph.node if node.op_type == "Reshape" and node.output[0] in names}
    for x in model.graph.initializer:
        if x.name in names:
            x.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(x) / size, x.name))


def session(model: Any, optimised: bool = True) -> Any:
    """A session of onnxruntime with one thread."""
    onnxruntime = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _weight(random: np.random.Generator, shape: tuple[int, ...], op: str, place: int) -> np.ndarray[Any, Any]:
    """Such that numbers keep their size from layer to layer."""
    x = random.standard_normal(shape, np.float32)
    if op == "Mul" or (op == "BatchNormalization" and place in (1, 4)):
        return 1 + np.abs(x) / 10
    if len(shape) < 2 or place == 2:
        return x / 10
    inner = np.prod(shape[1:]) if op == "Conv" else shape[1]
    return x * np.float32(np.sqrt(2 / inner))


def large(folder: Path, layers: int = 6, width: int = 10_000) -> Path:
    """The path of a model with 2.4 GB of weights in a file beside it, which holds zeros that take no room."""
    onnx = import_module("onnx")
    each = width * width * 4
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(layers * each)
    steps = [f"h{i + 1} = MatMul({f'r{i}' if i else 'x'}, w{i}) r{i + 1} = Tanh(h{i + 1})" for i in range(layers)]
    text = f"large (float[1,{width}] x) => (float y) {{ {' '.join(steps)} y = ReduceSum<keepdims=0>(r{layers}) }}"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {OPSET}]>\n{text}')
    for i in range(layers):
        tensor = onnx.TensorProto(name=f"w{i}", data_type=onnx.TensorProto.FLOAT, dims=[width, width])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", i * each), ("length", each)):
            tensor.external_data.add(key=key, value=str(value))
        model.graph.initializer.append(tensor)
    path = folder / "large.onnx"
    path.write_bytes(model.SerializeToString())
    return path
