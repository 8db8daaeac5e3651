"""Tensors and operations: the elements of a graph, made by `Graph` only and never changed afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .dtypes import DType
from .seen import seen
from .shape import TensorShape
from .sites import Place, Site
from .types import TensorType

if TYPE_CHECKING:
    from .graph import Graph
    from .primitive import Primitive


class OpDef(NamedTuple):
    """What TensorFlow's message of that name says of a type of operations."""

    name: str
    is_stateful: bool


class NodeDef(NamedTuple):
    """What TensorFlow's message of that name says of an operation."""

    name: str
    op: str
    input: list[str]
    device: str
    attr: dict[str, Any]


class Annotated:
    """Objects that take attributes of programs, as TensorFlow's tensors do: `x.aliases = ["net/pool"]`."""


@dataclass(eq=False, slots=True, repr=False)
class Tensor(Annotated):
    """One output of an operation: a value that a run can compute. Made by `Graph` only; compared by identity.

    >>> import pullback as pb
    >>> x = pb.constant([1.0, 2.0], name="x")
    >>> x.name, x.dtype, x.shape, x.op
    ('x:0', dtype('float32'), TensorShape([2]), <Operation 'x' type=Const>)
    >>> (x * 2.0 + 1.0)[0]
    <Tensor 'strided_slice:0' float32[]>
    """

    op: Operation
    value_index: int
    type: TensorType

    OVERLOADABLE_OPERATORS: ClassVar[frozenset[str]]
    """The names of the operators, as TensorFlow's classes have them: what stands for a tensor can copy these."""
    __array_priority__: ClassVar[int] = 100
    __array_ufunc__: ClassVar[None] = None
    # Defined by layers above, see `define_methods`.
    __add__: ClassVar[Callable[..., Tensor]]
    __radd__: ClassVar[Callable[..., Tensor]]
    __sub__: ClassVar[Callable[..., Tensor]]
    __rsub__: ClassVar[Callable[..., Tensor]]
    __mul__: ClassVar[Callable[..., Tensor]]
    __rmul__: ClassVar[Callable[..., Tensor]]
    __div__: ClassVar[Callable[..., Tensor]]
    __rdiv__: ClassVar[Callable[..., Tensor]]
    __truediv__: ClassVar[Callable[..., Tensor]]
    __rtruediv__: ClassVar[Callable[..., Tensor]]
    __floordiv__: ClassVar[Callable[..., Tensor]]
    __rfloordiv__: ClassVar[Callable[..., Tensor]]
    __mod__: ClassVar[Callable[..., Tensor]]
    __rmod__: ClassVar[Callable[..., Tensor]]
    __pow__: ClassVar[Callable[..., Tensor]]
    __rpow__: ClassVar[Callable[..., Tensor]]
    __matmul__: ClassVar[Callable[..., Tensor]]
    __rmatmul__: ClassVar[Callable[..., Tensor]]
    __neg__: ClassVar[Callable[..., Tensor]]
    __abs__: ClassVar[Callable[..., Tensor]]
    __invert__: ClassVar[Callable[..., Tensor]]
    __and__: ClassVar[Callable[..., Tensor]]
    __rand__: ClassVar[Callable[..., Tensor]]
    __or__: ClassVar[Callable[..., Tensor]]
    __ror__: ClassVar[Callable[..., Tensor]]
    __xor__: ClassVar[Callable[..., Tensor]]
    __rxor__: ClassVar[Callable[..., Tensor]]
    __lt__: ClassVar[Callable[..., Tensor]]
    __le__: ClassVar[Callable[..., Tensor]]
    __gt__: ClassVar[Callable[..., Tensor]]
    __ge__: ClassVar[Callable[..., Tensor]]
    __getitem__: ClassVar[Callable[..., Tensor]]
    assign: ClassVar[Any]
    read_value: ClassVar[Any]
    set_shape: ClassVar[Callable[..., None]]
    eval: ClassVar[Callable[..., Any]]

    @property
    def dtype(self) -> DType:
        """The element type."""
        return seen.dtype(self.type.dtype)  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The static shape, with what `set_shape` added."""
        refined = self.op.graph.refined
        return refined.get(self, self).type.shape if refined else self.type.shape

    @property
    def name(self) -> str:
        """The operation's name and the output's number: `MatMul:0`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        """The graph that holds the operation."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The operation's device string."""
        return self.op.device

    def get_shape(self) -> TensorShape:
        """The static shape, with what `set_shape` added."""
        return self.shape

    @property
    def ndim(self) -> int | None:
        """The number of dimensions, or None."""
        return self.shape.rank

    def ref(self) -> Reference:
        """A key for sets and dictionaries, whose `deref` gives the tensor; the tensor itself does as well."""
        return Reference(self)

    def consumers(self) -> list[Operation]:
        """The operations that read this tensor, in the order they were made."""
        later = self.op.graph.operations[self.op.index + 1 :]
        return [op for op in later if any(x is self for x in op.inputs)]

    def __repr__(self) -> str:
        return f"<Tensor '{self.name}' {self.type}>"

    def __str__(self) -> str:
        return f"{self.type} '{self.name}'"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:
        raise TypeError(f"the truth of {self} is not known while the graph is built; use pb.where, or Session.run")

    def __len__(self) -> int:
        raise TypeError(f"len of {self} is not known while the graph is built; use .shape[0] or pb.shape")

    __nonzero__ = __bool__
    """The name that Python 2 has for it."""

    def __iter__(self) -> Iterator[Tensor]:
        raise TypeError(f"{self} is not iterable while the graph is built; use pb.unstack")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{self} has no value while the graph is built; get one with Session.run")


