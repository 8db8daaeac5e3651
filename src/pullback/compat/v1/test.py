"""Test cases of TensorFlow 1: `tf.test`, on Python's unittest."""

from __future__ import annotations

import os
import platform
import re
import tempfile
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import IO, Any
from unittest import mock as mock

import numpy as np

import pullback as pb

from ...test import compute_gradient_error as compute_gradient_error
from ...test import compute_gradient_v1 as compute_gradient_v1
from .benchmark import Benchmark as Benchmark
from .container_assertions import ContainerAssertions
from .placement import DeviceSpec

compute_gradient = compute_gradient_v1
main = unittest.main


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: object = None) -> bool:
    """Whether XLA sees a GPU."""
    del cuda_only, min_cuda_compute_capability
    return bool(gpu_device_name())


def gpu_device_name() -> str:
    """The name of the first GPU that XLA sees, or ""."""
    try:
        from ...engines.xla.devices import devices_of
    except ImportError:
        return ""
    return "/device:GPU:0" if devices_of("GPU") else ""


def is_built_with_cuda() -> bool:
    """Whether XLA sees a GPU."""
    return is_gpu_available()


is_built_with_gpu_support = is_built_with_cuda


def is_built_with_rocm() -> bool:
    """False."""
    return False


def is_built_with_xla() -> bool:
    """Whether there is an XLA engine."""
    return find_spec("jax") is not None


def is_cpu_target_available(target: str) -> bool:
    """Whether this is a machine of that architecture, as "x86_64"."""
    return platform.machine() == target


def get_temp_dir() -> str:
    """A folder for the files of tests."""
    return tempfile.mkdtemp()


@contextmanager
def _new_default_graph() -> Iterator[None]:
    """The block in which the default graph is a new one, which can be reset unless a graph is open around the block."""
    try:
        pb.reset_default_graph()
    except AssertionError:
        with pb.Graph().as_default():
            yield
    else:
        yield


class Written:
    """What was written to a stream."""

    text = ""

    def contents(self) -> str:
        """The text."""
        return self.text


