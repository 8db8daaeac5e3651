"""Gradients of ONNX models as ONNX models, by pullback, onnx-ad and hand, run by onnxruntime beside the model alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..memory import peak_memory, reset_peak, resident_memory
from ..onnx_models import LIGHT, Case, attention, chain, gather, large, light, long, perceptron, session
from ..workload import Made, Workload

REPEATED_BELOW = 1.0
"""Seconds: what is made quicker is made three times, and the best is taken."""
TOLERANCE = 0.05
"""Of differences in float32."""


def pullback_model(case: Case) -> Any:
    """The model of value and gradient by pullback."""
    import pullback as pb
    import pullback.onnx

    graph = pb.onnx.load(case.model)
    kind = "gradient" if case.seed is None else "vjp"
    made = pb.onnx.differentiate(graph, wrt=list(case.wrt), kind=kind, sparse=case.sparse)
    outputs = {**dict(zip(graph.output_names, graph.outputs, strict=True)), **made.outputs}
    inputs = {**dict(zip(graph.input_names, graph.inputs, strict=True)), **made.inputs}
    return pb.onnx.export(outputs, inputs)


def onnx_ad_model(case: Case) -> Any:
    """The same by onnx-ad; its cotangents have a last axis that counts them."""
    return import_module("onnx_ad").reverse(case.model, inputs=list(case.wrt), layout="onnx")


def with_pullback(case: Case) -> Made:
    pullback_model(gather(sparse=True, rows=10, width=2))
    made, seconds = _timed(partial(pullback_model, case))
    return _made(case, made, seconds, case.seed, check=True)


def with_onnx_ad(case: Case) -> Made:
    onnx_ad_model(gather(sparse=False, rows=10, width=2))
    made, seconds = _timed(partial(onnx_ad_model, case))
    seed = np.ones((), np.float32) if case.seed is None else case.seed
    return _made(case, made, seconds, seed[..., None])


def by_hand(case: Case) -> Made:
    return _made(case, case.hand, 0.0, None)


def forward(case: Case) -> Made:
    """The model alone."""
    running, feeds = session(case.model, case.optimised), dict(case.feeds)

    def step() -> None:
        running.run(None, feeds)

    return Made(step, 0.0, _size(case.model))


def _timed(make: Callable[[], Any]) -> tuple[Any, float]:
    times: list[float] = []
    while not times or (len(times) < 3 and times[0] < REPEATED_BELOW):
        start = perf_counter()
        made = make()
        times.append(perf_counter() - start)
    return made, min(times)


def _size(model: Any) -> dict[str, float]:
    """Nodes, and bytes without those of weights."""
    weights = sum(len(x.raw_data) for x in model.graph.initializer)
    return {"nodes": len(model.graph.node), "bytes": model.ByteSize() - weights}


def _made(case: Case, model: Any, seconds: float, seed: Any, *, check: bool = False) -> Made:
    feeds = dict(case.feeds)
    feeds |= {entry.name: seed for entry in model.graph.input if entry.name not in feeds}
    size, own = _size(model), len(case.model.graph.output)
    running = session(model, case.optimised)
    gradients = _whole(case, running.run(None, feeds)[own:])
    if check:
        _compare_with_differences(case, gradients)
    loss = _checksum(gradients)
    del gradients

    def step() -> float:
        running.run(None, feeds)
        return loss

    return Made(step, seconds, size)


def _checksum(gradients: Sequence[Any]) -> float:
    """A number that tells gradients apart: their length, and a tenth of how far they reach along a random direction."""
    random = np.random.default_rng(1)
    along = sum(float(np.sum(x * random.standard_normal(x.shape, np.float32))) for x in gradients)
    return _length(gradients) + along / 10


def _length(arrays: Sequence[Any]) -> float:
    return float(np.sqrt(sum(float(np.sum(np.square(x, dtype=np.float64))) for x in arrays)))


def _whole(case: Case, gradients: Sequence[Any]) -> list[Any]:
    """Gradients of the shapes of what they are by; of those that are rows, equal ones are added up."""
    if not case.sparse or len(gradients) == len(case.wrt):
        return [x.reshape(case.feeds[name].shape) for name, x in zip(case.wrt, gradients, strict=True)]
    found = []
    for name, rows, values in zip(case.wrt, gradients[::2], gradients[1::2], strict=True):
        whole = np.zeros_like(case.feeds[name])
        np.add.at(whole, rows, values)
        found.append(whole)
    return found


def _compare_with_differences(case: Case, gradients: Sequence[Any]) -> None:
    """Along the gradient itself, where the slope is its length.

    Raises:
        ArithmeticError: differences say otherwise.
    """
    running, length = session(case.model, case.optimised), _length(gradients)
    seed = 1.0 if case.seed is None else case.seed.astype(np.float64)

    def value(step: float) -> float:
        by = zip(case.wrt, gradients, strict=True)
        moved = {name: case.feeds[name] + dx * np.float32(step / length) for name, dx in by}
        return float(np.sum(seed * running.run(None, {**case.feeds, **moved})[0].astype(np.float64)))

    size = np.sqrt(sum(float(np.mean(np.square(case.feeds[name], dtype=np.float64))) for name in case.wrt))
    found = []
    for step in (0.3 * size, 0.1 * size, 0.03 * size, 0.01 * size):
        found.append((value(step) - value(-step)) / (2 * step))
        if abs(found[-1] - length) <= TOLERANCE * length:
            return
    raise ArithmeticError(f"the gradient's length is {length:.4g}, differences along it give {found}")


def in_a_folder(make: Callable[[Path], Path]) -> Path:
    """What `make` puts into a folder that is gone when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="pullback-benchmark-")
    _KEPT.append(folder)
    return make(Path(folder.name))


