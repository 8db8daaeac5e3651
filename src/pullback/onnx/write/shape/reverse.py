"""ONNX export of what reverses and rolls."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....primitives.shape.reverse import ReverseV2, Roll
from ....primitives.shape.reverse_sequence import ReverseSequence
from ...records import Value
from ...registry import writer
from ...writing import Writer
from ..shapes import rank_of
from ..traced import traced

_END = np.iinfo(np.int64).max


@writer(ReverseV2)
def reverse(w: Writer, p: Any, x: Value) -> Value:
    n = len(p.axis)
    return w.slice(x, [-1] * n, [-_END] * n, list(p.axis), [-1] * n)


@writer(Roll)
def roll(w: Writer, p: Any, x: Value) -> Value:
    for shift, axis in zip(p.shift, p.axis, strict=True):
        place = axis % rank_of(x)
        dims = x.type.shape.as_list()
        n = dims[place]
        if n is not None:
            k = shift % n if n else 0
            if k == 0:
                continue
            head, tail = w.slice(x, [n - k], [n], [place]), w.slice(x, [0], [n - k], [place])
        else:
            length = w.lengths(x, [place])
            at = w.node("Sub", length, w.node("Mod", w.vector([shift]), w.node("Max", length, w.vector([1]))))
            head, tail = w.slice(x, at, [_END], [place]), w.slice(x, [0], at, [place])
        x = w.concat([head, tail], place)
        x = Value(x.name, w.op.outputs[0].type)
    return x


# Where all lengths are known, the kernels of these say how they are written.
writer(ReverseSequence, pairs=True)(traced)
