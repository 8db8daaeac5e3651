"""Conditional primitives (`If`, `Case`): one function is run of several, and nothing of the others.

y = f_k(x);  dx = f_k_grad(x, dy): a branch again, on the same choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autodiff.cotangent import Term
from ..autodiff.pullbacks import Pullback, components, pullback_of, slices_of
from ..core.dtypes import TokenType, int32, int64
from ..core.dtypes import bool as bool_
from ..core.function import AbstractFunctional, Function, Parameter, inline, like_parameter, trace, types_at_call
from ..core.graph import Operation, Tensor
from ..core.shape import TensorShape
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..primitives.base.densify import densify
from ..primitives.casting.cast import cast
from ..primitives.creation.fill import zeros, zeros_like
from ..primitives.identity.identity import ensure_shape
from ..primitives.shape.stacking import concat
from ..primitives.variables.operations import variable_type, variable_zeros
from .call import check_arguments


class If(AbstractFunctional):
    """`then_branch` of the inputs after the first where that is true, else `else_branch`."""

    lead = 1
    takes_none = True
    takes_wanted = True

    then_branch: Function
    else_branch: Function
    kept: tuple[tuple[int, ...], ...] = ((), ())
    """For each branch the numbers of the results that its derivative is given: what a second time would not find."""

    def infer(self, predicate: TensorType, *args: TensorType) -> tuple[TensorType, ...]:
        if predicate.dtype != bool_ or not predicate.shape.is_compatible_with(TensorShape.SCALAR):
            raise TypeError(f"cond: the predicate must be a scalar of truth values, not {predicate}")
        return _common_types("cond", self.functions, args)

    def arguments(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        args = inputs[1 : 1 + len(self.then_branch.parameters)]
        return [args, args]

    def taken(self, choice: Any) -> int:
        """The number of the function that is run where the first input is `choice`."""
        return 0 if choice else 1

    def gradient(self, op: Operation, *dys: Any, wanted: Sequence[bool]) -> Sequence[Term | None]:
        return _gradient(op, dys, wanted, self.kept, lambda functions: If(*functions))


class Case(AbstractFunctional):
    """The branch whose number is the first input, of the other inputs; the last where there is no such number."""

    lead = 1
    takes_none = True
    takes_wanted = True

    branches: tuple[Function, ...]
    kept: tuple[tuple[int, ...], ...] = ()
    """As for `If`; of no branch where it is empty."""

    def infer(self, index: TensorType, *args: TensorType) -> tuple[TensorType, ...]:
        if index.dtype != int32 or not index.shape.is_compatible_with(TensorShape.SCALAR):
            raise TypeError(f"switch_case: the branch index must be a scalar of int32, not {index}")
        return _common_types("switch_case", self.branches, args)

    def arguments(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        return [inputs[1 : 1 + len(branch.parameters)] for branch in self.branches]

    def taken(self, choice: Any) -> int:
        """The number of the function that is run where the first input is `choice`."""
        last = len(self.branches) - 1
        return int(choice) if 0 <= choice <= last else last

    def gradient(self, op: Operation, *dys: Any, wanted: Sequence[bool]) -> Sequence[Term | None]:
        kept = self.kept or ((),) * len(self.branches)
        return _gradient(op, dys, wanted, kept, lambda functions: Case(tuple(functions)))


def _common_types(what: str, branches: Sequence[Function], args: Sequence[TensorType]) -> tuple[TensorType, ...]:
    for branch in branches:
        check_arguments(what, branch, args)
    types = []
    for first, *others in zip(*[types_at_call(branch, args) for branch in branches], strict=True):
        shape = first.shape
        for other in others:
            shape = shape.most_specific_compatible_shape(other.shape)
        types.append(TensorType(first.dtype, shape))
    return tuple(types)


def _gradient(
    op: Operation, dys: Sequence[Any], wanted: Sequence[bool], kept: Sequence[tuple[int, ...]], make: Any
) -> Sequence[Term | None]:
    choice, *args = op.inputs
    seeded = tuple([dy is not None for dy in dys])
    pairs = zip(op.primitive.functions, kept, strict=True)
    pullbacks = [pullback_of(f, tuple(wanted[1:]), seeded, own) for f, own in pairs]
    cotangents = [(y, dy) for y, dy in zip(op.outputs, dys, strict=True) if dy is not None]
    pullbacks = [_accepting(p, len(args), cotangents) for p in pullbacks]
    given = sorted({n for own in kept for n in own})
    if given:
        pullbacks = [_taking(p, own, given, op) for p, own in zip(pullbacks, kept, strict=True)]
    reconciled = _reconciled(pullbacks, args)
    if not reconciled[0].function.results:
        return [None] * len(op.inputs)
    inputs = [*args, *[dy for dy in dys if dy is not None], *[op.outputs[n] for n in given]]
    functions, numbers = _without_unused_parameters([p.function for p in reconciled])
    results = make(functions).operation(choice, *[inputs[i] for i in numbers]).outputs
    return [None, *[reconciled[0].term(i, results, x) for i, x in enumerate(args)]]


def _without_unused_parameters(branches: Sequence[Function]) -> tuple[list[Function], list[int]]:
    """`branches` without the parameters that none of them reads, and the numbers of those that stay."""
    used = [{x for op in f.operations for x in op.inputs} | set(f.results) for f in branches]
    numbers = [
        i
        for i, xs in enumerate(zip(*[f.parameters for f in branches], strict=True))
        if any(x in own for x, own in zip(xs, used, strict=True))
    ]
    return [f.with_results(f.results, [f.parameters[i] for i in numbers]) for f in branches], numbers


def _accepting(pullback: Pullback, first: int, cotangents: Sequence[tuple[Tensor, Any]]) -> Pullback:
    """`pullback` as a function that takes the cotangents, from parameter `first` on, in shapes that its branch has not.

    Where the results of branches have different ranks, what reads them may say which one it needs.
    """
    function = pullback.function
    seeds = function.parameters[first : first + len(cotangents)]
    if all(x.shape.is_compatible_with(dy.shape) for x, (_, dy) in zip(seeds, cotangents, strict=True)):
        return pullback
    parameters = [like_parameter(x) for x in function.parameters]
    parameters[first : first + len(seeds)] = [Parameter(y.type) for y, _ in cotangents]

    def build(*values: Tensor) -> list[Tensor]:
        given = list(values)
        for i, x in enumerate(seeds, first):
            given[i] = ensure_shape(values[i], x.shape)
        return inline(function, given)

    names = [x.op.name for x in function.parameters]
    return Pullback(trace(build, parameters, function.name, names, inherit=False).function, pullback.places)


def _taking(pullback: Pullback, own: Sequence[int], given: Sequence[int], op: Operation) -> Pullback:
    """`pullback`, which takes the results `own` of its branch, as a function that takes all results `given`."""
    function = pullback.function
    first = len(function.parameters) - len(own)
    parameters = [like_parameter(x) for x in function.parameters[:first]]
    parameters += [Parameter(op.outputs[n].type) for n in given]

    def build(*values: Tensor) -> list[Tensor]:
        return inline(function, [*values[:first], *[values[first + given.index(n)] for n in own]])

    names = [f"args_{i}" for i in range(len(parameters))]
    return Pullback(trace(build, parameters, function.name, names, inherit=False).function, pullback.places)


def _reconciled(pullbacks: Sequence[Pullback], args: Sequence[Tensor]) -> list[Pullback]:
    """`pullbacks` with cotangents of one form for each parameter: zeros where only another branch has one.

    Slices stay slices where all branches have slices of known numbers of rows, or nothing; else they are made dense.
    Those of fewer rows than others get rows of zeros, and indices of two dtypes become int64.
    """
    rows = [_rows([p.results(i) for p in pullbacks], x) for i, x in enumerate(args)]
    forms = [max(len(p.places[i]) for p in pullbacks) for i in range(len(args))]
    stay = all(form < 2 or indices is not None for form, indices in zip(forms, rows, strict=True))
    agree = all([len(place) for place in p.places] == forms for p in pullbacks) and not any(
        parts[1].type != indices
        for i, indices in enumerate(rows)
        if indices is not None
        for parts in [p.results(i) for p in pullbacks]
    )
    return list(pullbacks) if stay and agree else [_in_form(p, forms, rows) for p in pullbacks]


def _rows(found: Sequence[Sequence[Tensor]], x: Tensor) -> TensorType | None:
    """The type of the indices in all branches that have slices; None where they cannot stay slices."""
    types = list(dict.fromkeys(parts[1].type if len(parts) == 2 else None for parts in found if parts))
    known = [t for t in types if t is not None and t.shape.rank == 1 and t.shape.is_fully_defined()]
    if not known or len(known) != len(types) or not row_shape(x).is_fully_defined():
        return None
    dtype = known[0].dtype if len({t.dtype for t in known}) == 1 else int64
    return TensorType(dtype, TensorShape([max(t.shape.known[0] for t in known)]))


def row_shape(x: Tensor) -> TensorShape:
    """What is known of the shape of one row of `x`, or of the variable whose handle `x` is."""
    shape = variable_type(x).shape if isinstance(x.dtype, TokenType) else x.shape
    return shape[1:] if shape.rank else TensorShape.UNKNOWN


def _in_form(pullback: Pullback, forms: Sequence[int], rows: Sequence[TensorType | None]) -> Pullback:
    function = pullback.function
    places: list[tuple[int, ...]] = []

    def build(*given: Tensor) -> list[Tensor]:
        found = inline(function, given)
        results: list[Tensor] = []
        for i, (form, indices) in enumerate(zip(forms, rows, strict=True)):
            term = pullback.term(i, found, given[i])
            if form and (form == 1 or indices is None):
                term = as_dense(term, given[i])
            elif indices is not None:
                term = _no_slices(given[i], indices) if term is None else _of_rows(given[i], term, indices)
            parts = components(term)
            places.append(tuple(range(len(results), len(results) + len(parts))))
            results.extend(parts)
        return results

    types = [like_parameter(x) for x in function.parameters]
    names = [x.op.name for x in function.parameters]
    return Pullback(trace(build, types, function.name, names, inherit=False).function, tuple(places))


def as_dense(term: Term | None, x: Tensor) -> Tensor:
    """`term` as a tensor in the shape of `x`, or of the variable whose handle `x` is; zeros for None."""
    if term is None:
        return variable_zeros(x) if isinstance(x.dtype, TokenType) else zeros_like(x)
    return densify(term) if isinstance(term, IndexedSlices) else term


def _of_rows(x: Tensor, term: Any, indices: TensorType) -> IndexedSlices:
    """The slices `term` with indices of that type: rows of zeros are put behind them."""
    values, numbers = term.values, cast(term.indices, indices.dtype)
    missing = indices.shape.known[0] - numbers.shape.known[0]
    if missing:
        values = concat([values, zeros([missing, *row_shape(x).known], values.dtype)], 0)
        numbers = concat([numbers, zeros([missing], numbers.dtype)], 0)
    return slices_of(x, values, numbers)


def _no_slices(x: Tensor, indices: TensorType) -> IndexedSlices:
    """As many rows of zeros as there are `indices`, all at row 0."""
    dtype = variable_type(x).dtype if isinstance(x.dtype, TokenType) else x.dtype
    values = zeros([*indices.shape.known, *row_shape(x).known], dtype)
    return slices_of(x, values, zeros(indices.shape.known, indices.dtype))
