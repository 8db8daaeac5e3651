"""Learning rate schedules of Keras, as objects: `tf.keras.optimizers.schedules`.

>>> import pullback.compat.v1 as tf
>>> rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5)
>>> tf.Session().run(rate(20))
np.float32(0.025)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pullback as pb


class LearningRateSchedule:
    """A function of the number of steps; a subclass defines `__call__(step)`, and `get_config` with its arguments."""

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__(step)")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a schedule."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_config()")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LearningRateSchedule:
        """The schedule of those arguments."""
        return cls(**config)


class AbstractDecay(LearningRateSchedule):
    """A schedule of `tf.train` with its arguments."""

    def __init__(self, initial_learning_rate: Any, **config: Any) -> None:
        self._initial = initial_learning_rate
        self._config = config

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a schedule."""
        return {"initial_learning_rate": self._initial, **self._config}


class ExponentialDecay(AbstractDecay):
    """The rate of `tf.train.exponential_decay`."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            initial_learning_rate, decay_steps=decay_steps, decay_rate=decay_rate, staircase=staircase, name=name
        )

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        return pb.train.exponential_decay(self._initial, step, **self._config)


class InverseTimeDecay(AbstractDecay):
    """The rate of `tf.train.inverse_time_decay`."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            initial_learning_rate, decay_steps=decay_steps, decay_rate=decay_rate, staircase=staircase, name=name
        )

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        return pb.train.inverse_time_decay(self._initial, step, **self._config)


class PolynomialDecay(AbstractDecay):
    """The rate of `tf.train.polynomial_decay`."""

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            initial_learning_rate,
            decay_steps=decay_steps,
            end_learning_rate=end_learning_rate,
            power=power,
            cycle=cycle,
            name=name,
        )

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        return pb.train.polynomial_decay(self._initial, step, **self._config)


class CosineDecay(AbstractDecay):
    """The rate of `tf.train.cosine_decay`."""

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, alpha: Any = 0.0, name: str | None = None) -> None:
        super().__init__(initial_learning_rate, decay_steps=decay_steps, alpha=alpha, name=name)

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        return pb.train.cosine_decay(self._initial, step, **self._config)


class PiecewiseConstantDecay(LearningRateSchedule):
    """The rate of `tf.train.piecewise_constant`."""

    def __init__(self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values: there are "
                f"{len(boundaries)} and {len(values)}"
            )
        self._config: dict[str, Any] = {"boundaries": boundaries, "values": values, "name": name}

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        x = pb.convert_to_tensor(step)
        boundaries = [pb.cast(b, x.dtype) for b in self._config["boundaries"]]
        return pb.train.piecewise_constant(x, boundaries, self._config["values"], self._config["name"])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a schedule."""
        return dict(self._config)
