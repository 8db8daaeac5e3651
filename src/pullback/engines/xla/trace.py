"""XLA tracing: one pass over a plan inside `jax.jit`, the interpreter of the XLA engine."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.dtypes import bfloat16
from ...core.errors import FailedPreconditionError, InvalidArgumentError, PullbackError
from ...core.graph import Operation, Tensor, site_of
from ...core.matmul_precision import HIGHEST, precision_of
from ...core.nesting import explained_depth
from ...core.traits import PLACES, multiplies
from ...primitives.base.state import AbstractStateful
from ...primitives.creation.ranges import Range
from ...primitives.debugging.guards import AbstractGuard
from .. import messages
from ..absent import Absent, is_plain_read, may_be_absent
from ..concrete import Concrete, concrete_values, is_small
from ..data_dependent_shapes import DataDependentShapeError
from ..plan import Plan, Step, checked_outputs, has_guards
from ..run_shapes import check_shapes, has_unknown_shapes
from .array_namespace import NAMESPACE, kernel_of
from .column_major import ColumnMajor
from .fences import Fences
from .fusion import Fused, apart
from .indexing import gather_within, nothing_to_read
from .inner_products import InnerProducts
from .loops.rooms import Rooms
from .materialised import Kept
from .pooling.rectified import RectifiedPools
from .reassociation import Sums
from .registry import load_kernels, xla_functional_of
from .shared_factors import SharedFactors
from .variables import UPDATES

NAN, INFINITY, CODES = 2, 1, 4
_MOST_ELEMENTS = 1 << 48
_MOST_COUNTED = 1 << 35
"""The elements of a range, of which XLA 0.12 ends the process where it is to compute some more."""


class AbstractRows(ABC):
    """The rows of a loop's steps, which a loop can scan, and of which there is no array unless one is asked for."""

    @property
    @abstractmethod
    def capacity(self) -> int | None:
        """A number of rows that is known, and that there are never more of."""

    @abstractmethod
    def array(self) -> Any:
        """All rows as one array of `capacity` rows.

        Raises:
            InvalidArgumentError: the capacity is not known.
        """

    @abstractmethod
    def mapped(self, op: Operation, arrays: Sequence[Any]) -> Any:
        """What `op` makes of `arrays`, these rows among them, if not the same as of the array."""


@dataclass(frozen=True)
class Refused:
    """An operation that refuses some values, and the types of what it was given."""

    op: Operation
    inputs: Sequence[Any]

    def error(self, fault: int) -> Exception:
        """The exception for a fault that is not 0."""
        primitive = self.op.primitive
        assert isinstance(primitive, AbstractGuard)
        return messages.failed_step(self.op, self.inputs, ValueError(primitive.complaint(fault, ())))


