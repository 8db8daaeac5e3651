"""GraphDef export of Fourier and cosine transforms along the last axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import float64, real_dtype
from ...primitives.signal.dct import Dct
from ...primitives.signal.fourier import Fft
from ..body import Body, Ref
from ..exporting import writer


@writer(Fft)
def fft(body: Body, p: Any, x: Ref) -> Any:
    rank, count = body.op.inputs[0].shape.rank, len(p.axes)
    axes = sorted([axis % rank for axis in p.axes]) if rank else []
    if count > 3 or axes != list(range((rank or 0) - count, rank or 0)):
        return body.refuse("its export is there along the last axes, three at most, where the rank is known")
    op_type = f"{'I' if p.inverse else ''}FFT{'' if count == 1 else f'{count}D'}"
    power = -_POWERS[p.norm] if p.inverse else _POWERS[p.norm]
    if not power:
        return body.main(op_type, x)
    lengths = body.node("GatherV2", body.shape_of(x), body.integers(axes), body.integers(0))
    number = body.cast(body.node("Prod", lengths, body.integers([0])), float64)
    scale = body.cast(body.node("Pow", number, body.constant(power, float64)), real_dtype(x.dtype))
    zero = body.constant(np.zeros((), scale.dtype))
    return body.main("Mul", body.node(op_type, x), body.node("Complex", scale, zero, Tout=x.dtype))


@writer(Dct)
def dct(body: Body, p: Any, x: Ref) -> Any:
    """A product with the matrix of the transform, whose rows are the transforms of unit vectors."""
    n, rank = body.op.inputs[0].shape.size(-1) if body.op.inputs[0].shape.rank else None, body.op.inputs[0].shape.rank
    if n is None:
        return body.refuse("its export is there for a known last length")
    matrix = body.constant(p.kernel(np, np.eye(n)), x.dtype)
    if rank != 1:
        return body.main("BatchMatMulV2", x, matrix)
    row = body.node("BatchMatMulV2", body.node("ExpandDims", x, body.integers(0)), matrix)
    return body.main("Squeeze", row, squeeze_dims=[0])


_POWERS = {"backward": 0.0, "ortho": -0.5, "forward": -1.0}
"""The power of the number of elements that TensorFlow's transform is multiplied by; that of its inverse is minus it."""
