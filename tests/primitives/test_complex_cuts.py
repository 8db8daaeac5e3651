"""Complex functions: on axes they are on the side that the sign of a zero says, as their derivatives are.

Near 0, near their poles and far out they are those of NumPy to the last digits.
"""

from __future__ import annotations

import importlib
import pkgutil
from inspect import signature

import numpy as np
import pytest

import pullback as pb
import pullback.primitives
from pullback.core.primitive import Primitive, primitive_classes
from pullback.primitives.base.broadcasting import AbstractElementwise

SIDES = [complex(v, zero) for v in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5) for zero in (0.0, -0.0)]
ON_AXES = np.array(SIDES + [complex(z.imag, z.real) for z in SIDES])
BESIDE = ON_AXES + 1e-9 * (
    np.where(ON_AXES.real == 0, np.copysign(1, ON_AXES.real), 0)
    + 1j * np.where(ON_AXES.imag == 0, np.copysign(1, ON_AXES.imag), 0)
)

ARGUMENTS = len(["self", "dy", "y", "x"])


def functions_of_one_number() -> list[Primitive]:
    """All primitives that work on one array of complex numbers, element by element."""
    for module in pkgutil.walk_packages(pullback.primitives.__path__, pullback.primitives.__name__ + "."):
        importlib.import_module(module.name)
    kinds = [kind for kind in primitive_classes().values() if issubclass(kind, AbstractElementwise)]
    return [kind() for kind in kinds if len(signature(kind.partials).parameters) == ARGUMENTS and takes_complex(kind)]


def takes_complex(kind: type[Primitive]) -> bool:
    """Whether a primitive without attributes takes an array of complex numbers."""
    try:
        with pb.Graph().as_default():
            kind()(pb.placeholder(pb.complex128, [2]))
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("engine", ["numpy", "xla", "onnxruntime"])
@pytest.mark.parametrize("function", functions_of_one_number(), ids=lambda function: type(function).__name__)
def test_functions_are_on_the_side_of_their_cuts_that_zeros_say(function: Primitive, engine: str) -> None:
    with pb.Graph().as_default():
        z = pb.placeholder(pb.complex128, [None])
        results = [pb.cast(function(z), pb.complex128)]
        while len(results) < 3:
            y = pb.reduce_sum(pb.math.real(results[-1] + z * z))
            results.append(pb.gradients(y, z)[0])
        session = pb.Session(engine=engine)
        for on_axes, beside in zip(session.run(results, {z: ON_AXES}), session.run(results, {z: BESIDE}), strict=True):
            np.testing.assert_allclose(on_axes, beside, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("engine", ["xla", "onnxruntime"])
@pytest.mark.parametrize("function", functions_of_one_number(), ids=lambda function: type(function).__name__)
def test_functions_have_all_digits(function: Primitive, engine: str) -> None:
    around = np.array([1 + 2j, -2 + 1j, 1 - 3j, -3 - 1j])
    sizes = [1e-12, 1e-7, 1e-3, 0.1, 0.3, 0.5, 1.0, 4.0, 15.0, 60.0]
    points = np.concatenate([size * around for size in sizes] + [1 + 1e-7 * around, -1 + 1e-7 * around, 1000 * around])
    with pb.Graph().as_default():
        z = pb.placeholder(pb.complex128, [None])
        y = function(z)
        expected, found = [pb.Session(engine=name).run(y, {z: points}) for name in ("numpy", engine)]
    finite = np.isfinite(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=2e-14)
