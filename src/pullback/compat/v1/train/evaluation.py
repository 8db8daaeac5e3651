"""Evaluation loops of TensorFlow 1: runs of a graph from a checkpoint, a counted number of times.

Programs and tf_slim take them from `tensorflow.python.training.evaluation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pullback as pb

from .. import logging
from .hooks import FinalOpsHook, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from .monitored_session import ChiefSessionCreator, MonitoredSession, Scaffold


def get_or_create_eval_step() -> pb.Variable:
    """The variable that counts the runs of an evaluation, made where there is none; a local one."""
    steps = pb.get_default_graph().get_collection(pb.GraphKeys.EVAL_STEP)
    if len(steps) > 1:
        raise ValueError(f"Multiple tensors added to tf.GraphKeys.EVAL_STEP: {steps}; leave one")
    collections = [pb.GraphKeys.LOCAL_VARIABLES, pb.GraphKeys.EVAL_STEP]
    return (
        steps[0] if steps else pb.get_variable("eval_step", [], pb.int64, 0, trainable=False, collections=collections)
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after `num_evals` runs; None: when its data end."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._completed: pb.Tensor | None = None

    def _set_evals_completed_tensor(self, completed: pb.Tensor) -> None:
        """Let `completed` be the number of runs so far."""
        self._completed = completed

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the number of runs."""
        return SessionRunArgs(self._completed)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop where they are enough."""
        completed = run_values.results
        if self._log_progress:
            logging.info("Evaluation [%d%s]", completed, "" if self._num_evals is None else f"/{self._num_evals}")
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


def evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: object = None,
) -> Any:
    """The values of `final_ops` after `eval_ops` were run from a checkpoint until a hook or the data said stop."""
    hooks, ops = list(hooks or []), eval_ops
    if eval_ops is not None:
        completed = pb.assign_add(get_or_create_eval_step(), 1)
        ops = [eval_ops, completed]
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(completed)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint_path)
    with MonitoredSession(creator, [*hooks, final]) as session:
        while ops is not None and not session.should_stop():
            session.run(ops, feed_dict)
    return final.final_ops_values
