"""Unparsing: values and attributes of random programs as Python code."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

import pullback as pb
from pullback.core.dtypes import TokenType
from pullback.core.primitive import Primitive


class Names:
    """Names of values and functions, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._values: dict[Hashable, str] = {}
        self._functions = 0

    def __getitem__(self, value: Hashable) -> str:
        return self._values.setdefault(value, f"v{len(self._values)}")

    def of(self, values: Iterable[Hashable]) -> str:
        """The names of several, with commas."""
        return ", ".join([self[value] for value in values])

    def function(self, kind: str) -> str:
        """A name for another function."""
        self._functions += 1
        return f"{kind}{self._functions}"


def indented(lines: Sequence[str]) -> list[str]:
    """The lines one level deeper."""
    return [f"    {line}" for line in lines]


def literal(value: Any) -> str:
    """Python code for an attribute or an array."""
    if isinstance(value, np.dtype | TokenType):
        return f"pb.as_dtype({value.name!r})"
    if isinstance(value, np.ndarray | np.generic):
        if not np.size(value):
            return f"np.zeros({value.shape}, {literal(value.dtype)})"
        return f"np.array({_plain(value.tolist())}, {literal(value.dtype)})"
    if isinstance(value, pb.TensorShape):
        return f"pb.TensorShape({None if value.rank is None else value.as_list()})"
    if isinstance(value, Primitive):
        return f"op({', '.join([repr(value.type), *[f'{k}={literal(v)}' for k, v in value.attributes.items()]])})"
    if isinstance(value, pb.TensorType):
        return f"pb.TensorType({literal(value.dtype)}, {literal(value.shape)})"
    if isinstance(value, tuple):
        return f"({''.join(f'{literal(v)}, ' for v in value)})"
    return _plain(value)


def _plain(value: Any) -> str:
    """`repr`, with names for the numbers that have none."""
    text = repr(value)
    return text.replace("nan", "np.nan").replace("inf", "np.inf") if isinstance(value, float | complex | list) else text