class TestCase(ContainerAssertions):
    """A test case, each test of which has a graph of its own, and a session that is kept for the graph."""

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run a test with a new graph as the default one; the test may reset it."""
        self._kept: dict[pb.Graph, pb.Session] = {}
        with _new_default_graph():
            return super().run(result)

    @contextmanager
    def session(
        self, graph: pb.Graph | None = None, config: object = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[pb.Session]:
        """A block with a new session as the default one."""
        del use_gpu, force_gpu
        with pb.Session(graph=graph, config=config) as session:
            yield session

    @contextmanager
    def cached_session(
        self, graph: pb.Graph | None = None, config: object = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[pb.Session]:
        """A block with the session that the test keeps for the graph, in which variables keep their values."""
        del use_gpu, force_gpu
        session = self._session_of(graph or pb.get_default_graph(), config)
        with session.graph.as_default(), session.as_default():
            yield session

    def test_session(self, *args: Any, **kwargs: Any) -> AbstractContextManager[pb.Session]:
        """The session that is kept, or a new one of `graph`; unittest takes the name for that of a test."""
        if self.id().endswith(".test_session"):
            self.skipTest("not a test")
        return self.session(*args, **kwargs) if args or kwargs.get("graph") else self.cached_session(**kwargs)

    def evaluate(self, tensors: Any) -> Any:
        """The values of `tensors`, by the default session or the one that the test keeps for the graph."""
        return (pb.get_default_session() or self._session_of(pb.get_default_graph())).run(tensors)

    def get_temp_dir(self) -> str:
        """A folder for the files of a test."""
        return get_temp_dir()

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Both have the same shape and elements."""
        x, y = self._value(a), self._value(b)
        np.testing.assert_equal(np.shape(x), np.shape(y), msg or "")
        np.testing.assert_array_equal(x, y, msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The shapes differ, or an element does."""
        if np.array_equal(self._value(a), self._value(b)):
            self.fail(msg or "the arrays are equal")

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """The shapes differ, or an element does, by more than that."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(msg or f"the arrays are equal within rtol={rtol} and atol={atol}")

    @contextmanager
    def assertRaisesWithLiteralMatch(
        self, expected_exception: type[Exception], expected_message: str
    ) -> Iterator[None]:
        """The block raises, with this text."""
        pattern = f"^{re.escape(expected_message)}$"
        with self.assertRaisesRegex(expected_exception, pattern):  # noqa: PT027  (there need be no pytest)
            yield

    @contextmanager
    def assertRaisesOpError(self, expected_err_re_or_predicate: str) -> Iterator[None]:
        """The block raises an error of a run, whose text fits."""
        with self.assertRaisesRegex(pb.errors.PullbackError, expected_err_re_or_predicate):  # noqa: PT027  (there need be no pytest)
            yield

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[Exception], expected_err_re_or_predicate: str | Callable[[Exception], bool]
    ) -> Iterator[None]:
        """The block raises an exception whose text fits, or of which the function is true."""
        fits = expected_err_re_or_predicate
        with self.assertRaises(exception_type) as caught:  # noqa: PT027  (there need be no pytest)
            yield
        found = caught.exception
        if not (fits(found) if callable(fits) else re.search(fits, str(found))):
            self.fail(f"{found!r} does not fit {fits!r}")

    @contextmanager
    def captureWritesToStream(self, stream: IO[str]) -> Iterator[Written]:
        """What the block writes to `stream`, which has a file descriptor, is in what is given, and not written there.

        >>> case = TestCase()
        >>> with open(case.get_temp_dir() + "/log", "w") as log, case.captureWritesToStream(log) as written:
        ...     _ = log.write("noted")
        >>> written.contents()
        'noted'
        """
        descriptor = stream.fileno()
        stream.flush()
        before = os.dup(descriptor)
        written = Written()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            os.dup2(file.fileno(), descriptor)
            try:
                yield written
            finally:
                stream.flush()
                os.dup2(before, descriptor)
                os.close(before)
                file.seek(0)
                written.text = file.read()

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """All arrays of two nested structures are nearly equal."""
        if isinstance(a, Mapping):
            np.testing.assert_equal(sorted(a), sorted(b), msg or "")
            a, b = list(a.values()), [b[key] for key in a]
        if isinstance(a, list | tuple) and isinstance(b, list | tuple):
            np.testing.assert_equal(len(a), len(b), msg or "")
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
        else:
            x, y = self._value(a), self._value(b)
            np.testing.assert_equal(np.shape(x), np.shape(y), msg or "")
            np.testing.assert_allclose(x, y, rtol, atol, err_msg=msg or "")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """The same, with the looser of the tolerances for both dtypes."""
        by_dtype = {
            "float32": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        arrays = [np.asarray(self._value(x)) for x in (a, b)]
        allowed = [(rtol, atol), *[by_dtype[x.dtype.name] for x in arrays if x.dtype.name in by_dtype]]
        one, other = [x.astype(np.float64) if x.dtype.name == "bfloat16" else x for x in arrays]
        self.assertAllClose(one, other, max(r for r, _ in allowed), max(a for _, a in allowed), msg)

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """No element differs by more than `err`."""
        self.assertAllClose(farray1, farray2, 0.0, err, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers differ by `err` at most."""
        np.testing.assert_allclose(f1, f2, 0.0, err, err_msg=msg or "")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Arrays or tensors have one shape, as far as it is known."""
        first, second = [pb.TensorShape(x.shape).as_list() for x in (input_a, input_b)]
        np.testing.assert_equal(first, second, msg or "")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """An array or tensor has that dtype."""
        np.testing.assert_equal(target.dtype, expected_dtype)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """All elements are from one bound to the other, without those that are open."""
        value = np.asarray(self._value(target))
        np.testing.assert_array_equal(np.clip(value, lower_bound, upper_bound), value)
        for bound, is_open in ((lower_bound, open_lower_bound), (upper_bound, open_upper_bound)):
            if is_open and (value == bound).any():
                self.fail(f"there are elements that are {bound}, which is not in the range")

    def assertAllInSet(self, target: Any, expected_set: Iterable[Any]) -> None:
        """Each element is one of those."""
        others = set(np.ravel(self._value(target)).tolist()) - set(expected_set)
        if others:
            self.fail(f"there are elements that are none of {expected_set}: {sorted(others)}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Each element is greater."""
        np.testing.assert_array_less(comparison_target, self._value(a))

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Each element is less."""
        np.testing.assert_array_less(self._value(a), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """No element is less."""
        value = np.asarray(self._value(a))
        np.testing.assert_array_equal(np.maximum(value, comparison_target), value)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """No element is greater."""
        value = np.asarray(self._value(a))
        np.testing.assert_array_equal(np.minimum(value, comparison_target), value)

    def assertDeviceEqual(self, device1: str | None, device2: str | None, msg: str | None = None) -> None:
        """Two strings name the same device, however they are written."""
        one, other = (DeviceSpec.from_string(device or "").to_string() for device in (device1, device2))
        np.testing.assert_equal(one, other, msg or "")

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, validate_message: Any, msg: str | None = None
    ) -> None:
        """A message of protocol buffers is the expected one, which may be given as text."""
        expected, message = expected_message_maybe_ascii, validate_message
        if isinstance(expected, str):
            from google.protobuf import text_format

            expected = text_format.Merge(expected, type(message)())
        np.testing.assert_equal(str(message), str(expected), msg or "")

    def _session_of(self, graph: pb.Graph, config: object = None) -> pb.Session:
        if graph not in self._kept:
            self._kept[graph] = pb.Session(graph=graph, config=config)
        return self._kept[graph]

    def _value(self, x: Any) -> Any:
        return self.evaluate(x) if isinstance(x, pb.Tensor | pb.Variable) else x
