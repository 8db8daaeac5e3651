"""Logging as TensorFlow 1 has it: `tf.logging`, on Python's logger "tensorflow"."""

from __future__ import annotations

import logging as python_logging
import sys
from functools import cache
from typing import Any

DEBUG = python_logging.DEBUG
INFO = python_logging.INFO
WARN = python_logging.WARNING
ERROR = python_logging.ERROR
FATAL = python_logging.CRITICAL


@cache
def _logger() -> python_logging.Logger:
    """The logger, which writes to standard error unless the program has set up logging."""
    logger = python_logging.getLogger("tensorflow")
    if not logger.handlers and not python_logging.getLogger().handlers:
        handler = python_logging.StreamHandler(sys.stderr)
        handler.setFormatter(python_logging.Formatter(python_logging.BASIC_FORMAT))
        logger.addHandler(handler)
        logger.setLevel(WARN)
    return logger


_counts: dict[Any, int] = {}
"""How often each message was asked for, by its text and level."""


def set_verbosity(v: int) -> None:
    """Show messages of level `v` and above."""
    _logger().setLevel(v)


def get_verbosity() -> int:
    """The level from which on messages are shown."""
    return _logger().getEffectiveLevel()


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of any level."""
    _logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of level DEBUG."""
    _logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of level INFO."""
    _logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of level WARN."""
    _logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of level ERROR."""
    _logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of level FATAL."""
    _logger().critical(msg, *args, **kwargs)


def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """A message of level DEBUG."""
    del level
    debug(msg, *args, **kwargs)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """A message, the first `n` times."""
    if _count(level, msg) < n:
        log(level, msg, *args)


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """A message, every `n`-th time, the first among them."""
    if _count(level, msg) % n == 0:
        log(level, msg, *args)


def log_if(level: int, msg: str, condition: bool, *args: Any) -> None:
    """A message if `condition`."""
    if condition:
        log(level, msg, *args)


def flush() -> None:
    """Write out what is waiting."""
    for handler in _logger().handlers:
        handler.flush()


def _count(level: int, msg: str) -> int:
    _counts[level, msg] = _counts.get((level, msg), -1) + 1
    return _counts[level, msg]
