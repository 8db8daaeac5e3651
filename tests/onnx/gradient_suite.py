"""The gradients of ONNX's own tests of backends: what can be checked by differences, and by what each engine fails.

The reference is <w, f> along a random direction for each input of floats: differences of f, in float64 on the NumPy
engine, after its values were compared with those that the test expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, numpy_helper

import pullback as pb
import pullback.onnx
from pullback.onnx.retyped import retyped

Array = np.ndarray[Any, Any]
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
DATA = Path(onnx.__file__).parent / "backend/test/data"
_FLOATS = frozenset(["float16", "bfloat16", "float32", "float64"])
_ALLOWED = {"float16": 1e-2, "bfloat16": 8e-2, "float32": 1e-3, "float64": 1e-6}
"""By which part of the largest terms results in a dtype may be wrong."""
_EXACT = 1e-6

SMOOTH = "smooth"
NO_INPUT = "no input of floats"
NO_OUTPUT = "no output of floats"
FLAT = "the derivative is zero everywhere"
KINK = "the sample is on a kink"
EMPTY = "empty, infinite or not a number"
SHAPES = "a small change of the input changes a shape"
FORWARD = "the values are not those that the test expects"
NOT_READ = "not read"


@dataclass(frozen=True)
class Sample:
    """One test: a model, its inputs, and the outputs that are expected."""

    name: str
    kind: str
    model: ModelProto
    inputs: Sequence[Any]
    expected: Sequence[Any]


def samples(kinds: Sequence[str] = KINDS) -> Iterator[Sample]:
    """The tests of these kinds, without those of the same nodes as functions."""
    from onnx.backend.test.loader import load_model_tests

    for kind in kinds:
        for case in load_model_tests(kind=kind):
            if "_expanded" not in case.name:
                yield _sample(case)


def node_samples(modules: Sequence[str]) -> Iterator[Sample]:
    """Some of the tests of nodes, by the modules of the suite that make them; the others are not made."""
    from onnx.backend.test.case import node

    for module in modules:
        import_module(f"{node.__name__}.{module}")
    for case in node._NodeTestCases:
        if "_expanded" not in case.name:
            yield _sample(case)


def _sample(case: Any) -> Sample:
    if case.data_sets is not None:
        inputs, expected = case.data_sets[0]
        return Sample(case.name, case.kind, case.model, [_plain(x) for x in inputs], [_plain(y) for y in expected])
    return sample_in(Path(case.model_dir), case.kind)


def _plain(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return [np.asarray(x) for x in value] if isinstance(value, list | tuple) else value


def sample_in(folder: Path, kind: str) -> Sample:
    """The test in a folder."""
    model = onnx.load(folder / "model.onnx")
    given = {tensor.name for tensor in model.graph.initializer}
    entries = [entry for entry in model.graph.input if entry.name not in given]
    data = folder / "test_data_set_0"
    inputs = [_in_file(data / f"input_{i}.pb", entry) for i, entry in enumerate(entries)]
    expected = [_in_file(data / f"output_{i}.pb", entry) for i, entry in enumerate(model.graph.output)]
    return Sample(folder.name, kind, model, inputs, expected)


def _in_file(path: Path, entry: Any) -> Any:
    if entry.type.HasField("sequence_type"):
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(path.read_bytes())
        return numpy_helper.to_list(sequence)
    return numpy_helper.to_array(onnx.load_tensor(path))


class Loaded:
    """The model of a sample as a graph, and what to feed to it."""

    def __init__(self, sample: Sample, model: ModelProto) -> None:
        given = {tensor.name for tensor in model.graph.initializer}
        entries = [entry for entry in model.graph.input if entry.name not in given][: len(sample.inputs)]
        counts = {
            entry.name: None if value is None else len(value) if isinstance(value, list) else 1
            for entry, value in zip(entries, sample.inputs, strict=True)
            if not entry.type.HasField("tensor_type")
        }
        self.graph = pb.onnx.load(model, elements=counts)
        self.feeds: dict[Any, Array] = {}
        for entry, value in zip(entries, sample.inputs, strict=True):
            arrays = [] if value is None else value if isinstance(value, list) else [value]
            for x, a in zip(_tensors(self.graph[entry.name]), arrays, strict=True):
                self.feeds[x] = np.asarray(a).astype(x.dtype) if x.dtype.name in _FLOATS else np.asarray(a)
        self.xs = [x for x in self.feeds if x.dtype.name in _FLOATS]
        self.outputs = [y for value in self.graph.outputs for y in _tensors(value)]
        self.places = [i for i, y in enumerate(self.outputs) if y.dtype.name in _FLOATS]
        self.session = pb.Session(graph=self.graph, engine="numpy")

    def arrays(self, found: Sequence[Any]) -> list[Any]:
        """The arrays of all outputs, those of sequences one by one, of what a run gave for `outputs`."""
        rest, arrays = iter(found), []
        for value in self.graph.outputs:
            own = [next(rest) for _ in _tensors(value)]
            whole = own if isinstance(value, pb.Tensor) else value.arrays(*own)
            arrays.extend(whole if isinstance(whole, list) else [whole])
        return arrays

    @property
    def ys(self) -> list[Any]:
        """The outputs that are differentiated."""
        return [self.outputs[i] for i in self.places]

    @cached_property
    def derived(self) -> tuple[list[Any], list[Any]]:
        """Placeholders for the cotangents of the ys, and the gradients by the xs, None where there is none."""
        with self.graph.as_default():
            seeds = [pb.placeholder(y.dtype, y.shape, f"seed_{i}") for i, y in enumerate(self.ys)]
            dxs = pb.gradients(self.ys, self.xs, seeds)
            return seeds, [None if dx is None else pb.convert_to_tensor(dx) for dx in dxs]


def _tensors(value: Any) -> Sequence[Any]:
    if isinstance(value, pb.Tensor):
        return [value]
    return value.tensors  # type: ignore[no-any-return]


@dataclass
class Checkable:
    """A sample, and the derivatives of <ws, ys> along the directions `us`, one for each input where that is smooth."""

    sample: Sample
    reason: str
    loaded: Any = None
    ws: list[Array] = field(default_factory=list)
    us: list[Array] = field(default_factory=list)
    slopes: list[float | None] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def classified(sample: Sample) -> Checkable:
    """The sample with its reference, or with the reason why it has none."""
    try:
        loaded = Loaded(sample, retyped(sample.model, "float64"))
    except (pb.errors.PullbackError, TypeError, ValueError) as error:
        return Checkable(sample, f"{NOT_READ}: {type(error).__name__}")
    if not loaded.xs:
        return Checkable(sample, NO_INPUT)
    if not loaded.ys:
        return Checkable(sample, NO_OUTPUT)
    values = loaded.session.run(loaded.outputs, loaded.feeds)
    if not _as_expected(sample, loaded, values):
        return Checkable(sample, FORWARD)
    places = [i for i, y in enumerate(values) if loaded.outputs[i] in loaded.ys and _is_finite(y)]
    if not places:
        return Checkable(sample, EMPTY)
    loaded.places = places
    rng = np.random.default_rng(5)
    ws = [rng.normal(size=np.shape(values[i])) for i in places]
    found = Checkable(sample, SMOOTH, loaded, ws)
    for x in loaded.xs:
        start = loaded.feeds[x]
        u = rng.normal(size=start.shape)
        slope, why = _slope(_along(loaded, x, u, ws)) if _is_finite(start) else (None, EMPTY)
        found.us.append(u)
        found.slopes.append(slope)
        found.reasons.append(why)
    if not any(found.slopes):
        reasons = [why for why in found.reasons if why]
        found.reason = reasons[0] if reasons else FLAT
    return found


def _is_finite(a: Any) -> bool:
    return np.size(a) > 0 and bool(np.isfinite(a).all())


def _as_expected(sample: Sample, loaded: Loaded, values: Sequence[Any]) -> bool:
    """Whether the outputs of floats are what the test expects, as far as its dtype tells."""
    expected = [a for y in sample.expected for a in (y if isinstance(y, list) else [y]) if a is not None]
    for a, wanted in zip([a for a in loaded.arrays(values) if a is not None], expected, strict=True):
        if np.asarray(a).dtype.name not in _FLOATS:
            continue
        numbers = np.asarray(wanted)
        if np.shape(a) != numbers.shape:
            return False
        allowed = {"float16": 1e-2, "bfloat16": 8e-2}.get(numbers.dtype.name, 2e-3)
        numbers = numbers.astype(np.float64)
        largest = np.max(np.abs(numbers), where=np.isfinite(numbers), initial=0.0)
        if not np.allclose(a, numbers, allowed, 1e-2 * allowed * (1 + float(largest)), equal_nan=True):
            return False
    return True


def _along(loaded: Loaded, x: Any, u: Array, ws: Sequence[Array]) -> Callable[[float], float]:
    """<ws, ys> as a function of the step from the sample in the direction `u`; ValueError where a shape changes."""
    start = loaded.feeds[x]

    def value(step: float) -> float:
        ys = loaded.session.run(loaded.ys, {**loaded.feeds, x: start + step * u})
        if any(np.shape(y) != w.shape for y, w in zip(ys, ws, strict=True)):
            raise ValueError("a shape changes")
        return float(sum(np.vdot(w, y) for w, y in zip(ws, ys, strict=True)))

    return value


def _slope(f: Callable[[float], float]) -> tuple[float | None, str]:
    """The derivative of f at 0; or None, and the reason."""
    found: list[float] = []
    try:
        center = f(0.0)
        for step in (4e-3, 4e-4, 4e-5):
            near, far = (_quotients(f, center, h) for h in (step / 2, step))
            slope = (4 * near[0] - far[0]) / 3
            found.append(slope)
            noise = 1e-13 * (1 + abs(center)) / step
            close = _EXACT * max(abs(slope), 1e-3) + noise
            if abs(near[0] - slope) < 1e-3 * max(abs(slope), 1e-3) + noise and len(found) > 1:
                smooth = near[1] <= 0.6 * far[1] + close * 10
                if smooth and abs(found[-1] - found[-2]) <= 1e-5 * max(abs(slope), 1e-3) + 10 * noise:
                    return slope, ""
    except (pb.errors.PullbackError, ValueError, IndexError):
        return None, SHAPES
    return (None, KINK) if np.isfinite(found[-1]) else (None, EMPTY)


def _quotients(f: Callable[[float], float], center: float, h: float) -> tuple[float, float]:
    """The central difference quotient, and by how much those of the two sides differ."""
    after, before = f(h), f(-h)
    return (after - before) / (2 * h), abs(after - 2 * center + before) / h


def engine_failure(case: Checkable, engine: str) -> str:
    """What is wrong with the gradients on one of pullback's own engines; empty where nothing is."""
    loaded = case.loaded
    session = loaded.session if engine == "numpy" else pb.Session(graph=loaded.graph, engine=engine)
    try:
        seeds, dxs = loaded.derived
        found = session.run([dx for dx in dxs if dx is not None], _seeded(loaded, seeds, case.ws))
    except Exception as error:
        return _said(error)
    return _compared(case, _filled(loaded, dxs, found), None)


