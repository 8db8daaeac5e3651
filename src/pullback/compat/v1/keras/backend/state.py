"""Settings and session of Keras: what all of it shares, the phase, the form of images, and values of variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import pullback as pb

from .....core.contexts import in_graph_of_inputs
from .....core.typing import TensorLike

_sessions: list[pb.Session] = []
_begun: WeakKeyDictionary[pb.Session, set[pb.Variable]] = WeakKeyDictionary()
"""For each session the variables that are known to have a value there."""
_phases = [0]


_FORMATS = ("channels_last", "channels_first")


@dataclass
class _Settings:
    epsilon: float = 1e-7
    floatx: str = "float32"
    image_data_format: str = "channels_last"


_settings = _Settings()


def epsilon() -> float:
    """The small number that losses add."""
    return _settings.epsilon


def set_epsilon(value: float) -> None:
    """Say what `epsilon` is from now on."""
    _settings.epsilon = float(value)


def floatx() -> str:
    """The dtype of numbers that say none."""
    return _settings.floatx


def set_floatx(value: str) -> None:
    """Say what `floatx` is from now on: "float16", "float32" or "float64"."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"keras.backend.set_floatx: the dtype is float16, float32 or float64, not {value!r}")
    _settings.floatx = value


def image_data_format() -> str:
    """Where images have their channels."""
    return _settings.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Say where images have their channels from now on."""
    _settings.image_data_format = checked_format(data_format)


def checked_format(data_format: str | None) -> str:
    """That form of images, or the one of all of Keras."""
    if data_format is None:
        return image_data_format()
    if data_format not in _FORMATS:
        raise ValueError(f"keras: data_format must be 'channels_last' or 'channels_first', not {data_format!r}")
    return data_format


def rank_of(x: pb.Tensor) -> int:
    """The number of axes of a tensor.

    Raises:
        ValueError: it is not known.
    """
    rank: int | None = x.shape.rank
    if rank is None:
        raise ValueError(f"keras: the rank of {x} must be known; use tf.ensure_shape")
    return rank


def backend() -> str:
    """The library that computes, by the name that programs ask for."""
    return "tensorflow"


def set_session(session: pb.Session) -> None:
    """Let `get_session` give `session`."""
    _sessions[:] = [session]


def get_session() -> pb.Session:
    """The default session, or that of `set_session`; one that is made if there is none for the default graph.

    Variables of its graph that have no value there begin with their initial values.
    """
    session = pb.get_default_session()
    if session is None and not (_sessions and _sessions[0].graph is pb.get_default_graph().outermost):
        set_session(pb.Session())
    found = _sessions[0] if session is None else session
    seen = _begun.setdefault(found, set())
    new = [v for v in found.graph.get_collection(pb.GraphKeys.GLOBAL_VARIABLES) if v not in seen]
    seen.update(new)
    found.run([v.initializer for v in new if v.initializer is not None and not _has_value(found, v)])
    return found


def _has_value(session: pb.Session, variable: pb.Variable) -> bool:
    try:
        session.read_variable(variable.op)
    except pb.errors.FailedPreconditionError:
        return False
    return True


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


@in_graph_of_inputs
def batch_get_value(tensors: Sequence[TensorLike]) -> list[Any]:
    """The values of tensors or variables in `get_session`."""
    return list(get_session().run([pb.convert_to_tensor(x) for x in tensors])) if tensors else []


def set_value(x: pb.Variable, value: Any) -> None:
    """Assign to a variable, in `get_session`."""
    x.load(value, get_session())


def batch_set_value(tuples: Sequence[tuple[pb.Variable, Any]]) -> None:
    """Assign to variables, in `get_session`."""
    for x, value in tuples:
        set_value(x, value)


def eval(x: TensorLike) -> Any:
    """The value of a tensor or variable in `get_session`."""
    return get_value(x)
