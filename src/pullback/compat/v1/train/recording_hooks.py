"""Session hooks that record: values in the log, checkpoints, summaries, steps per second.

>>> import os, tempfile
>>> import pullback.compat.v1 as tf
>>> train = tf.train
>>> class Told(train.CheckpointSaverListener):
...     def after_save(self, session, global_step_value):
...         print("saved at", global_step_value)
>>> step, loss = train.get_or_create_global_step(), tf.constant(2.0, name="loss")
>>> grow = tf.assign_add(step, 1)
>>> with tempfile.TemporaryDirectory() as folder:
...     hooks = [
...         train.CheckpointSaverHook(folder, save_steps=10, listeners=[Told()]),
...         train.LoggingTensorHook({"loss": loss}, every_n_iter=10),
...         train.StepCounterHook(every_n_steps=10, output_dir=folder),
...         train.SummarySaverHook(save_steps=10, output_dir=folder, summary_op=tf.summary.scalar("loss", loss)),
...     ]
...     with train.MonitoredSession(hooks=hooks) as session:
...         _ = session.run(grow)
saved at 0
saved at 1
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pullback as pb

from .. import logging
from .. import summary as summaries
from ..messages import message
from .collected_savers import collected_saver
from .hooks import SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors, by level INFO, every so many runs or seconds, and `at_end`.

    Raises:
        ValueError: neither `every_n_iter` nor `every_n_secs` nor `at_end` is given, or both of the former.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Sequence[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        once = every_n_iter is None and every_n_secs is None
        if once and not at_end:
            raise ValueError("LoggingTensorHook: give every_n_iter=, every_n_secs= or at_end=True")
        self._tensors = dict(tensors) if isinstance(tensors, Mapping) else {_name_of(t): t for t in tensors}
        self._timer = None if once else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._at_end, self._formatter = at_end, formatter

    def begin(self) -> None:
        """Count from 0."""
        self._runs, self._due = 0, False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetch them if it is time."""
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._tensors) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log them."""
        if self._due:
            self._log(run_values.results)
        self._runs += 1

    def end(self, session: Any) -> None:
        """Log them once more where that was asked for."""
        if self._at_end:
            self._log(session.run(self._tensors))

    def _log(self, values: Mapping[str, Any]) -> None:
        seconds = None if self._timer is None else self._timer.update_last_triggered_step(self._runs)[0]
        if self._formatter is not None:
            logging.info(self._formatter(values))
            return
        text = ", ".join(f"{name} = {value}" for name, value in values.items())
        logging.info(text if seconds is None else f"{text} ({seconds:.3f} sec)")


class CheckpointSaverListener:
    """Base class of what is told when a `CheckpointSaverHook` saves; its methods do nothing."""

    def begin(self) -> None:
        """Called when the hook begins."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a file is written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Called after it was written; True ends the training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end."""


class CheckpointSaverHook(SessionRunHook):
    """Saves variables at the beginning, every so many steps or seconds, and at the end.

    With `save_graph_def` it writes the graph too, at the beginning, as `graph.pbtxt`.

    Raises:
        ValueError: both `saver` and `scaffold` are given, or `save_secs` and `save_steps`, or none of these.
    """

    def __init__(
        self,
        checkpoint_dir: str | os.PathLike[str],
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: pb.train.Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("CheckpointSaverHook: give saver= or scaffold=, and not both")
        self._dir, self._path = checkpoint_dir, os.path.join(checkpoint_dir, checkpoint_basename)
        self._saver, self._scaffold = saver, scaffold
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())
        self._save_graph_def = save_graph_def

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = pb.train.get_or_create_global_step()
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Save what training begins with."""
        os.makedirs(self._dir, exist_ok=True)
        if self._save_graph_def:
            write_graph_text(session.graph, self._dir)
        self._save(session, int(session.run(self._global_step)))

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save if it is time."""
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step) and self._save(run_context.session, step):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        """Save the last step, unless it is."""
        step = int(session.run(self._global_step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Whether a listener wants to stop."""
        self._timer.update_last_triggered_step(step)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._found_saver().save(session, self._path, global_step=step)
        answers = [listener.after_save(session, step) for listener in self._listeners]
        return any(answers)

    def _found_saver(self) -> pb.train.Saver:
        if self._saver is None:
            self._saver = collected_saver() if self._scaffold is None else self._scaffold.saver
        if self._saver is None:
            raise RuntimeError(
                "No items in collection savers. Please add a saver to the collection or provide a saver or scaffold."
            )
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs the number of steps per second, and writes it as the summary `global_step/sec`."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: pb.summary.FileWriter | None = None,
    ) -> None:
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer = pb.summary.FileWriter(output_dir) if summary_writer is None and output_dir else summary_writer

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = pb.train.get_or_create_global_step()

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log and write if it is time."""
        step = int(run_context.session.run(self._global_step))
        if not self._timer.should_trigger_for_step(step):
            return
        seconds, steps = self._timer.update_last_triggered_step(step)
        if seconds and steps is not None:
            rate = steps / seconds
            logging.info("global_step/sec: %g", rate)
            if self._writer is not None:
                Summary = message("Summary")
                value = Summary.Value(tag="global_step/sec", simple_value=rate)
                self._writer.add_summary(Summary(value=[value]), step)


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Raises:
        ValueError: both or none of `summary_op` and `scaffold` are given, or of `save_steps` and `save_secs`.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: pb.summary.FileWriter | None = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("SummarySaverHook: give summary_op= or scaffold=, and not both")
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._writer = pb.summary.FileWriter(output_dir) if summary_writer is None and output_dir else summary_writer
        self._scaffold, self._op = scaffold, summary_op

    def begin(self) -> None:
        """Find the global step."""
        self._global_step, self._next = pb.train.get_or_create_global_step(), 0
        self._due = False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Fetch the summaries if it is time."""
        found = self._scaffold.summary_op if self._op is None else self._op
        self._due = found is not None and self._timer.should_trigger_for_step(self._next)
        return SessionRunArgs(found) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        step = int(run_context.session.run(self._global_step))
        if self._due and self._writer is not None:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results if isinstance(run_values.results, list) else [run_values.results]:
                self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session: Any) -> None:
        """Write out what is waiting."""
        if self._writer is not None:
            self._writer.flush()


def summaries_of(graph: Any) -> Any:
    """All summaries of a graph as one, None where there are none."""
    with graph.as_default():
        return summaries.merge_all(pb.GraphKeys.SUMMARIES)


def _name_of(tensor: Any) -> str:
    return tensor if isinstance(tensor, str) else str(tensor.name)


def write_graph_text(graph: pb.Graph, folder: str | os.PathLike[str]) -> None:
    """Write a graph as the file `graph.pbtxt`.

    It is not written without the package tensorboard, which has the messages, nor where TensorFlow has nothing like an
    operation, of which `Saver.save` warns.
    """
    with contextlib.suppress(ImportError, pb.errors.UnimplementedError):
        pb.train.write_graph(graph, folder, "graph.pbtxt")
