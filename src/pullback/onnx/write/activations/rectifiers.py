"""ONNX export of the derivatives of rectifiers: a mask, as a product with steps where nothing is infinite or NaN.

A step is a HardSigmoid so steep that it is 0 at the bound and 1 beside it. onnxruntime computes these and products in
the blocked layout of its convolutions of images, which it leaves for comparisons and Where. Where there are no images
these cost as much, and hide what is NaN.
"""

from __future__ import annotations

from typing import Any

from ....primitives.activations.rectifiers import Relu6Grad, ReluGrad
from ...recording import record_kernel
from ...records import Value
from ...registry import writer
from ...writing import Writer

_RANK_OF_IMAGES = 4
_STEEP = 3e38
"""Times the least normal number of float32 this is more than 1."""
_NEAR_SIX = 2.0**22
"""Times what lies between 6 and the number below it this is 2, and no number between them is rounded."""


@writer(ReluGrad)
def relu_grad(w: Writer, p: Any, dy: Value, y: Value) -> Any:
    """`dy * step(y)`."""
    return w.node("Mul", dy, _above(w, y)) if _is_blocked(w, y) else record_kernel(w, [dy, y])


@writer(Relu6Grad)
def relu6_grad(w: Writer, p: Any, dy: Value, y: Value) -> Any:
    """`dy * step(y) * step(6 - y)`."""
    if not _is_blocked(w, y):
        return record_kernel(w, [dy, y])
    below = w.node("HardSigmoid", y, alpha=-_NEAR_SIX, beta=6 * _NEAR_SIX)
    return w.node("Mul", dy, w.node("Mul", _above(w, y), below))


def _is_blocked(w: Writer, y: Value) -> bool:
    """Whether `y` may be in the layout of images, and all that is read is finite."""
    return y.type.shape.rank == _RANK_OF_IMAGES and w.reads_finite()


def _above(w: Writer, y: Value) -> Value:
    """1 where `y` is above 0, else 0."""
    return w.node("HardSigmoid", y, alpha=_STEEP, beta=0.0)
