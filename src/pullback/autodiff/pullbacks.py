"""Pullbacks (vector-Jacobian products) of functions: parameters and cotangents of results to those of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.function import Function, inline, like_parameter, substituted, trace
from ..core.graph import Tensor
from ..core.slices import IndexedSlices
from ..primitives.shape.size import shape as shape_of
from ..primitives.variables.operations import VariableShape, variable_type
from .choices import choices_key
from .cotangent import Term
from .reverse import pull


@dataclass(frozen=True, eq=False)
class Pullback:
    """The derivative of a function.

    `function` takes the parameters of that function, then one cotangent for each result that was seeded, then the
    values of the results that were given. `places` says for each of the parameters where its cotangent is among the
    results: nowhere (not wanted, or no seeded result depends on it), at one place, or, for slices, at two.
    """

    function: Function
    places: tuple[tuple[int, ...], ...]

    def results(self, i: int) -> list[Tensor]:
        """The results of `function` that are the cotangent of parameter `i`."""
        return [self.function.results[n] for n in self.places[i]]

    def term(self, i: int, results: Sequence[Tensor], x: Tensor) -> Term | None:
        """The cotangent of parameter `i`, behind which stands `x`, from the results of `function`."""
        place = self.places[i]
        if not place:
            return None
        if len(place) == 1:
            return results[place[0]]
        return slices_of(x, results[place[0]], results[place[1]])


def slices_of(x: Tensor, values: Tensor, indices: Tensor) -> IndexedSlices:
    """The slices of a tensor like `x`, or like the variable whose handle `x` is."""
    if x.type.dtype.kind == "-":
        return IndexedSlices(values, indices, VariableShape()(x), variable_type(x).shape)
    return IndexedSlices(values, indices, shape_of(x), x.shape)


def pullback_of(
    function: Function, wanted: tuple[bool, ...], seeded: tuple[bool, ...], given: tuple[int, ...] = ()
) -> Pullback:
    """The derivative of `function` by the wanted parameters, for cotangents of the seeded results; made once.

    The results of the numbers `given` are not computed again: the derivative is given their values.
    """
    key = ("pullback", wanted, seeded, given, choices_key())
    known: Pullback | None = function.memo.get(key)
    if known is None:
        known = function.memo[key] = _differentiated(function, wanted, seeded, given)
    return known


def _differentiated(
    function: Function, wanted: tuple[bool, ...], seeded: tuple[bool, ...], given: tuple[int, ...]
) -> Pullback:
    places: list[tuple[int, ...]] = []
    count = len(function.parameters)
    seeds = _where(seeded, function.results)
    known = [function.results[i] for i in given]
    substitutes: dict[Tensor, Tensor] = {}

    def build(*args: Tensor) -> list[Tensor]:
        xs, dys, values = args[:count], args[count : count + len(seeds)], args[count + len(seeds) :]
        ys = inline(function, xs, effects=False, known=dict(zip(known, values, strict=True)), substitutes=substitutes)
        found = iter(pull(_where(seeded, ys), dys, _where(wanted, xs)))
        results: list[Tensor] = []
        for want in wanted:
            parts = components(next(found)) if want else []
            places.append(tuple(range(len(results), len(results) + len(parts))))
            results.extend(parts)
        return results

    types = [like_parameter(x) for x in (*function.parameters, *seeds, *known)]
    names = [x.op.name for x in function.parameters] + [f"d_{i}" for i in range(len(seeds))]
    traced = trace(build, types, f"{function.name}_grad", names, inherit=False)
    return Pullback(substituted(traced.function, substitutes), tuple(places))


def _where(flags: Sequence[bool], values: Sequence[Tensor]) -> list[Tensor]:
    return [x for x, flag in zip(values, flags, strict=True) if flag]


def components(term: Term | None) -> list[Tensor]:
    """The tensors that a cotangent consists of."""
    if term is None:
        return []
    return [term.values, term.indices] if isinstance(term, IndexedSlices) else [term]