class Trace:
    """The values of a plan while jax traces it: tracers, and NumPy arrays for what is known already.

    What must be known when XLA compiles, and small arrays that depend on known ones only, are computed with NumPy;
    everything else becomes part of the program.
    """

    def __init__(
        self,
        plan: Plan,
        concrete: Concrete,
        lost: set[Operation],
        *,
        check: bool,
        precision: str = HIGHEST,
        lifted: Mapping[int, Any] | None = None,
        checked: list[Tensor | Refused] | None = None,
        called: dict[Any, Any] | None = None,
    ) -> None:
        load_kernels({type(step.op.primitive) for step in plan.steps})
        self.plan = plan
        self.concrete = concrete
        self.lost = lost
        self.check = check
        self.precision = precision
        self.reports = check or has_guards(plan)
        """Whether there are codes."""
        self.lifted = lifted or {}
        """The tracers of constants that are arguments of the program, by the identity of the constant."""
        self.checked: list[Tensor | Refused] = [] if checked is None else checked
        """The tensors, and the operations that refuse values, that codes speak of, by number."""
        self.called: dict[Any, Any] = {} if called is None else called
        """What is known of functions that are called, for all traces of one program."""
        self.slots: list[Any] = [None] * plan.size
        self.constants = dict(plan.constants)
        """The constants by their slots, of which those that are arguments of the program are tracers in `slots`."""
        for slot, array in plan.constants:
            known = array if array.ndim else array[()]
            self.slots[slot] = known if slot in concrete.slots else self.lifted.get(id(array), known)
        self.states: list[Any] = [None] * len(plan.states)
        self.absent = may_be_absent(plan)
        """The slots that perhaps hold what stands for the value of a variable that has none."""
        self.codes: list[Any] = []
        """For each check 0, or CODES times the number of the tensor that is not finite, plus what it has."""
        self.fused, self.sums, self.fences = Fused(plan), Sums(), Fences(plan)
        self.kept = Kept(plan)
        self.columns, self.factors = ColumnMajor(plan), SharedFactors(plan)
        self.inner_products, self.rectified = InnerProducts(plan), RectifiedPools(plan)
        self.perhaps = False
        """Whether it is part of a branch or a step that need not be run."""
        self.level = Rooms()
        """The same for traces whose values can be used in each other, with the memory that their loops ask for."""

    def inner(self, plan: Plan, decisive: Iterable[int] = ()) -> Trace:
        """The trace of the plan of a function inside; `decisive` are its slots that decide shapes around it."""
        concrete = concrete_values(plan, decisive)
        made = Trace(
            plan,
            concrete,
            self.lost,
            check=self.check,
            precision=self.precision,
            lifted=self.lifted,
            checked=self.checked,
            called=self.called,
        )
        made.perhaps = self.perhaps
        return made

    def run(self) -> None:
        """Compute all steps; `slots` and `states` are filled before, and read afterwards."""
        with np.errstate(all="ignore"):
            for step in self.plan.steps:
                self._step(step)

    def fetched(self) -> list[Any]:
        """The values of what is fetched."""
        return [self.slots[slot] for slot in self.plan.fetch_slots]

    def _step(self, step: Step) -> None:
        slots = self.slots
        arrays = self.fences.behind(step, self.kept.given(step, [slots[n] for n in step.inputs]))
        try:
            if multiplies(step.op.primitive.traits):
                with jax.default_matmul_precision(self._precision(step.op)):
                    results = self._results(step, arrays)
            else:
                results = self._results(step, arrays)
            if not isinstance(results, tuple):
                results = (results,)
            _check_sizes(results, _MOST_COUNTED if isinstance(step.op.primitive, Range) else _MOST_ELEMENTS)
        except DataDependentShapeError as error:
            error.leave(self.plan, step.op)
            raise
        except PullbackError:
            raise
        except Exception as error:
            raise self._explained(step, arrays, error) from error
        results = self.kept.made(step, self.fences.in_row_major(step, results))
        for n, y in zip(step.outputs, results, strict=True):
            slots[n] = y
        self.fused.note(step)
        self.fences.note(step, slots, results)
        self.inner_products.note(step, arrays, results)
        if self.check and not step.bodies:
            self._check(step, results)
        if self.reports and isinstance(step.op.primitive, AbstractGuard):
            self._guard(step, [dense(x) for x in arrays])
        self.columns.forget(step)
        for n in step.frees:
            slots[n] = None

    def _explained(self, step: Step, arrays: list[Any], error: Exception) -> Exception:
        found = _explained(step, arrays, error)
        if not self.perhaps or not isinstance(found, InvalidArgumentError):
            return found
        return DataDependentShapeError(str(found), step.op)  # Of shapes that it is not run on, perhaps.

    def _precision(self, op: Operation) -> str:
        """How exactly an operation multiplies; numbers of bfloat16 lose nothing by the fastest way."""
        exact = all(x.dtype == bfloat16 for x in op.inputs[:2])
        return "default" if exact else precision_of(op) or self.precision

    def _results(self, step: Step, arrays: list[Any]) -> Any:
        primitive = step.op.primitive
        if step.state is not None:
            return self._stateful_results(step, [dense(x) for x in arrays])
        if not step.bodies and any(isinstance(x, AbstractRows) for x in arrays):
            rows = next(x for x in arrays if isinstance(x, AbstractRows)).mapped(step.op, arrays)
            if rows is not None:
                return rows
            arrays = [dense(x) for x in arrays]
        if not self.perhaps and has_unknown_shapes(step):
            check_shapes(step.op, arrays)
        run = xla_functional_of(type(primitive))
        if run is not None:
            return run(self, step, arrays)
        if isinstance(primitive, AbstractGuard):
            return primitive.passed(NAMESPACE, *arrays)
        known = all(isinstance(x, np.ndarray | np.generic) for x in arrays)
        if known and self._with_numpy(step):
            return primitive.kernel(np, *arrays)
        if known:
            arrays = [
                x if n in self.concrete.slots else jnp.asarray(x) for n, x in zip(step.inputs, arrays, strict=True)
            ]
        _check_shapes_are_known(step, arrays)
        kernel = gather_within(primitive, step.inputs, self.constants) or self.factors.kernel(step)
        arrays = self.rectified.masked(step, self.sums.rounded(step, arrays))
        other = self.columns.results(step, arrays)
        if other is None:
            other = self.inner_products.result(step, arrays)
        if other is None:
            other = self.rectified.result(step, arrays)
        if other is not None:
            return other
        try:
            if self.fused.is_better_apart(step, arrays):
                return apart(kernel, arrays)
            return kernel(*arrays)
        except IndexError:
            found = nothing_to_read(primitive, arrays) if self.perhaps else None
            if found is None:
                raise
            return found

    def _with_numpy(self, step: Step) -> bool:
        decides = not self.concrete.slots.isdisjoint(step.outputs)
        primitive = step.op.primitive
        later = primitive.stateful or PLACES in primitive.traits
        return decides or (not later and all(is_small(y) for y in step.op.outputs))

    def _stateful_results(self, step: Step, arrays: list[Any]) -> Any:
        op, number = step.op, step.state
        primitive = op.primitive
        assert isinstance(primitive, AbstractStateful)
        assert number is not None
        state = self.states[number]
        if state is None and primitive.reads_state:
            key = self.plan.states[number]
            if key not in self.lost and is_plain_read(step) and step.outputs[0] in self.absent:
                return Absent(key)
            raise self._missing(key)
        _check_shapes_are_known(step, arrays)
        if not self.perhaps and has_unknown_shapes(step):
            check_shapes(op, arrays)
        results: Any = ()
        if op.outputs:
            results = kernel_of(primitive)(state, *arrays)
        if primitive.writes_state:
            value = primitive.update(jnp, UPDATES, state, *arrays)
            self.states[number] = of_dtype(value, value if state is None else state)
        return results

    def _missing(self, key: Operation) -> FailedPreconditionError:
        return messages.lost(key) if key in self.lost else messages.uninitialized(key)

    def _check(self, step: Step, results: Sequence[Any]) -> None:
        for i in checked_outputs(step):
            array, code = results[i], CODES * len(self.checked)
            if isinstance(array, AbstractRows | Absent):
                continue
            self.checked.append(step.op.outputs[i])
            finite, nan = jnp.all(jnp.isfinite(array)), jnp.any(jnp.isnan(array))
            found = jnp.where(nan, np.int32(code + NAN), np.int32(code + INFINITY))
            self.codes.append(jnp.where(finite, np.int32(0), found))

    def _guard(self, step: Step, arrays: Sequence[Any]) -> None:
        primitive = step.op.primitive
        assert isinstance(primitive, AbstractGuard)
        code = CODES * len(self.checked)
        given: list[Any] = [jax.eval_shape(lambda y: y, x) for x in arrays]
        self.checked.append(Refused(step.op, given))
        fault = primitive.fault(NAMESPACE, *arrays)
        self.codes.append(jnp.where(fault == 0, np.int32(0), np.int32(code) + fault).astype(np.int32))

    def first_code(self) -> Any:
        """The first code that is not 0, if there is one."""
        codes = jnp.stack([jnp.asarray(0, np.int32), *self.codes])
        return codes[jnp.argmax(codes != 0)]


