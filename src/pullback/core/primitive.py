"""Primitives: what an operation does. One class says types, then arrays, then derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError, dataclass, fields
from inspect import get_annotations
from typing import Any, ClassVar, dataclass_transform

from .errors import InaccessibleTensorError
from .graph import Graph, get_default_graph, open_bodies, site_of
from .intervals import Bounds, Interval
from .operation import Operation, Tensor
from .traits import Links, Meeting, Trait, bounds_by_traits, meeting_axes
from .types import TensorType

_classes: dict[str, type[Primitive]] = {}
_later: list[Callable[[], object]] = []


@dataclass_transform(frozen_default=True)
class Primitive:
    """What an operation does: a frozen value whose fields are the operation's attributes.

    Every subclass is a frozen dataclass, without saying so: it is made one when it is first used, because making some
    hundreds of them would take most of the time of `import pullback`.

    A subclass states, in this order:

    - `infer(*types)`: the output types from the input types; ValueError or TypeError that shows them otherwise.
    - `kernel(xp, *arrays)`: the output array, or a tuple of them, with the array namespace `xp`.
    - `gradient(op, *dys)`: one entry per input; `None` means zero or not differentiable, decided by the author. An
      entry may be a function of no arguments: it is called only where that input's gradient is wanted. For an output
      without a gradient `dy` is zeros (trainable dtypes) or None; always None for a primitive that `takes_none`.

    Calling a primitive on tensors adds an operation to their graph; `operation` does too, for several outputs or none.

    >>> import pullback as pb
    >>> class Cube(pb.Primitive):
    ...     type = "Cube"
    ...     def infer(self, x):
    ...         return (x,)
    ...     def kernel(self, xp, x):
    ...         return x * x * x
    ...     def gradient(self, op, dy):
    ...         return 3.0 * dy * pb.square(op.inputs[0])
    >>> x = pb.constant(2.0)
    >>> y = Cube()(x)
    >>> pb.Session().run([y, *pb.gradients(y, x)])
    [np.float32(8.0), np.float32(12.0)]
    """

    type: ClassVar[str] = "Primitive"
    """TensorFlow's op type: the name of the class, without "Abstract", where it states no other."""
    stateful: ClassVar[bool] = False
    """Stateful operations are neither folded nor merged: they read or write variables, or draw random numbers."""
    recomputes: ClassVar[bool] = False
    """Whether it is there to compute again what was computed before: no pass takes the result of the first time."""
    calls_python: ClassVar[bool] = False
    """Whether it calls a Python function of the user's, whose errors are the user's."""
    acts: ClassVar[bool] = False
    """Whether a function runs it for what it does, even where nobody reads its outputs."""
    shape_inputs: ClassVar[tuple[int, ...]] = ()
    """The inputs whose values decide shapes: XLA needs their values when it compiles."""
    length_inputs: ClassVar[tuple[int, ...]] = ()
    """Those of `shape_inputs` whose elements `infer` is told, as a `VectorType`, where they are known as lengths."""
    takes_slices: ClassVar[bool] = False
    """Whether `gradient` takes IndexedSlices for `dys`; they are made dense for it otherwise."""
    takes_none: ClassVar[bool] = False
    """Whether `gradient` takes None for the `dy` of an output without a gradient; it is zeros otherwise."""
    takes_wanted: ClassVar[bool] = False
    """Whether `gradient` takes `wanted`: for each input, whether its entry will be used."""
    reads_values: ClassVar[bool] = True
    """False where the outputs depend on the shapes of the inputs only."""
    functions: ClassVar[tuple[Any, ...]] = ()
    """The functions among its attributes."""
    traits: ClassVar[tuple[Trait, ...]] = ()
    """What else is known of its operations, from `core.traits`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "type" not in cls.__dict__:
            cls.type = cls.__name__.removeprefix("Abstract")
        if not cls.__name__.startswith("Abstract"):
            _register(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        _make_dataclass(cls, self)
        cls.__init__(self, *args, **kwargs)

    def __call__(self, *inputs: Tensor, name: str | None = None) -> Tensor:
        """Adds the operation to the inputs' graph; its output.

        Where it has several outputs or none, `operation` says so to a type checker; this gives the tuple of the outputs
        or the operation.
        """
        try:
            op = _graph_of(inputs).add(self, inputs, name)
        except AttributeError:
            _check_tensors(self, inputs)
            raise
        result = op.result
        return op if type(result) is tuple and not result else result  # type: ignore[return-value]

    def operation(self, *inputs: Tensor, name: str | None = None) -> Operation:
        """Adds the operation to the inputs' graph; the operation, whose `outputs` are a tuple of tensors."""
        try:
            return _graph_of(inputs).add(self, inputs, name)
        except AttributeError:
            _check_tensors(self, inputs)
            raise

    # `**_: Any` tells the type checker that a subclass names its own arguments.

    def infer(self, *types: Any, **_: Any) -> tuple[TensorType, ...]:
        """The types of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} defines no infer(); every primitive needs one")

    def kernel(self, xp: Any, *arrays: Any, **_: Any) -> Any:
        """The output array, or the tuple of them."""
        raise NotImplementedError(f"{type(self).__name__} defines no kernel(), and this engine no override for it")

    def gradient(self, op: Operation, *dys: Any, **_: Any) -> Any:
        """One entry per input. This one, of the base class, says that there is none."""
        raise LookupError(f"No gradient defined for operation'{op.name}' (op type: {op.type}).")

    def links(self, i: int, *types: Any, **_: Any) -> Links | None:
        """Which axes of the results go along which of input `i`, for inputs of these types; None: not stated."""
        del i, types
        return None

    def meets(self, i: int, j: int, *types: Any) -> Meeting:
        """For axes of input `j` those of input `i` such that elements meet only where both positions are the same."""
        return meeting_axes(self.traits, self.links, i, j, types)

    def bounds(self, *xs: Interval) -> Bounds:
        """An interval that all elements of the results are in, or one for each result, from those of the inputs."""
        return bounds_by_traits(self.traits, xs)

    def masked(self) -> Primitive | None:
        """What computes the same, but 0 where an input in which it is linear is 0, whatever the others are there."""
        return None

    def run_inputs(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Those of an operation's `inputs` that a run needs, the first ones; the others are for its derivative."""
        return inputs

    @property
    def attributes(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def _check_tensors(primitive: Primitive, inputs: Sequence[Any]) -> None:
    """TypeError where an input is no tensor."""
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"{primitive.type}: {x!r} is no tensor; pass pb.convert_to_tensor({x!r})")


