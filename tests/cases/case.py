"""One row of the case table: a computation, arrays for it, and what is known not to work, with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

PRODUCT_TOLERANCE = {"highest": 0.0, "high": 3e-3, "default": 3e-2}
"""How far products may be off in float32 on an accelerator, relative, by their precision: TensorFloat-32 keeps 10 bits
of each factor, bfloat16 7."""
DRAWN_THERE = "its numbers are drawn by the generator of the runtime"


@dataclass(frozen=True)
class Case:
    """A row.

    `build` takes one tensor for each of `inputs` and returns a tensor or a list of them. Float inputs are written in
    float64; the generic checks run them as float32 too. What does not work is a reason, not an empty string.
    """

    name: str
    build: Callable[..., Any]
    inputs: Sequence[Any] = ()
    expected: Any = None
    """The result, or results, where a closed form is at hand: arrays, or a function of the input arrays."""
    wrt: Sequence[int] | None = None
    """The inputs to differentiate by; None means all of float or complex dtype."""
    not_differentiable: str = ""
    not_second_order: str = ""
    third_order: bool = False
    """Whether third derivatives are checked too."""
    slow: bool = False
    """Whether XLA takes long to compile the third derivatives, so that only the slow tests do."""
    not_erased: str = ""
    """Why it cannot be built with unknown static lengths and ranks."""
    not_erased_rank: str = ""
    """Why it cannot be built with unknown ranks (unknown lengths work)."""
    not_compiled: str = ""
    """Why XLA leaves it to the host."""
    not_on_numpy: str = ""
    not_onnx: str = ""
    """Why it is refused as an exported model; or DRAWN_THERE."""
    other_at_hard_points: Mapping[str, str] = field(default_factory=dict)
    """Why there are other values or derivatives where numbers are infinite, NaN, 0 or 1: in "onnxruntime", or when a
    file of the kind "onnx" or "graphdef" is read again."""
    not_float32: str = ""
    """Why it is only run as written."""
    not_exact: str = ""
    """Why the engines' values cannot be compared: random numbers, undetermined signs."""
    tolerance: float = 1e-6
    """Relative, of derivatives against differences in float64."""
    float32_tolerance: float = 1e-5
    """Relative, of XLA against NumPy in float32."""
    tags: frozenset[str] = field(default_factory=frozenset)

    def __str__(self) -> str:
        return self.name

    def arrays(self, dtype: Any = None) -> list[np.ndarray[Any, Any]]:
        """The inputs as arrays, float64 and complex128 ones as `dtype` asks (float32 or float64)."""
        arrays = [np.asarray(x) for x in self.inputs]
        if dtype is None or np.dtype(dtype) == np.float64:
            return arrays
        narrower = {np.dtype("float64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("complex64")}
        return [x.astype(narrower.get(x.dtype, x.dtype)) for x in arrays]

    def differentiated(self) -> list[int]:
        """The numbers of the inputs to differentiate by."""
        if self.wrt is not None:
            return list(self.wrt)
        return [i for i, x in enumerate(self.inputs) if np.asarray(x).dtype.kind in "fc"]


def normal(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Standard normal numbers, the same for the same arguments."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def positive(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Numbers between 0.5 and 2, the same for the same arguments."""
    return np.random.default_rng([seed, *shape]).uniform(0.5, 2.0, size=shape)


def distinct(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Numbers of both signs, no two closer than 0.1 and none closer than 0.05 to 0, in random order."""
    size = int(np.prod(shape))
    values = (np.arange(size) - size // 2) * 0.1 + 0.05
    return np.random.default_rng([seed, *shape]).permutation(values).reshape(shape)


def cubed(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` and the third power of its result, which has third derivatives where `f` is linear."""

    def build(*xs: Any) -> Any:
        y = f(*xs)
        return y * y * y

    return build