def dense(x: Any) -> Any:
    """`x`, as an array where it is rows that can be computed again."""
    return x.array() if isinstance(x, AbstractRows) else x


def of_dtype(value: Any, like: Any) -> Any:
    """`value` in the dtype of `like`; never of a weak type, which would be another signature."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype == like.dtype:
        return value
    return jax.lax.convert_element_type(value, np.dtype(like.dtype))


def _check_shapes_are_known(step: Step, arrays: Sequence[Any]) -> None:
    primitive = step.op.primitive
    offset = len(step.op.inputs) - len(arrays)
    for i in primitive.shape_inputs:
        if offset <= i < len(step.op.inputs) and isinstance(arrays[i - offset], jax.core.Tracer):
            raise messages.needs_value(step.op, arrays)


def _check_sizes(results: Sequence[Any], most: int) -> None:
    """ValueError where no memory holds a result: XLA's compiler ends the process there, jax counts on below zero."""
    for y in results:
        lengths = [n for n in getattr(y, "shape", ()) if type(n) is int]
        if lengths and (min(lengths) < 0 or math.prod(lengths) > most):
            raise ValueError("its result would have more elements than any memory holds")


def _explained(step: Step, arrays: list[Any], error: Exception) -> Exception:
    if isinstance(error, NotImplementedError):
        return messages.no_kernel(step.op, error)
    if isinstance(error, jax.errors.ConcretizationTypeError | jax.errors.TracerArrayConversionError):
        return messages.needs_value(step.op, arrays)
    if any(not isinstance(n, int) for x in arrays for n in getattr(x, "shape", ())):
        return messages.needs_lengths(step.op, arrays)
    if isinstance(error, MemoryError):
        return messages.no_room(step.op, arrays, error)
    if isinstance(error, RecursionError):
        return explained_depth(error, f"by operation '{step.op.name}' ({step.op.type}), made at {site_of(step.op)}")
    return messages.failed_step(step.op, arrays, error)
