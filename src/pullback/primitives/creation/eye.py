"""Identity matrices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import DType, as_dtype, float32
from ...core.graph import get_default_graph
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType, shape_to_infer
from ...core.typing import DTypeLike
from ..shape.broadcast import broadcast_to
from ..shape.reshape import shape_to_use, split_shape
from ..shape.size import shape as shape_of
from ..shape.stacking import concat


@in_graph_of_inputs
def eye(
    num_rows: int | Tensor,
    num_columns: int | Tensor | None = None,
    batch_shape: Tensor | Iterable[int | Tensor | None] | None = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Matrices with ones on the diagonal and zeros elsewhere.

    Shapes: [`batch_shape`..., `num_rows`, `num_columns`]; square where the columns are None. Dtypes: any.

    Raises:
        TypeError: a length is no integer.

    >>> import pullback as pb
    >>> pb.Session().run(pb.eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    dims, lengths = split_shape([num_rows, num_rows if num_columns is None else num_columns])
    primitive = Eye(as_dtype(dtype), dims)
    inputs = () if lengths is None else (lengths,)
    label = name or "eye"
    graph = get_default_graph() if lengths is None else lengths.graph
    if batch_shape is None:
        return graph.add(primitive, inputs, label).outputs[0]
    matrix = graph.add(primitive, inputs, None).outputs[0]
    if isinstance(batch_shape, Tensor):
        return broadcast_to(matrix, concat([batch_shape, shape_of(matrix, batch_shape.dtype)], 0), label)
    sizes = [num_rows, num_rows if num_columns is None else num_columns]
    return broadcast_to(matrix, [*batch_shape, *sizes], label)


class Eye(Primitive):
    shape_inputs = length_inputs = (0,)

    dtype: DType
    shape: tuple[int | None, ...] | None

    def infer(self, lengths: TensorType | None = None) -> tuple[TensorType, ...]:
        return (TensorType(self.dtype, shape_to_infer(self.shape, lengths)),)

    def kernel(self, xp: Any, lengths: Any = None) -> Any:
        rows, columns = shape_to_use(self.shape, lengths)
        return xp.eye(rows, columns, dtype=self.dtype)

    gradient = no_gradient
