"""Dense layers in one call, under TensorFlow 1's names."""

from __future__ import annotations

from ..core.contexts import in_graph_of_inputs
from ..core.operation import Tensor
from ..core.typing import TensorLike
from ..primitives.activations.bias import bias_add
from ..primitives.activations.rectifiers import relu
from ..primitives.base.broadcasting import operands
from ..primitives.linalg.matmul import matmul


@in_graph_of_inputs
def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """`x @ weights + biases`.

    Shapes: `x` [n, d]; `weights` [d, m]; `biases` [m]. Dtypes: any number, the same for all.

    Derivative: dx = dy @ weights^T, dweights = x^T @ dy, dbiases = sum of dy over the rows.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [1.0]], [0.5]))
    array([[3.5]], dtype=float32)
    """
    a, w, b = operands(x, weights, biases)
    with a.graph.within(name or "xw_plus_b") as scope:
        return bias_add(matmul(a, w), b, name=scope)


@in_graph_of_inputs
def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """`relu(x @ weights + biases)`.

    Shapes: `x` [n, d]; `weights` [d, m]; `biases` [m]. Dtypes: any real number, the same for all.

    Derivative: those of matmul and bias_add, of dy where y > 0, else 0.

    Raises:
        ValueError: the shapes do not fit. TypeError: the dtypes differ.

    >>> import pullback as pb
    >>> pb.Session().run(pb.nn.relu_layer([[1.0, 2.0]], [[1.0, -1.0], [1.0, 0.0]], [0.5, 0.5]))
    array([[3.5, 0. ]], dtype=float32)
    """
    a, w, b = operands(x, weights, biases)
    with a.graph.within(name or "relu_layer") as scope:
        return relu(bias_add(matmul(a, w), b), name=scope)
