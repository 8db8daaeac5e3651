"""Session manager of TensorFlow 1: sessions that are restored from checkpoints, or initialised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pullback as pb


class SessionManager:
    """Makes sessions that are ready to run: their variables come from a checkpoint, or from `init_op`.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable(2.0)
    >>> session = tf.train.SessionManager().prepare_session("", init_op=v.initializer)
    >>> session.run(v)
    np.float32(2.0)
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: pb.Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: object = None,
        local_init_feed_dict: Mapping[Any, Any] | None = None,
    ) -> None:
        del ready_for_local_init_op, recovery_wait_secs, local_init_run_options
        self._local_init_op, self._feeds = local_init_op, local_init_feed_dict
        self._ready_op, self._graph = ready_op, graph or pb.get_default_graph()

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: pb.train.Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
        init_feed_dict: Mapping[Any, Any] | None = None,
        init_fn: Callable[[pb.Session], Any] | None = None,
    ) -> pb.Session:
        """A session, restored from the newest checkpoint, or else initialised by `init_op` and `init_fn`.

        Raises:
            RuntimeError: there is neither, or `ready_op` names variables that have no value.
        """
        session, restored = self.recover_session(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        if not restored:
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise RuntimeError("prepare_session: there is no checkpoint, no init_op and no init_fn to begin with")
            session.run([] if init_op is None else init_op, feed_dict=init_feed_dict)
            if init_fn is not None:
                init_fn(session)
            self._begin_local(session)
        self._check_ready(session)
        return session

    def recover_session(
        self,
        master: str,
        saver: pb.train.Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
    ) -> tuple[pb.Session, bool]:
        """A session, and whether it was restored from a checkpoint; without one it is as it was made."""
        del wait_for_checkpoint, max_wait_secs
        session = pb.Session(master, graph=self._graph, config=config)
        newest = checkpoint_filename_with_path
        if newest is None and checkpoint_dir is not None:
            newest = pb.train.latest_checkpoint(checkpoint_dir)
        if saver is None or newest is None:
            return session, False
        with self._graph.as_default():
            if pb.all_variables():
                session.run(pb.global_variables_initializer())
        saver.restore(session, newest)
        self._begin_local(session)
        return session, True

    def wait_for_session(self, master: str, config: object = None, max_wait_secs: float = float("Inf")) -> pb.Session:
        """A session as it was made: nobody else initialises its variables.

        Raises:
            RuntimeError: `ready_op` names variables that have no value.
        """
        del max_wait_secs
        session = pb.Session(master, graph=self._graph, config=config)
        self._begin_local(session)
        self._check_ready(session)
        return session

    def _begin_local(self, session: pb.Session) -> None:
        if self._local_init_op is not None:
            session.run(self._local_init_op, feed_dict=self._feeds)

    def _check_ready(self, session: pb.Session) -> None:
        missing = [] if self._ready_op is None else list(session.run(self._ready_op))
        if missing:
            names = ", ".join(name.decode() if isinstance(name, bytes) else str(name) for name in missing)
            raise RuntimeError(f"SessionManager: the session is not ready: no value for {names}")
