"""Per-example gradients: the terms that the gradient of a batch adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autodiff.arguments import as_list
from ..autodiff.cotangent import dense
from ..autodiff.reverse import gradients
from ..control_flow.maps import vectorized_map
from ..core.typing import TensorLike


def per_example_gradients(
    loss: Callable[[Any], Any],
    xs: TensorLike,
    examples: Any,
    *,
    batch_size: int | None = None,
    name: str = "per_example_gradients",
) -> list[Any]:
    """For each of `xs` the derivatives of the loss of each example by it, stacked: [b, x...].

    `loss` takes one example, a row of each tensor of the nested structure `examples`, and returns its loss, a scalar.
    It is called once. Many examples are differentiated at once, `batch_size` of them, or as many as the engine likes.

    Raises:
        ValueError: the first lengths of `examples` differ. LookupError and others as `gradients`.

    >>> import pullback as pb
    >>> w = pb.constant([1.0, -1.0])
    >>> x, t = pb.constant([[1.0, 2.0], [3.0, 4.0]]), pb.constant([0.0, 1.0])
    >>> dw, = pb.per_example_gradients(lambda e: pb.square(pb.reduce_sum(w * e[0]) - e[1]), w, (x, t))
    >>> pb.Session().run(dw).tolist()
    [[-2.0, -4.0], [-12.0, -16.0]]
    """
    sources = as_list(xs, "xs")

    def slopes(example: Any) -> list[Any]:
        return [dense(dx) for dx in gradients(loss(example), sources, unconnected_gradients="zero")]

    found: list[Any] = vectorized_map(slopes, examples, batch_size=batch_size, name=name)
    return found