def _seeded(loaded: Loaded, seeds: Sequence[Any], ws: Sequence[Array]) -> Mapping[Any, Array]:
    return {**loaded.feeds, **{seed: w.astype(seed.dtype) for seed, w in zip(seeds, ws, strict=True)}}


def _filled(loaded: Loaded, dxs: Sequence[Any], found: Sequence[Any]) -> list[Array]:
    """The gradients as arrays, zeros for those that are not there."""
    values = iter(found)
    return [
        np.zeros(loaded.feeds[x].shape) if dx is None else next(values) for x, dx in zip(loaded.xs, dxs, strict=True)
    ]


def _compared(
    case: Checkable, found: Sequence[Array], exact: Sequence[Array] | None, rounded: Sequence[Array] = ()
) -> str:
    """What differs from the slopes, and where exact gradients are given from these; empty where nothing does.

    `rounded` are those that NumPy computes in the sample's own dtype: three times their errors are allowed.
    """
    for i, (dx, u, slope) in enumerate(zip(found, case.us, case.slopes, strict=True)):
        if slope is None:
            continue
        a = np.asarray(dx)
        if a.shape != u.shape:
            return f"input {i}: gradient of the shape {a.shape}, not {u.shape}"
        a = a.astype(np.float64)
        allowed = 1e-5 if exact is None else _ALLOWED[narrowest(case)]
        terms = a if exact is None else exact[i]
        scale = max(float(np.abs(terms * u).sum()), abs(slope), 1e-3)
        errors = np.zeros(1) if exact is None else 3 * np.abs(rounded[i].astype(np.float64) - exact[i])
        if not abs(float(np.vdot(a, u)) - slope) <= allowed * scale + float(np.sum(errors * np.abs(u))):
            return f"input {i}: wrong: {float(np.vdot(a, u))}, not {slope}"
        if exact is not None and not np.allclose(
            a, exact[i], rtol=allowed, atol=allowed * max(np.abs(exact[i]).max(), 1e-3) + errors.max()
        ):
            return f"input {i}: wrong in single elements, by {np.abs(a - exact[i]).max()} of {np.abs(exact[i]).max()}"
    return ""


