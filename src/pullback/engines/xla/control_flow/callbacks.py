"""XLA host callbacks: Python functions that a program calls while it runs.

A function that raises must not take the program down, and with it the memory of variables: what it raises, be it
SystemExit, is noted, the program goes on with zeros and without Python, and the error is raised when it has ended,
before anything is assigned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ....control_flow.py_function import AbstractPythonCall, EagerPyFunc, PyFunc, PyFuncStateless
from ....core.graph import Operation, site_of
from ... import messages
from ...data_dependent_shapes import DataDependentShapeError
from ...plan import NOWHERE, Step
from ..registry import xla_functional
from ..trace import Trace
from .failures import Failures, noted_failures
from .python_calls import Function, call_python, on_words
from .words import shape_in_words


@xla_functional(EagerPyFunc, PyFunc, PyFuncStateless)
def python_call(trace: Trace, step: Step, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of the Python function, which is called when the program runs."""
    del trace
    op = step.op
    primitive = op.primitive
    assert isinstance(primitive, AbstractPythonCall)
    failures = noted_failures()
    if failures is None and not any(isinstance(x, jax.core.Tracer) for x in arrays):
        return tuple(_results(primitive, op, arrays))
    read = [y for y, slot in zip(op.outputs, step.outputs, strict=True) if slot != NOWHERE]
    if any(not y.shape.is_fully_defined() for y in read):
        raise _unknown_shape(op)
    shape_of: Any = jax.ShapeDtypeStruct
    made = [shape_of([n or 0 for n in y.shape.sizes or ()], y.dtype) for y in op.outputs]
    call = on_words(lambda *given: _results(primitive, op, given), arrays)
    if failures is not None:
        call = _noting(call, failures, [shape_in_words(y) for y in made])
    return tuple(call_python(call, made, arrays, primitive.stateful))


def _noting(call: Function, failures: Failures, made: Sequence[Any]) -> Function:
    """`call`, which notes what it raises in place of raising it, and calls Python no more after that."""

    def noting_call(*given: Any) -> Sequence[np.ndarray[Any, Any]]:
        if not failures:
            try:
                return call(*given)
            except BaseException as error:
                failures.append(error)
        return [np.zeros(y.shape, y.dtype) for y in made]

    return noting_call


def _results(primitive: AbstractPythonCall, op: Operation, arrays: Sequence[Any]) -> list[Any]:
    given = [np.asarray(x) for x in arrays]
    try:
        return primitive.results(given)
    except Exception as error:
        raise messages.failed_step(op, given, error) from error


def _unknown_shape(op: Operation) -> DataDependentShapeError:
    types = ", ".join(str(y.type) for y in op.outputs)
    return DataDependentShapeError(
        f"operation '{op.name}' ({op.type}) returns {types}, and XLA compiles for whole shapes.\n"
        f"  made at {site_of(op)}\n"
        "Say them: Tout=pb.TensorSpec([2, 3], pb.float32); or use Session(engine='numpy').",
        op,
    )
