"""ONNX export of conversions between dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX, FLOATING, INTEGER, float32
from ...core.errors import NotRecordedError
from ...primitives.casting.bitcast import Bitcast
from ...primitives.casting.cast import Cast
from ..pairs import Pair, as_array, as_value
from ..records import Value
from ..registry import writer
from ..writing import Writer


@writer(Cast, pairs=True)
def cast(w: Writer, p: Any, x: Any) -> Any:
    wanted: Any = w.op.outputs[0].dtype
    if isinstance(x, Pair) and wanted in INTEGER:
        x = x.re
    if isinstance(x, Pair) or wanted in COMPLEX:
        return as_value(w, as_array(w, x).astype(wanted), wanted)
    if x.type.dtype in FLOATING and wanted in INTEGER:
        return _saturated(w, x, wanted)
    return w.cast(x, wanted)


def _saturated(w: Writer, x: Value, dtype: np.dtype[Any]) -> Value:
    """NaN is 0, and what is out of range the nearest in range; runtimes differ there by themselves."""
    limits = np.iinfo(dtype)
    z = w.cast(x, float32) if x.type.dtype.itemsize < 4 else x
    z = w.where(w.node("IsNaN", z), w.scalar(0, z), z)
    kind: Any = z.type.dtype
    low, high = kind.type(limits.min), kind.type(limits.max)
    last = high if float(high) <= limits.max else np.nextafter(high, kind.type(0))
    safe = w.cast(w.node("Clip", z, w.constant(low), w.constant(last)), dtype)
    if last == high:
        return safe
    over = w.node("GreaterOrEqual", z, w.constant(high))
    return w.where(over, w.constant(limits.max, dtype), safe)


@writer(Bitcast)
def bitcast(w: Writer, p: Any, x: Value) -> Value:
    """Casts between whole numbers of one width keep the bits; for others there is BitCast from opset 26 on."""
    wanted: Any = w.op.outputs[0].dtype
    if x.type.dtype.itemsize != wanted.itemsize:
        raise NotRecordedError("ONNX has no bits of several numbers as one, or of one as several")
    if (x.type.dtype in INTEGER and wanted in INTEGER) or x.type.dtype.kind == "b":
        return w.cast(x, wanted)
    if w.model.opset < 26:
        raise NotRecordedError("the bits of floats can only be read from opset 26 on")
    return w.node("BitCast", x, dtype=wanted, shape=x.type.shape, to=wanted)
