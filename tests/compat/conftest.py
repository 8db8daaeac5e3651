"""The import of TensorFlow's names, where a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pullback as pb


@pytest.fixture
def installed() -> Iterator[None]:
    pb.compat.install()
    yield
    pb.compat.uninstall()
