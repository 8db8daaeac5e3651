"""Optimizers of Keras inside graphs: `tf.keras.optimizers`.

>>> import pullback.compat.v1 as tf
>>> x = tf.get_variable("x", initializer=[3.0, 4.0])
>>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
>>> step = optimizer.get_updates(tf.reduce_sum(x * x), [x])
>>> with tf.Session() as session:
...     session.run(tf.global_variables_initializer())
...     _ = session.run(step)
...     session.run([x, optimizer.iterations])
[array([2.4, 3.2], dtype=float32), np.int64(1)]
>>> tf.keras.optimizers.get("adam").get_config()["beta_1"]
0.9
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import schedules as schedules
from .base import Optimizer as Optimizer
from .ftrl import Ftrl as Ftrl
from .moments import Adam as Adam
from .moments import Adamax as Adamax
from .moments import Nadam as Nadam
from .scaled import Adadelta as Adadelta
from .scaled import Adagrad as Adagrad
from .scaled import RMSprop as RMSprop
from .sgd import SGD as SGD

_BY_NAME = {kind.__name__.lower(): kind for kind in (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)}


def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """The class and the arguments that make such an optimizer."""
    return {"class_name": type(optimizer).__name__, "config": optimizer.get_config()}


def deserialize(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The optimizer that `serialize` told of.

    Raises:
        ValueError: its class is unknown.
    """
    name = config["class_name"]
    kinds = {**_BY_NAME, **(custom_objects or {})}
    kind = kinds.get(name) or kinds.get(name.lower())
    if kind is None:
        raise ValueError(f"Unknown optimizer: {name}. There are {', '.join(sorted(_BY_NAME))}; pass custom_objects")
    return kind.from_config(config["config"])


def get(identifier: Any) -> Any:
    """The optimizer of a name, as "adam", of what `serialize` told of, or one itself.

    Raises:
        ValueError: it is none of these, or unknown.
    """
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    if isinstance(identifier, Optimizer):
        return identifier
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
