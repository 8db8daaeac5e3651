"""`pullback grad`: an ONNX model in, the model with its derivative out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pullback as pb
from pullback.core.errors import PullbackError
from pullback.core.limits import Limits, limited
from pullback.core.needs import needed
from pullback.core.sites import Place
from pullback.core.text import printable
from pullback.onnx.optimizing import fewest_nodes, optimized_outputs

from .failure import USAGE, CommandError
from .formats import written
from .tensorflow_model import is_tensorflows, load_tensorflows

Rule = Callable[..., Any]
OPTIMIZERS = ("sgd", "adam")
LOSSES = ("cross-entropy", "mean-squared-error")
KINDS = ("vjp", "jvp", "hvp", "hessian")


def run(args: argparse.Namespace) -> int:
    """Writes the model, unless `--check` finds a difference; 0."""
    try:
        with Limits(**dict(args.limit or ())), limited("pullback grad"):
            return _run(args)
    except (PullbackError, ImportError, LookupError, OSError) as error:
        raise CommandError(f"pullback grad: {error}") from error


@dataclass
class _Made:
    """What is to be written, and what is said of it."""

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    ys: list[str]
    what: str
    notes: list[str]


def _run(args: argparse.Namespace) -> int:
    tell = _teller(args.quiet)
    begun = time.monotonic()
    model = Path(args.model)
    tell(f"reading {model}")
    graph = _load(model, args)
    graph.scope = graph.scope._replace(site=Place(f"pullback grad {model.name}"))
    rules = {key: _rule(name) for key, name in args.rule or ()}
    tell("differentiating")
    inputs = graph.input_tensors
    own = {} if args.only_grad else graph.output_tensors
    made = _stepping(args, graph, own, inputs) if args.train else _derived(args, graph, rules, own, inputs)
    if args.only_grad:
        made.inputs = _needed(made.inputs, made.outputs)
    if args.memory:
        made.outputs, report = _within_memory(made.outputs, args)
        made.notes += str(report).splitlines()
    if graph.left_out:
        made.notes.append(f"left out, for they depend on what is not read: {', '.join(graph.left_out)}")
    out = Path(args.out) if args.out else model.with_name(f"{model.stem}_grad.onnx")
    nodes, reports = _written(args, graph, made, out, tell)
    if not args.quiet:
        for line in _summary(nodes, graph, made, own, out, time.monotonic() - begun):
            print(printable(line))
    for report in reports:
        print(printable(str(report)))
    return 0


def _within_memory(outputs: Any, args: argparse.Namespace) -> Any:
    """`outputs` within `--memory`, and a report."""
    try:
        return pb.rematerialize(outputs, args.memory, sizes=dict(args.size or ()))
    except pb.errors.InvalidArgumentError as error:
        text = str(error).replace("give a number in `sizes`", "give --size NAME=NUMBER")
        raise CommandError(f"pullback grad: {text}") from error


def _stepping(args: argparse.Namespace, graph: Any, own: Mapping[str, Any], inputs: Mapping[str, Any]) -> _Made:
    """A training step."""
    step = pb.onnx.training_step(
        graph,
        _only(args.of),
        criterion=args.loss,
        optimizer=args.train,
        learning_rate=args.learning_rate,
        parameters=args.wrt,
        stop=args.stop or (),
    )
    given, outputs = {**inputs, **step.parameters, **step.inputs}, {**own, **step.outputs}
    notes: list[str] = []
    if step.constants:
        notes.append(f"not learned, as constants of the exporter: {', '.join(step.constants)}; --wrt learns them")
    if args.optimize:
        lean, report = optimized_outputs(outputs, given, args.optimize)
        if fewest_nodes([(outputs, given), (lean, given)], args.opset) == 1:
            outputs, notes = lean, [*notes, *str(report).splitlines()]
    return _Made(given, outputs, [], f"a step of {args.train}, {_count(step.parameters)}", notes)


def _derived(
    args: argparse.Namespace,
    graph: Any,
    rules: Mapping[str, Rule | None],
    own: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> _Made:
    """A derivative."""
    found, report = _differentiated(args, graph, rules, own, inputs)
    notes = [f"unconnected: {name}\n{reason}" for name, reason in found.unconnected.items()]
    notes += [] if report is None else str(report).splitlines()
    ys = list(found.ys)
    return _Made({**inputs, **found.inputs}, dict(found.outputs), ys, f"{_kind(args)} of {', '.join(ys)}", notes)


def _written(
    args: argparse.Namespace, graph: Any, made: _Made, out: Path, tell: Callable[[str], None]
) -> tuple[int, list[Any]]:
    """How many nodes were written to `out`, and the reports of `--check`."""
    reports: list[Any] = []

    def accept(path: Path) -> None:
        if args.check:
            tell("checking")
            reports.append(_checked(args, graph, path, made.outputs, made.inputs, made.ys))

    tell(f"writing {out}")
    return written("grad", args, out, made.outputs, made.inputs, accept), reports


def _kind(args: argparse.Namespace) -> str:
    return next((kind for kind in KINDS if getattr(args, kind)), "gradient")


def _differentiated(
    args: argparse.Namespace,
    graph: Any,
    rules: Mapping[str, Rule | None],
    own: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> tuple[Any, Any]:
    """The derivative, with the model's own outputs, and a report where it was optimised, if that leaves fewer nodes."""

    def made(optimize: str | None) -> Any:
        found = pb.onnx.differentiate(
            graph,
            args.of,
            args.wrt,
            _kind(args),
            stop=args.stop or (),
            rules=rules,
            unconnected=args.unconnected,
            sparse=args.sparse,
            optimize=optimize,
        )
        found.outputs = {**own, **found.outputs}
        return found

    plain = made(None)
    if not args.optimize:
        return plain, None
    lean = made(args.optimize)
    lean.outputs, report = optimized_outputs(lean.outputs, {**inputs, **lean.inputs}, args.optimize)
    choices = [(some.outputs, {**inputs, **some.inputs}) for some in (plain, lean)]
    return (plain, None) if fewest_nodes(choices, args.opset) == 0 else (lean, report)


