"""Backend functions of Keras (`tf.keras.backend`): the form of images, the session, the phase, and values."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ....core.typing import TensorLike

_sessions: list[pb.Session] = []
_phases = [0]


def epsilon() -> float:
    """The small number that losses add."""
    return 1e-7


def floatx() -> str:
    """The dtype of numbers that say none."""
    return "float32"


def image_data_format() -> str:
    """Where images have their channels."""
    return "channels_last"


def set_session(session: pb.Session) -> None:
    """Let `get_session` give `session`."""
    _sessions[:] = [session]


def get_session() -> pb.Session:
    """The default session, or that of `set_session`; one that is made if there is none."""
    session = pb.get_default_session()
    if session is not None:
        return session
    if not _sessions:
        _sessions.append(pb.Session())
    return _sessions[0]


def clear_session() -> None:
    """Forget the session of `set_session`."""
    _sessions.clear()


def set_learning_phase(value: int) -> None:
    """Say whether what is built from now on is for training (1) or not (0)."""
    if value not in (0, 1):
        raise ValueError(f"keras.backend.set_learning_phase: the phase is 0 or 1, not {value!r}")
    _phases[:] = [int(value)]


def learning_phase() -> int:
    """What `set_learning_phase` said, 0 if it was not called."""
    return _phases[0]


def get_value(x: TensorLike) -> Any:
    """The value of a tensor or variable in `get_session`."""
    return get_session().run(pb.convert_to_tensor(x))


def repeat(x: TensorLike, n: int) -> pb.Tensor:
    """Each row of `x` [batch, units] `n` times, [batch, n, units].

    >>> import pullback as pb
    >>> from pullback.compat.v1.keras import backend
    >>> backend.repeat(pb.ones([2, 3]), 4).shape
    TensorShape([2, 4, 3])
    """
    return pb.tile(pb.expand_dims(x, 1), [1, n, 1])
