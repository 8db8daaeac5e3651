"""N-ary sum: of several tensors of one type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ...core import intervals
from ...core.contexts import in_graph_of_inputs
from ...core.intervals import Interval
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive
from ...core.traits import ELEMENTWISE, linear
from ...core.types import TensorType
from ..creation.constant import convert_to_tensor


@in_graph_of_inputs
def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of the list `inputs`, element by element, without broadcasting; IndexedSlices are made dense.

    Shapes: all the same. Dtypes: any number, all the same.

    Derivative: dx_i = dy.

    Raises:
        ValueError: the list is empty, or the shapes differ. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.add_n([1.0, 2.0, 3.0]))
    np.float32(6.0)
    """
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError(f"add_n: inputs must be a list of at least one tensor, not {inputs!r}")
    tensors = [convert_to_tensor(x) for x in inputs]
    if len(tensors) == 1 and name is None:
        return tensors[0]
    return AddN()(*tensors, name=name)


class AddN(Primitive):
    traits = (ELEMENTWISE, linear())

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        result = types[0]
        for other in types[1:]:
            if other is result:
                continue
            if other.dtype != result.dtype or not other.shape.is_compatible_with(result.shape):
                raise (TypeError if other.dtype != result.dtype else ValueError)(
                    f"add_n: all terms must be of one type, but these differ: {', '.join(map(str, types))}"
                )
            shape = result.shape.merge_with(other.shape)
            result = result if shape is result.shape else TensorType(result.dtype, shape)
        return (result,)

    def kernel(self, xp: Any, *terms: Any) -> Any:
        total = terms[0]
        for term in terms[1:]:
            total = xp.add(total, term)
        return total

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        return (dy,) * len(op.inputs)

    def bounds(self, *xs: Interval) -> Interval:
        return reduce(intervals.add, xs)


def add_terms(*terms: Tensor | None) -> Tensor | None:
    """The sum of those terms that are there, or None."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total
