"""ONNX export of random numbers.

Numbers with a seed of their own are those of the library, bit for bit in their words. Those that are drawn anew in each
run are the runtime's: it has generators of its own, which the seed of the operation starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import float32, float64, int64, uint32
from ...core.function import AbstractFunctional
from ...core.operation import Operation
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...primitives.random.discrete import RandomPoissonV2, StatelessRandomPoisson
from ...primitives.random.dropout import DropoutMask
from ...primitives.random.gamma import RandomGamma, StatelessRandomGammaV3
from ...primitives.random.stateful import (
    AbstractDraw,
    Multinomial,
    RandomOrder,
    RandomStandardNormal,
    RandomUniform,
    RandomUniformInt,
    TruncatedNormal,
)
from ...primitives.random.stateless import (
    StatelessMultinomial,
    StatelessRandomNormal,
    StatelessRandomUniform,
    StatelessRandomUniformInt,
    StatelessTruncatedNormal,
)
from ..namespace import Namespace
from ..pairs import as_array, as_value
from ..records import Value
from ..registry import writer
from ..tracing import Traced
from ..writing import Writer
from .traced import traced


@writer(RandomUniform)
def uniform(w: Writer, p: Any, *lengths: Value) -> Any:
    dtype = w.op.outputs[0].dtype
    if dtype.itemsize == 2:
        return from_words(w, p, *lengths)
    return _drawn(w, p, "RandomUniform", w.op.outputs[0].shape.sizes, lengths, dtype)


@writer(RandomStandardNormal)
def normal(w: Writer, p: Any, *lengths: Value) -> Value:
    dtype = w.op.outputs[0].dtype
    drawn = _drawn(w, p, "RandomNormal", w.op.outputs[0].shape.sizes, lengths, dtype if dtype == float64 else float32)
    return w.cast(drawn, dtype)


@writer(DropoutMask)
def dropout_mask(w: Writer, p: Any, *inputs: Value) -> Value:
    dtype = w.op.outputs[0].dtype
    lengths = inputs[:-1] if p.rate is None else inputs
    drawn = _drawn(w, p, "RandomUniform", w.op.outputs[0].shape.sizes, lengths, float32)
    if p.rate is None:
        rate = inputs[-1]
        scale = w.cast(w.node("Div", w.scalar(1, rate), w.node("Sub", w.scalar(1, rate), rate)), dtype)
    else:
        rate = w.constant(np.float32(p.rate))
        scale = w.constant(1 / (1 - p.rate), dtype)
    return w.where(w.node("GreaterOrEqual", drawn, rate), scale, w.constant(np.zeros((), dtype)))


@writer(RandomUniformInt, TruncatedNormal, Multinomial, RandomOrder, RandomPoissonV2, RandomGamma)
def from_words(w: Writer, p: Any, *inputs: Value) -> Any:
    """What the primitive makes of two random words for each element."""
    if w.op.outputs[0].shape.num_elements() == 0:
        return w.constant(np.zeros(w.op.outputs[0].shape.known, w.op.outputs[0].dtype))
    arrays = [as_array(w, x) for x in inputs]
    shape = p.drawn_shape(*arrays)
    words = []
    for number in range(2):
        drawn = _drawn(w, p, "RandomUniform", shape, (), float64, number)
        scaled = w.node("Mul", drawn, w.constant(np.float64(2.0**32)))
        words.append(Traced(w, w.cast(w.cast(w.node("Floor", scaled), int64), uint32)))
    return as_value(w, p.sample(Namespace(w), (words[0], words[1]), *arrays), w.op.outputs[0].dtype)


def draws(op: Operation) -> Any:
    """Whether an operation, or one in a function that it holds, draws random numbers anew in each run."""
    if isinstance(op.primitive, AbstractFunctional):
        return any(draws(inner) for f in op.primitive.functions for inner in f.operations)
    return isinstance(op.primitive, AbstractDraw)


def _drawn(w: Writer, p: Any, kind: str, dims: Any, lengths: Any, dtype: Any, number: int = 0) -> Value:
    """Numbers of the runtime's own generator."""
    attributes: dict[str, Any] = {"dtype": dtype}
    if p.seed is not None or p.seed2 is not None:
        attributes["seed"] = float((7919 * (p.seed or 0) + 104_729 * (p.seed2 or 0) + number) % 2**24)
    made = TensorType(dtype, TensorShape(dims))
    if made.shape.is_fully_defined():
        return w.emit(kind, [], [made], attributes | {"shape": list(made.shape.known)})[0]
    like = w.expand(w.constant(np.zeros((), np.float32)), w.cast(lengths[0], int64))
    return w.emit(f"{kind}Like", [like], [made], attributes)[0]


# Where all lengths are known, the kernels of these say how they are written.
writer(
    StatelessRandomPoisson,
    StatelessRandomGammaV3,
    StatelessRandomUniform,
    StatelessRandomNormal,
    StatelessTruncatedNormal,
    StatelessRandomUniformInt,
    StatelessMultinomial,
    pairs=True,
)(traced)
