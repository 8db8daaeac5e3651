"""Monitored sessions of TensorFlow 1: sessions that initialise or restore variables, and call hooks around each run.

>>> import pullback.compat.v1 as tf
>>> v = tf.Variable(2.0)
>>> scaffold = tf.train.Scaffold(init_op=v.initializer)
>>> creators = [tf.train.ChiefSessionCreator(scaffold), tf.train.WorkerSessionCreator(scaffold)]
>>> [creator.create_session().run(v) for creator in creators]
[np.float32(2.0), np.float32(2.0)]
>>> isinstance(creators[0], tf.train.SessionCreator)
True
>>> with tf.train.SingularMonitoredSession(scaffold=scaffold) as session:
...     session.run(v)
np.float32(2.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import pullback as pb

from .collected_savers import added_saver, collected, collected_saver
from .coordinator import Coordinator
from .hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from .queue_runner import start_queue_runners
from .recording_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook, summaries_of

USE_DEFAULT: Any = object()
"""An argument that was not given."""
_ENDS = (pb.errors.OutOfRangeError, StopIteration)
"""Exceptions that say that there is no more data: the block of a session just ends."""


class Scaffold:
    """What a session begins with: operations that initialise, a function, a saver, the summaries.

    What is not given is made when the session begins: all variables are initialised, all summaries merged; the saver is
    that of the collection `SAVERS`, or a new one of all variables, which is then in it.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Mapping[Any, Any] | None = None,
        init_fn: Callable[..., Any] | None = None,
        ready_op: object = None,
        ready_for_local_init_op: object = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: pb.train.Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Mapping[Any, Any] | None = None,
    ) -> None:
        del ready_op, ready_for_local_init_op, copy_from_scaffold
        self.init_op, self.init_feed_dict = init_op, init_feed_dict
        self.local_init_op, self.local_init_feed_dict = local_init_op, local_init_feed_dict
        self._init_fn = init_fn
        self.summary_op: Any = summary_op
        self.saver: Any = saver

    @property
    def init_fn(self) -> Callable[[pb.Session], Any] | None:
        """What is called with the session when its variables are initialised."""
        init_fn = self._init_fn
        return None if init_fn is None else lambda session: init_fn(self, session)

    @staticmethod
    def default_local_init_op() -> Any:
        """Initialises local variables."""
        return pb.initialize_local_variables()

    def finalize(self) -> Scaffold:
        """Make what was not given; the graph takes no further operations then.

        What another session of the graph began with is used again.
        """
        graph = pb.get_default_graph()
        if self.init_op is None:
            self.init_op = collected(pb.GraphKeys.INIT_OP, pb.global_variables_initializer)
        if self.local_init_op is None:
            tables = graph.get_collection(pb.GraphKeys.TABLE_INITIALIZERS)
            self.local_init_op = collected(
                pb.GraphKeys.LOCAL_INIT_OP, lambda: pb.group(pb.initialize_local_variables(), *tables)
            )
        if self.summary_op is None:
            self.summary_op = collected(pb.GraphKeys.SUMMARY_OP, lambda: summaries_of(graph))
        if self.saver is None:
            self.saver = collected_saver() or added_saver()
        graph.finalize()
        return self


