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

import pullback as pb

from ..train.checkpoints import PathLike
from ..train.checkpoints import checkpoints_iterator as checkpoints_iterator
from ..train.checkpoints import wait_for_new_checkpoint as wait_for_new_checkpoint
from ..train.evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from ..train.evaluation import evaluate_once as evaluate_once
from ..train.evaluation import get_or_create_eval_step as get_or_create_eval_step
from ..train.hooks import SessionRunHook
from ..train.monitored_session import Scaffold
from ..train.recording_hooks import summaries_of


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
