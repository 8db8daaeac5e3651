"""ONNX's own tests of backends, which come with the package: all of them in the slow tests, a sample in the quick ones.

What does not pass is data, with its reason, in `backend.py`; a test that passes all the same is an error there.
"""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from .backend import UNSTEADY, NumpyBackend, XlaBackend, reason

DATA = Path(onnx.__file__).parent / "backend/test/data"
BACKENDS = {"numpy": NumpyBackend, "xla": XlaBackend}
ALL = {
    "NodeModel": 1884,
    "SimpleModel": 23,
    "PyTorchConvertedModel": 82,
    "PyTorchOperatorModel": 35,
    "RealModel": 9,
}
_CONVERTED = ("Conv2d_groups", "BatchNorm2d_eval", "MaxPool1d_stride", "GLU_dim", "PReLU_2d_multiparam")
SAMPLE = [
    *sorted((DATA / "pytorch-operator").glob("test_*")),
    *[path for path in sorted((DATA / "simple").glob("test_*")) if "strnorm" not in path.name],
    *[DATA / f"pytorch-converted/test_{name}" for name in _CONVERTED],
]


@pytest.mark.parametrize("folder", SAMPLE, ids=lambda path: path.name)
def test_a_sample_of_the_suite(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    for data in folder.glob("test_data_set_*"):
        inputs, expected = _arrays(data, "input"), _arrays(data, "output")
        if inputs is None or expected is None:
            pytest.skip("its data are sequences; the slow tests run it")
        found = NumpyBackend.prepare(model).run(inputs)
        for y, wanted in zip(found, expected, strict=True):
            assert (y.dtype, y.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(y, wanted, rtol=1e-3, atol=1e-7)


def _arrays(folder: Path, kind: str) -> list[Any] | None:
    """The tensors in the files of a folder; None where they are others."""
    paths = [folder / f"{kind}_{i}.pb" for i in range(len(list(folder.glob(f"{kind}_*.pb"))))]
    tensors = [onnx.load_tensor(path) for path in paths]
    if any(not tensor.data_type for tensor in tensors):
        return None
    return [numpy_helper.to_array(tensor) for tensor in tensors]


@pytest.fixture(scope="module")
def suites() -> dict[str, Any]:
    """The suite's test classes by engine; making them takes seconds."""
    from onnx.backend.test import BackendTest

    return {engine: BackendTest(backend, __name__).test_cases for engine, backend in BACKENDS.items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("engine", BACKENDS)
def test_the_suite(suites: dict[str, Any], engine: str, kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))
    cases = suites[engine][f"OnnxBackend{kind}Test"]
    names = [name for name in vars(cases) if name.startswith("test_") and name.endswith("_cpu")]
    failures = {name: _failure(cases, name) for name in names}
    wrong = [f"{name}: {text}" for name, text in failures.items() if text and not reason(name, engine)]
    assert not wrong, "\n".join(wrong)
    known = {name: reason(name, engine) for name, text in failures.items() if not text}
    stale = [name for name, text in known.items() if text not in (None, *UNSTEADY)]
    assert not stale, "these pass, and backend.py says that they do not: " + ", ".join(stale)
    assert len(names) == ALL[kind]
    if kind == "NodeModel" and engine == "numpy":
        assert sum(not text for text in failures.values()) >= 0.95 * len(names)


def _failure(cases: type[unittest.TestCase], name: str) -> str:
    """What went wrong in a test; empty where nothing did."""
    try:
        cases(name).debug()
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
    return ""
