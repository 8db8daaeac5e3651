"""Decorators of tests inside TensorFlow, `framework.test_util`: in which modes a test runs, here in graphs."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .test import TestCase

TensorFlowTestCase = TestCase


def run_all_in_graph_and_eager_modes(cls: Any) -> Any:
    """The class as it is: its tests build graphs."""
    return cls


def run_in_graph_and_eager_modes(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The test as it is, or a decorator that leaves it so.

    >>> from pullback.compat.v1.test_decorators import run_in_graph_and_eager_modes, run_v1_only
    >>> run_in_graph_and_eager_modes(print) is run_in_graph_and_eager_modes()(print) is run_v1_only("")(print) is print
    True
    """
    del options
    return run_all_in_graph_and_eager_modes if func is None else func


def run_v1_only(reason: str, func: Callable[..., Any] | None = None) -> Any:
    """The test as it is, or a decorator that leaves it so: names are those of version 1."""
    return run_in_graph_and_eager_modes(func, reason=reason)


def run_v2_only(func: Callable[..., Any] | None = None, reason: str | None = None) -> Any:
    """The test, skipped, or a decorator that has it skipped."""
    skipped = unittest.skip(reason or "only for version 2")
    return skipped if func is None else skipped(func)


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A decorator of a class that decorates each of its tests by `decorator(*args, **kwargs)`."""

    def decorated(cls: Any) -> Any:
        for name in unittest.defaultTestLoader.getTestCaseNames(cls):
            setattr(cls, name, decorator(*args, **kwargs)(getattr(cls, name)))
        return cls

    return decorated


def gpu_device_type() -> str:
    """The type that device strings name."""
    return "GPU"


@contextmanager
def use_gpu() -> Iterator[None]:
    """A block: an engine decides which device it takes."""
    yield


def is_xla_enabled() -> bool:
    """False: tests are to expect what TensorFlow computes without XLA."""
    return False


run_deprecated_v1 = deprecated_graph_mode_only = run_in_graph_and_eager_modes
disable_xla = disable_all_xla = xla_allow_fallback = run_v1_only
run_without_tensor_float_32 = run_all_without_tensor_float_32 = run_v1_only
disable_control_flow_v2 = run_v1_only
enable_control_flow_v2 = with_control_flow_v2 = run_all_in_graph_and_eager_modes
build_as_function_and_v1_graph = enable_output_all_intermediates = run_all_in_graph_and_eager_modes
force_gpu = force_cpu = use_gpu
run_all_in_deprecated_graph_mode_only, disable_tfrt = run_all_in_graph_and_eager_modes, run_v1_only
