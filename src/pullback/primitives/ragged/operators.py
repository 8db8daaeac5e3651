"""Operators of ragged tensors, and the methods that make dense and sparse tensors of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.graph import Tensor
from ...core.operation import define_methods
from .broadcasting import paired
from .conversions import from_sparse, from_tensor, to_sparse, to_tensor
from .operations import map_flat_values
from .ragged_tensor import RaggedTensor

_TWO = "add sub mul div truediv floordiv mod pow and or xor"
_COMPARISONS = "lt le gt ge"


def _operator(op: Callable[..., Any], turned: bool = False) -> Callable[..., Any]:
    """The operator of ragged tensors for that of tensors."""

    @in_graph_of_inputs
    def operator(self: RaggedTensor, other: Any) -> Any:
        operands = paired(self, other)
        return map_flat_values(op, *(operands[::-1] if turned else operands))

    return operator


def _of_one(op: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: map_flat_values(op, self)


def install_ragged_methods() -> None:
    """Give ragged tensors the operators of tensors, and the conversions."""
    methods: dict[str, Any] = {
        f"__{n}__": _operator(getattr(Tensor, f"__{n}__")) for n in f"{_TWO} {_COMPARISONS}".split()
    }
    methods |= {f"__r{n}__": _operator(getattr(Tensor, f"__{n}__"), turned=True) for n in _TWO.split()}
    methods |= {f"__{n}__": _of_one(getattr(Tensor, f"__{n}__")) for n in ["neg", "abs", "invert"]}
    methods |= {"to_tensor": to_tensor, "to_sparse": to_sparse}
    methods |= {"from_tensor": staticmethod(from_tensor), "from_sparse": staticmethod(from_sparse)}
    define_methods(RaggedTensor, methods)
