"""AutoGraph's names in programs of graphs: `tf.autograph`. Python's own `if` and `while` are not translated.

>>> import pullback.compat.v1 as tf
>>> @tf.autograph.experimental.do_not_convert
... def step(x):
...     return tf.cond(x > 0, lambda: x, lambda: -x)
>>> tf.autograph.set_verbosity(0)
>>> tf.Session().run(step(tf.constant(-2)))
np.int32(2)
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def do_not_convert(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """`func`, as it is: nothing is ever converted."""
    return (lambda f: f) if func is None else func


def set_loop_options(**options: object) -> None:
    """Nothing: there are no loops that were translated."""
    del options


experimental = SimpleNamespace(do_not_convert=do_not_convert, set_loop_options=set_loop_options)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Nothing: there is nothing to tell."""
    del level, alsologtostdout


def trace(*args: Any) -> None:
    """Prints `args` when the graph is built."""
    print(*args)


def to_graph(*args: Any, **kwargs: Any) -> Any:
    """Refused, as `to_code` is.

    Raises:
        NotImplementedError: always; with what to write.
    """
    del args, kwargs
    raise NotImplementedError(
        "autograph: Python's own if, while and for are not translated into graphs; write tf.cond, tf.while_loop, "
        "tf.map_fn or tf.scan"
    )


to_code = convert = to_graph
