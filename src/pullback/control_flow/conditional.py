"""Conditionals: `cond`, `case` and `switch_case` run one of several Python functions, and nothing of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..core import nest
from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import bool as bool_
from ..core.dtypes import int32
from ..core.errors import WrongKindError
from ..core.function import Function
from ..core.graph import Tensor, get_default_graph, site_of
from ..core.seen import seen
from ..core.shape import TensorShape
from ..core.typing import TensorLike
from ..primitives.casting.cast import cast
from ..primitives.creation.constant import constant, convert_to_tensor
from ..primitives.debugging.assertions import assert_
from ..primitives.identity.identity import identity
from ..primitives.indexing.where import where
from ..primitives.reduction.argmax import argmax
from ..primitives.reduction.reduce import reduce_any, reduce_sum
from ..primitives.shape.stacking import stack
from .branch import Case, If
from .branch_slices import with_slices_of_one_form
from .state import values_for_handles, with_kept_of_all
from .tracing import Part, kinds, put_together, take_apart, trace_together

Branch = Callable[[], Any]


@in_graph_of_inputs
def cond(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
    *,
    strict: bool = True,
    fn1: Branch | None = None,
    fn2: Branch | None = None,
) -> Any:
    """What `true_fn()` returns where `pred` is true, else what `false_fn()` returns; nothing of the other is run.

    Both return the same nested structure of tensors, IndexedSlices or TensorArrays, of the same dtypes; where shapes
    differ, what they have in common is known of the result. A tensor is IndexedSlices of all its rows where the other
    branch returns IndexedSlices; their indices may be int32 in one and int64 in the other. Assignments and other
    effects inside happen when their branch is run (after `disable_v2_behavior`, those that what is fetched waits for);
    branches that return None, or an operation, are run for these, and an operation is returned, in each place where
    there is one. With `strict=False` a list of one is the one, in each branch. `fn1` and `fn2` are old names of the
    branches. Only the branch that is run needs values for the variables that it reads; on XLA both do, unless `pred` is
    known when it compiles, as that of `is_variable_initialized` is.

    Shapes, dtypes: `pred`, a scalar of truth values.

    Derivative: that of the function that was run; 0 for what only the others read.

    Raises:
        TypeError: `pred` is a Python bool or not a scalar of truth values; a branch is not callable; dtypes differ.
        ValueError: the branches return different structures, or one uses a tensor of the other.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [])
    >>> y = pb.cond(x > 0.0, lambda: pb.sqrt(x), lambda: pb.zeros([]))
    >>> dx, = pb.gradients(y, x)
    >>> pb.Session().run([y, dx], {x: -4.0})
    [np.float32(0.0), np.float32(0.0)]
    """
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    if isinstance(pred, bool):
        raise TypeError(f"cond: pred must not be a Python bool, but a tensor; use `if` for {pred}")
    for branch, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(branch):
            raise TypeError(f"cond: {what} must be callable, not {branch!r}")
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope(name or "cond"):
        predicate = _scalar("cond: pred", pred, bool_)
        parts = [_Branch("true_fn", true_fn, strict), _Branch("false_fn", false_fn, strict)]
        return _chosen(lambda fs, kept: If(fs[0], fs[1], kept), predicate, parts, "cond")


@in_graph_of_inputs
def switch_case(
    branch_index: TensorLike, branch_fns: Any, default: Branch | None = None, name: str = "switch_case"
) -> Any:
    """What the function of the number `branch_index` returns; nothing of the others is run.

    `branch_fns` is a list of functions, or of pairs of a number and a function, or a dictionary from numbers to
    functions; the numbers are 0, 1, ..., in any order. For another number `default` is run, or, without it, the last
    function. What the functions may return is as for `cond`.

    Shapes, dtypes: `branch_index`, a scalar of int32.

    Derivative: that of the function that was run; 0 for what only the others read.

    Raises:
        TypeError: `branch_index` is not a scalar of int32; a branch is not callable; dtypes differ.
        ValueError: the numbers are not 0, 1, ...; there is no function; the functions return different structures.

    >>> import pullback as pb
    >>> i = pb.placeholder(pb.int32, [])
    >>> y = pb.switch_case(i, [lambda: pb.constant(10.0), lambda: pb.constant(20.0)], default=lambda: pb.constant(-1.0))
    >>> [float(pb.Session().run(y, {i: n})) for n in (0, 1, 7)]
    [10.0, 20.0, -1.0]
    """
    branches = _numbered(branch_fns)
    if default is not None:
        branches.append(default)
    for branch in branches:
        if not callable(branch):
            raise TypeError(f"switch_case: branches must be callable, not {branch!r}")
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope(name):
        index = _scalar("switch_case: branch_index", branch_index, int32)
        parts = [_Branch(f"branch_{i}", branch) for i, branch in enumerate(branches)]
        return _chosen(lambda functions, kept: Case(tuple(functions), kept), index, parts, "switch_case")


@in_graph_of_inputs
def case(
    pred_fn_pairs: Any,
    default: Branch | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function beside the first true predicate returns; nothing of the others is run.

    `pred_fn_pairs` is a list of pairs, or a dictionary, of predicates and functions. Where no predicate is true,
    `default` is run; without it the run fails, as with `exclusive` one in which two predicates are true. What the
    functions may return is as for `cond`; with `strict=False` a list of one is the one, in each.

    Shapes, dtypes: the predicates, scalars of truth values.

    Derivative: that of the function that was run; 0 for what only the others read.

    Raises:
        TypeError: not pairs of a predicate and a function. ValueError: there is no pair; different structures.
        InvalidArgumentError: in a run, two predicates are true that are said to be exclusive, or none is and there is
        no default.

    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [])
    >>> y = pb.case([(x < 0.0, lambda: -x), (x < 1.0, lambda: x * x)], default=lambda: pb.sqrt(x))
    >>> [float(pb.Session().run(y, {x: v})) for v in (-2.0, 0.5, 4.0)]
    [2.0, 0.25, 2.0]
    """
    pairs = _pairs(pred_fn_pairs)
    graph = get_default_graph().acting
    with graph.transaction(), graph.name_scope(name):
        predicates = stack([_scalar("case: a predicate", p, bool_) for p, _ in pairs])
        first = cast(argmax(cast(predicates, int32), 0), int32)
        index = where(reduce_any(predicates), first, constant(len(pairs), int32))
        checks = []
        if exclusive:
            data = ["Input error: case: more than one predicate is true, which exclusive=True rules out:", predicates]
            checks.append(assert_(reduce_sum(cast(predicates, int32)) <= 1, data, len(pairs)))
        if default is None:
            data = ["Input error: case: no predicate is true, and there is no default:", predicates]
            checks.append(assert_(reduce_any(predicates), data, len(pairs)))
        if checks:
            with graph.control_dependencies(checks):
                index = identity(index)
        branches = [branch for _, branch in pairs] + ([] if default is None else [default])
        parts = [_Branch(f"branch_{i}", branch, strict) for i, branch in enumerate(branches)]
        return _chosen(lambda functions, kept: Case(tuple(functions), kept), index, parts, "case")


