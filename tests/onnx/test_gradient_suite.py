"""The gradients of all cases of ONNX's test suite that have one: right on NumPy, and on onnxruntime but for a few.

`gradient_suite.py` says what is compared with what. The cases are dealt into parts, which run side by side. A case that
fails and is not among the exceptions fails its part, and so does an exception that passes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from zlib import crc32

import numpy as np
import pytest

from .gradient_suite import SMOOTH, Checkable, Sample, classified, engine_failure, onnxruntime_failure, samples

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
PARTS = 16
CHECKED = [56, 51, 68, 67, 60, 64, 51, 75, 58, 62, 61, 54, 66, 57, 51, 56]
"""How many cases of each part have a derivative that differences show, with onnx 1.23; newer versions have more."""

ROUNDED = "onnxruntime's RNN rounds tanh near 1, where the derivative is what is left to 1"
NOT_RIGHT_ON_ONNXRUNTIME = {
    "test_simple_rnn_bidirectional": ROUNDED,
}
ON_XLA = range(0, PARTS, 4)
"""The parts that XLA runs too: it takes ten times as long."""


@cache
def _samples() -> Sequence[Sample]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return list(samples(KINDS))


def _checkable(part: int) -> Iterator[Checkable]:
    for sample in _samples():
        if crc32(sample.name.encode()) % PARTS == part:
            case = classified(sample)
            if case.reason == SMOOTH:
                yield case


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_are_right_on_numpy_and_on_onnxruntime(part: int) -> None:
    count, on_numpy, on_onnxruntime = 0, {}, {}
    with np.errstate(all="ignore"):
        for case in _checkable(part):
            name = case.sample.name
            count += 1
            on_numpy[name] = engine_failure(case, "numpy")
            on_onnxruntime[name] = onnxruntime_failure(case)
    assert {name: why for name, why in on_numpy.items() if why} == {}
    unexpected = {k: why for k, why in on_onnxruntime.items() if bool(why) != (k in NOT_RIGHT_ON_ONNXRUNTIME)}
    assert unexpected == {}
    assert count >= CHECKED[part]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", ON_XLA)
def test_gradients_are_right_on_xla(part: int) -> None:
    with np.errstate(all="ignore"):
        found = {case.sample.name: engine_failure(case, "xla") for case in _checkable(part)}
    assert {name: why for name, why in found.items() if why} == {}


def test_nearly_all_gradients_are_expected_to_be_right_on_onnxruntime() -> None:
    assert sum(CHECKED) >= 957
    assert sum(CHECKED) - len(NOT_RIGHT_ON_ONNXRUNTIME) >= 900
