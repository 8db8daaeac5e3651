"""Moving averages of single variables: `tensorflow.python.training.moving_averages`."""

from __future__ import annotations

from ...optimizers.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from ...optimizers.moving_averages import assign_moving_average as assign_moving_average