def _numbered(branch_fns: Any) -> list[Any]:
    pairs = branch_fns.items() if isinstance(branch_fns, Mapping) else branch_fns
    items = list(pairs)
    if not items:
        raise ValueError("switch_case: branch_fns must have at least one function")
    if all(isinstance(item, tuple) and len(item) == 2 for item in items):
        numbers = [number for number, _ in items]
        if not all(isinstance(number, int | np.integer) for number in numbers):
            raise TypeError(f"switch_case: each number of branch_fns must be a Python `int`, not one of {numbers}")
        found = dict(items)
        if sorted(numbers) != list(range(len(items))):
            last = len(items) - 1
            raise ValueError(
                f"switch_case: the numbers of branch_fns must form contiguous ones, 0 to {last}, not {numbers}"
            )
        return [found[i] for i in range(len(items))]
    return items


def _pairs(pred_fn_pairs: Any) -> list[tuple[Any, Branch]]:
    items = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else list(pred_fn_pairs)
    if not items:
        raise ValueError("case: pred_fn_pairs must have at least one pair")
    for item in items:
        if not isinstance(item, tuple) or len(item) != 2 or not callable(item[1]):
            raise TypeError(f"case: pred_fn_pairs must be pairs of a predicate and a function, not {item!r}")
    return items


