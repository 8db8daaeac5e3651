"""Queues of TensorFlow 1: lists on the host that some runs put elements in, and others take them from.

A session has a queue of its own. A run that finds none waits until another thread has put one in, or closed the queue.

>>> import pullback.compat.v1 as tf
>>> queues = [tf.PaddingFIFOQueue(9, tf.int32, [[None]]), tf.RandomShuffleQueue(9, 0, tf.int32, [[]])]
>>> isinstance(queues[0], tf.QueueBase)
True
>>> with tf.Session() as session:
...     for numbers in ([1], [2, 3]):
...         session.run(queues[0].enqueue([numbers]))
...     session.run(queues[1].enqueue_many([[4, 5, 6]]))
...     print(session.run(queues[0].dequeue_many(2)).tolist(), sorted(session.run(queues[1].dequeue_many(3))))
[[1, 0], [2, 3]] [np.int32(4), np.int32(5), np.int32(6)]
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import pullback as pb

from ...control_flow.host_call import host_call
from ...core.seen import seen
from ...core.shape import as_shape
from ...core.types import tensor_type
from .data.batches import batched, padded
from .errors import CancelledError

Array = np.ndarray[Any, Any]
Element = Sequence[Array]


class Contents:
    """The elements of a queue, shared by the threads of a session."""

    def __init__(self, capacity: int, least: int, choose: Callable[[Sequence[Element]], int]) -> None:
        self.elements: list[Element] = []
        self.closed = False
        self._capacity, self._least, self._choose = capacity if capacity > 0 else math.inf, least, choose
        self._changed = threading.Condition()

    def put(self, elements: Sequence[Element]) -> None:
        """Put `elements` in, each when there is room.

        Raises:
            CancelledError: the queue is closed.
        """
        for element in elements:
            with self._changed:
                self._changed.wait_for(lambda: self.closed or len(self.elements) < self._capacity)
                if self.closed:
                    raise CancelledError("enqueue: the queue is closed")
                self.elements.append(element)
                self._changed.notify_all()

    def take(self, count: int, at_most: bool) -> list[Element]:
        """The next `count` elements, or fewer from a closed queue if `at_most`.

        Raises:
            OutOfRangeError: the queue is closed, and has not that many.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.closed or len(self.elements) >= count + self._least)
            there = len(self.elements)
            if there < count and (not at_most or not there):
                raise pb.errors.OutOfRangeError(
                    f"dequeue: the queue is closed and has {there} elements, of {count} asked for"
                )
            taken = [self.elements.pop(self._choose(self.elements)) for _ in range(min(count, there))]
            self._changed.notify_all()
            return taken

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()


class QueueBase:
    """What all queues can do."""

    def __init__(
        self, dtypes: Any, shapes: Any, names: Any, queue_ref: Callable[[], Contents], name: str | None = "queue"
    ) -> None:
        given = dtypes if isinstance(dtypes, list | tuple) else [dtypes]
        self.dtypes = [seen.dtype(pb.as_dtype(d)) for d in given]
        self.name = pb.get_default_graph().unique_name(name or f"{type(self).__name__}V2")
        self.shapes = _shapes(shapes, len(self.dtypes))
        self.names = [names] if isinstance(names, str) else names
        self._make = queue_ref
        self._of: WeakKeyDictionary[Any, Contents] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def enqueue(self, vals: Any, name: str | None = None) -> pb.Operation:
        """The operation that puts one element in."""
        return host_call(
            lambda session, *x: self._put(session, [x]), self._tensors(vals), (), name or f"{self.name}_enqueue"
        )

    def enqueue_many(self, vals: Any, name: str | None = None) -> pb.Operation:
        """The operation that puts the rows of `vals` in."""

        def put(session: Any, *columns: Array) -> Sequence[Array]:
            return self._put(session, list(zip(*columns, strict=True)))

        return host_call(put, self._tensors(vals), (), name or f"{self.name}_EnqueueMany")

    def dequeue(self, name: str | None = None) -> Any:
        """The next element, in tensors.

        Raises:
            OutOfRangeError: from a run, if the queue is closed and empty.
        """
        types = [pb.TensorType(pb.as_dtype(d), s) for d, s in zip(self.dtypes, self.shapes, strict=True)]
        return self._named(
            host_call(
                lambda session: self.contents(session).take(1, False)[0], (), types, name or f"{self.name}_Dequeue"
            )
        )

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """The next `n` elements, on top of each other."""
        return self._dequeued(n, False, name or f"{self.name}_DequeueMany")

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """The next `n` elements, on top of each other; fewer where a closed queue has no more."""
        return self._dequeued(n, True, name or f"{self.name}_DequeueUpTo")

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> pb.Operation:
        """The operation that closes the queue."""
        del cancel_pending_enqueues

        def close(session: Any) -> Sequence[Array]:
            self.contents(session).close()
            return ()

        return host_call(close, (), (), name or f"{self.name}_Close")

    def size(self, name: str | None = None) -> pb.Tensor:
        """The number of elements."""

        def size(session: Any) -> Sequence[Array]:
            return [np.array(len(self.contents(session).elements), np.int32)]

        return host_call(size, (), [tensor_type(pb.int32, [])], name or f"{self.name}_Size").outputs[0]

    def is_closed(self, name: str | None = None) -> pb.Tensor:
        """Whether the queue is closed."""
        return host_call(
            lambda session: [np.array(self.contents(session).closed)],
            (),
            [tensor_type(bool, [])],
            name or f"{self.name}_IsClosed",
        ).outputs[0]

    def stack(self, elements: Sequence[Element]) -> Sequence[Array]:
        """Elements on top of each other."""
        return next(batched(elements, len(elements), False))

    def _dequeued(self, n: Any, at_most: bool, name: str) -> Any:
        static = n if isinstance(n, int) and not at_most else None
        types = [
            pb.TensorType(pb.as_dtype(d), pb.TensorShape([static]).concatenate(s))
            for d, s in zip(self.dtypes, self.shapes, strict=True)
        ]

        def take(session: Any, count: Array) -> Sequence[Array]:
            return self.stack(self.contents(session).take(int(count), at_most))

        return self._named(host_call(take, [pb.convert_to_tensor(n)], types, name))

    def contents(self, session: Any) -> Contents:
        """What a session has in it."""
        with self._lock:
            if session not in self._of:
                self._of[session] = self._make()
            return self._of[session]

    def _put(self, session: Any, elements: Sequence[Element]) -> Sequence[Array]:
        self.contents(session).put(elements)
        return ()

    def _tensors(self, vals: Any) -> list[pb.Tensor]:
        if isinstance(vals, dict):
            vals = [vals[name] for name in self.names]
        given = vals if isinstance(vals, list | tuple) and len(vals) == len(self.dtypes) else [vals]
        return [pb.convert_to_tensor(x, d) for x, d in zip(given, self.dtypes, strict=True)]

    def _named(self, op: pb.Operation) -> Any:
        outputs = op.outputs
        if self.names is not None:
            return dict(zip(self.names, outputs, strict=True))
        return outputs[0] if len(outputs) == 1 else outputs


