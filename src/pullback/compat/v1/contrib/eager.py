"""Eager names that programs of graphs use, `tf.contrib.eager`: tapes, functions, variables.

>>> import pullback.compat.v1 as tf
>>> tfe = tf.contrib.eager
>>> tfe.executing_eagerly(), tfe.num_gpus() >= 0
(False, True)
>>> v = tfe.Variable(3.0)
>>> dv = tfe.implicit_gradients(lambda: v * v)()
>>> with tf.Session() as session:
...     session.run(v.initializer)
...     session.run(dv[0][0])
np.float32(6.0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....control_flow.custom_gradient import custom_gradient as custom_gradient
from ....derivatives.tape import GradientTape as GradientTape
from ...modes import enable_eager_execution as enable_eager_execution
from ...modes import executing_eagerly as executing_eagerly
from ..functions import function
from ..test import gpu_device_name
from ..variable import Variable as Variable

in_eager_mode, defun, py_func = executing_eagerly, function, pb.py_function


def in_graph_mode() -> bool:
    """True: functions add to a graph."""
    return True


def num_gpus() -> int:
    """1 where XLA sees a GPU, else 0."""
    return int(bool(gpu_device_name()))


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """A function of the same arguments that gives a pair (gradient, variable) for each variable that `f` uses."""

    def pairs(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        with GradientTape() as tape:
            y = f(*args, **kwargs)
        variables = tape.watched_variables()
        return list(zip(tape.gradient(y, list(variables)), variables, strict=True))

    return pairs


def gradients_function(f: Callable[..., Any], params: Sequence[int] | None = None) -> Callable[..., list[Any]]:
    """A function of the same arguments that gives the derivatives of `f` by those of number `params`, or by all."""

    def derivatives(*args: Any) -> list[Any]:
        xs = [pb.convert_to_tensor(x) for x in args]
        return pb.gradients(f(*xs), [xs[i] for i in (range(len(xs)) if params is None else params)])

    return derivatives
