"""TensorFlow 1 parameters for `pullback.linalg`."""

from typing import Any

from ... import linalg as today
from . import circulant_operators, linear_operators, nn, structured_operators
from .arguments import older
from .composites import on_composites_too
from .functions import NORM

_KINDS = ("BlockDiag", "Householder", "Kronecker", "LowRankUpdate", "Permutation", "Toeplitz", "Tridiag", "Zeros")
STRUCTURED = tuple(f"LinearOperator{kind}" for kind in _KINDS)
"""The operators that are made of smaller parts."""


def __getattr__(name: str) -> Any:
    if name == "l2_normalize":
        return getattr(nn, name)
    if name.startswith("LinearOperatorCirculant"):
        return getattr(circulant_operators, name)
    if name.startswith("LinearOperator"):
        return getattr(structured_operators if name in STRUCTURED else linear_operators, name)
    return on_composites_too(name, older(getattr(today, name), NORM if name == "norm" else None), None)


def __dir__() -> list[str]:
    return dir(today)
