"""Session hooks: what monitored sessions of TensorFlow 1 call before and after each run.

>>> import pullback.compat.v1 as tf
>>> train = tf.train
>>> class Shown(train.SessionRunHook):
...     def before_run(self, run_context):
...         assert isinstance(run_context, train.SessionRunContext)
...         return train.SessionRunArgs(step)
...     def after_run(self, run_context, run_values):
...         assert isinstance(run_values, train.SessionRunValues)
...         print("step", run_values.results)
>>> step = train.get_or_create_global_step()
>>> x = tf.placeholder(tf.float32, [], name="x")
>>> loss, grow = tf.multiply(x, 2.0), tf.assign_add(step, 1)
>>> hooks = [Shown(), train.FeedFnHook(lambda: {x: 3.0}), train.NanTensorHook(loss), train.StopAtStepHook(num_steps=2)]
>>> hooks.append(train.FinalOpsHook(tf.constant(5)))
>>> with train.MonitoredSession(hooks=hooks) as session:
...     while not session.should_stop():
...         _ = session.run([loss, grow])
step 0
step 1
>>> hooks[-1].final_ops_values
np.int32(5)
>>> timer = train.SecondOrStepTimer(every_steps=10)
>>> timer.should_trigger_for_step(0)
True
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from .. import logging


class SessionRunArgs(NamedTuple):
    """What a hook adds to a run."""

    fetches: Any
    feed_dict: Mapping[Any, Any] | None = None
    options: object = None


class SessionRunValues(NamedTuple):
    """What the fetches of a hook gave."""

    results: Any
    options: object = None
    run_metadata: object = None


class SessionRunContext:
    """A run that is asked for: its arguments, its session, and a way to say that it is the last one."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self.original_args, self.session = original_args, session
        self.stop_requested = False

    def request_stop(self) -> None:
        """Let the monitored session stop."""
        self.stop_requested = True


class SessionRunHook:
    """Base class of hooks, whose methods do nothing; programs override those that they need."""

    def begin(self) -> None:
        """Called before the session is made: the graph can be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when variables have their values."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """What to fetch and feed besides."""

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called with what was fetched."""

    def end(self, session: Any) -> None:
        """Called at the end, unless an exception ends the session."""


class SecondOrStepTimer:
    """Whether it is time again: `every_steps` steps or `every_secs` seconds after the last time.

    Raises:
        ValueError: both are given, or none.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if (every_secs is None) == (every_steps is None):
            raise ValueError("SecondOrStepTimer: give every_secs= or every_steps=, and not both")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forget the last time."""
        self._step: int | None = None
        self._time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time at `step`; the first time always."""
        if self._step is None:
            return True
        if step == self._step:
            return False
        if self._every_steps is not None:
            return bool(step >= self._step + self._every_steps)
        return self._every_secs is not None and time.time() >= self._time + self._every_secs

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it was time; the seconds and steps since the time before, None the first time."""
        now = time.time()
        since = (None, None) if self._step is None else (now - self._time, step - self._step)
        self._step, self._time = step, now
        return since

    def last_triggered_step(self) -> int | None:
        """The step of the last time."""
        return self._step


class StopAtStepHook(SessionRunHook):
    """Stops at the global step `last_step`, or after `num_steps` more.

    Raises:
        ValueError: both are given, or none.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise ValueError("StopAtStepHook: give num_steps= or last_step=, and not both")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = pb.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Know the last step."""
        if self._num_steps is not None:
            self._last_step = int(session.run(self._global_step)) + self._num_steps

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop if the step was the last one."""
        if self._last_step is not None and run_context.session.run(self._global_step) >= self._last_step:
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss is NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops where a loss is NaN: with NanLossDuringTrainingError, or without where `fail_on_nan_loss` is false."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop if it is NaN."""
        if np.isnan(run_values.results).any():
            if self._fails:
                raise NanLossDuringTrainingError
            logging.warning("NaN loss during training.")
            run_context.request_stop()


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` at the end; `final_ops_values` is what they gave."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Mapping[Any, Any] | None = None) -> None:
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self.final_ops_values: Any = None

    def end(self, session: Any) -> None:
        """Run them."""
        if self._ops is not None:
            self.final_ops_values = session.run(self._ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds in each run what `feed_fn` returns."""

    def __init__(self, feed_fn: Callable[[], Mapping[Any, Any]]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feed it."""
        return SessionRunArgs(None, self.feed_fn())
