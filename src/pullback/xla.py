"""XLA: marks of operations that are compiled together, and graphs handed over to jax: `pb.xla`."""

from .interop.jax import experimental as experimental
from .interop.jax import to_jax as to_jax
from .interop.jax import to_stablehlo as to_stablehlo
