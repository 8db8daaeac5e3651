"""Formulas are chosen by what a program is compiled for, not by what jax would take by itself."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback as pb
from pullback.engines.xla import engine, jax_internals
from pullback.engines.xla.devices import Layout
from pullback.engines.xla.platform import compiling_for, on_processor
from pullback.engines.xla.registry import xla_kernel_of
from pullback.primitives.linalg.matmul import MatMul

from ..cases.case import Case
from ..cases.table import building, families
from ..test_cases import assert_close

assert engine, "imported for the kernels that it registers"


def lowered(platform: str, primitive: Any, *shapes: tuple[int, ...]) -> str:
    """What the kernel for XLA does when it is traced for a platform."""
    kernel = xla_kernel_of(type(primitive))
    assert kernel is not None
    with compiling_for(platform):
        return str(jax.make_jaxpr(partial(kernel, primitive))(*[jnp.zeros(shape) for shape in shapes]))


def test_kernels_ask_what_is_compiled_for() -> None:
    shapes = (2000, 400), (2000, 400)
    assert "optimization_barrier" in lowered("cpu", MatMul(True, False), *shapes)
    assert "optimization_barrier" not in lowered("gpu", MatMul(True, False), *shapes)


def test_blocks_for_a_platform_end() -> None:
    with compiling_for("gpu"):
        with compiling_for("cpu"):
            assert on_processor()
        assert not on_processor()
    assert on_processor() == (jax.default_backend() == "cpu")


def test_the_platform_of_a_program_is_that_of_its_devices() -> None:
    accelerator: Any = SimpleNamespace(platform="tpu")
    mesh: Any = SimpleNamespace(devices=np.array([[accelerator]]))
    assert Layout().platform == jax.local_devices()[0].platform
    assert Layout(device=accelerator).platform == "tpu"
    assert Layout(mesh=mesh).platform == "tpu"


@pytest.fixture
def for_accelerators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are traced as for an accelerator, whatever runs them."""
    monkeypatch.setattr(Layout, "platform", "gpu")


@pytest.mark.usefixtures("for_accelerators")
def test_a_program_is_traced_for_its_own_platform() -> None:
    seen = []

    class Probe(pb.Primitive):
        type = "Probe"

        def infer(self, x: Any) -> Any:
            return (x,)

        def kernel(self, xp: Any, x: Any) -> Any:
            seen.append(on_processor())
            return x

    pb.Session(engine="xla").run(Probe()(pb.placeholder_with_default(np.ones(300), [300])))
    assert seen == [False]


CHOSEN = [case for family in ("convolution", "pooling") for case in families()[family]]
"""The rows of operations that have a formula of their own for processors, but for decompositions, which take turns."""


@pytest.mark.slow
@pytest.mark.usefixtures("for_accelerators")
@pytest.mark.parametrize("case", [c for c in CHOSEN if not c.not_float32], ids=str)
def test_formulas_for_accelerators_give_the_same_values(case: Case) -> None:
    with building(case) as built:
        for a, b in zip(built.run(built.ys, "xla"), built.run(built.ys), strict=True):
            assert_close(a, b, 1e-9, "value")


def test_names_that_jax_does_not_promise_are_in_one_module() -> None:
    room = Path(jax_internals.__file__).parent
    private = re.compile(r"jax\._(?!_version)|import jaxlib|\._trace\b|\.aval\b")
    found = [path.name for path in room.rglob("*.py") if private.search(path.read_text())]
    assert found == ["jax_internals.py"]


def test_a_jax_without_them_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tracer:
        pass

    monkeypatch.setattr(jax.core, "Tracer", Tracer)
    with pytest.raises(ImportError) as error:
        jax_internals.in_trace(Tracer(), None)
    assert str(error.value) == (
        f"pullback does not know jax {jax.__version__}, whose tracers do not say of which trace they are. "
        "Install one that it knows: pip install 'pullback[xla]'"
    )
