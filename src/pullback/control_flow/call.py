"""The call of a function: differentiated once per function, and a call again in the derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autodiff.cotangent import Term
from ..autodiff.pullbacks import pullback_of
from ..core.function import AbstractFunctional, Function
from ..core.graph import Operation
from ..core.types import TensorType


class Call(AbstractFunctional):
    """The results of `function` for the inputs.

    y = f(x);  dx = f_grad(x, dy), which computes again what it needs of f: XLA merges that with the first time.
    """

    type = "PartitionedCall"
    takes_none = True
    takes_wanted = True

    function: Function

    def infer(self, *args: TensorType) -> tuple[TensorType, ...]:
        check_arguments(f"call of {self.function.name}", self.function, args)
        return tuple([y.type for y in self.function.results])

    def arguments(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        return [inputs[: len(self.function.parameters)]]

    def gradient(self, op: Operation, *dys: Any, wanted: Sequence[bool]) -> Sequence[Term | None]:
        pullback = pullback_of(self.function, tuple(wanted), tuple([dy is not None for dy in dys]))
        if not pullback.function.results:
            return [None] * len(op.inputs)
        results = results_of(Call(pullback.function)(*op.inputs, *[dy for dy in dys if dy is not None]))
        return [pullback.term(i, results, x) for i, x in enumerate(op.inputs)]


def results_of(outputs: Any) -> Sequence[Any]:
    """The outputs of a new operation as a sequence."""
    return outputs if isinstance(outputs, tuple) else [outputs]


def check_arguments(what: str, function: Function, args: Sequence[TensorType]) -> None:
    """TypeError or ValueError unless `args` fit the parameters of `function`."""
    if len(args) != len(function.parameters):
        raise ValueError(f"{what}: {len(args)} arguments for {len(function.parameters)} parameters")
    for x, given in zip(function.parameters, args, strict=True):
        if given.dtype != x.dtype:
            raise TypeError(f"{what}: parameter '{x.op.name}' is {x.type}, not {given}")
        if not given.shape.is_compatible_with(x.shape):
            raise ValueError(f"{what}: parameter '{x.op.name}' is {x.type}, not {given}")
