"""What every test and docstring example has: a fresh default graph, its own draws; how tests compile, and for what."""

from __future__ import annotations

import gc
import os
import random
import sys
import zlib
from collections.abc import Generator, Iterator
from importlib.util import find_spec

import numpy as np
import pytest

# The tests start a hundred Pythons: what those and the workers import is compiled once, whatever the shell says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pullback as pb  # noqa: E402  what it imports is compiled too
from pullback.core.garbage import without_collection  # noqa: E402
from pullback.primitives.random import stateful  # noqa: E402


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
    # LLVM would work long on programs that run once, on a few numbers; what XLA and we make of them stays the same.
    if config.getoption("markexpr") == "not slow":
        os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: garbage is looked for in it neither now nor later."""
    with without_collection():
        found = yield
    gc.freeze()
    return found


@pytest.fixture
def matmul_precision(request: pytest.FixtureRequest) -> str:
    """How exactly products are computed on an accelerator."""
    precision: str = request.config.getoption("--matmul-precision")
    return precision


@pytest.fixture
def optimized_programs() -> Iterator[None]:
    """XLA compiles as it does for users: where a test is about what optimizations leave of NaN, zeros and signs."""
    if find_spec("jax") is None:
        yield
        return
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[pb.Graph]:
    graph = pb.Graph()
    with graph.as_default():
        yield graph


@pytest.fixture(autouse=True)
def draws_of_the_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn without a seed differs between tests, not between runs: no test fails by chance."""
    seed = zlib.crc32(request.node.nodeid.encode())
    numbers = np.random.default_rng(seed)
    monkeypatch.setattr(stateful, "entropy", lambda: numbers.integers(2**32, size=2, dtype=np.uint32))
    random.seed(seed)
    np.random.seed(seed)
