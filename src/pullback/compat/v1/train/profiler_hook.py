"""Profiling hook: traces of runs of a monitored session, each a file for chrome://tracing."""

from __future__ import annotations

import os

import pullback as pb

from ..timeline import Timeline
from .hooks import SecondOrStepTimer, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class ProfilerHook(SessionRunHook):
    """Writes `timeline-<step>.json` every so many steps or seconds, from the second run on.

    Raises:
        ValueError: both or none of `save_steps` and `save_secs` are given.

    >>> import os, tempfile
    >>> import pullback.compat.v1 as tf
    >>> change = tf.train.get_or_create_global_step().assign_add(1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hooks = [tf.train.ProfilerHook(save_steps=1, output_dir=folder), tf.train.StopAtStepHook(2)]
    ...     with tf.train.MonitoredSession(hooks=hooks) as session:
    ...         while not session.should_stop():
    ...             _ = session.run(change)
    ...     os.listdir(folder)
    ['timeline-2.json']
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._folder, self._shown = output_dir, (show_dataflow, show_memory)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._next_step: int | None = None
        self._traced = False

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = pb.train.get_or_create_global_step()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for a trace if it is time."""
        del run_context
        self._traced = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = pb.RunOptions(trace_level=pb.RunOptions.FULL_TRACE) if self._traced else None
        return SessionRunArgs(self._global_step, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the trace that was asked for."""
        before = int(run_values.results)
        step = before + 1
        if self._next_step is None:
            self._timer.update_last_triggered_step(before)
        metadata = run_values.run_metadata
        if self._traced and isinstance(metadata, pb.RunMetadata):
            step = int(run_context.session.run(self._global_step))
            self._timer.update_last_triggered_step(step)
            os.makedirs(self._folder or os.curdir, exist_ok=True)
            with open(os.path.join(self._folder, f"timeline-{step}.json"), "w", encoding="utf-8") as file:
                file.write(Timeline(metadata.step_stats).generate_chrome_trace_format(*self._shown))
        self._next_step = step + 1
