"""Lengths that are products of others: what `Reshape` joins, and what it takes apart again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .records import Model

Symbol = tuple[str, int]
Length = int | Symbol


def product(model: Model, lengths: Iterable[Length | None]) -> Length | None:
    """The length that is the product of `lengths`; None where one of them is not known."""
    number, symbols = 1, Counter[Symbol]()
    for length in lengths:
        if length is None:
            return None
        more, others = _factors(model, length)
        number, symbols = number * more, symbols + others
    return _length(model, number, symbols)


def quotient(model: Model, whole: Length | None, part: Length | None) -> Length | None:
    """The length of which `part` times makes `whole`, where the factors show it."""
    if whole is None or part is None:
        return None
    (number, symbols), (divisor, others) = _factors(model, whole), _factors(model, part)
    if divisor == 0 or number % divisor or others - symbols:
        return None
    return _length(model, number // divisor, symbols - others)


def _factors(model: Model, length: Length) -> tuple[int, Counter[Symbol]]:
    while not isinstance(length, int) and length in model.merged:
        length = model.merged[length]
    if isinstance(length, int):
        return length, Counter()
    if length not in model.factors:
        return 1, Counter([length])
    number, symbols = model.factors[length]
    found = Counter[Symbol]()
    for symbol in symbols:
        more, others = _factors(model, symbol)
        number, found = number * more, found + others
    return number, found


def _length(model: Model, number: int, symbols: Counter[Symbol]) -> Length:
    if not symbols or number == 0:
        return number
    listed = sorted(symbols.elements())
    if number == 1 and len(listed) == 1:
        return listed[0]
    symbol: Symbol = model.symbols.setdefault(("Mul", number, *listed), ("", len(model.symbols)))
    model.factors[symbol] = number, tuple(listed)
    return symbol
