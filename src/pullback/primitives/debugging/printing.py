"""Printing of values that a run computes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import int32
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.state import AbstractStateful, AbstractUpdates
from ..creation.constant import convert_to_tensor
from .guards import quoted_summary, summary


def print_(
    *inputs: Any,
    output_stream: object = None,
    summarize: int | None = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> Operation:
    """An operation that prints `inputs`, tensors and anything else, each time it runs, on standard error.

    Fetch it, or make other operations under `pb.control_dependencies([it])`. Of long axes the first and the last
    `summarize` elements are shown, all for -1. On XLA a line may come after the run has returned.

    Shapes, dtypes: any. `output_stream` is `sys.stderr` (None) or `sys.stdout`.

    Raises:
        ValueError: another stream.

    >>> import pullback as pb, sys
    >>> pb.Session().run(pb.print("x =", pb.constant([1.5, 2.0]), output_stream=sys.stdout))
    x = [1.5 2]
    """
    parts, tensors = [], []
    for x in inputs:
        is_tensor = isinstance(x, Tensor | AbstractTensorLike)
        parts.append(None if is_tensor else str(x))
        tensors.extend([convert_to_tensor(x)] if is_tensor else [])
    primitive = PrintV2(tuple(parts), _stream(output_stream), summarize, sep, end)
    return primitive.operation(*tensors, name=name)


def _stream(stream: Any) -> str:
    if stream is None or stream is sys.stderr or stream == "sys.stderr":
        return "stderr"
    if stream is sys.stdout or stream == "sys.stdout":
        return "stdout"
    raise ValueError(f"print: output_stream must be sys.stderr or sys.stdout, not {stream!r}")


class PrintV2(Primitive):
    stateful = True

    parts: tuple[str | None, ...]
    """Text, or None for the next input."""
    stream: str
    summarize: int | None
    sep: str
    end: str

    def infer(self, *inputs: TensorType) -> tuple[TensorType, ...]:
        del inputs
        return ()

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        """With NumPy; XLA calls `show` from inside its program."""
        if xp is np:
            self.show(*arrays)
        return ()

    def show(self, *arrays: Any) -> None:
        """Print the inputs among the parts."""
        values = iter(arrays)
        shown = [quoted_summary(next(values), self.summarize) if part is None else part for part in self.parts]
        stream = getattr(sys, self.stream)
        text = f"{self.sep.join(shown)}{self.end}"
        try:
            print(text, end="", file=stream, flush=True)
        except UnicodeEncodeError:  # The stream has no such characters: their numbers.
            known = text.encode(stream.encoding, "backslashreplace").decode(stream.encoding)
            print(known, end="", file=stream, flush=True)

    gradient = no_gradient


@in_graph_of_inputs
def print_v1(
    input_: TensorLike,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, which prints `message` and `data` on standard error each time it is computed, at most `first_n` times.

    Of long axes the first and the last `summarize` (None: 3) elements are shown. The derivative goes to `input_`.

    Shapes, dtypes: any.

    Derivative: dx = dy.

    >>> import pullback as pb
    >>> x = pb.constant(2.0)
    >>> pb.Session().run(pb.Print(x, [x], "x: "))
    np.float32(2.0)
    """
    x = convert_to_tensor(input_)
    primitive = PrintV1(message or "", -1 if first_n is None else int(first_n), 3 if summarize is None else summarize)
    return primitive(x, *[convert_to_tensor(y) for y in data], name=name)


class PrintV1(AbstractStateful):
    """The state is the number of times it has printed."""

    type = "Print"
    owns_state = True
    writes_state = True

    message: str
    first_n: int
    summarize: int

    def infer(self, x: TensorType, *data: TensorType) -> tuple[TensorType, ...]:
        del data
        return (x,)

    def kernel(self, xp: Any, state: Any, *arrays: Any) -> Any:
        """With NumPy; XLA calls `show` from inside its program."""
        if xp is np:
            self.show(state, *arrays[1:])
        return arrays[0]

    def show(self, times: Any, *data: Any) -> None:
        """Print the data, unless that has been done often enough."""
        if self.first_n < 0 or int(times) < self.first_n:
            shown = "".join([f"[{summary(y, self.summarize).strip('[]')}]" for y in data])
            print(f"{self.message}{shown}", file=sys.stderr, flush=True)

    def update(self, xp: Any, ex: AbstractUpdates, state: Any, *arrays: Any) -> Any:
        del xp, arrays
        return ex.add(state, np.array(1, int32))

    def initial_state(self) -> Any:
        return np.array(0, int32)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return dy, *[None] * (len(op.inputs) - 1)
