"""Functions of jax arrays with the derivatives that `gradients` has.

jax by itself would differentiate operations of XLA: it knows nothing of `stop_gradient`, of derivatives that users
gave, of what is chosen at hard points, and finds zeros where a kernel computes with bits or calls Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...autodiff.linear_maps import Numbers, backward_map, forward_map
from ...core.dtypes import INEXACT, resource
from ...core.function import Function
from ...core.sites import pass_over_package
from .linear_maps import linear_map

Arrays = Callable[..., list[Any]]
"""A function from arrays to arrays."""
_Maker = Callable[[Function, Numbers, Numbers], Function]

pass_over_package(os.path.dirname(os.path.dirname(jnp.__file__)))


class Differentiable:
    """`compute`, a function of arrays, with the derivatives of the graph: forward, reverse, of any order.

    `source` makes the function of the graph, which is asked for with the first derivative; `computing` gives what
    computes a function. The arrays are its parameters, in this order, but for handles of variables.
    """

    def __init__(
        self, compute: Arrays, source: Callable[[], Function], computing: Callable[[Function], Arrays]
    ) -> None:
        self._source = source
        self._computing = computing
        self._maps: dict[Any, Differentiable] = {}
        self._call = jax.custom_jvp(compute)
        self._call.defjvp(self._derivative, symbolic_zeros=True)

    def __call__(self, *arrays: Any) -> list[Any]:
        return self._call(*arrays)

    @cached_property
    def function(self) -> Function:
        """The function of the graph."""
        return self._source()

    def _derivative(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        results = self(*arrays)
        by = tuple([i for i, t in enumerate(tangents) if not _is_zero(t)])
        of = tuple([i for i, y in enumerate(results) if y.dtype in INEXACT])
        pushed: list[Any] = [np.zeros(y.shape, jax.dtypes.float0) for y in results]
        if of:
            forward, backward = _Forward(self, by, of), _Transpose(self, by, of, len(arrays))
            vectors = linear_map(forward, backward, arrays, [tangents[i] for i in by], [results[i] for i in of])
            for i, dy in zip(of, vectors, strict=True):
                pushed[i] = dy
        return results, pushed

    def map(self, make: _Maker, by: Numbers, of: Numbers) -> Differentiable:
        """A linear map of the function, made once."""
        key = make, by, of
        if key not in self._maps:
            function = make(self.function, tuple([self._parameters[i] for i in by]), of)
            self._maps[key] = Differentiable(self._computing(function), lambda: function, self._computing)
        return self._maps[key]

    @cached_property
    def _parameters(self) -> list[int]:
        """The numbers of the parameters that the arrays are."""
        return [i for i, x in enumerate(self.function.parameters) if x.dtype is not resource]


@dataclass(frozen=True)
class _Forward:
    """The derivative by the arrays `by` of the results `of`, along vectors; made when it is computed."""

    function: Differentiable
    by: Numbers
    of: Numbers

    def __call__(self, *args: Any) -> list[Any]:
        return self.function.map(forward_map, self.by, self.of)(*args)


@dataclass(frozen=True)
class _Transpose:
    """What jax calls the transpose of that: the adjoint, which `gradients` finds, without conjugates."""

    function: Differentiable
    by: Numbers
    of: Numbers
    arrays: int
    """How many of the arguments are no vectors."""

    def __call__(self, *args: Any) -> list[Any]:
        adjoint = self.function.map(backward_map, self.by, self.of)
        return [*map(jnp.conj, adjoint(*args[: self.arrays], *map(jnp.conj, args[self.arrays :])))]


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, jax.custom_derivatives.SymbolicZero) or tangent.dtype == jax.dtypes.float0
