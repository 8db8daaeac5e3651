"""Conditional accumulators of TensorFlow 1: gradients that some runs give are collected until a run takes their mean.

They live on the host; a session has one of its own. Each gradient is of a step: those of steps that are over are
dropped. A run that takes the mean of more gradients than there are waits until other threads have given them.

>>> import pullback.compat.v1 as tf
>>> rows = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1])
>>> give = rows.apply_grad([1, 3], [[2.0], [4.0]])
>>> mean = rows.take_indexed_slices_grad(1)
>>> with tf.Session() as session:
...     session.run(give)
...     session.run(mean).indices.tolist()
[1, 3]
>>> issubclass(tf.ConditionalAccumulator, tf.ConditionalAccumulatorBase)
True
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

import pullback as pb

from ...control_flow.host_call import host_call
from ...core.seen import seen
from ...core.shape import as_shape
from ...core.types import tensor_type
from ...core.typing import DTypeLike, ShapeLike, TensorLike

Array = np.ndarray[Any, Any]


class Collected:
    """The sum of the gradients of a session, and the step that they are of, shared by its threads.

    The rows of a dense gradient are one, number 0.
    """

    def __init__(self) -> None:
        self.count = 0
        self.step = 0
        self.rows: dict[int, tuple[Array, int]] = {}
        self._changed = threading.Condition()

    def add(self, step: int, numbers: Sequence[int], values: Sequence[Array]) -> None:
        """Add rows to the sum, unless they are of a step that is over."""
        with self._changed:
            if step < self.step:
                return
            for number, value in zip(numbers, values, strict=True):
                total, count = self.rows.get(number, (None, 0))
                self.rows[number] = (np.array(value) if total is None else total + value), count + 1
            self.count += 1
            self._changed.notify_all()

    def take(self, wanted: int) -> dict[int, tuple[Array, int]]:
        """The sums of rows and their numbers of summands, as soon as `wanted` gradients are there; none are left."""
        with self._changed:
            self._changed.wait_for(lambda: self.count >= wanted)
            taken, self.rows = self.rows, {}
            self.count = 0
            self.step += 1
            return taken

    def advance(self, step: int) -> None:
        """Let the step be at least `step`."""
        with self._changed:
            self.step = max(self.step, step)


class ConditionalAccumulatorBase(ABC):
    """What both accumulators can do."""

    _mean: bool

    @abstractmethod
    def __init__(self, dtype: DTypeLike, shape: ShapeLike | None, accumulator_ref: str | None) -> None:
        self.dtype = seen.dtype(pb.as_dtype(dtype))
        self.shape = as_shape(shape)
        self.name = pb.get_default_graph().unique_name(accumulator_ref or type(self).__name__)
        self._of: WeakKeyDictionary[Any, Collected] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def num_accumulated(self, name: str | None = None) -> pb.Tensor:
        """How many gradients were given since some were taken."""

        def count(session: Any) -> Sequence[Array]:
            return [np.array(self.collected(session).count, np.int32)]

        named = name or f"{self.name}_NumAccumulated"
        return host_call(count, [], [tensor_type(pb.int32, [])], named).outputs[0]

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> pb.Operation:
        """The operation that lets the step be `new_global_step`, unless it is beyond that."""

        def advance(session: Any, step: Array) -> Sequence[Array]:
            self.collected(session).advance(int(step))
            return ()

        return host_call(advance, [self.step(new_global_step)], (), name or "AccumulatorSetGlobalStep")

    def collected(self, session: Any) -> Collected:
        """What a session has collected."""
        with self._lock:
            return self._of.setdefault(session, Collected())

    def taken(self, session: Any, wanted: Array) -> dict[int, Array]:
        """The means, or sums, of rows; InvalidArgumentError where none are asked for."""
        if int(wanted) < 1:
            raise pb.errors.InvalidArgumentError(f"{self.name}: num_required must be positive, not {int(wanted)}")
        rows = self.collected(session).take(int(wanted))
        dtype: Any = pb.as_dtype(self.dtype)
        return {i: (total / count if self._mean else total).astype(dtype) for i, (total, count) in rows.items()}

    def step(self, step: TensorLike) -> pb.Tensor:
        """The number of a step as a tensor."""
        return pb.cast(pb.convert_to_tensor(step), pb.int64)

    def check(self, shape: Sequence[int | None]) -> None:
        """InvalidArgumentError where a gradient has another shape."""
        if not self.shape.is_compatible_with(as_shape(shape)):
            raise pb.errors.InvalidArgumentError(
                f"{self.name}: Shape mismatch: expected {self.shape}, got {list(shape)}"
            )


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Collects tensors of `dtype` and `shape`; "MEAN" or "SUM" of them is taken.

    Raises:
        ValueError: another `reduction_type`.

    >>> import pullback.compat.v1 as tf
    >>> gradients = tf.ConditionalAccumulator(tf.float32, shape=[2])
    >>> x = tf.placeholder(tf.float32, [2])
    >>> give, mean = gradients.apply_grad(x), gradients.take_grad(2)
    >>> with tf.Session() as session:
    ...     for values in ([1.0, 2.0], [3.0, 6.0]):
    ...         session.run(give, {x: values})
    ...     session.run(mean)
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str | None = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        del shared_name
        super().__init__(dtype, shape, name)
        self._mean = _is_mean(name, reduction_type)

    def apply_grad(self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None) -> pb.Operation:
        """The operation that gives a gradient of the step `local_step`.

        Raises:
            ValueError: it is known to have another shape. InvalidArgumentError: from a run, if it has.
        """
        x = pb.convert_to_tensor(grad, self.dtype)
        if not x.shape.is_compatible_with(self.shape):
            raise ValueError(f"{self.name}: the gradient {x} does not have the shape {self.shape}")

        def give(session: Any, value: Array, step: Array) -> Sequence[Array]:
            self.check(value.shape)
            self.collected(session).add(int(step), [0], [value])
            return ()

        return host_call(give, [x, self.step(local_step)], (), name or "AccumulatorApplyGradient")

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> pb.Tensor:
        """The mean, or sum, of all gradients, of which there are to be `num_required` at least; the next step begins.

        Raises:
            InvalidArgumentError: from a run, if `num_required` is not positive.
        """
        type_ = pb.TensorType(pb.as_dtype(self.dtype), self.shape)

        def take(session: Any, wanted: Array) -> Sequence[Array]:
            return [self.taken(session, wanted)[0]]

        return host_call(
            take, [pb.convert_to_tensor(num_required)], [type_], name or "AccumulatorTakeGradient"
        ).outputs[0]


class Rows(NamedTuple):
    """The three tensors of a sparse gradient."""

    indices: pb.Tensor
    values: pb.Tensor
    shape: pb.Tensor


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Collects IndexedSlices; the mean of a row is that of the gradients that have it."""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str | None = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        del shared_name
        super().__init__(dtype, shape, name)
        self._mean = _is_mean(name, reduction_type)

    def apply_indexed_slices_grad(
        self, grad: pb.IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> pb.Operation:
        """The operation that gives a gradient of the step `local_step`; see `apply_grad`."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> pb.Operation:
        """The operation that gives the rows `grad_values` [n, ...] with the numbers `grad_indices` [n].

        Raises:
            InvalidArgumentError: from a run, if there are not as many, one is out of range, or the shape is another.
        """
        numbers = pb.cast(pb.convert_to_tensor(grad_indices), pb.int64)
        values = pb.convert_to_tensor(grad_values, self.dtype)
        shape = pb.constant([], pb.int64) if grad_shape is None else pb.cast(pb.convert_to_tensor(grad_shape), pb.int64)

        def give(session: Any, rows: Array, x: Array, whole: Array, step: Array) -> Sequence[Array]:
            self._check_rows(rows, x, int(whole[0]) if len(whole) else None)
            self.collected(session).add(int(step), rows.tolist(), list(x))
            return ()

        inputs = [numbers, values, shape, self.step(local_step)]
        return host_call(give, inputs, (), name or "SparseAccumulatorApplyGradient")

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Rows:
        """The means, or sums, of all rows, in order, their numbers first; see `ConditionalAccumulator.take_grad`."""
        rest = self.shape[1:] if self.shape.rank else pb.TensorShape.UNKNOWN
        dtype: Any = pb.as_dtype(self.dtype)
        types = [
            tensor_type(pb.int64, [None]),
            pb.TensorType(dtype, pb.TensorShape([None]).concatenate(rest)),
            tensor_type(pb.int64, [self.shape.rank]),
        ]

        def take(session: Any, wanted: Array) -> Sequence[Array]:
            rows = sorted(self.taken(session, wanted).items())
            lengths = [n or 0 for n in rest.sizes or ()]
            values = np.stack([x for _, x in rows]) if rows else np.zeros((0, *lengths), dtype)
            first = self.shape.size(0) if self.shape.rank else None
            whole = np.array([-1 if first is None else first, *values.shape[1:]], np.int64)
            return [np.array([i for i, _ in rows], np.int64), values, whole]

        wanted = pb.convert_to_tensor(num_required)
        return Rows(*host_call(take, [wanted], types, name or "SparseAccumulatorTakeGradient").outputs)

    def _check_rows(self, rows: Array, values: Array, count: int | None) -> None:
        if len(rows) != len(values):
            raise pb.errors.InvalidArgumentError(f"{self.name}: {len(rows)} indices have {len(values)} values")
        self.check([count, *values.shape[1:]])
        limit = self.shape.size(0) if count is None and self.shape.rank else count
        if len(rows) and (rows.min() < 0 or (limit is not None and rows.max() >= limit)):
            raise pb.errors.InvalidArgumentError(
                f"{self.name}: Shape mismatch: indices of rows must be from 0 to {limit}, and are {rows.tolist()}"
            )

    def take_indexed_slices_grad(self, num_required: TensorLike, name: str | None = None) -> pb.IndexedSlices:
        """The same as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return pb.IndexedSlices(values, indices, shape)


def _is_mean(name: str | None, reduction_type: str) -> bool:
    if reduction_type not in ("MEAN", "SUM"):
        raise ValueError(f"{name}: reduction_type must be 'MEAN' or 'SUM', not {reduction_type!r}")
    return reduction_type == "MEAN"
