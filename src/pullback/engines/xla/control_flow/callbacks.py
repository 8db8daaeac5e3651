"""XLA host callbacks: Python functions that jax hands arrays while the program runs.

A function that raises must not take the program down, and with it the memory of variables: what it raises, be it
SystemExit, is noted, the program goes on with zeros and without Python, and the error is raised when it has ended,
before anything is assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

from ....control_flow.py_function import AbstractPythonCall, EagerPyFunc, PyFunc, PyFuncStateless
from ....core.graph import Operation, site_of
from ... import messages
from ...data_dependent_shapes import DataDependentShapeError
from ...plan import NOWHERE, Step
from ..registry import xla_functional
from ..trace import Trace
from .failures import Failures, noted_failures
from .words import host_in_words, host_of_words, in_words, of_words, shape_in_words


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
    callback = _noting(primitive, op, [(x.dtype, x.ndim) for x in arrays], made, failures)
    shapes, given = [shape_in_words(y) for y in made], [in_words(x) for x in arrays]
    found: Any
    if primitive.stateful:
        found = io_callback(callback, shapes, *given)
    else:
        found = jax.pure_callback(callback, shapes, *given, vmap_method="sequential")
    return tuple([of_words(x, y.dtype) for x, y in zip(found, made, strict=True)])


def _noting(
    primitive: AbstractPythonCall,
    op: Operation,
    inputs: Sequence[tuple[np.dtype[Any], int]],
    made: Sequence[Any],
    failures: Failures | None,
) -> Callable[..., list[Any]]:
    """The function that jax calls, with words for arrays of these dtypes and ranks, for what it makes.

    Where errors are noted it raises none, and calls Python no more after one.
    """

    def call(*given: Any) -> list[Any]:
        arrays = [host_of_words(np.asarray(x), *kind) for x, kind in zip(given, inputs, strict=True)]
        return [host_in_words(np.asarray(y)) for y in _results(primitive, op, arrays)]

    if failures is None:
        return call

    def noting_call(*given: Any) -> list[Any]:
        if not failures:
            try:
                return call(*given)
            except BaseException as error:
                failures.append(error)
        return [host_in_words(np.zeros(y.shape, y.dtype)) for y in made]

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
