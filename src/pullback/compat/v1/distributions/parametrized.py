"""Distributions whose batch is that of their parameters: what those here have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pullback as pb

from .distribution import Distribution


class AbstractParametrized(Distribution, ABC):
    """A distribution of numbers, unless it says otherwise."""

    @property
    @abstractmethod
    def parameters_like(self) -> pb.Tensor:
        """Something of the shape [batch...]."""

    @abstractmethod
    def drawn(self, count: int | pb.Tensor, lengths: pb.Tensor, seed: int | None) -> pb.Tensor:
        """`count` draws for each of the batch: [count, batch..., event...]; `lengths` are the first of these."""

    def _batch_shape(self) -> pb.TensorShape:
        return self.parameters_like.shape

    def _batch_shape_tensor(self) -> pb.Tensor:
        return pb.shape(self.parameters_like)

    def _event_shape(self) -> pb.TensorShape:
        return pb.TensorShape.SCALAR

    def _event_shape_tensor(self) -> pb.Tensor:
        return pb.constant([], pb.int32)

    def _sample_n(self, n: int | pb.Tensor, seed: int | None = None) -> pb.Tensor:
        static = self.batch_shape
        if static.is_fully_defined() and isinstance(n, int):
            return self.drawn(n, pb.constant([n, *static.known], pb.int32), seed)
        return self.drawn(n, pb.concat([[n], self.batch_shape_tensor()], 0), seed)