def _graph_of(inputs: Sequence[Tensor]) -> Graph:
    """The graph that all of `inputs` belong to; the default graph where there are none.

    Raises:
        ValueError: they belong to different graphs.
    """
    if open_bodies or not inputs:
        graph = get_default_graph()
        if not inputs or graph.outer is not None:
            return graph
    first = inputs[0]
    graph = first.op.graph
    for x in inputs:
        if x.op.graph is not graph:
            inside = x if x.op.graph.outer is not None else first
            if inside.op.graph.outer is not None:
                raise InaccessibleTensorError(
                    f"{inside} (made at {site_of(inside)}) is inside the body '{inside.op.graph.name}' and cannot be "
                    f"used with {first if inside is x else x}; return it from the body instead."
                )
            raise InaccessibleTensorError(
                f"{x} (made at {site_of(x)}) must be from the same graph as {first} (made at {site_of(first)})."
            )
    return graph


class _Zero:
    """The type of `ZERO`."""

    def __repr__(self) -> str:
        return "ZERO"


ZERO = _Zero()
"""An entry that is zero where it exists: no operation, but zeros for an x on which y depends by such entries only."""


def no_gradient(self: Primitive, op: Operation, *dys: Any, **_: Any) -> Sequence[None]:
    """None for every input: the rule of what is constant almost everywhere or cannot be differentiated.

    >>> import pullback as pb
    >>> class Sorted(pb.Primitive):
    ...     type = "SortedForShow"
    ...     gradient = pb.no_gradient
    """
    return (None,) * len(op.inputs)


def same_type(self: Primitive, x: TensorType) -> tuple[TensorType, ...]:
    """The type of the only input: `infer` of what changes elements, or moves them, and keeps dtype and shape."""
    return (x,)


def primitive_class(type_name: str) -> type[Primitive] | None:
    """The class that defines an op type, or None."""
    while type_name not in _classes and _later:
        _later.pop()()
    return _classes.get(type_name)


def define_later(load: Callable[[], object]) -> None:
    """Call `load`, which defines more primitives, when one is asked for that is not there."""
    _later.append(load)


def primitive_classes() -> dict[str, type[Primitive]]:
    """All primitive classes by op type."""
    return dict(_classes)


@dataclass(frozen=True)
class _WithoutFields:
    pass


def _refuse(self: Primitive, name: str, *value: Any) -> None:
    raise FrozenInstanceError(f"cannot change field '{name}'")


_COPIED = "__init__", "__repr__", "__match_args__", "__dataclass_fields__", "__dataclass_params__"
_REFUSED = {"__setattr__": _refuse, "__delattr__": _refuse}
_WITHOUT_FIELDS = {name: vars(_WithoutFields)[name] for name in _COPIED} | _REFUSED
"""What `dataclass` gives a class without fields, for a twentieth of the time; there is one instance, see `_share`."""


def _make_dataclass(cls: type[Primitive], first: Primitive) -> None:
    for base in reversed(cls.__mro__):
        if issubclass(base, Primitive) and base is not Primitive and "__dataclass_fields__" not in base.__dict__:
            # An inherited __init__ would hide Primitive.__init__ from a class that is still to be made one.
            final = not base.__name__.startswith("Abstract")
            inherits = hasattr(base, "__dataclass_fields__") and fields(base)  # type: ignore[arg-type]
            if final and not inherits and not get_annotations(base):
                for name, value in _WITHOUT_FIELDS.items():
                    setattr(base, name, value)
            else:
                dataclass(frozen=True, eq="__eq__" not in base.__dict__, init=final)(base)
    if not fields(cls):  # type: ignore[arg-type]
        _share(cls, first)


def _share(cls: type[Primitive], instance: Primitive) -> None:
    """Make `instance` the only one of a class without fields: fewer objects, above all for the garbage collector."""

    def shared(asked: type[Primitive]) -> Primitive:
        return instance if asked is cls else object.__new__(asked)

    cls.__new__ = shared  # type: ignore[method-assign, assignment]


def _register(cls: type[Primitive]) -> None:
    known = _classes.get(cls.type)
    same = known is not None and (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)
    if known is not None and not same:
        first = f"{known.__module__}.{known.__qualname__}"
        raise KeyError(f"op type '{cls.type}' is defined twice: by {first} and {cls.__module__}.{cls.__qualname__}")
    _classes[cls.type] = cls