def narrowest(case: Checkable) -> str:
    """The dtype of floats of the sample's that has the fewest digits."""
    arrays = [a for value in case.sample.inputs for a in (value if isinstance(value, list) else [value])]
    names = {np.asarray(a).dtype.name for a in arrays if a is not None} & _FLOATS
    return next(name for name in ("bfloat16", "float16", "float32", "float64") if name in names)


def onnxruntime_failure(case: Checkable) -> str:
    """What is wrong with the exported model's gradients on onnxruntime; empty where nothing is."""
    try:
        loaded = Loaded(*_with_narrow_constants(case.sample))
        loaded.places = case.loaded.places
        seeds, dxs = loaded.derived
        outputs = {f"dx_{i}": _wide(dx) for i, dx in enumerate(dxs) if dx is not None}
        inputs = {f"input_{i}": x for i, x in enumerate((*loaded.feeds, *seeds))}
        model = pb.onnx.export({f"y_{i}": _wide(y) for i, y in enumerate(loaded.ys)} | outputs, inputs)
        feeds = _seeded(loaded, seeds, case.ws)
        found = run(model, {name: feeds[x] for name, x in inputs.items()})
        rounded = loaded.session.run([dx for dx in dxs if dx is not None], feeds)
    except Exception as error:
        return _said(error)
    exact_seeds, exact_dxs = case.loaded.derived
    wanted = [dx for dx in exact_dxs if dx is not None]
    exact = case.loaded.session.run(wanted, _seeded(case.loaded, exact_seeds, case.ws))
    given = [_filled(loaded, dxs, values) for values in (found[len(loaded.ys) :], rounded)]
    return _compared(case, given[0], _filled(case.loaded, exact_dxs, exact), given[1])