class FIFOQueue(QueueBase):
    """A queue that gives elements in the order in which they were put in.

    >>> import pullback.compat.v1 as tf
    >>> queue = tf.FIFOQueue(10, tf.float32, [[]])
    >>> put, first = queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.dequeue()
    >>> with tf.Session() as sess:
    ...     sess.run(put)
    ...     print(sess.run(first), sess.run(first), sess.run(queue.size()))
    1.0 2.0 1
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        del shared_name
        super().__init__(dtypes, shapes, names, lambda: Contents(capacity, 0, lambda _: 0), name)


class PaddingFIFOQueue(FIFOQueue):
    """The same, of elements of different lengths: several are filled up with zeros to the longest."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "padding_fifo_queue",
    ) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)

    def stack(self, elements: Sequence[Element]) -> Sequence[Array]:
        """Elements on top of each other, filled up with zeros."""
        unknown = [pb.TensorShape([None] * np.ndim(x)) for x in elements[0]]
        return next(padded(elements, len(elements), False, unknown, [None] * len(unknown)))


class RandomShuffleQueue(QueueBase):
    """A queue that draws which of its elements it gives; `min_after_dequeue` of them stay until it is closed."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str | None = "random_shuffle_queue",
    ) -> None:
        del shared_name
        seeds = pb.get_seed(seed)
        number = None if seeds == (None, None) else hash(seeds)
        super().__init__(
            dtypes, shapes, names, lambda: Contents(capacity, min_after_dequeue, _drawn(random.Random(number))), name
        )


class PriorityQueue(QueueBase):
    """A queue that gives the element of the lowest priority first: an int64, which is the first part of each.

    >>> import pullback.compat.v1 as tf
    >>> queue = tf.PriorityQueue(10, tf.string, [[]])
    >>> put, first = queue.enqueue_many([[3, 1], ["late", "early"]]), queue.dequeue()
    >>> with tf.Session() as sess:
    ...     sess.run(put)
    ...     sess.run(first)
    [np.int64(1), b'early']
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "priority_queue",
    ) -> None:
        del shared_name
        others = types if isinstance(types, list | tuple) else [types]
        known = [pb.TensorShape.SCALAR, *_shapes(shapes, len(others))]
        super().__init__([pb.int64, *others], known, names, lambda: Contents(capacity, 0, _most_urgent), name)


def _drawn(generator: random.Random) -> Callable[[Sequence[Element]], int]:
    return lambda elements: generator.randrange(len(elements))


def _most_urgent(elements: Sequence[Element]) -> int:
    return min(range(len(elements)), key=lambda i: int(elements[i][0]))


def _shapes(shapes: Any, count: int) -> list[pb.TensorShape]:
    """A shape for each part of an element; None says nothing."""
    if shapes is None:
        return [pb.TensorShape.UNKNOWN] * count
    one = isinstance(shapes, pb.TensorShape) or (
        isinstance(shapes, list | tuple) and all(isinstance(n, int) for n in shapes)
    )
    return [as_shape(shapes)] * count if one and (count == 1 or not shapes) else [as_shape(s) for s in shapes]
