"""Passes over what is differentiated and over derivatives; they stand in a layer above and are defined from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.graph import Tensor
from ..core.memory import Memory
from ..core.slices import IndexedSlices

if TYPE_CHECKING:
    from .cotangent import Term

Optimizer = Callable[[Sequence[Tensor], Any, Set[Tensor], Set[Tensor]], list[Tensor]]
"""Of tensors, the rules, what stays the same tensor, and what is computed for itself: tensors of the same values."""
Rematerializer = Callable[[Sequence[Tensor], Memory], list[Tensor]]
"""Of tensors and a budget: tensors of the same values, that keep to it."""
_loaders: list[Callable[[], Optimizer]] = []


def define_optimizer(load: Callable[[], Optimizer]) -> None:
    """Let what `load` returns optimise where `gradients` is asked to."""
    _loaders.append(load)


_rematerializers: list[Callable[[], Rematerializer]] = []


def define_rematerializer(load: Callable[[], Rematerializer]) -> None:
    """Let what `load` returns see to budgets where `gradients` is given one."""
    _rematerializers.append(load)


def terms_within(terms: Sequence[Term | None], ys: Sequence[Tensor], memory: Memory) -> list[Term | None]:
    """The derivatives `terms` of `ys`, in a graph that keeps to the budget of `memory`."""
    return _replaced(terms, lambda dense: _rematerializers[-1]()([*dense, *ys], memory))


def lean_targets(ys: Sequence[Any], rules: Any, keep: Set[Tensor]) -> list[Any]:
    """`ys`, the tensors among them optimised; they depend on `keep` as they did."""
    tensors = [y for y in ys if isinstance(y, Tensor)]
    found = dict(zip(tensors, _loaders[-1]()(tensors, rules, keep, frozenset(tensors)), strict=True))
    return [found[y] if isinstance(y, Tensor) else y for y in ys]


def lean_terms(terms: Sequence[Term | None], ys: Sequence[Tensor], rules: Any, keep: Set[Tensor]) -> list[Term | None]:
    """The derivatives `terms` of `ys` optimised; slices stay slices."""
    return _replaced(terms, lambda dense: _loaders[-1]()([*dense, *ys], rules, keep, frozenset()))


def _replaced(terms: Sequence[Term | None], change: Callable[[list[Tensor]], list[Tensor]]) -> list[Term | None]:
    """`terms`, with what `change` makes of the tensors in them."""
    tensors = [dx.values if isinstance(dx, IndexedSlices) else dx for dx in terms]
    dense = [x for x in tensors if isinstance(x, Tensor)]
    found = dict(zip(dense, change(dense), strict=False))
    return [
        replace(dx, values=found.get(x, x)) if isinstance(dx, IndexedSlices) else found.get(dx)  # type: ignore[arg-type]
        for dx, x in zip(terms, tensors, strict=True)
    ]
