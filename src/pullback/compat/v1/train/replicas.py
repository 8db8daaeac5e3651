"""Replicas and their training loops: refused with what to use, or as one process has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pullback as pb

from .hooks import SessionRunArgs, SessionRunContext, SessionRunHook
from .optimizer import Optimizer


class SyncReplicasOptimizer(Optimizer):
    """Refused: gradients of several processes are added up by the compiled program, without an optimizer of their own.

    Raises:
        NotImplementedError: always; with what to use.

    >>> import pullback.compat.v1 as tf
    >>> tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 4)
    Traceback (most recent call last):
    NotImplementedError: train.SyncReplicasOptimizer: use the optimizer itself. Spread the batch over a mesh, ...
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        raise NotImplementedError(
            "train.SyncReplicasOptimizer: use the optimizer itself. Spread the batch over a mesh, Session(mesh=...), "
            "in processes that pb.distributed.initialize() joins: the gradient of a loss over the whole batch is then "
            "the sum of all replicas'"
        )


class GlobalStepWaiterHook(SessionRunHook):
    """Lets runs wait until the global step is at least `wait_until_step`; nobody else raises it here.

    Raises:
        RuntimeError, in a run: the global step is lower.

    >>> import pullback.compat.v1 as tf
    >>> step = tf.train.get_or_create_global_step()
    >>> with tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(0)]) as session:
    ...     session.run(step)
    np.int64(0)
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = pb.train.get_or_create_global_step()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Look at the global step."""
        step = int(run_context.session.run(self._global_step)) if self._wait_until_step > 0 else 0
        if step < self._wait_until_step:
            raise RuntimeError(
                f"GlobalStepWaiterHook: the global step is {step}, and no other process raises it to "
                f"{self._wait_until_step}"
            )
        return None


def basic_train_loop(
    supervisor: Any,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` in a session of `supervisor` until that is asked to stop.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable(0)
    >>> grow, supervisor = v.assign_add(1), tf.train.Supervisor()
    >>> def step(session):
    ...     if session.run(grow) == 3:
    ...         supervisor.request_stop()
    >>> tf.train.basic_train_loop(supervisor, step)
    """
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *(args or ()), **(kwargs or {}))
