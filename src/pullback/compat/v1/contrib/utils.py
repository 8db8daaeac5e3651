"""End points: results of layers under the scopes that made them (`slim.utils`), and what layers ask of shapes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pullback as pb

from ....core.contexts import in_graph_of_inputs
from ....core.shape import as_shape
from ....core.typing import ShapeLike
from ..python_util import constant_value as constant_value
from ..python_util import smart_cond as smart_cond

_ALIASES = "contrib/layers/aliases"
"""The collection of pairs of a tensor and one more name of it."""


def collect_named_outputs(collections: str | Sequence[str] | None, alias: str, outputs: pb.Tensor) -> pb.Tensor:
    """`outputs`, noted in the collections under the name `alias`.

    >>> import pullback.compat.v1 as tf
    >>> x = tf.zeros([2])
    >>> _ = tf.contrib.slim.utils.collect_named_outputs("points", "net/first", x)
    >>> dict(tf.contrib.slim.utils.convert_collection_to_dict("points"))
    {'net/first': <Tensor 'zeros:0' float32[2]>}
    """
    if collections:
        append_tensor_alias(outputs, alias)
        pb.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: pb.Tensor, alias: str) -> pb.Tensor:
    """`tensor`, which has one name more; a stroke at its end is left out."""
    tensor.graph.add_to_collection(_ALIASES, (tensor, alias.removesuffix("/")))
    return tensor


def get_tensor_aliases(tensor: pb.Tensor) -> list[str]:
    """The names that were given to a tensor, or else the one that it has."""
    given = [alias for named, alias in tensor.graph.get_collection(_ALIASES) if named is tensor]
    return given or [tensor.name.removesuffix(":0")]


@in_graph_of_inputs
def gather_tensors_aliases(tensors: Sequence[pb.Tensor]) -> list[str]:
    """The names of all of `tensors`."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> OrderedDict[str, pb.Tensor]:
    """The tensors of a collection of the default graph, by their names."""
    graph = pb.get_default_graph()
    named = OrderedDict((a, tensor) for tensor in graph.get_collection(collection) for a in get_tensor_aliases(tensor))
    if clear_collection:
        graph.clear_collection(collection)
    return named


def static_cond(pred: bool, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """What one of the functions returns."""
    return fn1() if pred else fn2()


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for the variable `name`: those under it in a dictionary, or all that is given."""
    return variables_collections.get(name) if isinstance(variables_collections, Mapping) else variables_collections


def last_dimension(shape: ShapeLike, min_rank: int = 1) -> int:
    """The last length of a shape.

    Raises:
        ValueError: it is not known, or there are fewer lengths than `min_rank`.
    """
    return _known_length(shape, -1, min_rank)


def channel_dimension(shape: ShapeLike, data_format: str, min_rank: int = 1) -> int:
    """The second length of a shape for the format "channels_first", else the last one; errors as `last_dimension`."""
    return _known_length(shape, 1 if data_format == "channels_first" else -1, min_rank)


def _known_length(shape: ShapeLike, axis: int, least: int) -> int:
    lengths = as_shape(shape)
    if lengths.rank is None or lengths.rank < least:
        raise ValueError(f"layers: a shape of rank {least} or more is needed, not {lengths}; use tf.ensure_shape")
    found: int | None = lengths.size(axis)
    if found is None:
        raise ValueError(f"layers: the length at {axis} of {lengths} must be known; use tf.ensure_shape")
    return found


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """A number twice, or a pair of numbers."""
    first, second = n_positive_integers(2, int_or_tuple)
    return first, second


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """`value` for each of `n` axes, or the `n` numbers that it is.

    Raises:
        ValueError: it is not so many numbers, or they are not positive.
    """
    numbers = tuple([int(k) for k in value]) if isinstance(value, Sequence) else (int(value),) * n
    if len(numbers) != n or min(numbers, default=1) < 1:
        raise ValueError(f"layers: a positive integer or {n} of them are needed, not {value}")
    return numbers
