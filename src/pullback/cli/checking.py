"""Numerical check of exported derivatives: onnxruntime against the NumPy engine and against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ..autodiff.reverse import gradients
from ..core.dtypes import FLOATING
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..core.slices import IndexedSlices
from ..engines.session import Session
from ..onnx.model import OnnxGraph
from ..primitives.base.densify import densify, densify_policy
from ..primitives.creation.constant import constant
from .feeding import given_feeds, tried_feeds

_STEPS = ((1e-3, 5e-4), (1e-5, 5e-6))
"""The larger and the smaller step of the differences, which are extrapolated; shorter ones where these meet a kink."""
_TOLERANCE = 1e-3
_LEAST_OUTPUT = 1e-3
"""Errors of the model's own outputs are relative to what is larger than this: onnxruntime's sigmoid is as exact as one
number of float32 near 1 is."""
_LEAST = 1e-5
"""The same for derivatives."""
_AMPLIFIED = 1000
"""How many times the error of the outputs a derivative may have: a sure classifier's has that of 1 - p over 1 - p."""
_MOST = 0.02
"""What a derivative may be off at most."""
_GRADIENTS = "gradients/"
_NOISE = 1e4
"""Errors are relative to this many times what the rounding of the inputs changes, where that is more."""
Array = np.ndarray[Any, Any]
Feeds = Mapping[str, Array]


class Compared(NamedTuple):
    """One output: the largest error relative to its largest element; None where there is nothing to compare with.

    Where rounding makes up an element, as in the gradient of a sum of probabilities, it is relative to the rounding.
    """

    name: str
    to_numpy: float
    to_differences: float | None
    tolerance: float = _TOLERANCE

    @property
    def agrees(self) -> bool:
        """Whether the errors are within the tolerance."""
        return max(self.to_numpy, self.to_differences or 0.0) <= self.tolerance


@dataclass(frozen=True)
class Report:
    """What `check` found."""

    rows: Sequence[Compared]

    @property
    def passed(self) -> bool:
        """Whether all outputs agree."""
        return all(row.agrees for row in self.rows)

    def __str__(self) -> str:
        width = max([len(row.name) for row in self.rows], default=0)
        lines = [f"{'':<{width}}  onnxruntime to NumPy  to differences"]
        for row in self.rows:
            differences = "" if row.to_differences is None else f"{row.to_differences:.1e}"
            mark = "" if row.agrees else "  <- differs"
            lines.append(f"{row.name:<{width}}  {row.to_numpy:20.1e}  {differences:>14}{mark}")
        return "\n".join(line.rstrip() for line in lines)


