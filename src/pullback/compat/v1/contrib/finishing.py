"""Ends of layers: variables that are noted, biases, a normalizer, an activation, collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pullback as pb

from ..layers.variables import Maker, Wish, layer_variable
from .utils import collect_named_outputs

Options = Mapping[str, Any] | None
Collections = str | Sequence[str] | None


def model_variable(
    name: str, shape: Sequence[int | None], wish: Wish, trainable: bool = True, collections: Any = None
) -> pb.Variable:
    """A variable of the layer whose block is open, noted as `note_model_variable` does."""
    variable = layer_variable(name, shape, wish, trainable)
    note_model_variable(variable, collections)
    return variable


def note_model_variable(variable: pb.Variable, collections: Any) -> None:
    """Put a variable into the collection `MODEL_VARIABLES`, and into `collections`, unless it is there.

    These are names, or a dictionary of names for `weights`, `biases` and so on.
    """
    name = variable.op.name.rpartition("/")[2]
    more = collections.get(name) if isinstance(collections, Mapping) else collections
    for key in [pb.GraphKeys.MODEL_VARIABLES, *([more] if isinstance(more, str) else more or ())]:
        if not any(variable is noted for noted in variable.graph.get_collection(key)):
            variable.graph.add_to_collection(key, variable)


def with_biases(
    y: pb.Tensor, count: int, initializer: Maker, regularizer: Maker, trainable: bool, letters: str, collections: Any
) -> pb.Tensor:
    """`y` with biases, unless there is no initializer for them."""
    if initializer is None:
        return y
    biases = model_variable("biases", [count], Wish(initializer, regularizer), trainable, collections)
    return pb.nn.bias_add(y, biases, letters if y.shape.rank == len(letters) else None)


def finished(
    y: pb.Tensor, normalizer: Maker, options: Options, activation: Maker, collections: Collections
) -> pb.Tensor:
    """`y`, normalized, activated, and noted as an end point: under the name of the layer whose block is open."""
    if normalizer is not None:
        y = normalizer(y, **(options or {}))
    if activation is not None:
        y = activation(y)
    return collect_named_outputs(collections, pb.get_variable_scope().name, y)


def noted(y: pb.Tensor, collections: Collections) -> pb.Tensor:
    """`y`, noted as an end point under its own name, which is that of the layer."""
    return collect_named_outputs(collections, y.op.name, y)
