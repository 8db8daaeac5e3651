"""Metric of Keras: what is kept of many batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import pullback as pb

from ...variable import Variable
from .. import backend, initializers
from ..base import unique_name


class Metric:
    """What is kept of many batches: a subclass makes variables by `add_weight`, defines `update_state` and `result`.

    The variables are in no collection: initialize them by `tf.variables_initializer(metric.variables)`.
    """

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        del kwargs
        self.name = name or unique_name(type(self))
        self.dtype = pb.as_dtype(dtype or backend.floatx())
        self.variables: list[Any] = []

    def add_weight(
        self, name: str, shape: Any = (), aggregation: Any = None, initializer: Any = "zeros", dtype: Any = None
    ) -> Any:
        """A variable of the metric."""
        del aggregation
        begin, kind = initializers.get(initializer), self.dtype if dtype is None else pb.as_dtype(dtype)
        made = Variable(
            lambda: begin(shape, dtype=kind), trainable=False, collections=[], name=name, dtype=kind, use_resource=True
        )
        self.variables.append(made)
        return made

    @property
    def weights(self) -> list[Any]:
        """The variables."""
        return self.variables

    def __call__(self, *args: Any, **kwargs: Any) -> pb.Tensor:
        """The result behind an update."""
        with pb.control_dependencies([self.update_state(*args, **kwargs)]):
            return pb.identity(self.result())

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """The operation, or tensor, of an update."""
        raise NotImplementedError(f"{type(self).__name__} does not define update_state")

    def result(self) -> pb.Tensor:
        """What the updates so far give."""
        raise NotImplementedError(f"{type(self).__name__} does not define result")

    def reset_states(self) -> None:
        """Assign zeros to the variables, in the session of Keras."""
        backend.batch_set_value([(v, np.zeros(v.shape.as_list())) for v in self.variables])

    def reset_state(self) -> None:
        """As `reset_states`."""
        self.reset_states()

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a metric."""
        return {"name": self.name, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Metric:
        """The metric of those arguments."""
        return cls(**config)
