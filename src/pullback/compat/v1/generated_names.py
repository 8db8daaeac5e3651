"""Raw operations of TensorFlow (`gen_nn_ops`, `gen_state_ops`, ...) that differ from the functions of the same name.

The others are found where the functions are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ...core.contexts import in_graph_of_inputs
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from .functional import named


@in_graph_of_inputs
def softmax_cross_entropy_with_logits(
    features: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[pb.Tensor, pb.Tensor]:
    """The losses [batch] of logits `features` [batch, classes], and their derivatives by these.

    Raises:
        ValueError: the two have no rank of 2, or do not broadcast together.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1 import generated_names
    >>> loss, slope = generated_names.softmax_cross_entropy_with_logits([[0.0, 0.0]], [[1.0, 0.0]])
    >>> tf.Session().run(slope)
    array([[-0.5,  0.5]], dtype=float32)
    """
    given = [pb.convert_to_tensor(x) for x in (features, labels)]
    for x in given:
        if x.shape.rank not in (2, None):
            raise ValueError(
                f"softmax_cross_entropy_with_logits: Shape must be rank 2, but is rank {x.shape.rank}: {x}"
            )
    logits, wanted = [x + pb.zeros_like(other) for x, other in zip(given, reversed(given), strict=True)]
    loss = pb.nn.softmax_cross_entropy_with_logits(labels=wanted, logits=logits, name=name)
    return loss, pb.nn.softmax(logits) - wanted


@in_graph_of_inputs
def sparse_softmax_cross_entropy_with_logits(
    features: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[pb.Tensor, pb.Tensor]:
    """The losses [batch] of logits `features` [batch, classes] where `labels` number the classes; their derivatives.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1 import generated_names
    >>> loss, slope = generated_names.sparse_softmax_cross_entropy_with_logits([[0.0, 0.0]], [0])
    >>> tf.Session().run(slope)
    array([[-0.5,  0.5]], dtype=float32)
    """
    logits = pb.convert_to_tensor(features)
    loss = pb.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
    return loss, pb.nn.softmax(logits) - pb.one_hot(labels, pb.shape(logits)[1], dtype=logits.dtype)


def variable(
    shape: ShapeLike, dtype: DTypeLike, container: str = "", shared_name: str = "", name: str | None = None
) -> pb.Variable:
    """A variable without a value, in no collection.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1 import generated_names
    >>> tf.Session().run(tf.assign(generated_names.variable([1], tf.float32), [2.0]))
    array([2.], dtype=float32)
    """
    del container, shared_name
    return pb.Variable(pb.zeros(shape, dtype), trainable=False, collections=[], name=name or "Variable")


@in_graph_of_inputs
def case(
    branch_index: TensorLike,
    input: Sequence[TensorLike],
    Tout: Sequence[DTypeLike],
    branches: Sequence[Callable[..., Any]],
    output_shapes: object = None,
    name: str | None = None,
) -> list[Any]:
    """The list of what one of `branches` gives for `input`: the last where no branch has the number `branch_index`.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1 import generated_names
    >>> tf.Session().run(generated_names.case(0, [3.0], [tf.float32], [lambda x: 2.0 * x, lambda x: x]))
    [np.float32(6.0)]
    """
    del Tout, output_shapes
    xs = [pb.convert_to_tensor(x) for x in input]
    calls = [lambda branch=branch: pb.nest.flatten(branch(*xs)) for branch in branches]
    with pb.name_scope(name or "Case") as scope:
        return named(pb.nest.flatten(pb.switch_case(branch_index, calls)), scope)