class ChiefSessionCreator:
    """Makes sessions whose variables come from the newest checkpoint, or, where there is none, from initialisers."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        self.scaffold = Scaffold() if scaffold is None else scaffold
        self._master, self._config = master, config
        self._dir, self._file = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> pb.Session:
        """A session that is ready."""
        scaffold = self.scaffold.finalize()
        session = pb.Session(self._master, config=self._config)
        newest = self._file or (pb.train.latest_checkpoint(self._dir) if self._dir is not None else None)
        if newest is None:
            session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(session)
        elif pb.all_variables():
            session.run([v.initializer for v in pb.all_variables()])
            scaffold.saver.restore(session, newest)
        session.run(scaffold.local_init_op, feed_dict=scaffold.local_init_feed_dict)
        return session


def WorkerSessionCreator(
    scaffold: Scaffold | None = None, master: str = "", config: object = None, max_wait_secs: float = 1800
) -> ChiefSessionCreator:
    """As `ChiefSessionCreator`, without a checkpoint: there is nobody to wait for."""
    del max_wait_secs
    return ChiefSessionCreator(scaffold, master, config)


class MonitoredSession:
    """A session that calls `hooks` around each run, and whose block ends where data is at its end.

    >>> import pullback as pb
    >>> tf = pb.compat.v1
    >>> step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=3)]) as session:
    ...     while not session.should_stop():
    ...         print(session.run(step))
    1
    2
    3
    """

    def __init__(
        self,
        session_creator: ChiefSessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self.graph: pb.Graph = pb.get_default_graph()
        self._may_grow_after = not self.graph.finalized
        self._hooks = list(hooks or ())
        self._grace = stop_grace_period_secs
        for hook in self._hooks:
            hook.begin()
        self._session = (session_creator or ChiefSessionCreator()).create_session()
        self._coordinator = Coordinator(_ENDS)
        self._closed = False
        start_queue_runners(self._session, self._coordinator)
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    def raw_session(self) -> pb.Session:
        """The session, which calls no hooks."""
        return self._session

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: object = None,
        run_metadata: object = None,
    ) -> Any:
        """As `Session.run`, with what the hooks fetch and feed.

        Raises:
            RuntimeError: the session is closed, or two hooks feed the same. What a thread of the session has raised.
        """
        if self._closed:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        wanted: dict[Any, Any] = {"caller": fetches}
        feeds = dict(feed_dict or {})
        for hook in self._hooks:
            asked = hook.before_run(context)
            if asked is None:
                continue
            options = _more_traced(options, asked.options)
            wanted[hook] = [] if asked.fetches is None else asked.fetches
            _add_feeds(feeds, asked.feed_dict or {}, hook)
        run_metadata = pb.RunMetadata() if run_metadata is None else run_metadata
        values = self._session.run(wanted, feeds, options, run_metadata)
        self._coordinator.raise_requested_exception()
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(values.get(hook), options, run_metadata))
        if context.stop_requested:
            self._coordinator.request_stop()
        return values["caller"]

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """What `step_fn` returns for a context with `session`, `run_with_hooks` and `request_stop`."""
        return step_fn(_StepContext(self))

    def should_stop(self) -> bool:
        """Whether a hook, or the end of the data, has asked for a stop."""
        return self._closed or self._coordinator.should_stop()

    def request_stop(self) -> None:
        """Let `should_stop` be true."""
        self._coordinator.request_stop()

    def close(self) -> None:
        """Call the hooks' `end`, and close the session. The graph takes operations again if it did before."""
        self._end(None)

    def __enter__(self) -> MonitoredSession:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        del traceback
        ended = exception_type is not None and issubclass(exception_type, _ENDS)
        self._end(None if ended else error)
        return ended

    def _end(self, error: BaseException | None) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if error is None:
                for hook in self._hooks:
                    hook.end(self._session)
            self._coordinator.request_stop()
            if error is None:
                self._coordinator.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            self._session.close()
            self.graph.finalized = not self._may_grow_after


class SingularMonitoredSession(MonitoredSession):
    """A monitored session that is made of a scaffold; `raw_session()` may be saved."""

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)


class _StepContext:
    """What a step function is given."""

    def __init__(self, monitored: MonitoredSession) -> None:
        self.session = monitored.raw_session()
        self.run_with_hooks = monitored.run
        self.request_stop = monitored.request_stop


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = USE_DEFAULT,
    save_summaries_steps: int | None = USE_DEFAULT,
    save_summaries_secs: float | None = USE_DEFAULT,
    config: object = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = USE_DEFAULT,
    summary_dir: str | None = None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """A monitored session that restores from a folder, and saves there every 600 s, and summaries every 100 steps.

    With `save_graph_def` the graph is saved too, as `graph.pbtxt`.

    >>> import pullback as pb
    >>> tf = pb.compat.v1
    >>> step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(step)
    np.int64(1)
    """
    del max_wait_secs
    scaffold = Scaffold() if scaffold is None else scaffold
    around = [*(hooks or ()), *((chief_only_hooks or ()) if is_chief else ())]
    if is_chief and checkpoint_dir is not None:
        folder = summary_dir or checkpoint_dir
        if log_step_count_steps:
            around.append(StepCounterHook(log_step_count_steps, output_dir=folder))
        steps, seconds = _often(save_summaries_steps, save_summaries_secs, (100, None))
        if steps or seconds:
            around.append(SummarySaverHook(steps, seconds, folder, scaffold=scaffold))
        steps, seconds = _often(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
        if steps or seconds:
            around.append(
                CheckpointSaverHook(checkpoint_dir, seconds, steps, scaffold=scaffold, save_graph_def=save_graph_def)
            )
    return MonitoredSession(
        ChiefSessionCreator(scaffold, master, config, checkpoint_dir), around, stop_grace_period_secs
    )


def _often(steps: Any, seconds: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """How many steps or seconds lie between two times."""
    if steps is USE_DEFAULT and seconds is USE_DEFAULT:
        return default
    return tuple([None if n is USE_DEFAULT else n for n in (steps, seconds)])  # type: ignore[return-value]


def _more_traced(one: object, other: object) -> object:
    """Of the options that the caller and the hooks ask for those that trace more."""
    if not isinstance(other, pb.RunOptions):
        return one
    return other if not isinstance(one, pb.RunOptions) or other.trace_level > one.trace_level else one


def _add_feeds(feeds: dict[Any, Any], more: Mapping[Any, Any], hook: SessionRunHook) -> None:
    for tensor, value in more.items():
        if tensor in feeds:
            raise RuntimeError(f"MonitoredSession.run: {tensor} is fed twice, once by {type(hook).__name__}")
        feeds[tensor] = value