def check(
    path: Path,
    graph: OnnxGraph,
    outputs: Mapping[str, Tensor],
    inputs: Mapping[str, Tensor],
    wide: Callable[[], OnnxGraph] | None = None,
    ys: Sequence[str] = (),
    feeds: Mapping[str, str] | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Runs the model in `path` and compares its `outputs` with those of the NumPy engine.

    With `wide`, which gives the original model in float64, outputs `gradients/<x>` are compared with extrapolated
    differences of the sum of the values `ys` along a random direction. `feeds` says of inputs their shapes or files
    (`feeding.py`); the others are random, and lengths that the model leaves open are such that it runs with them.
    Derivatives may be off by what rounding explains, and by a multiple of what the outputs of the model are.

    Raises:
        ImportError: onnxruntime is not installed.
        InvalidArgumentError: the model does not run with any lengths that were tried; `feeds` do not fit.
    """
    random = np.random.default_rng(seed)
    session = Session(graph=graph, engine="numpy")
    onnxruntime = _onnxruntime_session(path)
    given = given_feeds(feeds or {}, inputs, random)
    used, found, values = _first_run(onnxruntime, session, outputs, inputs, tried_feeds(graph, inputs, given, random))
    least = {name: _LEAST_OUTPUT if name in graph else _LEAST for name in outputs}
    fixed = {inputs[name]: array for name, array in used.items()}
    for name, noise in _noise(session, outputs, fixed, values, random).items():
        least[name] = max(least[name], _NOISE * noise)
    differences: dict[str, float] = {}
    if wide is not None:
        differences = _against_differences(wide(), found, used, ys, least, random)
    own = [_error(found[name], values[name], least[name]) for name in outputs if name in graph]
    allowed = max([_TOLERANCE, *[_AMPLIFIED * error for error in own if error <= _TOLERANCE]])
    rows = []
    for name in outputs:
        error = _error(found[name], values[name], least[name])
        rows.append(Compared(name, error, differences.get(name), _TOLERANCE if name in graph else min(allowed, _MOST)))
    return Report(rows)


def _noise(
    session: Session, outputs: Mapping[str, Tensor], fixed: Mapping[Tensor, Array], values: Feeds, random: Any
) -> dict[str, float]:
    """How far a rounding of what is fed, and of what is differentiated by, moves each output."""
    moved = dict(fixed) | {x: session.run(x, fixed) for x in _differentiated(session.graph, outputs)}
    nudged = session.run(_floats(outputs), {x: _rounded(array, random) for x, array in moved.items()})
    return {name: _largest(y - values[name]) for name, y in nudged.items()}


def _differentiated(graph: Any, outputs: Mapping[str, Tensor]) -> list[Tensor]:
    """The values of the model by which some of the outputs are gradients."""
    names = [name.removeprefix(_GRADIENTS) for name in outputs if name.startswith(_GRADIENTS)]
    return [graph[name] for name in names if name in graph]


def _floats(outputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: y for name, y in outputs.items() if y.dtype in FLOATING}


def _rounded(array: Array, random: np.random.Generator) -> Array:
    """`array` with each element up or down by what rounding makes of the largest one."""
    if array.dtype not in FLOATING:
        return array
    signs = np.where(random.random(array.shape) < 0.5, -1.0, 1.0)
    step = float(ml_dtypes.finfo(array.dtype).eps) * _largest(array)  # type: ignore[no-untyped-call]
    moved: Array = (array + signs * step).astype(array.dtype)
    return moved


def _largest(x: Any) -> float:
    """The largest finite magnitude."""
    y = np.abs(np.asarray(x, np.float64))
    return float(y[np.isfinite(y)].max(initial=0.0))


def _first_run(
    onnxruntime: Any,
    session: Session,
    outputs: Mapping[str, Tensor],
    inputs: Mapping[str, Tensor],
    tried: Iterator[tuple[dict[str, int], Feeds]],
) -> tuple[Feeds, Feeds, Feeds]:
    """The first feeds with which the model runs and gives numbers, with the outputs of both engines."""
    runs, errors = [], []
    for lengths, feeds in tried:
        try:
            # NumPy first: onnxruntime may end the process where integers are divided by 0.
            values = session.run(dict(outputs), {inputs[name]: array for name, array in feeds.items()})
            found = dict(zip(outputs, _run(onnxruntime, list(outputs), feeds), strict=True))
        except (InvalidArgumentError, ValueError) as error:
            errors.append((lengths, str(error).splitlines()[0]))
            continue
        runs.append((feeds, found, values))
        if all(np.size(y) and np.isfinite(y).all() for y in values.values() if np.asarray(y).dtype.kind == "f"):
            return runs[-1]
    if not runs:
        lengths, text = errors[-1]
        said = ", ".join(f"{name} = {n}" for name, n in lengths.items())
        tells = f" with open axes of these lengths or shorter ones: {said}" if said else ""
        raise InvalidArgumentError(
            f"--check: the model does not run{tells}; say what to feed, as --feed NAME=1,3,224,224: {text}"
        )
    return runs[0]


def _onnxruntime_session(path: Path) -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise ImportError(
            "onnx.check runs the model with onnxruntime, which is not installed: pip install 'pullback[onnxruntime]'"
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions share no class of their own.
        raise InvalidArgumentError(f"--check: onnxruntime does not load the model: {error}") from error


def _run(onnxruntime: Any, names: list[str], feeds: Feeds) -> list[Array]:
    read = {entry.name for entry in onnxruntime.get_inputs()}
    try:
        result: list[Array] = onnxruntime.run(names, {name: array for name, array in feeds.items() if name in read})
    except Exception as error:  # onnxruntime's exceptions share no class of their own.
        raise InvalidArgumentError(f"onnxruntime: {error}") from error
    return result


def _against_differences(
    wide: OnnxGraph, found: Feeds, feeds: Feeds, ys: Sequence[str], least: dict[str, float], random: Any
) -> dict[str, float]:
    """For each gradient the error of its product with a random direction; `least` is raised to its terms."""
    session = Session(graph=wide, engine="numpy")
    fixed = {wide[name]: _widened(array) for name, array in feeds.items() if name in wide}
    weights = [feeds.get(f"seeds/{y}") for y in ys]
    names = {name: name.removeprefix(_GRADIENTS) for name in found if name.startswith(_GRADIENTS)}
    names = {name: x for name, x in names.items() if x in wide and x not in wide.moves and found[name].size}
    for name, size in _sizes_of_terms(session, ys, names, fixed, random).items():
        least[name] = max(least[name], size)
    errors = {}
    for name, of in names.items():
        dx, x = found[name], wide[of]
        at = np.asarray(session.run(x, fixed))
        direction = random.standard_normal(at.shape)

        def along(step: float, x: Tensor = x, at: Array = at, direction: Array = direction) -> float:
            moved = session.run([wide.only_tensor(y) for y in ys], {**fixed, x: at + step * direction})
            back = session.run([wide.only_tensor(y) for y in ys], {**fixed, x: at - step * direction})
            change = zip(moved, back, weights, strict=True)
            return float(sum(np.sum((a - b) * (1.0 if w is None else w)) for a, b, w in change)) / (2 * step)

        size = float(np.linalg.norm(dx.astype(np.float64)) * np.linalg.norm(direction))
        errors[name] = np.inf
        for steps in _STEPS:
            coarse, fine = map(along, steps)
            error = abs(float(np.sum(dx * direction)) - (4 * fine - coarse) / 3)
            errors[name] = min(errors[name], error / max(size, least[name] * np.sqrt(dx.size)))
            if errors[name] <= _TOLERANCE:
                break
    return errors


def _sizes_of_terms(
    session: Session, ys: Sequence[str], names: Mapping[str, str], fixed: Mapping[Tensor, Array], random: Any
) -> dict[str, float]:
    """The largest element of each gradient for random cotangents.

    The gradient of a sum of probabilities is 0, and what rounding leaves of terms that are not.
    """
    graph: Any = session.graph
    sources = [graph.only_tensor(y) for y in ys]
    seeds = [random.choice([-1.0, 1.0], np.shape(y)) for y in session.run(sources, fixed)]
    with graph.as_default(), densify_policy("allow"):
        given = [constant(seed.astype(y.dtype)) for seed, y in zip(seeds, sources, strict=True)]
        dxs = gradients(sources, [graph[x] for x in names.values()], given)
    wanted = {name: _dense(dx) for name, dx in zip(names, dxs, strict=True) if dx is not None}
    return {name: _largest(dx) for name, dx in session.run(wanted, fixed).items()}


def _dense(dx: Any) -> Tensor:
    return densify(dx, silent=True) if isinstance(dx, IndexedSlices) else dx


def _widened(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _error(a: Any, b: Any, least: float) -> float:
    """The largest difference relative to the largest finite element, or `least`; infinite where NaN stand elsewhere."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape or not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return float("inf")
    finite = np.isfinite(y)
    if not finite.any():
        return 0.0
    return float(np.abs(x[finite] - y[finite]).max() / max(np.abs(y[finite]).max(), least))
