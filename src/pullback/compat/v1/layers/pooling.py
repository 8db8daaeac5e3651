"""Pooling layers."""

from __future__ import annotations

from typing import Protocol

from ....core.graph import Tensor
from ....core.named_functions import named
from ....core.typing import TensorLike
from ....layers.variables.scope import VariableScope
from ....primitives.creation.constant import convert_to_tensor
from ....primitives.pooling.avg_pool import avg_pool
from ....primitives.pooling.max_pool import max_pool
from .convolution import Lengths, as_lengths, format_of
from .variables import layer_scope


class _Pooling(Protocol):
    def __call__(
        self,
        inputs: TensorLike,
        pool_size: Lengths,
        strides: Lengths,
        padding: str = ...,
        data_format: str = ...,
        name: str | VariableScope | None = ...,
        reuse: bool | str | None = ...,
    ) -> Tensor: ...


def _pooling(kind: str, rank: int) -> _Pooling:
    pool = max_pool if kind == "max" else avg_pool

    def pooling(
        inputs: TensorLike,
        pool_size: Lengths,
        strides: Lengths,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | VariableScope | None = None,
        reuse: bool | str | None = None,
    ) -> Tensor:
        x, sizes, steps = convert_to_tensor(inputs), as_lengths(pool_size, rank), as_lengths(strides, rank)
        with layer_scope(name, called, x, reuse):
            return pool(x, sizes, steps, padding.upper(), format_of(data_format, rank), of_tensorflow)

    what = "largest element" if kind == "max" else "mean"
    called = f"{'max' if kind == 'max' else 'average'}_pooling{rank}d"
    of_tensorflow = f"{'Max' if kind == 'max' else 'Avg'}Pool{'3D' if rank == 3 else ''}"
    return named(called, f"The {what} of each window of {rank} axes.", pooling)


max_pooling1d = _pooling("max", 1)
max_pooling2d = _pooling("max", 2)
max_pooling3d = _pooling("max", 3)
average_pooling1d = _pooling("average", 1)
average_pooling2d = _pooling("average", 2)
average_pooling3d = _pooling("average", 3)
