"""What marks operations for a compiler, and graphs handed over to jax and XLA: `pb.xla`."""

from .interop.jax import experimental as experimental
from .interop.jax import to_jax as to_jax
from .interop.jax import to_stablehlo as to_stablehlo
