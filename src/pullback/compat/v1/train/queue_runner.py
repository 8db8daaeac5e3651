"""Queue runners of TensorFlow 1: threads that run the operations which fill a queue.

>>> import pullback.compat.v1 as tf
>>> queue = tf.FIFOQueue(2, tf.int32, [[]])
>>> tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(7)]))
>>> coord = tf.train.Coordinator()
>>> with tf.Session() as session:
...     threads = tf.train.start_queue_runners(session, coord)
...     print(session.run(queue.dequeue()))
...     coord.request_stop()
...     session.run(queue.close(cancel_pending_enqueues=True))
...     coord.join(threads)
7
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

import pullback as pb

from ..errors import CancelledError, OutOfRangeError
from .coordinator import Coordinator


class QueueRunner:
    """Threads that run `enqueue_ops`, each again and again; when all have come to an end the queue is closed."""

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
        queue_runner_def: object = None,
        import_scope: object = None,
    ) -> None:
        del queue_runner_def, import_scope
        self.queue, self.enqueue_ops = queue, list(enqueue_ops or ())
        self.close_op = queue.close() if close_op is None and queue is not None else close_op
        self.cancel_op = self.close_op if cancel_op is None else cancel_op
        self._ends: tuple[type[BaseException], ...] = (
            OutOfRangeError,
            CancelledError,
            *(queue_closed_exception_types or ()),
        )
        self._running = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the queue."""
        return str(self.queue.name)

    def create_threads(
        self, sess: Any, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """One thread for each of the operations, which run in `sess`; a stop closes the queue."""
        if coord is not None and self.cancel_op is not None:
            coord.call_at_stop(lambda: self._cancel(sess))
        self._running = len(self.enqueue_ops)
        threads = [threading.Thread(target=self._fill, args=(sess, op, coord)) for op in self.enqueue_ops]
        for thread in threads:
            thread.daemon = daemon
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _fill(self, sess: Any, op: Any, coord: Coordinator | None) -> None:
        """Run `op` until the queue is at its end, or a stop is asked for."""
        try:
            while coord is None or not coord.should_stop():
                sess.run(op)
        except self._ends:
            pass
        except Exception as error:
            if coord is None:
                raise
            coord.request_stop(error)
        finally:
            with self._lock:
                self._running -= 1
                last = self._running == 0
            if last and self.close_op is not None:
                sess.run(self.close_op)

    def _cancel(self, sess: Any) -> None:
        """Let go who waits for room in the queue, or for an element; a session that is closed has nobody who does."""
        with contextlib.suppress(pb.errors.PullbackError, RuntimeError):
            sess.run(self.cancel_op)


def add_queue_runner(qr: QueueRunner, collection: str = pb.GraphKeys.QUEUE_RUNNERS) -> None:
    """Let `start_queue_runners` start `qr`."""
    pb.get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = pb.GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """The threads of all queue runners of the graph, none where there are none; started unless `start` is false.

    Raises:
        ValueError: no session is given, and there is no default one.
    """
    session = pb.get_default_session() if sess is None else sess
    if session is None:
        raise ValueError("start_queue_runners: there is no default session; pass sess=, or enter a session first")
    runners = session.graph.get_collection(collection)
    return [thread for qr in runners for thread in qr.create_threads(session, coord, daemon, start)]
