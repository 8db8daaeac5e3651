"""Special functions: what all share. With NumPy their values come from SciPy, found when first used.

`import pullback` does not load SciPy, which is an extra; this is the only file that imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.dtypes import FLOATING, float32, float64
from ..base.broadcasting import AbstractElementwise


class AbstractSpecial(AbstractElementwise):
    """An elementwise function computed from the special functions of the engine. A subclass states `compute`."""

    dtypes = FLOATING

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        return self.computed(xp, scipy_functions(self.function or self.type.lower()), arrays)

    @property
    def in_double(self) -> bool:
        """Whether float32 is computed in float64; a subclass says so where digits are lost on the way."""
        return False

    def computed(self, xp: Any, functions: Any, arrays: Sequence[Any]) -> Any:
        """`compute` in a dtype that is wide enough, rounded once."""
        dtype = arrays[0].dtype
        wide = float64 if self.in_double else float32 if dtype.itemsize == 2 else dtype
        if wide == dtype:
            return self.compute(xp, functions, *arrays)
        return self.compute(xp, functions, *[x.astype(wide) for x in arrays]).astype(dtype)

    def compute(self, xp: Any, functions: Any, *arrays: Any) -> Any:
        """The result, by `functions`: those of `scipy.special`, or an engine's of the same names."""
        raise NotImplementedError(f"{type(self).__name__} defines no compute()")


def special_function(name: str) -> Callable[..., Any]:
    """`compute` that is the function of that name."""

    def compute(self: AbstractSpecial, xp: Any, functions: Any, *arrays: Any) -> Any:
        return getattr(functions, name)(*arrays)

    return compute


def scipy_functions(asked: str) -> Any:
    """`scipy.special`; ImportError that says what to do where there is no SciPy."""
    try:
        import scipy.special as functions
    except ImportError as error:
        raise ImportError(
            f"{asked}: the NumPy engine computes special functions with SciPy, which is not installed. "
            "Install it with: pip install 'pullback[special]'; or use Session(engine='xla')"
        ) from error
    return functions
