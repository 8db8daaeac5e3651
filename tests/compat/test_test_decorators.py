"""Decorators of TensorFlow's own tests: which tests run, and how often."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import pullback.compat.v1 as tf
from pullback.compat.v1 import test_decorators as test_util


def _twice(reason: str) -> Callable[[Any], Any]:
    def decorator(test: Any) -> Any:
        def run(self: Any) -> None:
            test(self)
            test(self)

        return run

    return decorator


def test_tests_of_graphs_run_and_those_of_version_2_do_not() -> None:
    ran = []

    @test_util.for_all_test_methods(_twice, "both")
    @test_util.disable_all_xla("not there")
    class Case(test_util.TensorFlowTestCase):
        @test_util.run_v2_only
        def test_skipped(self) -> None:
            ran.append("skipped")

        @test_util.run_v2_only(reason="why")
        def test_skipped_too(self) -> None:
            ran.append("skipped")

        @test_util.deprecated_graph_mode_only
        @test_util.run_without_tensor_float_32("float32")
        def test_graph(self) -> None:
            with test_util.use_gpu(), test_util.force_cpu():
                ran.append("graph")

        @test_util.disable_xla("reason")
        def test_xla(self) -> None:
            ran.append("xla" if test_util.is_xla_enabled() else "plain")

        def helper(self) -> None:
            ran.append("helper")

    result = unittest.TestResult()
    unittest.TestSuite([Case(name) for name in ("test_graph", "test_skipped", "test_skipped_too", "test_xla")]).run(
        result
    )
    assert ran == ["graph", "graph", "plain", "plain"]
    assert [reason for _, reason in result.skipped] == ["only for version 2", "why"]
    assert result.wasSuccessful()


def test_tests_of_both_modes_have_a_default_session() -> None:
    found = []

    @test_util.run_all_in_graph_and_eager_modes
    class Case(test_util.TensorFlowTestCase):
        def test_value(self) -> None:
            v = tf.Variable(2.0)
            self.evaluate(v.initializer)
            found.append(v.eval())

        @test_util.run_in_graph_and_eager_modes(config=None)
        def test_session_is_kept(self) -> None:
            with self.cached_session() as session:
                found.append(session is tf.get_default_session())

        @test_util.run_v1_only("why")
        def test_none(self) -> None:
            found.append(tf.get_default_session() is not None)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert result.wasSuccessful(), result.errors
    assert found == [True, True, 2.0]
