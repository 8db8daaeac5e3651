"""Default engine: the one of sessions that name none."""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec

from .loading import engine_loaders

_log = logging.getLogger("pullback")
_chosen: dict[str, str] = {}


def use_engine(name: str | None) -> None:
    """Let sessions of this process that name no engine have `name`; None is "xla" where jax is installed, else "numpy".

    Raises:
        ValueError: there is no such engine.

    >>> import pullback as pb
    >>> pb.config.use_engine("numpy")
    >>> pb.Session().engine
    'numpy'
    >>> pb.config.use_engine(None)
    """
    _chosen.clear()
    if name is not None:
        check_engine(name, "use_engine: the engine")
        _chosen["engine"] = name


def check_engine(name: str, what: str) -> None:
    """ValueError if there is no engine of that name."""
    if name not in engine_loaders:
        raise ValueError(f"{what} must be 'xla', 'numpy' or 'onnxruntime', not {name!r}")


def default_engine() -> str:
    """The engine that `use_engine` named, else the best that is installed."""
    return _chosen.get("engine") or _installed_engine()


@cache
def _installed_engine() -> str:
    """ "xla" where jax is installed; "numpy", with a message the first time, where it is not."""
    if find_spec("jax") is not None:
        return "xla"
    _log.warning(
        "jax is not installed: sessions use the NumPy engine. For compiled programs: pip install 'pullback[xla]'"
    )
    return "numpy"
