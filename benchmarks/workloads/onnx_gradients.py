"""Gradients of ONNX models as ONNX models: pullback, onnx-ad and a careful hand, run by onnxruntime beside the model alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..memory import peak_memory, reset_peak, resident_memory
from ..onnx_models import LIGHT, Case, attention, chain, gather, large, light, perceptron, session
from ..workload import Made, Workload

REPEATED_BELOW = 1.0
"""Seconds: what is made quicker is made three times, and the best is taken."""
TOLERANCE = 0.05
"""Of differences in float32."""
UNTOUCHED = 200e6
"""Bytes that may become resident while the large model is differentiated."""


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
    return Made(_runner(case.model, case.feeds), 0.0, _size(case.model))


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


def _runner(model: Any, feeds: Mapping[str, Any]) -> Callable[[], None]:
    running, given = session(model), dict(feeds)
    return lambda: running.run(None, given) and None


def _made(case: Case, model: Any, seconds: float, seed: Any, *, check: bool = False) -> Made:
    feeds = dict(case.feeds)
    feeds |= {entry.name: seed for entry in model.graph.input if entry.name not in feeds}
    size, own = _size(model), len(case.model.graph.output)
    running = session(model)
    gradients = running.run(None, feeds)[own:]
    if check:
        _compare_with_differences(case, gradients)
    loss = _checksum(case, gradients)

    def step() -> float:
        running.run(None, feeds)
        return loss

    return Made(step, seconds, size)


def _checksum(case: Case, gradients: Sequence[Any]) -> float:
    """A number that tells gradients apart: their length, and how far they reach along a random direction."""
    random, total, square = np.random.default_rng(1), 0.0, 0.0
    for name, (rows, values) in zip(case.wrt, _split(case, gradients), strict=True):
        shape = case.feeds[name].shape
        direction = random.standard_normal(shape, np.float32)
        if rows is not None:
            direction, shape = direction[rows], (len(rows), *shape[1:])
        values = values.reshape(shape).astype(np.float64)
        total += float(np.sum(values * direction))
        square += float(np.sum(values * values))
    return float(np.sqrt(square)) + total


def _split(case: Case, gradients: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Rows, None for all, and values of each gradient."""
    if len(gradients) == len(case.wrt):
        return [(None, values) for values in gradients]
    return list(zip(gradients[::2], gradients[1::2], strict=True))


def _compare_with_differences(case: Case, gradients: Sequence[Any]) -> None:
    """Along the gradient itself, where the slope is its length.

    Raises:
        ArithmeticError: differences say otherwise.
    """
    pairs = _split(case, gradients)
    length = np.sqrt(sum(float(np.sum(values.astype(np.float64) ** 2)) for _, values in pairs))
    running = session(case.model)
    seed = 1.0 if case.seed is None else case.seed.astype(np.float64)

    def value(step: float) -> float:
        feeds = dict(case.feeds)
        for name, (rows, values) in zip(case.wrt, pairs, strict=True):
            feeds[name] = feeds[name].copy()
            np.add.at(feeds[name], slice(None) if rows is None else rows, values * np.float32(step / length))
        return float(np.sum(seed * running.run(None, feeds)[0].astype(np.float64)))

    size = np.sqrt(sum(float(np.mean(case.feeds[name].astype(np.float64) ** 2)) for name in case.wrt))
    found = []
    for step in (0.3 * size, 0.1 * size, 0.03 * size, 0.01 * size):
        found.append((value(step) - value(-step)) / (2 * step))
        if abs(found[-1] - length) <= TOLERANCE * length:
            return
    raise ArithmeticError(f"the gradient's length is {length:.4g}, differences along it give {found}")


def large_folder() -> Path:
    """A folder with the large model, gone when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="pullback-benchmark-")
    _KEPT.append(folder)
    return large(Path(folder.name))


_KEPT: list[Any] = []


def large_with_pullback(path: Path) -> Made:
    """From file to file, which shares the weights of the first."""
    import pullback as pb
    import pullback.onnx

    out = path.with_name("large_grad.onnx")
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
    if touched > UNTOUCHED or len(os.listdir(path.parent)) > 3:
        raise ArithmeticError(f"the weights were read: {touched / 1e6:.0f} MB became resident")
    return Made(step, seconds, _size(import_module("onnx").load(out, load_external_data=False)))


def large_with_onnx_ad(path: Path) -> Made:
    """Of the skeleton, without the weights: with them it is more than a proto can hold."""
    onnx = import_module("onnx")
    out = path.with_name("large_grad.onnx")

    def step() -> None:
        made = import_module("onnx_ad").reverse(onnx.load(path, load_external_data=False), layout="onnx")
        out.write_bytes(made.SerializeToString())

    _, seconds = _timed(step)
    return Made(step, seconds, _size(onnx.load(out, load_external_data=False)))


def _workload(name: str, title: str, data: Callable[[], Case], *, hand: bool) -> Workload:
    peers: dict[str, Callable[[Any], Made]] = {"pullback-onnx": with_pullback, "onnx-ad": with_onnx_ad}
    if hand:
        peers["onnx-by-hand"] = by_hand
    peers["onnx-forward"] = forward
    return Workload(f"onnx-{name}", title, data, peers, reference="onnx-forward", onnx=True)


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
        large_folder,
        {"pullback-onnx": large_with_pullback, "onnx-ad": large_with_onnx_ad},
        reference="pullback-onnx",
        onnx=True,
    ),
]
