"""A fresh default graph for every test and every docstring example; the platform that tests run on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import pullback as pb


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--platform", choices=["cpu", "gpu", "tpu"], help="what XLA compiles for; else what jax chooses")
    parser.addoption(
        "--matmul-precision",
        choices=["highest", "high", "default"],
        default="highest",
        help="how exactly the rows of the case table multiply on an accelerator",
    )


def pytest_configure(config: pytest.Config) -> None:
    """jax reads the platforms when it is imported; the processor is there beside any accelerator."""
    platform = config.getoption("--platform")
    if platform is not None:
        os.environ["JAX_PLATFORMS"] = {"cpu": "cpu", "gpu": "cuda,cpu", "tpu": "tpu,cpu"}[platform]


@pytest.fixture
def matmul_precision(request: pytest.FixtureRequest) -> str:
    """How exactly products are computed on an accelerator."""
    precision: str = request.config.getoption("--matmul-precision")
    return precision


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[pb.Graph]:
    graph = pb.Graph()
    with graph.as_default():
        yield graph
