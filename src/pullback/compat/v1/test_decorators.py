"""Decorators of tests inside TensorFlow, `framework.test_util`: in which modes a test runs, here in graphs."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from .test import TestCase

TensorFlowTestCase = TestCase


def run_in_graph_and_eager_modes(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The test, in a block with the session that it keeps as the default one; or a decorator that makes it so.

    >>> import unittest
    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.test_decorators import TensorFlowTestCase, run_in_graph_and_eager_modes
    >>> class Case(TensorFlowTestCase):
    ...     @run_in_graph_and_eager_modes
    ...     def test_sum(self):
    ...         self.assertEqual(tf.constant(1.0).eval(), 1.0)
    >>> unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult()).wasSuccessful()
    True
    """
    del options
    return _in_session if func is None else _in_session(func)


def _in_session(test: Any) -> Any:
    @wraps(test)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.test_session():
            return test(self, *args, **kwargs)

    return run


def run_all_in_graph_and_eager_modes(cls: Any) -> Any:
    """The class, each test of which runs in a block with a default session."""
    return for_all_test_methods(run_in_graph_and_eager_modes)(cls)


def run_deprecated_v1(func: Callable[..., Any] | None = None) -> Any:
    """The test as it is, or a decorator that leaves it so: it builds graphs.

    >>> from pullback.compat.v1.test_decorators import run_deprecated_v1, run_v1_only
    >>> run_deprecated_v1(print) is run_deprecated_v1()(print) is run_v1_only("")(print) is print
    True
    """
    return run_deprecated_v1 if func is None else func


def run_v1_only(reason: str, func: Callable[..., Any] | None = None) -> Any:
    """The test as it is, or a decorator that leaves it so: names are those of version 1."""
    del reason
    return run_deprecated_v1(func)


def run_v2_only(func: Callable[..., Any] | None = None, reason: str | None = None) -> Any:
    """The test, skipped, or a decorator that has it skipped."""
    skipped = unittest.skip(reason or "only for version 2")
    return skipped if func is None else skipped(func)


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A decorator of a class that decorates each of its tests by `decorator(*args, **kwargs)`."""

    def decorated(cls: Any) -> Any:
        for name in unittest.defaultTestLoader.getTestCaseNames(cls):
            if name != "test_session":
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


deprecated_graph_mode_only = run_all_in_deprecated_graph_mode_only = run_deprecated_v1
disable_xla = disable_all_xla = xla_allow_fallback = disable_tfrt = run_v1_only
run_without_tensor_float_32 = run_all_without_tensor_float_32 = disable_control_flow_v2 = run_v1_only
enable_control_flow_v2 = with_control_flow_v2 = run_deprecated_v1
build_as_function_and_v1_graph = enable_output_all_intermediates = run_deprecated_v1
force_gpu = force_cpu = use_gpu