@dataclass(eq=False, slots=True, repr=False)
class Operation:
    """One step of a graph: a primitive applied to tensors. Made by `Graph` only, and never changed afterwards.

    >>> import pullback as pb
    >>> op = pb.reduce_sum(pb.ones([2, 3]), axis=1, name="total").op
    >>> op.type, op.get_attr("axis"), op.outputs
    ('Sum', (1,), [<Tensor 'total:0' float32[2]>])
    """

    graph: Graph
    index: int
    primitive: Primitive
    inputs: tuple[Tensor, ...]
    name: str
    site: Site | Place | None
    original_op: Operation | None
    attrs: Mapping[str, Any]
    controls: tuple[Operation, ...] = ()
    """The operations that run before it, beside those that compute its inputs."""
    device: str = ""
    result: Tensor | tuple[Tensor, ...] = ()
    """Its only output, or the tuple of its outputs: most have one, and need no tuple for it."""

    run: ClassVar[Callable[..., None]]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that it computes."""
        result = self.result
        return list(result) if type(result) is tuple else [result]  # type: ignore[list-item]

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that run before it, beside those that compute its inputs."""
        return list(self.controls)

    @property
    def type(self) -> str:
        """The op type, TensorFlow's name for what it does."""
        return self.primitive.type

    @property
    def _original_op(self) -> Operation | None:
        return self.original_op

    def values(self) -> tuple[Tensor, ...]:
        """The tensors that it computes, as a tuple."""
        return tuple(self.outputs)

    def colocation_groups(self) -> list[bytes]:
        """The `loc:@` groups of the operation: those it was made in, or its own."""
        groups = [g for g in self.attrs.get("_class", ()) if g.startswith(b"loc:@")]
        return groups or [b"loc:@" + self.name.encode()]

    @property
    def node_def(self) -> NodeDef:
        """Name, type, inputs, device and attributes, by the names that TensorFlow's message has for them."""
        read = [x.op.name if x.value_index == 0 else x.name for x in self.inputs]
        read += [f"^{op.name}" for op in self.controls]
        return NodeDef(self.name, self.type, read, self.device, {**self.primitive.attributes, **self.attrs})

    @property
    def op_def(self) -> OpDef:
        """The type, and whether it has state, by the names that TensorFlow's message has for them."""
        return OpDef(self.type, self.primitive.stateful)

    def get_attr(self, name: str) -> Any:
        """The attribute `name`, of the primitive or of a scope; ValueError where there is none."""
        try:
            value = self.attrs[name] if name in self.attrs else seen.attribute(self, name)
        except (KeyError, IndexError):
            if name not in self.primitive.attributes:
                raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.") from None
            value = self.primitive.attributes[name]
        return seen.dtype(value) if isinstance(value, np.dtype) else value

    def _set_attr(self, attr_name: str, attr_value: object) -> None:
        """Takes what only says how TensorFlow runs a node: `_lower_using_switch_merge`, `_XlaCompile` and their like.

        Raises:
            ValueError: another attribute: operations do not change.
        """
        del attr_value
        if not attr_name.startswith("_") or attr_name in ("_class", "_gradient_op_type"):
            raise ValueError(
                f"attribute '{attr_name}' of operation '{self.name}' cannot be assigned to: operations do not change. "
                "Make it with the attribute, or in a block of colocate_with or gradient_override_map."
            )

    def __repr__(self) -> str:
        return f"<Operation '{self.name}' type={self.type}>"


