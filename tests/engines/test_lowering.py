"""Programs for accelerators that are not here: every row of the case table is lowered for them, by their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.engines.xla.platform import compiling_for
from pullback.engines.xla.registry import xla_kernel_of

from ..cases.case import Case
from ..cases.table import building, differentiable, differentiate, families, rows, together

jnp = pytest.importorskip("jax.numpy")

PLATFORMS = ("cuda", "tpu")
ROWS = rows("not_on_numpy", "not_float32", "not_exact", "not_compiled")


def refusal(case: Case, platform: str) -> str:
    """What is said of a row, with its derivatives, where it cannot be lowered."""
    with building(case, dtype=np.float32) as built, pb.Session(graph=built.graph, engine="xla") as session:
        session.run(pb.variables_initializer(built.graph.get_collection("variables")))
        differentiated = [] if case.not_differentiable or not case.differentiated() else differentiable(built.ys)
        dxs = differentiate(built, differentiated, seed=1) if differentiated else []
        try:
            pb.xla.to_stablehlo([*built.ys, *dxs], built.xs, session, platform=platform)
        except (ValueError, NotImplementedError) as error:
            return str(error)
    return ""


NOT_EXPORTED = (
    "a function has no effects",
    "the platform for the specified backend cpu is different",
    "gives a shape that depends on values computed by the run",
    "calls Python, which a program that is saved cannot",
    "primitive 'eig' not found for platform tpu",
)
"""What is said of assignments, of calls of Python, of shapes by feeds, and of `eig`: in files, and on a TPU."""


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("cases", together(ROWS))
def test_every_row_is_lowered_for_accelerators(cases: list[Case], platform: str) -> None:
    refused = {case.name: refusal(case, platform) for case in cases}
    assert not {name: said for name, said in refused.items() if said and not any(x in said for x in NOT_EXPORTED)}


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("family", ["convolution", "pooling", "linalg"])
def test_a_row_of_each_family_that_has_formulas_for_processors_is_lowered_for_accelerators(
    family: str, platform: str
) -> None:
    assert refusal(families()[family][0], platform) == ""


def program_for(platform: str | None) -> str:
    """A product of which the formula for processors has a barrier."""
    a, b = [pb.placeholder(pb.float32, [2000, 400]) for _ in range(2)]
    text: str = pb.xla.to_stablehlo(pb.matmul(a, b, transpose_a=True), [a, b], platform=platform).mlir_module()
    return text


def test_formulas_are_those_of_the_platform_that_is_lowered_for() -> None:
    assert "optimization_barrier" in program_for("cpu")
    for platform in PLATFORMS:
        text = program_for(platform)
        assert "optimization_barrier" not in text
        assert "HIGHEST" in text


@pytest.mark.parametrize("groups", [1, 2])
def test_integers_are_convolved_by_products_where_there_are_no_convolutions_of_them(groups: int) -> None:
    random = np.random.default_rng(0)
    arrays = [
        random.integers(-(2**31), 2**31, size).astype(np.int32) for size in ((2, 7, 6, 4), (3, 2, 4 // groups, 6))
    ]
    x, f = [pb.placeholder(pb.int32, array.shape) for array in arrays]
    y = pb.nn.conv2d(x, f, [1, 2, 1, 1], "SAME", dilations=[1, 1, 2, 1])
    assert "stablehlo.convolution" not in pb.xla.to_stablehlo(y, [x, f], platform="cuda").mlir_module()
    with compiling_for("gpu"):
        kernel = xla_kernel_of(type(y.op.primitive))
        found = kernel(y.op.primitive, *map(jnp.asarray, arrays))
    wanted = pb.Session(engine="numpy").run(y, dict(zip([x, f], arrays, strict=True)))
    np.testing.assert_array_equal(found, wanted)


def test_a_platform_that_there_is_not_is_refused() -> None:
    with pytest.raises(pb.errors.InvalidArgumentError) as error:
        program_for("gpu")
    assert str(error.value) == "to_stablehlo: platform must be one of 'cpu', 'cuda', 'rocm', 'tpu', not 'gpu'"


@pytest.mark.parametrize("function", [pb.cumsum, pb.math.cumprod, pb.math.cumulative_logsumexp])
def test_running_sums_of_constants_are_not_computed_while_xla_compiles(function: Any) -> None:
    with pb.Graph().as_default():
        x = pb.placeholder(pb.float32, [1000])
        (dx,) = pb.gradients(function(x)[-1], x)
        assert "optimization_barrier" in pb.xla.to_stablehlo(dx, [x], platform="cpu").mlir_module()
