"""Initial values that several workloads share."""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(random: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    """float32 weights of variance 1 / (number of inputs)."""
    return (random.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32)


def zeros(length: int) -> np.ndarray[Any, Any]:
    """A float32 bias."""
    return np.zeros(length, np.float32)


def ones(length: int) -> np.ndarray[Any, Any]:
    """A float32 scale."""
    return np.ones(length, np.float32)
