"""Differential testing: what holds of every program, whatever it computes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import pullback as pb
from pullback.core.dtypes import COMPLEX, INEXACT
from pullback.core.lengths import Length

from .differences import distance, slope
from .program import Apply, Program
from .samples import SILENT_OF_NAN, UNDETERMINED

Array = np.ndarray[Any, Any]
ORDERS = 3
_ROUNDING = 1e-15
"""That of numbers whose differences are not rounded away."""
_FEW_DIGITS = 5e-3
"""The rounding of bfloat16 is above, that of float16 below."""
_NOT_MEASURED = 1e8
"""Slopes above which differences say nothing."""


@dataclass
class Built:
    """A program as a graph: placeholders and variables by the number of the input, and results."""

    program: Program
    graph: pb.Graph
    xs: list[Any]
    ys: list[pb.Tensor]

    def run(self, fetches: Any, engine: str = "numpy", arrays: Sequence[Array] | None = None) -> Any:
        """The values of `fetches` where the inputs are `arrays`, those of the program where none are given."""
        given = [x.value.array for x in self.program.inputs] if arrays is None else arrays
        with self.session(engine, given) as session:
            feeds = {x: a for x, k, a in zip(self.xs, self.kinds(), given, strict=True) if k == "placeholder"}
            return session.run(fetches, feeds)

    @contextmanager
    def session(self, engine: str, arrays: Sequence[Array]) -> Iterator[pb.Session]:
        """A session whose variables are the `arrays` in their places."""
        with pb.Session(graph=self.graph, engine=engine, compile_effort="fast") as session:
            for x, kind, array in zip(self.xs, self.kinds(), arrays, strict=True):
                if kind == "variable":
                    session.write_variable(x.handle.op, array)
            yield session

    def fed(self) -> Iterator[tuple[pb.Tensor, Array]]:
        """The inputs that are fed, with what they are fed."""
        for x, given in zip(self.xs, self.program.inputs, strict=True):
            if given.kind == "placeholder":
                yield x, given.value.array

    def placeholders(self) -> list[pb.Tensor]:
        """The inputs that are fed."""
        return [x for x, kind in zip(self.xs, self.kinds(), strict=True) if kind == "placeholder"]

    def kinds(self) -> list[str]:
        """What each input is."""
        return [x.kind for x in self.program.inputs]

    def moved(self) -> list[int]:
        """The numbers of the inputs to differentiate by."""
        return [i for i, x in enumerate(self.program.inputs) if x.kind != "constant" and x.value.array.dtype in INEXACT]


def build(program: Program, *, static: bool = False, held: Sequence[int] = ()) -> Built:
    """The program in a graph of its own; `static`: with all lengths known; the inputs `held` are read as constants."""
    graph = pb.Graph()
    with graph.as_default():
        xs = [x.build(f"x{i}", static) for i, x in enumerate(program.inputs)]
        tensors = [pb.stop_gradient(x) if i in held else pb.convert_to_tensor(x) for i, x in enumerate(xs)]
        return Built(program, graph, xs, program.block.build({}, tensors))


def differentiable(ys: Sequence[Any]) -> list[Any]:
    """Those of `ys` that can have derivatives."""
    return [y for y in ys if y.dtype in INEXACT]


def weights_like(values: Sequence[Any], seed: int) -> list[Array]:
    """Random arrays of the shapes and dtypes of `values`."""
    random = np.random.default_rng(seed)
    return [_random(random, np.asarray(value)) for value in values]


def _random(random: np.random.Generator, like: Array) -> Array:
    numbers = random.normal(size=like.shape)
    if like.dtype.kind == "c":
        numbers = numbers + 1j * random.normal(size=like.shape)
    return np.asarray(numbers).astype(like.dtype)


def differentiate(built: Built, ys: Sequence[Any], seed: int) -> list[Any]:
    """The gradients of `ys` by the moved inputs, for random cotangents; zeros where there is none."""
    weights = weights_like(built.run(list(ys)), seed)
    with built.graph.as_default(), pb.densify_policy("allow"):
        xs = [built.xs[i] for i in built.moved()]
        dxs = pb.gradients(list(ys), xs, grad_ys=weights, unconnected_gradients="zero")
        return [pb.convert_to_tensor(dx) for dx in dxs]


@dataclass
class Slopes:
    """A directional derivative of weighted sums of `ys`: by gradients, by differences, and the size of its terms."""

    gradient: float
    differences: float | None
    scale: float

    @property
    def agree(self) -> bool:
        """Whether they are the same, or nothing can be said."""
        if self.differences is None or not self.scale < _NOT_MEASURED:
            return True
        return abs(self.gradient - self.differences) <= 2e-5 * max(self.scale, abs(self.differences), 1e-2)


def compare_with_differences(built: Built, ys: Sequence[Any], dxs: Sequence[Any], seed: int) -> Slopes:
    """`dxs`, the gradients of `ys` for the weights of `seed`, along a random direction."""
    moved, given = built.moved(), [x.value.array for x in built.program.inputs]
    weights = weights_like(built.run(list(ys)), seed)
    directions = weights_like([given[i] for i in moved], seed + 10)
    given = off_ties(given, moved, seed + 20)

    def loss(t: float) -> float:
        arrays = list(given)
        for i, v in zip(moved, directions, strict=True):
            arrays[i] = np.asarray(arrays[i] + t * v).astype(arrays[i].dtype)
        values = built.run(list(ys), arrays=arrays)
        return sum(float(np.real(np.sum(np.conj(w) * v))) for w, v in zip(weights, values, strict=True))

    with np.errstate(all="ignore"):
        slopes = built.run(list(dxs), arrays=given)
        terms = [np.real(np.conj(g) * v) for g, v in zip(slopes, directions, strict=True)]
        scale = sum(float(np.abs(t).sum()) for t in terms)
        return Slopes(sum(float(t.sum()) for t in terms), slope(loss), scale)


def off_ties(given: Sequence[Array], moved: Sequence[int], seed: int) -> list[Array]:
    """`given`, with those that derivatives are taken by moved from where a maximum, say, has two of them."""
    shifts = weights_like([given[i] for i in moved], seed)
    shifted = {i: np.asarray(given[i] + 0.05 * v, given[i].dtype) for i, v in zip(moved, shifts, strict=True)}
    return [shifted.get(i, x) for i, x in enumerate(given)]


def results_are_those_of_the_steps(program: Program) -> None:
    """A run gives what the steps give one by one, of the inferred shapes."""
    built = build(program)
    found = built.run(built.ys)
    for y, a, b in zip(built.ys, found, program.compute(), strict=True):
        assert distance(a, b) < 1e-9, f"{y} is {a}, but its steps give {b}"
        assert y.dtype == np.asarray(a).dtype
        assert y.shape.is_compatible_with(np.shape(a)), f"{y} has the shape {np.shape(a)}"


def derivatives_are_differences(program: Program) -> None:
    """The first, second and third derivative along a random direction."""
    built = build(program)
    ys = differentiable(built.ys)
    if not ys or not built.moved() or not program.smooth() or precision(program) > _ROUNDING:
        return
    for order in range(1, ORDERS + 1):
        dxs = differentiate(built, ys, order)
        slopes = compare_with_differences(built, ys, dxs, order)
        assert slopes.agree, f"derivative {order}: {slopes}"
        if any(case.not_second_order for case in program.cases()):
            return
        ys = dxs


def lengths_that_only_a_run_knows_change_nothing(program: Program) -> None:
    """Values and gradients are those of known lengths, and lengths that were inferred are those of the run."""
    built, static = build(program), build(program, static=True)
    fetches, expected = _with_gradients(built), _with_gradients(static)
    base = max(1e-9, few_roundings(program))
    for y, a, b in zip(fetches, built.run(fetches), static.run(expected), strict=True):
        assert distance(a, b) < base, f"{y} is {a}, but with known lengths {b}"
    arrays = [
        y for op in built.graph.operations for y in op.outputs if y.dtype.kind != "-" and y.shape.rank is not None
    ]
    whole = [
        (y, value.shape) for y, value in zip(arrays, built.run(arrays), strict=True) if not isinstance(value, list)
    ]
    _compare_lengths([y for y, _ in whole], [shape for _, shape in whole])


def _compare_lengths(tensors: Sequence[pb.Tensor], shapes: Sequence[tuple[int, ...]]) -> None:
    found: dict[Any, int] = {}
    for y, shape in zip(tensors, shapes, strict=True):
        found.update({d: n for d, n in zip(y.shape.lengths or (), shape, strict=True) if isinstance(d, Length)})
    for y, shape in zip(tensors, shapes, strict=True):
        for length, n in zip(y.shape.lengths or (), shape, strict=True):
            known = (
                length.substitute({s: found[s] for s in length.symbols if s in found})
                if isinstance(length, Length)
                else length
            )
            assert known in (n, None), f"{y} of {y.op} has the shape {shape}, and {length} is {known}"


def _with_gradients(built: Built) -> list[Any]:
    ys = differentiable(built.ys)
    return [*built.ys, *(differentiate(built, ys, 1) if ys and built.moved() else [])]


def optimised_programs_give_the_same(program: Program) -> None:
    """Values, first and second derivatives of what rules rewrote are the plain ones, by no more operations.

    Where the plain ones are not finite, those that are computed otherwise may be.
    """
    if any(case.not_exact for case in program.cases()):
        return
    for level in ("exact", "fast"):
        built = build(program)
        plain = _twice_differentiated(built, built.ys)
        with built.graph.as_default():
            lean, report = pb.optimize(built.ys, level, keep=built.placeholders())
            optimised = _twice_differentiated(built, lean, optimize=level)
        assert report.after.operations <= report.before.operations, f"more operations: {report}"
        base = max(1e-9 if level == "exact" else 1e-7, few_roundings(program))
        expected, found, moved = (built.run(x, arrays=a) for x, a in _runs(plain, optimised, program))
        for y, a, b, c in zip(plain, found, expected, moved, strict=True):
            if np.all(np.isfinite(np.asarray(b).astype(complex))):
                rounding = base + 30 * distance(c, b)
                assert distance(a, b) <= rounding, f"{level}: {y} is {a}, but {b} without rules\n{report}"


def _runs(plain: Sequence[Any], optimised: Sequence[Any], program: Program) -> list[tuple[Sequence[Any], Any]]:
    """What is run, on which inputs: the last one says what a few roundings in the inputs change."""
    return [(plain, None), (optimised, None), (plain, nudged(program))]


def _twice_differentiated(built: Built, ys: Sequence[Any], optimize: str | None = None) -> list[Any]:
    """`ys` with their first and second derivatives by the moved inputs."""
    fetches, targets = list(ys), differentiable(ys)
    xs = [built.xs[i] for i in built.moved()]
    for _ in range(2 if targets and xs and built.program.smooth() else 0):
        with built.graph.as_default(), pb.densify_policy("allow"):
            dxs = pb.gradients(
                targets, xs, [pb.ones_like(y) for y in targets], unconnected_gradients="zero", optimize=optimize
            )
            targets = [pb.convert_to_tensor(dx) for dx in dxs]
        fetches += targets
        if any(case.not_second_order for case in built.program.cases()):
            break
    return fetches


def a_dict_makes_the_same_graph(program: Program) -> None:
    """The text of the graph that its JSON makes is the same, and so are its results."""
    built = build(program)
    fetches = _with_gradients(built)
    copy = pb.Graph.from_dict(json.loads(json.dumps(built.graph.to_dict())))
    assert str(copy) == str(built.graph)
    xs = [
        copy.get_tensor_by_name(x.name) if k == "placeholder" else x
        for x, k in zip(built.xs, built.kinds(), strict=True)
    ]
    if "variable" in built.kinds():
        return
    again = Built(program, copy, xs, [copy.get_tensor_by_name(y.name) for y in fetches])
    for y, a, b in zip(fetches, again.run(again.ys), built.run(fetches), strict=True):
        assert distance(a, b) == 0, f"{y} is {b}, but {a} in the copy"


def xla_agrees(program: Program) -> None:
    """Values and gradients compiled by XLA are those of NumPy."""
    arrays = [x.value.array for x in program.inputs]
    if is_determined(program) and not any(map(_is_subnormal, arrays)) and not _is_open_beyond(program, arrays):
        _compare_engine(build(program), "xla")


def _is_open_beyond(program: Program, arrays: Sequence[Array]) -> bool:
    """Whether operations are given extremes that say nothing of NaN, or complex numbers whose parts may be infinite.

    What the parts of a product are depends on how they are multiplied then.
    """
    steps = list(program.block.all_steps())
    made = [*arrays, *[y.array for step in steps for y in step.outputs]]
    extreme = any(x.dtype in INEXACT and not np.all(np.abs(x) < _NOT_MEASURED) for x in arrays)
    silent = any(isinstance(step, Apply) and step.primitive.type in SILENT_OF_NAN for step in steps)
    return extreme and (silent or any(x.dtype in COMPLEX for x in made))


def _is_subnormal(x: Array) -> bool:
    """Whether an array has numbers that XLA takes for 0."""
    small = float(ml_dtypes.finfo(x.dtype).smallest_normal) if x.dtype in INEXACT else 0.0
    return bool(np.any((x != 0) & (np.abs(x) < small)))


def onnxruntime_agrees(program: Program) -> None:
    """Values and gradients of the exported model in onnxruntime are those of NumPy, where it can be exported."""
    if not any(case.not_onnx for case in program.cases()) and is_determined(program):
        with suppress(pb.errors.UnimplementedError):
            _compare_engine(build(program, static=True), "onnxruntime")


def is_determined(program: Program) -> bool:
    """Whether all engines give the same numbers: neither random ones, nor such as have a sign that is left open."""
    types = {step.primitive.type for step in program.block.all_steps() if isinstance(step, Apply)}
    return types.isdisjoint(UNDETERMINED) and not any(case.not_exact for case in program.cases())


def _compare_engine(built: Built, engine: str) -> None:
    """Equal as far as rounding is not magnified: what a few roundings in the inputs change, an engine may change."""
    fetches = _with_gradients(built)
    expected, found = built.run(fetches), built.run(fetches, engine)
    base = 1e-9 if precision(built.program) < 1e-12 else max(1e-5, few_roundings(built.program))
    if all(distance(a, b) <= base for a, b in zip(found, expected, strict=True)):
        return
    moved = built.run(fetches, arrays=nudged(built.program))
    for y, a, b, c in zip(fetches, found, expected, moved, strict=True):
        assert distance(a, b) <= base + 30 * distance(c, b), f"{y} is {a} on {engine}, but {b} on NumPy"


def nudged(program: Program, roundings: float = 4) -> list[Array]:
    """The inputs with all floats a few roundings away."""
    random, arrays = np.random.default_rng(5), []
    for x in program.inputs:
        array = x.value.array
        if array.dtype in INEXACT and x.kind != "constant":
            with np.errstate(all="ignore"):
                array = (array * (1 + roundings * precision(program) * random.choice([-1, 1], array.shape))).astype(
                    array.dtype
                )
        arrays.append(array)
    return arrays


def few_roundings(program: Program) -> float:
    """How far apart the same numbers are, computed in another order: of bfloat16, few digits are left of sums."""
    eps = precision(program)
    return 32 * eps if eps > _FEW_DIGITS else 8 * eps


def precision(program: Program) -> float:
    """The rounding of the narrowest floats that a program computes with."""
    dtypes = {y.array.dtype for step in program.block.all_steps() for y in step.outputs}
    dtypes |= {x.value.array.dtype for x in program.inputs}
    return max([float(ml_dtypes.finfo(d).eps) for d in dtypes if d in INEXACT], default=0.0)


def a_model_computes_the_same(program: Program) -> None:
    """What is exported to ONNX and loaded again has the same results, where it can be exported."""
    built = build(program, static=True)
    ys = list(dict.fromkeys(y for y in built.ys if y.dtype not in COMPLEX))
    fed = built.placeholders()
    if not ys or any(x.dtype in COMPLEX for x in fed) or not is_determined(program):
        return
    given = [x.value.array for x in program.inputs]
    try:
        with built.session("numpy", given) as session:
            model = pb.onnx.export(ys, fed, session=session)
        loaded = pb.onnx.load(model)
    except pb.errors.UnimplementedError:
        return
    arrays = [a for a, kind in zip(given, built.kinds(), strict=True) if kind == "placeholder"]
    with pb.Session(graph=loaded, engine="numpy") as session:
        found = session.run(list(loaded.outputs), dict(zip(loaded.inputs, arrays, strict=True)))
    for y, a, b in zip(ys, found, built.run(ys), strict=True):
        assert distance(a, b) < 1e-4, f"{y} is {b}, but {a} in the model that was loaded"


def jax_differentiates_to_the_same(program: Program) -> None:
    """The derivatives that jax finds of the forward graph, forward and in reverse, are those of `gradients`."""
    import jax

    built = build(program, static=True)
    ys = differentiable(built.ys)
    if not ys or not built.moved() or not program.smooth() or any(case.not_compiled for case in program.cases()):
        return
    given, moved = [x.value.array for x in program.inputs], built.moved()
    kinds = built.kinds()
    if any(kinds[i] == "variable" for i in moved):
        return
    weights = weights_like(built.run(ys), 1)
    directions = weights_like([given[i] for i in moved], 11)
    given = off_ties(given, moved, 21)
    gradients = built.run(differentiate(built, ys, 1), arrays=given)
    gradient = sum(_inner(g, v) for g, v in zip(gradients, directions, strict=True))
    with built.session("numpy", given) as session:
        function = pb.xla.to_jax(ys, built.placeholders(), session)

    def of_moved(*arrays: Any) -> Any:
        full = list(given)
        for i, array in zip(moved, arrays, strict=True):
            full[i] = array
        return function(*[a for a, kind in zip(full, kinds, strict=True) if kind == "placeholder"])

    with jax.enable_x64(True):
        _, slopes = jax.jvp(of_moved, [given[i] for i in moved], directions)
        back = jax.vjp(of_moved, *[given[i] for i in moved])[1]([np.conj(w) for w in weights])
    forward = [_inner(w, np.asarray(s)) for w, s in zip(weights, slopes, strict=True)]
    reverse = [_inner(np.conj(g), v) for g, v in zip(back, directions, strict=True)]
    rounding = max(1e-7, 30 * precision(program)) * max(sum(map(abs, forward)), 1e-2)
    for terms in (forward, reverse):
        assert abs(sum(terms) - gradient) <= rounding, f"{gradient}, but {sum(terms)} by jax"


def _inner(a: Array, b: Array) -> float:
    return float(np.real(np.sum(np.conj(a) * b)))


class _Failed(Exception):
    """What a body raises on purpose."""


def failing_calls_change_nothing(program: Program) -> None:
    """An operation that refuses its inputs, and a loop, branch or call whose body fails, leave the graph as it was."""
    built = build(program)
    tensors = [*built.placeholders(), *built.ys]
    with built.graph.as_default():
        predicate = pb.constant(True)
        before = _state(built.graph)
        for step in program.block.all_steps():
            if isinstance(step, Apply):
                wrong = [tensors[i % len(tensors)] for i in range(len(step.inputs))]
                with suppress(Exception), built.graph.transaction():
                    step.primitive.operation(*wrong)
                    raise _Failed
                assert _state(built.graph) == before, f"{step.primitive} of {wrong} left something behind"
        for build_body in (_failing_loop, _failing_branch, _failing_call):
            with suppress(_Failed):
                build_body(predicate, tensors[0])
            assert _state(built.graph) == before, f"{build_body.__name__} left something behind"


def _state(graph: pb.Graph) -> Any:
    types = {op.type for op in graph.operations}
    return str(graph), {name: graph.unique_name(name, mark_as_used=False) for name in (*types, "while", "cond")}


def _fail(x: pb.Tensor) -> Any:
    pb.identity(x)
    raise _Failed


def _failing_loop(predicate: pb.Tensor, x: pb.Tensor) -> Any:
    del predicate
    return pb.while_loop(lambda i: i < 2, lambda i: _fail(x), [0])


def _failing_branch(predicate: pb.Tensor, x: pb.Tensor) -> Any:
    return pb.cond(predicate, lambda: pb.identity(x), lambda: _fail(x))


def _failing_call(predicate: pb.Tensor, x: pb.Tensor) -> Any:
    del predicate
    return pb.function(_fail)(x)
