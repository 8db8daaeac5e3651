"""Symbolic dimensions: lengths that only a run knows, and what sums, products and quotients make of them.

A `Length` is a polynomial with integer coefficients in atoms, where an atom is a symbol or a floor quotient, remainder,
minimum or maximum of lengths. Equal polynomials are one object, so that equality is identity. A symbol stands for one
number in a run; two lengths that are not identical may be equal all the same, which nobody can tell before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from threading import Lock
from typing import Any, Union
from weakref import WeakValueDictionary

_Monomial = tuple["Length", ...]
"""Atoms that are multiplied, in the order in which they were made; the empty one is 1."""
_Terms = dict[_Monomial, int]
_serials = count()
_polynomials: WeakValueDictionary[Any, Length] = WeakValueDictionary()
_atoms: WeakValueDictionary[Any, Length] = WeakValueDictionary()
_making = Lock()


class Length:
    """A length that only a run knows. Made by `symbol`, `named`, and arithmetic with integers and other lengths.

    >>> batch = named("batch")
    >>> batch * 6 // 2, batch + 1 - batch, (batch + 1) * 2 is batch * 2 + 2
    (3*batch, 1, True)
    """

    __slots__ = ("__weakref__", "function", "name", "operands", "serial", "terms")
    terms: _Terms
    """The coefficient of each monomial."""
    name: str
    """Of a symbol, what it prints as; empty where it has no name."""
    function: str
    """Of an atom that is no symbol, what it computes: a key of `_FUNCTIONS`."""
    operands: tuple[Dimension, ...]

    def __init__(self, name: str = "", function: str = "", operands: tuple[Dimension, ...] = ()) -> None:
        self.serial = next(_serials)
        self.name, self.function, self.operands = name, function, operands

    @property
    def is_atom(self) -> bool:
        """Whether it is a symbol, or a quotient, remainder, minimum or maximum, and no sum or product of others."""
        return bool(self.function) or self.is_symbol

    @property
    def is_symbol(self) -> bool:
        """Whether it is made of nothing else."""
        return not self.function and len(self.terms) == 1 and next(iter(self.terms)) == (self,)

    @property
    def symbols(self) -> frozenset[Length]:
        """The symbols that it is made of."""
        if self.is_symbol:
            return frozenset([self])
        parts = self.operands if self.function else [a for monomial in self.terms for a in monomial]
        return frozenset().union(*[p.symbols for p in parts if isinstance(p, Length)])

    def substitute(self, values: Mapping[Length, Dimension]) -> Dimension | None:
        """This length with `values` for the lengths among its parts; None where a symbol of it has none."""
        known = values.get(self)
        if known is not None:
            return known
        if self.is_symbol:
            return None
        if self.function:
            operands = [p.substitute(values) if isinstance(p, Length) else p for p in self.operands]
            found = [p for p in operands if p is not None]
            return _FUNCTIONS[self.function](*found) if len(found) == len(operands) else None
        total: Dimension = 0
        for monomial, coefficient in self.terms.items():
            product: Dimension = coefficient
            for atom in monomial:
                value = atom.substitute(values)
                if value is None:
                    return None
                product = product * value
            total = total + product
        return total

    def __copy__(self) -> Length:
        return self

    def __deepcopy__(self, memo: Any) -> Length:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process a name is the same symbol as there, and what has none a new one."""
        if self.function:
            return _atom, (self.function, *self.operands)
        if self.is_symbol:
            return (named, (self.name,)) if self.name else (symbol, ())
        return _polynomial, (self.terms,)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int | Length):
            return NotImplemented
        terms = dict(self.terms)
        for monomial, coefficient in _terms_of(other).items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return _polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other if isinstance(other, int | Length) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int | Length):
            return NotImplemented
        terms: _Terms = {}
        for a, m in self.terms.items():
            for b, n in _terms_of(other).items():
                monomial = tuple(sorted((*a, *b), key=_serial))
                terms[monomial] = terms.get(monomial, 0) + m * n
        return _polynomial(terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return _quotient(self, other) if isinstance(other, int | Length) else NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return _quotient(other, self) if isinstance(other, int) else NotImplemented

    def __mod__(self, other: Any) -> Any:
        return _remainder(self, other) if isinstance(other, int | Length) else NotImplemented

    def __rmod__(self, other: Any) -> Any:
        return _remainder(other, self) if isinstance(other, int) else NotImplemented

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """As a formula of names; `?` where a symbol of it has none."""
        if self.is_symbol:
            return self.name or "?"
        if any(not s.name for s in self.symbols):
            return "?"
        if self.function in ("min", "max"):
            return f"{self.function}({','.join(map(str, self.operands))})"
        if self.function:
            return self.function.join(_factor_text(p) for p in self.operands)
        text = "".join(_term_text(monomial, n) for monomial, n in self.terms.items())
        return text.removeprefix("+")


Dimension = Union[int, Length]  # noqa: UP007  (evaluated where the module is loaded)


def symbol(name: str = "") -> Length:
    """A new symbol, equal to no other."""
    length = Length(name)
    length.terms = {(length,): 1}
    return length


def named(name: str) -> Length:
    """The one symbol of that name.

    Raises:
        ValueError: the name is empty, or would not be told from a number or a formula when it is printed.
    """
    if not is_name(name):
        raise ValueError(f"a length is named by a word of letters, digits, '_' and '.', not {name!r}")
    return _interned(_atoms, name, lambda: symbol(name))


def is_name(name: str) -> bool:
    """Whether a length may be called so."""
    return name.replace(".", "_").isidentifier()


def least(*lengths: Dimension) -> Dimension:
    """The smallest of `lengths`."""
    return _extreme("min", lengths)


def greatest(*lengths: Dimension) -> Dimension:
    """The largest of `lengths`."""
    return _extreme("max", lengths)


def known_to_differ(m: Dimension | None, n: Dimension | None) -> bool:
    """Whether two lengths are different in every run."""
    if m is None or n is None or m is n:
        return False
    difference = m - n
    return isinstance(difference, int) and difference != 0


def apply(function: str, operands: Sequence[Dimension]) -> Dimension:
    """The quotient, minimum or maximum of lengths; KeyError for the name of another function."""
    return _FUNCTIONS[function](*operands)


def bind(values: dict[Length, Dimension], length: Dimension | None, value: Dimension | None) -> Dimension | None:
    """Note in `values` that `length` has `value`; what it had before, where that is another."""
    if not isinstance(length, Length) or value is None:
        return None
    before = values.setdefault(length, value)
    return None if before is value or before == value else before


def _serial(length: Length) -> int:
    return length.serial


def _terms_of(length: Dimension) -> _Terms:
    return length.terms if isinstance(length, Length) else {(): length} if length else {}


def _polynomial(terms: _Terms) -> Dimension:
    """The one length with these terms, or the number that they are."""
    listed = sorted([(m, n) for m, n in terms.items() if n], key=_term_order)
    if not listed:
        return 0
    (monomial, coefficient), *more = listed
    if not more and not monomial:
        return coefficient
    if not more and coefficient == 1 and len(monomial) == 1:
        return monomial[0]
    key = tuple(listed)

    def make() -> Length:
        made = Length()
        made.terms = dict(listed)
        return made

    return _interned(_polynomials, key, make)


def _term_order(term: tuple[_Monomial, int]) -> tuple[int, list[int]]:
    return -len(term[0]), [a.serial for a in term[0]]


def _atom(function: str, *operands: Dimension) -> Length:
    def make() -> Length:
        made = Length("", function, operands)
        made.terms = {(made,): 1}
        return made

    return _interned(_atoms, (function, *operands), make)


def _interned(known: WeakValueDictionary[Any, Length], key: Any, make: Callable[[], Length]) -> Length:
    found = known.get(key)
    if found is None:
        with _making:
            found = known.get(key)
            if found is None:
                found = known[key] = make()
    return found


def _quotient(a: Dimension, b: Dimension) -> Dimension:
    """a // b: what of `a` is a multiple of `b` is divided, the rest stays below a line."""
    if isinstance(a, int) and (isinstance(b, int) or a == 0):
        return a // b if isinstance(b, int) else 0
    exact = _divided(a, b)
    if exact is not None:
        return exact
    if not isinstance(b, int):
        return _atom("//", a, b)
    if b == 0:
        raise ZeroDivisionError("a length divided by 0")
    if b < 0:
        return _quotient(-a, -b)
    if isinstance(a, Length) and next(iter(a.terms.values())) < 0:
        return -_quotient(b - 1 - a, b)
    whole: _Terms = {m: n // b for m, n in _terms_of(a).items()}
    rest = _polynomial({m: n % b for m, n in _terms_of(a).items()})
    below = rest // b if isinstance(rest, int) else _atom("//", rest, b)
    return _polynomial(whole) + below


def _divided(a: Dimension, b: Dimension) -> Dimension | None:
    """The length of which `b` times is `a`, where there is one."""
    if isinstance(b, int):
        terms = _terms_of(a)
        return (
            _polynomial({m: n // b for m, n in terms.items()}) if b and not any(n % b for n in terms.values()) else None
        )
    (first, coefficient), *_ = b.terms.items()
    quotient: Dimension = 0
    rest = a
    for _ in range(len(_terms_of(a))):
        leading = next((m for m in _terms_of(rest) if _without(m, first) is not None), None)
        if leading is None:
            return None
        n = _terms_of(rest)[leading]
        if n % coefficient:
            return None
        part = _polynomial({_without(leading, first) or (): n // coefficient})
        quotient, rest = quotient + part, rest - part * b
        if rest == 0:
            return quotient
    return None


def _without(monomial: _Monomial, factors: _Monomial) -> _Monomial | None:
    """`monomial` divided by `factors`; None where it cannot be."""
    left = list(monomial)
    for atom in factors:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _remainder(a: Dimension, b: Dimension) -> Dimension:
    return a - b * _quotient(a, b)


def _extreme(function: str, lengths: Iterable[Dimension]) -> Dimension:
    choose: Callable[..., int] = min if function == "min" else max
    given = list(dict.fromkeys(lengths))
    numbers = [n for n in given if isinstance(n, int)]
    others = sorted([n for n in given if isinstance(n, Length)], key=_serial)
    if not others:
        return choose(numbers)
    if numbers and function == "max" and max(numbers) <= 0 and any(_is_positive(n) for n in others):
        numbers = []
    if len(others) == 1 and not numbers:
        return others[0]
    return _atom(function, *([choose(numbers)] if numbers else []), *others)


def _is_positive(length: Length) -> bool:
    """Whether it cannot be negative: no term is subtracted."""
    return all(n > 0 for n in length.terms.values())


def _factor_text(length: Dimension) -> str:
    simple = isinstance(length, int) or length.is_symbol or length.function in ("min", "max")
    return str(length) if simple else f"({length})"


def _term_text(monomial: _Monomial, coefficient: int) -> str:
    sign, number = "-" if coefficient < 0 else "+", abs(coefficient)
    factors = [str(number)] if number != 1 or not monomial else []
    return sign + "*".join([*factors, *[_factor_text(a) for a in monomial]])


_FUNCTIONS: Mapping[str, Callable[..., Dimension]] = {"//": _quotient, "min": least, "max": greatest}
