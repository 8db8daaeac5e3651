"""Time, and the program's log, as TensorFlow 1 has them at the top."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np

import pullback as pb

from ...control_flow.host_call import host_call
from ...core.types import tensor_type


def timestamp(name: str | None = None) -> pb.Tensor:
    """The seconds since 1970 when a run begins, float64.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.timestamp()) > 1.7e9
    np.True_
    """

    def now(session: Any) -> list[Any]:
        del session
        return [np.array(time.time())]

    return host_call(now, (), [tensor_type(pb.double, [])], name or "timestamp").outputs[0]


def get_logger() -> logging.Logger:
    """The logger that `tf.logging` writes to.

    >>> import pullback.compat.v1 as tf
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")
