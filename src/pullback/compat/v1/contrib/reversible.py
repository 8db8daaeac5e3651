"""Reversible residual layers (RevNets): pairs of tensors, each changed by a function of the other.

Source: A. N. Gomez et al., "The reversible residual network", 2017. What a derivative keeps is left to
`pb.rematerialize`: nothing is inverted here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.typing import TensorLike

_Change = Callable[..., Any] | Sequence[Callable[..., Any]]


@in_graph_of_inputs
def rev_block(
    x1: TensorLike,
    x2: TensorLike,
    f: _Change,
    g: _Change,
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> tuple[pb.Tensor, pb.Tensor]:
    """`y1 = x1 + f(x2)`, then `y2 = x2 + g(y1)`, so many times; `f` and `g` may be lists with one for each layer.

    Raises:
        ValueError: a list has not one function for each layer.

    >>> import pullback.compat.v1 as tf
    >>> ys = tf.contrib.layers.rev_block(1.0, 2.0, lambda x: 3.0 * x, lambda x: x)
    >>> tf.Session().run(ys)
    (np.float32(7.0), np.float32(9.0))
    """
    del is_training
    fs, gs = _of_layers("f", f, num_layers), _of_layers("g", g, num_layers)
    y1, y2 = pb.convert_to_tensor(x1), pb.convert_to_tensor(x2)
    with pb.variable_scope("revblock"):
        for i in range(num_layers):
            with pb.variable_scope(f"revlayer_{i}"):
                with pb.variable_scope("f"):
                    y1 = y1 + _changed(fs[i], y2, f_side_input)
                with pb.variable_scope("g"):
                    y2 = y2 + _changed(gs[i], y1, g_side_input)
    return y1, y2


def _changed(function: Callable[..., Any], x: pb.Tensor, side: Sequence[Any] | None) -> Any:
    return function(x, side) if side else function(x)


def _of_layers(name: str, functions: _Change, count: int) -> Sequence[Callable[..., Any]]:
    if callable(functions):
        return [functions] * count
    if len(functions) != count:
        raise ValueError(f"rev_block: {name} must be a function or {count} of them, one for each layer: {functions}")
    return functions
