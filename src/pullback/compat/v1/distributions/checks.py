"""Validation of arguments: what a run asserts of parameters of distributions, and of values they are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pullback as pb

from ....core.dtypes import FLOATING
from ....core.typing import TensorLike
from ....primitives.base.broadcasting import operands


def floats(*values: TensorLike) -> tuple[pb.Tensor, ...]:
    """Parameters as tensors of one dtype.

    Raises:
        ValueError: they are no floats.
    """
    made = operands(*values)
    for x in made:
        if x.dtype not in FLOATING:
            raise ValueError(f"Expected floating point type, got {x}")
    return tuple(made)


def checked(x: pb.Tensor, assertions: Sequence[Any]) -> pb.Tensor:
    """`x`, which a run computes only where the assertions hold."""
    if not assertions:
        return x
    with x.graph.acting.control_dependencies(list(assertions)):
        return pb.identity(x)


def positive(x: pb.Tensor, validate_args: bool) -> pb.Tensor:
    """`x`, whose elements a run asserts to be above 0 where arguments are validated."""
    return checked(x, [pb.debugging.assert_positive(x)] if validate_args else [])


def probabilities(x: pb.Tensor, validate_args: bool, of_classes: bool = False) -> pb.Tensor:
    """`x`, asserted to be between 0 and 1, and those of classes to add up to 1, where arguments are validated."""
    if not validate_args:
        return x
    one = pb.constant(1.0, x.dtype)
    assertions = [pb.debugging.assert_non_negative(x), pb.debugging.assert_less_equal(x, one)]
    if of_classes:
        assertions.append(pb.debugging.assert_near(pb.reduce_sum(x, -1), one))
    return checked(x, assertions)


def whole(x: pb.Tensor) -> list[Any]:
    """The assertions that the elements are integers and not below 0."""
    found = [pb.debugging.assert_non_negative(x)]
    return [*found, pb.debugging.assert_equal(x, pb.floor(x))] if x.dtype in FLOATING else found