def _scalar(what: str, value: Any, dtype: Any) -> Tensor:
    x = convert_to_tensor(value)
    if x.dtype != dtype or not x.shape.is_compatible_with(TensorShape.SCALAR):
        kind = "truth values" if dtype == bool_ else dtype.name
        raise TypeError(f"{what} must be a scalar of {kind}, not {x}")
    return x


class _Branch:
    """A branch before it is traced, and what it returned afterwards."""

    def __init__(self, name: str, function: Any, strict: bool = True) -> None:
        self.name = name
        self.function = function
        self.strict = strict
        self.template: Any = None

    def build(self, choice: Tensor, number: int, count: int) -> Sequence[Tensor]:
        """The tensors that the function's result is made of; unless `strict`, a list of one is unpacked.

        In a run it is the branch of that `number` among `count`, and `choice` says which is taken.
        """
        get_default_graph().choice = choice, number, count
        result = self.function()
        unpacked = not self.strict and isinstance(result, list | tuple) and len(result) == 1
        self.template, tensors = take_apart(result[0] if unpacked else result)
        return tensors


def _chosen(make: Any, choice: Tensor, branches: Sequence[_Branch], what: str) -> Any:
    """The structure that the branches return, of the outputs of the operation that runs one of them."""
    count = len(branches)
    parts = [Part(branch.name, partial(branch.build, choice, i, count)) for i, branch in enumerate(branches)]
    together = trace_together(parts)
    _check_structures(what, branches)
    traced, templates = with_slices_of_one_form(together.functions, [branch.template for branch in branches])
    _check_agreement(what, branches, traced, templates)
    functions, captured = values_for_handles(traced, together.captured)
    count = len(functions[0].results)
    graph = choice.op.graph.acting
    functions, kept = with_kept_of_all(functions, reads=graph.outer is not None)
    with graph.control_dependencies(together.controls):
        op = graph.add(make(functions, kept), [choice, *captured])
    if not count and not nest.is_nested(templates[0]):
        return op
    with_operations = nest.map_structure(
        lambda leaf: replace(leaf, rebuild=lambda parts: op) if leaf.ran else leaf, templates[0]
    )
    return put_together(with_operations, op.outputs[:count])


def _check_structures(what: str, branches: Sequence[_Branch]) -> None:
    """WrongKindError unless all branches return the same structure."""
    first, *others = branches
    for other in others:
        try:
            nest.assert_same_structure(kinds(first.template), kinds(other.template))
        except (TypeError, ValueError) as error:
            raise _unlike(what, first, other, f"return values. {error}") from None


def _check_agreement(
    what: str, branches: Sequence[_Branch], functions: Sequence[Function], templates: Sequence[Any]
) -> None:
    """WrongKindError unless all branches return the same kinds of values, of the same dtypes."""
    first, *others = branches
    expected = kinds(templates[0])
    for other, template in zip(others, templates[1:], strict=True):
        found = kinds(template)
        if nest.flatten(expected) != nest.flatten(found):
            raise _unlike(what, first, other, f"return values, not {expected} and {found}")
    for a, b, branch in _results(functions, branches):
        if a.dtype != b.dtype:
            sites = f"{a} (made at {site_of(a)}) and {b} (made at {site_of(b)})"
            raise _unlike(
                what, first, branch, f"return values, but {sites} differ; convert one with {seen.package}.cast"
            )


def _unlike(what: str, first: _Branch, other: _Branch, values: str) -> WrongKindError:
    """What to raise for two branches whose results are not alike; `values` says of what, and how they differ."""
    both = f"{first.name} and {other.name} arguments to {seen.package}.{what}"
    return WrongKindError(f"{what}: {both} must have the same number, type, and overall structure of {values}")


def _results(functions: Sequence[Function], branches: Sequence[_Branch]) -> list[tuple[Tensor, Tensor, _Branch]]:
    first, *others = functions
    return [
        (a, b, branch)
        for function, branch in zip(others, branches[1:], strict=True)
        for a, b in zip(first.results, function.results, strict=True)
    ]
