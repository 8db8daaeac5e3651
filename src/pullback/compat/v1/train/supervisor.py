"""Supervisor of TensorFlow 1: a session that restores itself, with threads that save and count beside the training."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pullback as pb

from .collected_savers import added_saver, collected, first_saver
from .coordinator import Coordinator, LooperThread
from .monitored_session import USE_DEFAULT
from .queue_runner import start_queue_runners
from .recording_hooks import summaries_of, write_graph_text


class Supervisor:
    """Keeps a training going in `logdir`: variables are restored from there, saved every so often, summaries written.

    The graph takes no further operations.

    >>> import pullback as pb
    >>> tf = pb.compat.v1
    >>> v = tf.Variable(2.0)
    >>> supervisor = tf.train.Supervisor()
    >>> with supervisor.managed_session() as session:
    ...     session.run(v)
    np.float32(2.0)
    """

    USE_DEFAULT = USE_DEFAULT

    def __init__(
        self,
        graph: pb.Graph | None = None,
        ready_op: object = USE_DEFAULT,
        ready_for_local_init_op: object = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: pb.train.Saver | None = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: object = None,
        summary_writer: pb.summary.FileWriter | None = USE_DEFAULT,
        init_fn: Callable[[pb.Session], Any] | None = None,
        local_init_run_options: object = None,
    ) -> None:
        del ready_op, ready_for_local_init_op, recovery_wait_secs, session_manager, local_init_run_options
        self.graph, self.is_chief = graph or pb.get_default_graph(), is_chief
        self.coord, self.init_feed_dict, self.init_fn = Coordinator(), init_feed_dict, init_fn
        self.save_summaries_secs, self.save_model_secs = save_summaries_secs, save_model_secs
        self._grace = stop_grace_secs
        self.save_path = None if logdir is None else os.path.join(logdir, checkpoint_basename)
        self._logdir = logdir
        with self.graph.as_default():
            self.init_op = _given(init_op, pb.GraphKeys.INIT_OP, pb.global_variables_initializer)
            self.local_init_op = _given(local_init_op, pb.GraphKeys.LOCAL_INIT_OP, _local_init_op)
            self.global_step = pb.train.get_global_step() if global_step is USE_DEFAULT else global_step
            self.saver = _default_saver() if saver is USE_DEFAULT else saver
            self.summary_op = _given(summary_op, pb.GraphKeys.SUMMARY_OP, lambda: summaries_of(self.graph))
        made = (
            pb.summary.FileWriter(logdir) if logdir is not None and is_chief and summary_writer is USE_DEFAULT else None
        )
        self.summary_writer = made if summary_writer is USE_DEFAULT else summary_writer
        self.graph.finalize()

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: object = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> pb.Session:
        """A session whose variables are restored from the newest checkpoint, or initialised; its threads run."""
        del wait_for_checkpoint, max_wait_secs
        self.coord.clear_stop()
        session = pb.Session(master, graph=self.graph, config=config)
        newest = None if self._logdir is None else pb.train.latest_checkpoint(self._logdir)
        with self.graph.as_default():
            if newest is not None and self.saver is not None and pb.all_variables():
                session.run([v.initializer for v in pb.all_variables()])
                self.saver.restore(session, newest)
            else:
                session.run([] if self.init_op is None else self.init_op, feed_dict=self.init_feed_dict)
                if self.init_fn is not None:
                    self.init_fn(session)
            session.run([] if self.local_init_op is None else self.local_init_op)
        if start_standard_services and self.is_chief and self._logdir is not None:
            self.start_standard_services(session)
        self.start_queue_runners(session)
        return session

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: object = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[pb.Session]:
        """A block with that session; an exception in it, or in a thread, ends all of them and is raised."""
        session = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
        try:
            with session.as_default():
                yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                session.close()

    def start_standard_services(self, sess: pb.Session) -> list[LooperThread]:
        """The threads that save variables and write summaries, started.

        Raises:
            RuntimeError: this is not the chief, or it has no folder.
        """
        if not self.is_chief or self._logdir is None:
            raise RuntimeError("Supervisor.start_standard_services: only the chief starts them, and in a logdir")
        os.makedirs(self._logdir, exist_ok=True)
        write_graph_text(sess.graph, self._logdir)
        threads = []
        if self.summary_op is not None and self.save_summaries_secs and self.summary_writer is not None:
            threads.append(self.loop(self.save_summaries_secs, self._write_summaries, [sess]))
        if self.saver is not None and self.save_model_secs:
            threads.append(self.loop(self.save_model_secs, self._save, [sess]))
        return threads

    def start_queue_runners(self, sess: pb.Session, queue_runners: Sequence[Any] | None = None) -> list[Any]:
        """The threads of the queue runners, those of the graph unless others are given, started."""
        if queue_runners is None:
            return list(start_queue_runners(sess, self.coord))
        return [thread for qr in queue_runners for thread in qr.create_threads(sess, self.coord, True, True)]

    def loop(
        self, timer_interval_secs: float | None, target: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> LooperThread:
        """A thread that calls `target` every so many seconds, till the stop."""
        return LooperThread.loop(self.coord, timer_interval_secs, target, args, kwargs)

    def summary_computed(self, sess: pb.Session, summary: Any, global_step: Any = None) -> None:
        """Write `summary`, by the global step that the session has.

        Raises:
            RuntimeError: there is no folder to write to.
        """
        if self.summary_writer is None:
            raise RuntimeError("Supervisor.summary_computed: there is no summary writer; pass logdir=")
        if global_step is None and self.global_step is not None:
            global_step = int(sess.run(self.global_step))
        self.summary_writer.add_summary(summary, global_step)

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self.coord.should_stop()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop."""
        self.coord.request_stop(ex)

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Ask the threads to stop, wait for them, and raise what one of them has raised."""
        self.coord.request_stop()
        try:
            self.coord.join(threads, self._grace, ignore_live_threads)
        finally:
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.close()

    def _save(self, session: pb.Session) -> None:
        step = None if self.global_step is None else int(session.run(self.global_step))
        if self.saver is not None and self.save_path is not None:
            self.saver.save(session, self.save_path, global_step=step)

    def _write_summaries(self, session: pb.Session) -> None:
        self.summary_computed(session, session.run(self.summary_op))


def _default_saver() -> pb.train.Saver | None:
    """The first of the collection, or a new one; none where there are no variables."""
    return first_saver() or (added_saver() if pb.global_variables() else None)


def _given(op: Any, key: str, make: Callable[[], Any]) -> Any:
    return collected(key, make) if op is USE_DEFAULT else op


def _local_init_op() -> pb.Operation:
    tables = pb.get_default_graph().get_collection(pb.GraphKeys.TABLE_INITIALIZERS)
    return pb.group(pb.initialize_local_variables(), *tables)