_KEPT: list[Any] = []


def file_with_pullback(path: Path, most: float) -> Made:
    """From file to file, which shares the weights of the first; at most so many bytes become resident."""
    import pullback as pb
    import pullback.onnx

    out = path.with_name("gradient.onnx")
    pullback_model(gather(sparse=True, rows=10, width=2))

    def step() -> None:
        graph = pb.onnx.load(path)
        made = pb.onnx.differentiate(graph)
        outputs = {**dict(zip(graph.output_names, graph.outputs, strict=True)), **made.outputs}
        pb.onnx.export(outputs, dict(zip(graph.input_names, graph.inputs, strict=True)), out)

    reset_peak()
    before = resident_memory()
    _, seconds = _timed(step)
    touched = peak_memory() - before
    if touched > most or list(path.parent.glob("gradient.onnx.*")):
        raise ArithmeticError(f"{touched / 1e6:.0f} MB became resident, or weights were written")
    return Made(
        _nothing, seconds, {**_size(import_module("onnx").load(out, load_external_data=False)), "peak": touched}
    )


def file_with_onnx_ad(path: Path) -> Made:
    """Of the model without its weights, which it finds from their folder: with them it would be more than a proto."""
    onnx = import_module("onnx")
    out = path.with_name("gradient.onnx")
    os.chdir(path.parent)

    def step() -> None:
        made = import_module("onnx_ad").reverse(onnx.load(path, load_external_data=False), layout="onnx")
        out.write_bytes(made.SerializeToString())

    reset_peak()
    before = resident_memory()
    _, seconds = _timed(step)
    peak = peak_memory() - before
    return Made(_nothing, seconds, {**_size(onnx.load(out, load_external_data=False)), "peak": peak})


def _nothing() -> None:
    """Only the making of it is measured."""


def _workload(name: str, title: str, data: Callable[[], Case], *, hand: bool) -> Workload:
    peers: dict[str, Callable[[Any], Made]] = {"pullback-onnx": with_pullback, "onnx-ad": with_onnx_ad}
    if hand:
        peers["onnx-by-hand"] = by_hand
    peers["onnx-forward"] = forward
    # onnx-ad's gradient of inception-v1 is two in a hundred away from that in float64.
    return Workload(f"onnx-{name}", title, data, peers, reference="onnx-forward", tolerance=0.01, onnx=True)


WORKLOADS = [
    _workload("mlp-small", "64-128-10, batch 32, by all parameters", partial(perceptron, (64, 128, 10), 32), hand=True),
    _workload(
        "mlp", "784-512-512-10, batch 128, by all parameters", partial(perceptron, (784, 512, 512, 10), 128), hand=True
    ),
    _workload("attention", "normalised, 4 heads, 4x64x128, by the input and all parameters", attention, hand=True),
    *(
        _workload(name, "the light model with random weights, by the image", partial(light, name), hand=False)
        for name in LIGHT
    ),
    _workload("chain", "16,000 nodes in a row, of 8 numbers", chain, hand=True),
    _workload("gather-rows", "8 rows of 200,000, the gradient as rows", partial(gather, sparse=True), hand=True),
    _workload("gather", "8 rows of 200,000, the gradient as a table", partial(gather, sparse=False), hand=True),
    Workload(
        "onnx-large",
        "2.4 GB of weights in a file, from file to file",
        partial(in_a_folder, large),
        {"pullback-onnx": partial(file_with_pullback, most=200e6), "onnx-ad": file_with_onnx_ad},
        reference="pullback-onnx",
        onnx=True,
    ),
    Workload(
        "onnx-long",
        "100,000 nodes in a row, from file to file",
        partial(in_a_folder, long),
        {"pullback-onnx": partial(file_with_pullback, most=600e6), "onnx-ad": file_with_onnx_ad},
        reference="pullback-onnx",
        onnx=True,
    ),
]