def _wide(y: Any) -> Any:
    """onnxruntime hands no bfloat16 to NumPy."""
    with y.graph.as_default():
        return pb.cast(y, pb.float32) if y.dtype == pb.bfloat16 else y


def _with_narrow_constants(sample: Sample) -> tuple[Sample, ModelProto]:
    """The sample with its inputs of 8 bits of float and of fewer bits as constants: no such array can be fed."""
    model = ModelProto()
    model.CopyFrom(sample.model)
    kept = []
    for entry, value in zip(list(model.graph.input), sample.inputs, strict=False):
        dtype = getattr(value, "dtype", np.dtype(np.float32))
        if dtype.kind in "biu" or dtype.name in _FLOATS:
            kept.append(value)
            continue
        model.graph.initializer.append(numpy_helper.from_array(value, entry.name))
    return replace(sample, model=model, inputs=kept), model


def _fed(array: Array) -> onnxruntime.OrtValue:
    if array.dtype != pb.bfloat16:
        return onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array).reshape(array.shape))
    words = np.ascontiguousarray(array).view(np.uint16).reshape(array.shape)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(words, onnx.TensorProto.BFLOAT16)


def run(model: ModelProto, feeds: Mapping[str, Array]) -> list[Any]:
    """The outputs of a model on onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    read = {entry.name for entry in session.get_inputs()}
    found = session.run_with_ort_values(None, {name: _fed(np.asarray(a)) for name, a in feeds.items() if name in read})
    return [y.numpy() for y in found]


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
