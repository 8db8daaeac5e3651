"""Staging areas of `tf.contrib.staging`: batches that wait for the next step, which is computed meanwhile elsewhere."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ..queues import FIFOQueue

_UNBOUNDED = 2**31


class StagingArea(FIFOQueue):
    """A queue of structures of one kind: lists, or dictionaries where `names` are given.

    >>> import pullback.compat.v1 as tf
    >>> area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], [[], []])
    >>> put, taken = area.put([1.0, 2]), area.get()
    >>> with tf.Session() as sess:
    ...     sess.run(put)
    ...     print(sess.run(taken), sess.run(area.size()))
    [np.float32(1.0), np.int32(2)] 0
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if memory_limit:
            raise NotImplementedError("StagingArea: memory_limit is not there; give a capacity")
        super().__init__(capacity or _UNBOUNDED, dtypes, shapes, names, shared_name)

    def put(self, values: Any, name: str | None = None) -> pb.Operation:
        """The operation that puts a structure in."""
        return self.enqueue(values, name or "StagingArea_put")

    def get(self, name: str | None = None) -> Any:
        """The structure that waits longest: a dictionary where there are names, else a list."""
        taken = self.dequeue(name or "StagingArea_get")
        return taken if isinstance(taken, dict) else list(taken) if isinstance(taken, list | tuple) else [taken]
