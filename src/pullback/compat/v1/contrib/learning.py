"""Training loops of TF-Slim: `tf.contrib.slim.learning`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pullback as pb

from ..logging import info
from ..train.supervisor import Supervisor
from .optimizing import clip_gradient_norms as clip_gradient_norms
from .optimizing import create_train_op as create_train_op
from .optimizing import multiply_gradients as multiply_gradients

USE_DEFAULT = Supervisor.USE_DEFAULT


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Any) -> tuple[Any, bool]:
    """The loss of one step, and False: the training goes on."""
    del global_step, train_step_kwargs
    return sess.run(train_op), False


def train(
    train_op: Any,
    logdir: str | None,
    train_step_fn: Callable[..., Any] | None = None,
    train_step_kwargs: Any = None,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = USE_DEFAULT,
    number_of_steps: int | None = None,
    init_op: Any = USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = USE_DEFAULT,
    init_fn: Callable[..., Any] | None = None,
    ready_op: Any = USE_DEFAULT,
    summary_op: Any = USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: object = None,
    session_config: object = None,
    session_wrapper: Callable[..., Any] | None = None,
    trace_every_n_steps: object = None,
    ignore_live_threads: bool = False,
) -> Any:
    """The loss of the last of `number_of_steps` steps, each a run of `train_op`; a supervisor saves in `logdir`."""
    del ready_op, startup_delay_steps, sync_optimizer, trace_every_n_steps, ignore_live_threads
    supervisor = Supervisor(
        graph=graph or pb.get_default_graph(),
        is_chief=is_chief,
        logdir=logdir,
        global_step=global_step,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        init_fn=init_fn,
        summary_op=summary_op,
        summary_writer=summary_writer,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        saver=USE_DEFAULT if saver is None else saver,
    )
    loss, step = None, train_step_fn or train_step
    with supervisor.managed_session(master, session_config) as session:
        running = session if session_wrapper is None else session_wrapper(session)
        for steps in count(1) if number_of_steps is None else range(1, number_of_steps + 1):
            if supervisor.should_stop():
                break
            loss, stop = step(running, train_op, supervisor.global_step, train_step_kwargs or {})
            if log_every_n_steps and steps % log_every_n_steps == 0:
                info("global step %d: loss = %s", steps, loss)
            if stop:
                supervisor.request_stop()
        if is_chief and supervisor.saver is not None and supervisor.save_path is not None:
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
    return loss
