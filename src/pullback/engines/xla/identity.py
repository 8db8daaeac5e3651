"""XLA lowering of optimization barriers and sharding annotations."""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import PartitionSpec

from ...primitives.identity.barrier import OptimizationBarrier
from ...primitives.identity.sharding import Sharding
from .registry import xla_kernel


@xla_kernel(OptimizationBarrier)
def optimization_barrier(primitive: OptimizationBarrier, *arrays: Any) -> Any:
    """jax's barrier."""
    del primitive
    results = jax.lax.optimization_barrier(arrays)  # type: ignore[no-untyped-call]
    return results[0] if len(results) == 1 else tuple(results)


@xla_kernel(Sharding)
def shard(primitive: Sharding, x: Any) -> Any:
    """`x`, which XLA must spread as asked; without a mesh, `x`."""
    mesh = jax.sharding.get_abstract_mesh()
    if mesh.empty:
        return x
    unknown = [name for name in primitive.axes() if name not in mesh.axis_names]
    if unknown:
        known = ", ".join(f"'{name}' ({length})" for name, length in mesh.shape.items())
        raise ValueError(f"the mesh of the session has the axes {known}, and none named '{unknown[0]}'")
    spec = PartitionSpec(*primitive.spec)  # type: ignore[no-untyped-call]
    return jax.lax.with_sharding_constraint(x, spec)  # type: ignore[no-untyped-call]
