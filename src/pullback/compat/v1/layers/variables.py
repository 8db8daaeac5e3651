"""Variables of layers: where they stand, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, NamedTuple

from ....core.graph import Tensor
from ....core.typing import DTypeLike
from ....layers.variables.initializers import Ones, Zeros
from ....layers.variables.layer import get_uid
from ....layers.variables.scope import VariableScope, get_variable, variable_scope
from ....primitives.casting.cast import cast
from ....primitives.elementwise.division import divide
from ....primitives.shape.size import shape
from ....primitives.variables.collections import GraphKeys, add_to_collection
from ....primitives.variables.variable import Variable

Maker = Callable[..., Any] | None
Named = Maker | str
"""What a layer also takes by the name that Keras has for it."""
ONES, ZEROS = Ones(), Zeros()
_of_layer: ContextVar[dict[str, Variable]] = ContextVar("variables of a layer")


class Wish(NamedTuple):
    """How a variable begins, what it costs, and what it is held to; the first two may be names that Keras has."""

    initializer: Named = None
    regularizer: Named = None
    constraint: Maker = None


@contextmanager
def layer_scope(
    name: str | VariableScope | None, default: str, x: Tensor, reuse: Any, dtype: DTypeLike | None = None
) -> Iterator[None]:
    """The block of a layer: its variables are of the dtype of `x` unless another is given, and named after it.

    Given a scope, the operations are named as where that was entered first.
    """
    kind = x.dtype if dtype is None else dtype
    if isinstance(name, VariableScope):
        inner = variable_scope(name, reuse=reuse, dtype=kind, auxiliary_name_scope=False)
        with inner, x.graph.acting.within(name.original_name_scope):
            yield
        return
    if name is None:
        get_uid(default)
    with variable_scope(name, default, [x], reuse=reuse, dtype=kind):
        yield


def layer_variable(name: str, shape: Sequence[int | None], wish: Wish, trainable: bool = True) -> Variable:
    """A variable of the layer whose block is open.

    Raises:
        ValueError: a length is not known.
    """
    if None in shape:
        raise ValueError(f"layers: the shape of '{name}' must be known, and is {list(shape)}; use pb.ensure_shape")
    made = get_variable(
        name,
        shape,
        initializer=meant("initializers", wish.initializer),
        regularizer=meant("regularizers", wish.regularizer),
        constraint=wish.constraint,
        trainable=trainable,
    )
    _of_layer.get({})[name] = made
    return made


@contextmanager
def noting_variables() -> Iterator[dict[str, Variable]]:
    """The variables of the layers that are called in the block, by the names that these know them by."""
    made: dict[str, Variable] = {}
    token = _of_layer.set(made)
    try:
        yield made
    finally:
        _of_layer.reset(token)


def activated(y: Tensor, activation: Named, activity_regularizer: Named) -> Tensor:
    """The result of a layer, whose cost for an example is noted."""
    function, regularizer = meant("activations", activation), meant("regularizers", activity_regularizer)
    y = y if function is None else function(y)
    if regularizer is not None:
        with y.graph.acting.within("ActivityRegularizer"):
            cost = regularizer(y)
            mean = divide(cost, cast(shape(y)[0], cost.dtype), name="truediv")
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, mean)
    return y


def meant(kind: str, given: Any) -> Any:
    """What Keras has among its activations, initializers or regularizers under the name that is `given`, or that."""
    return import_module(f"pullback.compat.v1.keras.{kind}").get(given) if isinstance(given, str) else given
