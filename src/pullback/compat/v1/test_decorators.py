"""Decorators of tests inside TensorFlow, `framework.test_util`: in which modes a test runs, here in graphs."""

from __future__ import annotations

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


def gpu_device_type() -> str:
    """The type that device strings name."""
    return "GPU"


@contextmanager
def use_gpu() -> Iterator[None]:
    """A block: an engine decides where operations run."""
    yield


run_deprecated_v1 = run_in_graph_and_eager_modes
run_all_in_deprecated_graph_mode_only = with_control_flow_v2 = run_all_in_graph_and_eager_modes
deprecated_graph_mode_only = build_as_function_and_v1_graph = run_in_graph_and_eager_modes
enable_control_flow_v2 = enable_output_all_intermediates = run_in_graph_and_eager_modes
run_without_tensor_float_32 = disable_xla = disable_tfrt = disable_control_flow_v2 = run_v1_only
