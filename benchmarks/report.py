"""The results as Markdown, which also reads well in a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from .machine import describe_machine
from .peers import PEERS
from .runner import Result
from .settings import Settings
from .workload import Workload


def write(path: Path, text: str, results: Sequence[Result], settings: Settings) -> Path:
    """Write `results` to `path` as JSON and `text` beside it as Markdown, whose path comes back."""
    made = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "threads": settings.threads,
        "rounds": settings.rounds,
        "keep_memory": settings.keep_memory,
        "results": [result.to_dict() for result in results],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made, indent=1) + "\n")
    beside = path.with_suffix(".md")
    beside.write_text(text)
    return beside


def markdown(workloads: Mapping[str, Workload], results: Sequence[Result], settings: Settings) -> str:
    """The table of ratios, the table behind it, the versions and the machine."""
    models = [result for result in results if workloads[result.workload].onnx]
    others = [result for result in results if not workloads[result.workload].onnx]
    parts = [
        *(_steps(workloads, others) if others else ()),
        *(onnx_tables(models) if models else ()),
        *_problems(results),
        _versions(results),
        f"{describe_machine()}; {_settings(settings)}.",
    ]
    return "\n\n".join(parts) + "\n"


def _steps(workloads: Mapping[str, Workload], results: Sequence[Result]) -> list[str]:
    return [
        "Time of a steady step, as a multiple of pullback's (above 1: pullback is faster).",
        _ratios(workloads, results),
        "What one step takes, and what comes before it. Memory is the peak above the imported library.",
        _details(workloads, results),
    ]


def onnx_tables(results: Sequence[Result]) -> list[str]:
    """The sizes of models with gradients, and what they take to make and to run."""
    rows: dict[str, dict[str, Result]] = {}
    for result in results:
        rows.setdefault(result.workload, {})[result.peer] = result
    sizes = [[name.removeprefix("onnx-"), *_size_cells(cells)] for name, cells in rows.items()]
    times = [[name.removeprefix("onnx-"), *_time_cells(cells)] for name, cells in rows.items() if _ALONE in cells]
    return [
        "Nodes and bytes, without those of weights, of the model with the gradient, and the time of making it.",
        _table(
            ["", "nodes alone", *_each("nodes", _MAKERS), *_each("bytes", _MAKERS), *_each("made in", _MAKERS[:2])],
            sizes,
        ),
        "Time of a run with the gradient, as a multiple of that of the model alone.",
        _table(["", "alone", *_each("", _MAKERS)], times),
    ]


_ALONE = "onnx-forward"
_MAKERS = ("pullback-onnx", "onnx-ad", "onnx-by-hand")
_CALLED = {"pullback-onnx": "pullback", "onnx-ad": "onnx-ad", "onnx-by-hand": "by hand"}


def _each(what: str, peers: Sequence[str]) -> list[str]:
    return [f"{what}{', ' if what else ''}{_CALLED[peer]}" for peer in peers]


def _size_cells(cells: Mapping[str, Result]) -> list[str]:
    def shown(peer: str, show: Callable[[Result], str]) -> str:
        result = cells.get(peer)
        return "" if result is None else "-" if result.problem is not None else show(result)

    return [
        shown(_ALONE, _nodes),
        *(shown(peer, _nodes) for peer in _MAKERS),
        *(shown(peer, lambda result: _bytes(result.facts["bytes"])) for peer in _MAKERS),
        *(shown(peer, lambda result: _time(result.build)) for peer in _MAKERS[:2]),
    ]


def _nodes(result: Result) -> str:
    return f"{result.facts['nodes']:,.0f}"


def _time_cells(cells: Mapping[str, Result]) -> list[str]:
    alone = cells[_ALONE]
    return ["-" if alone.problem else _time(alone.step), *(_ratio(cells.get(peer)) for peer in _MAKERS)]


def _settings(settings: Settings) -> str:
    memory = "all peers keep freed memory" if settings.keep_memory else "the memory settings are each peer's own"
    return f"threads: {settings.threads}; {memory}"


def _ratios(workloads: Mapping[str, Workload], results: Sequence[Result]) -> str:
    present = {result.peer for result in results}
    names = [name for name in PEERS if name in present]
    rows = []
    for workload in dict.fromkeys(result.workload for result in results):
        cells = {result.peer: result for result in results if result.workload == workload}
        reference = cells.get(workloads[workload].reference)
        step = "" if reference is None or reference.problem else _time(reference.step)
        rows.append([workload, step, *(_ratio(cells.get(name)) for name in names)])
    return _table(["", "step of pullback", *names], rows)


def _details(workloads: Mapping[str, Workload], results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        if result.problem is None:
            times = _time(result.build), _time(result.compile), _time(result.step)
            rows.append([result.workload, result.peer, *times, _bytes(result.memory), workloads[result.workload].of])
    return _table(["workload", "peer", "build", "first step", "steady step", "memory", "per"], rows)


def _problems(results: Sequence[Result]) -> list[str]:
    lines = [f"- {r.workload}, {r.peer}: {r.problem}" for r in results if r.problem is not None]
    return ["Not measured:", "\n".join(lines)] if lines else []


def _versions(results: Sequence[Result]) -> str:
    rows = {}
    for about in (result.about for result in results if result.about):
        size = "" if about["installed"] is None else _bytes(about["installed"])
        rows[about["package"]] = [about["package"], about["version"] or "this tree", about["python"], size]
    return _table(["package", "version", "Python", "installed, with what it requires"], list(rows.values()))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"

    return "\n".join([line(header), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, rows)])


def _ratio(result: Result | None) -> str:
    if result is None:
        return ""
    if result.problem is not None or result.ratio is None:
        return "-"
    return f"{result.ratio:.3g}" if result.ratio < 100 else f"{result.ratio:.0f}"


def _time(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}" if seconds < 100 * unit else f"{seconds / unit:.0f} {name}"
    return f"{seconds * 1e6:.3g} us"


def _bytes(count: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(count) >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count:.0f} B"