def _needed(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `inputs` that an output is computed from."""
    given = set(inputs.values())
    found = needed(outputs.values(), lambda x: () if x in given else x.op.inputs)
    return {name: x for name, x in inputs.items() if x in found}


def _teller(quiet: bool) -> Callable[[str], None]:
    def tell(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    return tell


def _load(model: Path, args: argparse.Namespace) -> Any:
    if is_tensorflows(model):
        if args.train or args.dtype:
            raise CommandError("pullback grad: --train and --dtype are for ONNX models, not for TensorFlow's", USAGE)
        return load_tensorflows(model)
    source = model if args.dtype is None else _retyped(model, args.dtype)
    known = [*(args.of or ()), *((args.wrt or ()) if args.of else ())]
    graph = pb.onnx.load(source, model.parent, training=bool(args.train), of=known)
    inside = [name for name in [*(args.of or ()), *(args.wrt or ())] if name not in graph and name in graph.inner_names]
    if not inside:
        return graph
    return pb.onnx.load(source, model.parent, training=bool(args.train), watch=inside, of=known)


def _retyped(model: Path, dtype: str) -> Any:
    from pullback.onnx.normalise import parse
    from pullback.onnx.retyped import retyped

    return retyped(parse(model), dtype, model.parent)


def _only(names: Sequence[str] | None) -> str | None:
    if names and len(names) > 1:
        raise CommandError(f"pullback grad: --train takes one --of, not {len(names)}", USAGE)
    return names[0] if names else None


def _count(parameters: Mapping[str, Any]) -> str:
    return f"{len(parameters)} parameter{'s' * (len(parameters) != 1)}"


def _checked(
    args: argparse.Namespace,
    graph: Any,
    path: Path,
    outputs: Mapping[str, Any],
    inputs: Mapping[str, Any],
    ys: Sequence[str],
) -> Any:
    from .checking import check

    model = Path(args.model)
    exact = not args.rule and not args.stop and bool(ys) and not is_tensorflows(model)
    wide = (
        (lambda: pb.onnx.load(_retyped(model, "float64"), model.parent, watch=graph.watched, of=ys)) if exact else None
    )
    report = check(path, graph, outputs, inputs, wide, ys, dict(args.feed or ()))
    if not report.passed:
        raise CommandError(f"{printable(str(report))}\npullback grad: --check: outputs differ, and nothing is written")
    return report


def _summary(nodes: int, graph: Any, made: _Made, own: Mapping[str, Any], out: Path, seconds: float) -> list[str]:
    size = f"{nodes} nodes, {graph.size} of the model given; {out.stat().st_size:,} bytes; {seconds:.1f} s"
    lines = [f"  {name}: {x.type}" for name, x in made.outputs.items() if name not in own]
    return [f"{made.what}: {size}", *lines, *made.notes, f"written: {out}"]


def _rule(text: str) -> Rule | None:
    """One of `RULES`, or `module:function`."""
    if text in RULES:
        return RULES[text]
    module, colon, name = text.partition(":")
    try:
        rule: Rule = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        names = ", ".join(RULES)
        where = f" ({error})" if colon else ""
        raise CommandError(f"pullback grad: --rule: {text!r} is not one of {names}, module:function{where}") from error
    return rule


def _identity(op: Any, *dys: Any) -> Any:
    """The cotangent as it is, for the first input: the straight-through estimator (Bengio et al., 2013)."""
    return [dys[0], *[None] * (len(op.inputs) - 1)]


def _guided(op: Any, dy: Any) -> Any:
    """Only what is positive on both ways: guided backpropagation (Springenberg et al., 2015)."""
    return pb.where((dy > 0) & (op.outputs[0] > 0), dy, pb.zeros_like(dy))


RULES: dict[str, Rule | None] = {"identity": _identity, "zero": None, "guided": _guided}