def index_of(op: Operation) -> int:
    """The number of an operation in its graph: operations are made after what they read."""
    return op.index


@dataclass(frozen=True)
class Reference:
    """A key for sets and dictionaries that stands for a tensor or a variable."""

    referent: Any

    def deref(self) -> Any:
        """What it stands for."""
        return self.referent


def _operator(name: str) -> Callable[..., Any]:
    """The method `name` of the tensor that an object stands for."""

    def method(self: AbstractTensorLike, *operands: Any) -> Any:
        return getattr(Tensor, name)(self.as_tensor(), *operands)

    return method


class AbstractTensorLike(ABC):
    """What stands for a tensor wherever one is taken, its operators included: a variable stands for its value."""

    __array_priority__: ClassVar[int] = 100
    __array_ufunc__: ClassVar[None] = None

    @abstractmethod
    def as_tensor(self) -> Tensor:
        """The tensor it stands for, where it is used."""

    @abstractmethod
    def graph_element(self) -> Tensor:
        """The tensor it stands for, where it is fetched or named."""

    __add__, __radd__ = _operator("__add__"), _operator("__radd__")
    __sub__, __rsub__ = _operator("__sub__"), _operator("__rsub__")
    __mul__, __rmul__ = _operator("__mul__"), _operator("__rmul__")
    __truediv__, __rtruediv__ = _operator("__truediv__"), _operator("__rtruediv__")
    __floordiv__, __rfloordiv__ = _operator("__floordiv__"), _operator("__rfloordiv__")
    __mod__, __rmod__ = _operator("__mod__"), _operator("__rmod__")
    __pow__, __rpow__ = _operator("__pow__"), _operator("__rpow__")
    __matmul__, __rmatmul__ = _operator("__matmul__"), _operator("__rmatmul__")
    __and__, __rand__ = _operator("__and__"), _operator("__rand__")
    __or__, __ror__ = _operator("__or__"), _operator("__ror__")
    __xor__, __rxor__ = _operator("__xor__"), _operator("__rxor__")
    __lt__, __le__ = _operator("__lt__"), _operator("__le__")
    __gt__, __ge__ = _operator("__gt__"), _operator("__ge__")
    __neg__, __abs__, __invert__ = _operator("__neg__"), _operator("__abs__"), _operator("__invert__")
    __getitem__ = _operator("__getitem__")


def define_methods(cls: type, methods: Mapping[str, Any]) -> None:
    """Give `cls` the `methods` by name: those that it declares, and that only a layer above can define.

    Tensors get their operators in `primitives/base/operators.py`, `eval` and `run` come from `engines/loading.py`,
    and the operators of sparse tensors from `primitives/sparse/operations.py`.
    """
    for name, method in methods.items():
        assert name in cls.__annotations__, f"{cls.__name__} declares no method {name}"
        setattr(cls, name, method)


def site_of(element: Tensor | Operation) -> str:
    """Where the user made a tensor or operation, for a message."""
    op = element.op if isinstance(element, Tensor) else element
    return "an unknown place" if op.site is None else str(op.site)
