"""Evaluation of checkpoints: `tf.contrib.training.evaluate_once` and its like, which `slim.evaluation` has too.

>>> import os, tempfile
>>> import pullback.compat.v1 as tf
>>> v = tf.Variable(2.0)
>>> mean, update = tf.metrics.mean(v)
>>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
...     session.run(v.initializer)
...     path = tf.train.Saver([v]).save(session, os.path.join(folder, "model"))
...     tf.contrib.training.evaluate_repeatedly(
...         folder,
...         scaffold=tf.train.Scaffold(saver=tf.train.Saver([v])),
...         eval_ops=update,
...         final_ops={"mean": mean},
...         hooks=[tf.contrib.training.StopAfterNEvalsHook(3)],
...         max_number_of_evaluations=1,
...     )
{'mean': np.float32(2.0)}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....core.dtypes import int64
from ....core.graph import Graph, get_default_graph
from ....layers.variables.initializers import Zeros
from ....layers.variables.scope import get_variable
from ....optimizers.global_step import get_global_step
from ....primitives.variables.assign import assign_add
from ....primitives.variables.collections import GraphKeys
from ....primitives.variables.variable import Variable
from ....summary import pb.summary.FileWriter
from .. import logging
from ..train.checkpoints import PathLike
from ..train.checkpoints import checkpoints_iterator as checkpoints_iterator
from ..train.checkpoints import wait_for_new_checkpoint as wait_for_new_checkpoint
from ..train.hooks import FinalOpsHook, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from ..train.monitored_session import ChiefSessionCreator, MonitoredSession, Scaffold
from ..train.recording_hooks import summaries_of


def get_or_create_eval_step() -> Variable:
    """The count of evaluations, a local variable of int64 in the collection `EVAL_STEP`; it is made where it is not."""
    graph: Graph = pb.get_default_graph()
    made = graph.get_collection(GraphKeys.EVAL_STEP)
    if made:
        return made[0]  # type: ignore[no-any-return]
    collections = [GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP]
    return get_variable("eval_step", [], int64, Zeros(), trainable=False, collections=collections)


class StopAfterNEvalsHook(SessionRunHook):
    """Asks for a stop after `num_evals` runs; None never does. Each run counts `get_or_create_eval_step()` up."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._most, self._log = num_evals, log_progress

    def begin(self) -> None:
        """Make what counts."""
        self._count = assign_add(get_or_create_eval_step(), 1)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Count."""
        return SessionRunArgs(self._count)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop at the end."""
        count = int(run_values.results)
        if self._log:
            logging.info("Evaluation [%d%s]", count, "" if self._most is None else f"/{self._most}")
        if self._most is not None and count >= self._most:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes summaries, all of the graph unless given, when the evaluation ends.

    Raises:
        ValueError: neither `log_dir` nor `summary_writer` is given.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: pb.summary.FileWriter | None = None,
        summary_op: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("SummaryAtEndHook: give log_dir= or summary_writer=")
        self._dir, self._writer, self._op, self._feeds = log_dir, summary_writer, summary_op, feed_dict

    def begin(self) -> None:
        """Find the summaries and the global step."""
        self._found = summaries_of(pb.get_default_graph()) if self._op is None else self._op
        self._step = pb.train.get_global_step()

    def end(self, session: Any) -> None:
        """Write them."""
        writer = pb.summary.FileWriter(str(self._dir)) if self._writer is None else self._writer
        step = 0 if self._step is None else int(session.run(self._step))
        if self._found is not None:
            writer.add_summary(session.run(self._found, feed_dict=self._feeds), step)
        writer.flush()


def evaluate_once(
    checkpoint_path: PathLike,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: object = None,
) -> Any:
    """The values of `final_ops` after runs of `eval_ops`, from a checkpoint, until a hook or the data ends them.

    Without `eval_ops` the end is at once. All variables that the checkpoint lacks begin as their initialisers say.
    """
    get_or_create_eval_step()
    last = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=str(checkpoint_path))
    with MonitoredSession(creator, [*(hooks or ()), last]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    return last.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: PathLike,
    master: str = "",
    scaffold: Scaffold | None = None,
    eval_ops: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[SessionRunHook] | None = None,
    config: object = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """`evaluate_once` of each new checkpoint of a folder, at most so many times; what the last one gave."""
    values = None
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for done, path in enumerate(paths, 1):
        values = evaluate_once(
            path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config
        )
        if done == max_number_of_evaluations:
            break
    return values
