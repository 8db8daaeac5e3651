"""Variable scopes: `get_variable`, sharing by name, and the variables of a graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import as_dtype, float32
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.opened import in_force, opened
from ...core.seen import seen
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...primitives.identity.identity import group_operations
from ...primitives.variables.collections import GraphKeys
from ...primitives.variables.variable import Variable, variables_of
from .shared import shared_names, shared_variable

Getter = Callable[..., Any]
AUTO_REUSE = "auto_reuse"
"""Passed as `reuse`: share a variable that exists, make one that does not."""


@dataclass(eq=False)
class VariableScope:
    """What `get_variable` takes from the scopes around it. What is set holds from there on.

    >>> import pullback as pb
    >>> with pb.variable_scope("layer", dtype="float64") as scope:
    ...     pass
    >>> with pb.variable_scope(scope):
    ...     pb.get_variable("w", [2])
    <Variable 'layer/w:0' float64[2]>
    """

    graph: Graph
    name: str = ""
    reuse: bool | str = False
    initializer: TensorLike | Callable[..., Any] | None = None
    regularizer: Callable[..., Any] | None = None
    constraint: Callable[..., Any] | None = None
    dtype: DTypeLike = float32
    custom_getter: Getter | None = None
    caching_device: object = None
    partitioner: object = None
    use_resource: bool | None = None
    original_name_scope: str = ""
    """The prefix of the names of operations where it was entered first."""
    counts: bool = True
    """Whether scopes that are named by a default name keep apart from it once it was entered."""

    @property
    def prefix(self) -> str:
        """The prefix of the names of its variables."""
        return self.name + "/" if self.name else ""

    def reuse_variables(self) -> None:
        """From here to the end of its block, and without a block from here on, variables that exist are shared."""
        self.reuse = True

    def set_initializer(self, initializer: TensorLike | Callable[..., Any] | None) -> None:
        """What makes the first values of variables that have no `initializer` of their own."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Callable[..., Any] | None) -> None:
        """What regularizes variables that have no `regularizer` of their own."""
        self.regularizer = regularizer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """The dtype of variables that are given none."""
        self.dtype = as_dtype(dtype)

    def set_custom_getter(self, custom_getter: Getter | None) -> None:
        """What returns variables that have no `custom_getter` of their own."""
        self.custom_getter = custom_getter

    def set_caching_device(self, caching_device: object) -> None:
        """Noted; it changes nothing."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: object) -> None:
        """What divides variables that have no `partitioner` of their own."""
        self.partitioner = partitioner

    def set_use_resource(self, use_resource: bool | None) -> None:
        """Noted; it changes nothing."""
        self.use_resource = use_resource

    def global_variables(self) -> list[Variable]:
        """The variables of the graph whose names begin with the scope's."""
        return self._variables(GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Variable]:
        """Those of them that optimizers change."""
        return self._variables(GraphKeys.TRAINABLE_VARIABLES)

    def local_variables(self) -> list[Variable]:
        """The variables of the collection `LOCAL_VARIABLES` whose names begin with the scope's."""
        return self._variables(GraphKeys.LOCAL_VARIABLES)

    def _variables(self, key: str) -> list[Variable]:
        return [v for v in variables_of(self.graph, key) if v.name.startswith(self.prefix)]

    def get_collection(self, name: str) -> list[Any]:
        """What the collection `name` has whose names begin with the scope's."""
        return self.graph.get_collection(name, re.escape(self.prefix))


_KIND = "variable_scope"
_ROOT: Any = ("variable_scope",)
"""The collection of a graph that has the scope of its variables around all others."""


def get_variable_scope() -> VariableScope:
    """The innermost `variable_scope` of the default graph.

    >>> import pullback as pb
    >>> with pb.variable_scope("outer"), pb.variable_scope("inner"):
    ...     pb.get_variable_scope().name
    'outer/inner'
    """
    graph = get_default_graph().outermost
    scope: VariableScope | None = in_force(_KIND, None)
    if scope is not None and scope.graph is graph:
        return scope
    kept = graph.get_collection_ref(_ROOT)
    if not kept:
        kept.append(VariableScope(graph))
    root: VariableScope = kept[0]
    return root


@contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    values: Any = None,
    initializer: TensorLike | Callable[..., Any] | None = None,
    regularizer: Callable[..., Any] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    custom_getter: Getter | None = None,
    reuse: bool | str | None = None,
    dtype: DTypeLike | None = None,
    use_resource: bool | None = None,
    constraint: Callable[..., Any] | None = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Variables that `get_variable` makes inside are named `name_or_scope/...`; so are the operations made inside.

    With `reuse=True` variables that exist are shared, with `AUTO_REUSE` those that do not exist are made; scopes inside
    inherit it, as they do `initializer`, `regularizer`, `constraint` and `dtype`. With `default_name` and no name, the
    name is made unique. `values`, `caching_device` and `use_resource` change nothing. What `partitioner`, a function of
    a shape and a dtype, asks for is noted: a variable is in one piece, and iterating over it gives the parts.

    `custom_getter(getter, name, ...)` returns what `get_variable` is to return inside, by the full name and with all of
    its arguments; `getter` is that of the scope around, which in the end makes or shares the variable.

    Raises:
        ValueError: there is no name.
        TypeError: it is neither a string nor a scope; `auxiliary_name_scope` is neither True nor False.

    >>> import pullback as pb
    >>> with pb.variable_scope("layer"):
    ...     w = pb.get_variable("w", [2, 3])
    >>> with pb.variable_scope("layer", reuse=True):
    ...     pb.get_variable("w") == w
    True
    """
    del values
    if not isinstance(auxiliary_name_scope, bool):
        raise TypeError(f"variable_scope: auxiliary_name_scope must be True or False, not {auxiliary_name_scope!r}")
    outer = get_variable_scope()
    graph = outer.graph
    base, leaf = _named(name_or_scope, default_name, outer, reuse)
    inner = replace(
        base,
        reuse=reuse or base.reuse,
        initializer=base.initializer if initializer is None else initializer,
        regularizer=base.regularizer if regularizer is None else regularizer,
        constraint=base.constraint if constraint is None else constraint,
        dtype=base.dtype if dtype is None else as_dtype(dtype),
        custom_getter=_around(custom_getter, base.custom_getter),
        caching_device=base.caching_device if caching_device is None else caching_device,
        partitioner=base.partitioner if partitioner is None else partitioner,
        use_resource=base.use_resource if use_resource is None else use_resource,
    )
    again = isinstance(name_or_scope, VariableScope)
    named = graph.within(leaf if auxiliary_name_scope and leaf else graph.scope.prefix)
    with opened(_KIND, inner), named as prefix, _counted(inner, again) if inner.counts else nullcontext():
        inner.original_name_scope = base.original_name_scope if again else prefix
        yield inner


def _around(getter: Getter | None, outer: Getter | None) -> Getter | None:
    """`getter`, whose own getter is `outer`, where there are both."""
    if getter is None or outer is None:
        return getter or outer

    def both(getter_inside: Getter, /, *args: Any, **kwargs: Any) -> Any:
        return getter(partial(outer, getter_inside), *args, **kwargs)

    return both


def _named(
    name: Any, default_name: str | None, outer: VariableScope, reuse: bool | str | None
) -> tuple[VariableScope, str]:
    """The scope named, and the last part of its name, which the operations get."""
    if isinstance(name, VariableScope):
        return name, name.name.rsplit("/", 1)[-1]
    if name is None:
        if default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is True:
            raise ValueError("variable_scope: reuse=True needs a name_or_scope; default_name is made unique")
        return replace(outer, name=outer.prefix + _unique_scope(outer, default_name)), default_name
    if not isinstance(name, str):
        raise TypeError(f"VariableScope: name_or_scope must be a string or VariableScope, not {name!r}")
    full = f"{outer.prefix}{name}" if name else outer.name
    return replace(outer, name=full), name


_opened: WeakKeyDictionary[Graph, Counter[str]] = WeakKeyDictionary()
"""For each graph how often scopes were entered since the scopes around them were; of those that are left, nothing."""


def _unique_scope(outer: VariableScope, default_name: str) -> str:
    """`default_name` made unique among the scopes that were entered since `outer` was."""
    counts = _opened.setdefault(outer.graph, Counter())
    name, number = default_name, 0
    while counts[outer.prefix + name]:
        number += 1
        name = f"{default_name}_{number}"
    return name


def name_without_variables(name: str) -> str:
    """`name`, with a number behind it if in the current scope variables below `name` are shared already."""
    outer = get_variable_scope()
    taken, found, number = shared_names(outer.graph), name, 0
    while any(other.startswith(f"{outer.prefix}{found}/") for other in taken):
        number += 1
        found = f"{name}_{number}"
    return found


@contextmanager
def _counted(scope: VariableScope, again: bool) -> Iterator[None]:
    """Count that `scope` is entered, and forget the scopes inside when it is left; all of them if `again`."""
    counts = _opened.setdefault(scope.graph, Counter())
    counts[scope.name] += 1
    before = counts.copy()
    try:
        yield
    finally:
        now, inside = _opened[scope.graph], scope.name + "/"
        _opened[scope.graph] = before if again else Counter({k: n for k, n in now.items() if not k.startswith(inside)})


@in_graph_of_inputs
def get_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: TensorLike | Callable[..., Any] | None = None,
    regularizer: Callable[[Tensor], Any] | None = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Getter | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: object = None,
    aggregation: object = None,
) -> Variable:
    """The variable `name` of the current `variable_scope`: a new one, or with `reuse` the one that exists.

    `initializer` is a function of a shape and a dtype (`glorot_uniform` for floats and zeros for others, unless given
    here or by a scope), or a value, whose shape and dtype the variable takes. What `regularizer` makes of it is
    added to the collection `REGULARIZATION_LOSSES`. A variable that was not made by `get_variable` is not found; where
    an operation or a scope of that name exists already, the new one is called `name_1`.

    Shapes: `shape`, fully known. Dtypes: `dtype`, float32 unless given here or by a scope.

    Raises:
        ValueError: it exists and is not to be reused, or is and does not; its shape is not known; its shape or dtype is
            another than was found, or than that of its initial value.

    >>> import pullback as pb
    >>> pb.get_variable("w", [2, 3])
    <Variable 'w:0' float32[2,3]>
    """
    scope = get_variable_scope()
    initializer = scope.initializer if initializer is None else initializer
    is_value = initializer is not None and not callable(initializer)
    found = partial(shared_variable, scope.graph, None if is_value else scope.dtype)
    wished: dict[str, Any] = {
        "name": scope.prefix + name,
        "shape": shape,
        "dtype": dtype,
        "initializer": initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "reuse": scope.reuse,
        "trainable": trainable,
        "collections": collections,
        "caching_device": scope.caching_device if caching_device is None else caching_device,
        "partitioner": scope.partitioner if partitioner is None else partitioner,
        "validate_shape": validate_shape,
        "use_resource": scope.use_resource if use_resource is None else use_resource,
        "constraint": scope.constraint if constraint is None else constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    getter = scope.custom_getter if custom_getter is None else custom_getter
    with scope.graph.within(None):
        if getter is None:
            return found(**wished)
        told = {"dtype": seen.dtype(as_dtype(dtype or scope.dtype)), "trainable": trainable is None or trainable}
        made: Variable = getter(found, **wished | told)
        return made


@in_graph_of_inputs
def get_local_variable(
    name: str,
    shape: ShapeLike | None = None,
    dtype: DTypeLike | None = None,
    initializer: TensorLike | Callable[..., Any] | None = None,
    regularizer: Callable[[Tensor], Any] | None = None,
    trainable: bool | None = False,
    collections: Sequence[str] | None = None,
    caching_device: object = None,
    partitioner: object = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Getter | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: object = None,
    aggregation: object = None,
) -> Variable:
    """As `get_variable`, a variable of the collection `LOCAL_VARIABLES`, which optimizers leave alone.

    >>> import pullback as pb
    >>> count = pb.get_local_variable("count", [], pb.int32)
    >>> pb.local_variables(), pb.global_variables()
    ([<Variable 'count:0' int32[]>], [])
    """
    del trainable, use_resource, synchronization, aggregation
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        trainable=False,
        collections=[*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        custom_getter=custom_getter,
        constraint=constraint,
    )


# The variables of a graph


def global_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the default graph, in the order they were made; with `scope`, those whose names begin so.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0)
    >>> pb.global_variables()
    [<Variable 'Variable:0' float32[]>]
    """
    return _variables(GraphKeys.GLOBAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """The variables that optimizers change; see `global_variables`.

    >>> import pullback as pb
    >>> step = pb.Variable(0, trainable=False)
    >>> pb.trainable_variables()
    []
    """
    return _variables(GraphKeys.TRAINABLE_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the collection `LOCAL_VARIABLES`; see `global_variables`.

    >>> import pullback as pb
    >>> count = pb.Variable(0, trainable=False, collections=[pb.GraphKeys.LOCAL_VARIABLES], name="count")
    >>> pb.local_variables(), pb.global_variables()
    ([<Variable 'count:0' int32[]>], [])
    """
    return _variables(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Variable]:
    """The variables of the collection `MODEL_VARIABLES`; see `global_variables`.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0, collections=[pb.GraphKeys.MODEL_VARIABLES])
    >>> pb.model_variables()
    [<Variable 'Variable:0' float32[]>]
    """
    return _variables(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Variable]:
    """The variables whose averages a `pb.train.ExponentialMovingAverage` keeps; see `global_variables`.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0)
    >>> update = pb.train.ExponentialMovingAverage(0.9).apply([v])
    >>> pb.moving_average_variables()
    [<Variable 'Variable:0' float32[]>]
    """
    return _variables(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def no_regularizer(_: Any) -> None:
    """None, for every variable: passed as `regularizer`, it takes the place of that of a scope.

    >>> import pullback as pb
    >>> with pb.variable_scope("layer", regularizer=pb.reduce_sum):
    ...     v = pb.get_variable("v", [2], regularizer=pb.no_regularizer)
    >>> pb.get_collection(pb.GraphKeys.REGULARIZATION_LOSSES)
    []
    """


def _variables(key: str, scope: str | None) -> list[Variable]:
    variables = variables_of(get_default_graph().outermost, key)
    return variables if scope is None else [v for v in variables if re.match(scope, v.name)]


def variables_initializer(var_list: Sequence[Variable], name: str = "init") -> Operation:
    """One operation that gives each variable its initial value, in the order in which the variables were made.

    Raises:
        ValueError: a variable has no initializer in its graph.

    >>> import pullback as pb
    >>> v, w = pb.Variable(3.0), pb.Variable(4.0)
    >>> session = pb.Session()
    >>> session.run(pb.variables_initializer([v]))
    >>> session.run([v, pb.is_variable_initialized(w)])
    [np.float32(3.0), np.False_]
    """
    for v in var_list:
        if v.initializer is None:
            raise ValueError(f"variables_initializer: {v!r} has no initializer; assign a value to it")
    return group_operations(*[v.initializer for v in var_list], name=name)


def global_variables_initializer() -> Operation:
    """One operation that gives each variable of the default graph its initial value.

    >>> import pullback as pb
    >>> v = pb.Variable(3.0)
    >>> session = pb.Session()
    >>> session.run(pb.global_variables_initializer())
    >>> session.run(v)
    np.float32(3.0)
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """One operation that gives each variable of `LOCAL_VARIABLES` its initial value.

    >>> import pullback as pb
    >>> count = pb.Variable(7, trainable=False, collections=[pb.GraphKeys.LOCAL_VARIABLES])
    >>> session = pb.Session()
    >>> session.run(pb.local_variables_initializer())
    >>> session.run(count)
    np.int32(7)
    """
    return variables_initializer(local_variables())
