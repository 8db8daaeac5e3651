"""One pass over a plan inside `jax.jit`: the interpreter of the XLA engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.errors import FailedPreconditionError, PullbackError
from ..core.graph import Operation
from ..primitives.state import AbstractStateful
from . import messages
from .concrete import Concrete, is_small
from .plan import Plan, Step, checked_outputs
from .xla_registry import xla_kernel_of
from .xla_updates import UPDATES

NAN, INFINITY = 2, 1


class Trace:
    """The values of a plan while jax traces it: tracers, and NumPy arrays for what is known already.

    What must be known when XLA compiles, and small arrays that depend on known ones only, are computed with NumPy;
    everything else becomes part of the program.
    """

    def __init__(self, plan: Plan, concrete: Concrete, lost: set[Operation], *, check: bool) -> None:
        self.plan = plan
        self.concrete = concrete
        self.lost = lost
        self.check = check
        self.slots: list[Any] = [None] * plan.size
        self.states: list[Any] = [None] * len(plan.states)
        self.codes: list[Any] = []

    def run(self) -> None:
        """Compute all steps; `slots` and `states` are filled before, and read afterwards."""
        with np.errstate(all="ignore"):
            for step in self.plan.steps:
                self._step(step)

    def _step(self, step: Step) -> None:
        slots = self.slots
        arrays = [slots[n] for n in step.inputs]
        try:
            results = self._results(step, arrays)
        except PullbackError:
            raise
        except Exception as error:
            raise _explained(step, arrays, error) from error
        if not isinstance(results, tuple):
            results = (results,)
        for n, y in zip(step.outputs, results, strict=True):
            slots[n] = y
        if self.check:
            self._check(step, results)
        for n in step.frees:
            slots[n] = None

    def _results(self, step: Step, arrays: list[Any]) -> Any:
        if step.state is not None:
            return self._stateful_results(step, arrays)
        primitive = step.op.primitive
        known = all(isinstance(x, np.ndarray | np.generic) for x in arrays)
        if known and self._with_numpy(step):
            return primitive.kernel(np, *arrays)
        if known:
            arrays = [
                x if n in self.concrete.slots else jnp.asarray(x) for n, x in zip(step.inputs, arrays, strict=True)
            ]
        _check_shapes_are_known(step, arrays)
        fn = xla_kernel_of(type(primitive))
        return primitive.kernel(jnp, *arrays) if fn is None else fn(primitive, *arrays)

    def _with_numpy(self, step: Step) -> bool:
        decides = not self.concrete.slots.isdisjoint(step.outputs)
        return decides or all(is_small(y) for y in step.op.outputs)

    def _stateful_results(self, step: Step, arrays: list[Any]) -> Any:
        op, number = step.op, step.state
        primitive = op.primitive
        assert isinstance(primitive, AbstractStateful)
        assert number is not None
        state = self.states[number]
        if state is None and primitive.reads_state:
            raise self._missing(self.plan.states[number])
        _check_shapes_are_known(step, arrays)
        results: Any = ()
        if op.outputs:
            fn = xla_kernel_of(type(primitive))
            results = primitive.kernel(jnp, state, *arrays) if fn is None else fn(primitive, state, *arrays)
        if primitive.writes_state:
            value = primitive.update(jnp, UPDATES, state, *arrays)
            self.states[number] = _of_dtype(value, value if state is None else state)
        return results

    def _missing(self, key: Operation) -> FailedPreconditionError:
        return messages.lost(key) if key in self.lost else messages.uninitialized(key)

    def _check(self, step: Step, results: Sequence[Any]) -> None:
        for i in checked_outputs(step):
            array = results[i]
            finite, nan = jnp.all(jnp.isfinite(array)), jnp.any(jnp.isnan(array))
            self.codes.append(jnp.where(nan, NAN, jnp.where(finite, 0, INFINITY)).astype(np.uint8))


def _of_dtype(value: Any, like: Any) -> Any:
    """`value` in the dtype of `like`; never of a weak type, which would be another signature."""
    return jax.lax.convert_element_type(value, np.dtype(like.dtype))


def _check_shapes_are_known(step: Step, arrays: Sequence[Any]) -> None:
    primitive = step.op.primitive
    offset = len(step.op.inputs) - len(arrays)
    for i in primitive.shape_inputs:
        if offset <= i < len(step.op.inputs) and isinstance(arrays[i - offset], jax.core.Tracer):
            raise messages.needs_value(step.op, arrays)


def _explained(step: Step, arrays: list[Any], error: Exception) -> Exception:
    if isinstance(error, NotImplementedError):
        return messages.no_kernel(step.op, error)
    if isinstance(error, jax.errors.ConcretizationTypeError | jax.errors.TracerArrayConversionError):
        return messages.needs_value(step.op, arrays)
    return messages.failed_step(step.op, arrays, error)
