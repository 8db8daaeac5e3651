"""Python callbacks of TensorFlow 1 (`py_func`, `numpy_function`): a scalar comes to them as a scalar, a text as bytes.

>>> import pullback.compat.v1 as tf
>>> tf.Session().run(tf.py_func(lambda name, n: name.decode() * n, [b"ab", 2], tf.string))
b'abab'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import numpy as np

import pullback as pb

from ...core.typing import DTypeLike, TensorLike


def py_func(
    func: Callable[..., Any],
    inp: TensorLike,
    Tout: DTypeLike | Sequence[DTypeLike],
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """What `func` returns for the values of `inp`, each time a run needs it; it has no derivative.

    It is called with arrays, with NumPy's scalars where a tensor has no axes, with bytes for such a text. See
    `pullback.numpy_function`.
    """
    if not callable(func):
        raise TypeError(f"py_func: func must be callable, not {func!r}")
    return pb.numpy_function(_of_scalars(func), inp, Tout, stateful, name)


numpy_function = py_func


def _of_scalars(func: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        return func(*[x if np.ndim(x) else np.asarray(x)[()] for x in arrays])

    return update_wrapper(call, func)
