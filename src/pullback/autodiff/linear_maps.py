"""The derivative of a function at a point as two linear maps, both functions again: forward, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.function import Function, inline, like_parameter, trace
from ..core.graph import Tensor
from ..primitives.creation.fill import ones_like, zeros_like
from .choices import choices_key
from .cotangent import dense
from .reverse import gradients

Numbers = tuple[int, ...]
Map = Callable[[list[Tensor], list[Tensor], Sequence[Tensor]], Sequence[Tensor]]
"""What comes out for results, for what they are differentiated by, and for vectors."""


def forward_map(function: Function, by: Numbers, of: Numbers) -> Function:
    """From the parameters of `function`, then a vector for each of the numbers `by`, to those of the results `of`.

    Zeros where a result depends on no parameter.
    """
    return _linear_map(function, by, of, by, pushed, "forward")


def backward_map(function: Function, by: Numbers, of: Numbers) -> Function:
    """From the parameters of `function`, then a vector for each of its results `of`, to those of the parameters `by`.

    As `gradients` has them, without sparse ones; zeros where no result depends on a parameter.
    """

    def pulled(ys: list[Tensor], xs: list[Tensor], vectors: Sequence[Tensor]) -> list[Tensor]:
        return [dense(dx) for dx in gradients(ys, xs, grad_ys=list(vectors), unconnected_gradients="zero")]

    return _linear_map(function, by, of, of, pulled, "backward")


def pushed(ys: Sequence[Tensor], xs: Sequence[Any], vectors: Sequence[Any]) -> list[Tensor]:
    """The derivative of `ys` by `xs` along `vectors`; zeros of a y that depends on no x.

    It is that of `gradients` by their cotangents, in which they are linear (Townsend, "A new trick for calculating
    Jacobian vector products", 2017).
    """
    seeds = [ones_like(y) for y in ys]
    pulled = gradients(ys, xs, grad_ys=seeds, unconnected_gradients="none")
    pairs = [(dense(dx), v) for dx, v in zip(pulled, vectors, strict=True) if dx is not None]
    if not pairs:
        return [zeros_like(y) for y in ys]
    found = gradients([dx for dx, _ in pairs], seeds, grad_ys=[v for _, v in pairs], unconnected_gradients="zero")
    return [dense(dy) for dy in found]


def _linear_map(function: Function, by: Numbers, of: Numbers, along: Numbers, build: Map, kind: str) -> Function:
    """What `build` makes; `along` are the numbers of the parameters, or of the results, that the vectors are like."""
    key = (kind, by, of, choices_key())
    known: Function | None = function.memo.get(key)
    if known is not None:
        return known
    count = len(function.parameters)
    like = function.parameters if kind == "forward" else function.results

    def body(*args: Tensor) -> Sequence[Tensor]:
        ys = inline(function, args[:count], effects=False)
        return build([ys[i] for i in of], [args[i] for i in by], args[count:])

    types = [like_parameter(x) for x in (*function.parameters, *[like[i] for i in along])]
    made = trace(body, types, f"{function.name}_{kind}", [x.op.name for x in function.parameters], inherit=False)
    function.memo[key] = made.function
    return made.function
