"""Half precision: 16-bit floats are computed in float32 and rounded once."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import bfloat16, float16, float32


def widened(x: Any) -> Any:
    """`x`, in float32 where it holds 16-bit floats."""
    return x.astype(float32) if x.dtype in (float16, bfloat16) else x
