"""Which engine a session has, and what importing pullback loads."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import pullback as pb
from pullback.engines import default_engine as module


def test_xla_is_the_default_where_jax_is_installed() -> None:
    pytest.importorskip("jax")
    assert pb.Session().engine == "xla"


def test_without_jax_numpy_is_the_default_and_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    module._installed_engine.cache_clear()
    with caplog.at_level(logging.WARNING, "pullback"):
        assert pb.Session().engine == "numpy"
        assert pb.Session().engine == "numpy"
    module._installed_engine.cache_clear()
    assert [record.getMessage() for record in caplog.records] == [
        "jax is not installed: sessions use the NumPy engine. For compiled programs: pip install 'pullback[xla]'"
    ]


def test_importing_pullback_and_running_on_numpy_does_not_load_jax() -> None:
    program = (
        "import sys, pullback as pb\n"
        "pb.Session(engine='numpy').run(pb.constant(1.0) + 1.0)\n"
        "assert not [m for m in sys.modules if m.split('.')[0] in ('jax', 'jaxlib', 'onnx', 'scipy')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
