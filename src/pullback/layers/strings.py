"""Segmented joins of texts: one text for each segment, of all that have its number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..control_flow.py_function import numpy_function
from ..control_flow.signature import TensorSpec
from ..core.contexts import in_graph_of_inputs
from ..core.dtypes import string
from ..core.errors import InvalidArgumentError
from ..core.graph import Tensor
from ..core.shape import TensorShape
from ..core.typing import TensorLike
from ..primitives.creation.constant import as_array, constant_value, convert_to_tensor


@in_graph_of_inputs
def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """For each segment its texts, joined by `separator`: "" for one that has none.

    Shapes: `inputs` [n..., m...], `segment_ids` [n...]; the result [num_segments, m...].

    Raises:
        InvalidArgumentError: from a run, if an id is below 0 or not below `num_segments`.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, ":"))
    array([b'a:c', b'b'], dtype=object)
    """

    def joined(texts: Any, ids: Any, count: Any) -> Any:
        if ids.size and not 0 <= ids.min() <= ids.max() < count:
            raise InvalidArgumentError(
                f"strings.unsorted_segment_join: segment_ids must be from 0 to {int(count) - 1}, and are {ids.tolist()}"
            )
        rest = texts.shape[ids.ndim :]
        parts: list[list[list[bytes]]] = [[[] for _ in range(int(np.prod(rest)))] for _ in range(count)]
        for row, i in zip(texts.reshape(ids.size, -1).tolist(), ids.ravel().tolist(), strict=True):
            for part, text in zip(parts[i], row, strict=True):
                part.append(text)
        found = [separator.encode().join(part) for row in parts for part in row]
        return as_array(found, string).reshape(int(count), *rest)

    x, ids, count = convert_to_tensor(inputs, string), *map(convert_to_tensor, (segment_ids, num_segments))
    shape = TensorShape([constant_value(count)]).concatenate(x.shape[ids.shape.rank :])
    found: Tensor = numpy_function(
        joined, [x, ids, count], TensorSpec(shape, string), stateful=False, name=name or "UnsortedSegmentJoin"
    )
    return found
