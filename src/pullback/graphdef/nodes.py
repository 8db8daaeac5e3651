"""GraphDef reader registry: `@reader` says which function reads an op type, `Node` is what it is told of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ..core.dtypes import DType
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.graph import Tensor, get_default_graph
from ..core.limits import reading
from ..core.primitive import Primitive, primitive_class
from ..core.schema import declared, fits, shown
from ..core.shape import TensorShape
from ..core.sites import Place
from ..primitives.creation.constant import constant_value
from .attributes import FunctionName, attribute_of

if TYPE_CHECKING:
    from .translation import Region

REQUIRED: Any = object()
"""What stands for the default of an attribute that has none."""


_KINDS: Mapping[str, Any] = {
    "dtype": DType,
    "element_dtype": DType,
    "value": np.ndarray,
    "shape": TensorShape,
    **dict.fromkeys(("f", "cond", "body", "then_branch", "else_branch"), FunctionName),
    **dict.fromkeys(("branches", "ksize", "ksizes", "strides", "rates", "pooling_ratio"), tuple),
    **dict.fromkeys(("num_split", "num_partitions", "block_size", "k", "num"), int),
}
"""The types of the values of attributes that have no default: those of one name are of one type in TensorFlow."""


class Reader(NamedTuple):
    """How an op type is read."""

    read: Callable[..., Any]
    outputs: tuple[str, ...]
    """The names of its outputs where it has several, by which functions refer to them."""
    anything: bool
    """Whether it also takes what is no tensor: references to variables, arrays, strings."""
    partly: bool
    """Whether it is called though some of its inputs are left out, and leaves out what depends on them."""
    array: int | None
    """Which of its inputs is an array of tensors; where that is the last, the first is its handle."""


_readers: dict[str, Reader] = {}


def reader(
    *op_types: str,
    outputs: Sequence[str] = (),
    anything: bool = False,
    partly: bool = False,
    array: int | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function reads nodes of these op types.

    It is called with a `Node` and a value for each of the node's inputs, and returns the value of the output, a tuple
    of them, or None where there is none. It builds them with the library's ordinary functions; what it gives the name
    `node.exactly` is the operation that has the node's name. Of an op type with several outputs, `outputs` are their
    names, `name*N` of a list that is as long as the attribute `N` says. The inputs are tensors, but for the one of the
    number `array`, which is a TensorArray; with `anything` they may be whatever nodes give, and with `partly` also
    `LeftOut`.

    >>> import pullback as pb
    >>> @pb.graphdef.reader("MyScale")
    ... def my_scale(node, x):
    ...     return pb.multiply(x, node.attribute("by", 2.0), name=node.exactly)
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for op_type in op_types:
            _readers[op_type] = Reader(function, tuple(outputs), anything, partly, array)
        return function

    return register


def reader_of(op_type: str) -> Reader | None:
    """The reader of an op type, or None."""
    return _readers.get(op_type)


@dataclass(frozen=True)
class LeftOut:
    """What stands for a value that is not here: it comes from a file, a table or a summary, or depends on one."""

    node: str
    op_type: str
    derivative: bool = False
    """Whether it is of TensorFlow's own derivative: what only waits for it would do half of a training step."""


class WithoutThese(Exception):
    """Values that are left out, found where what is in a loop or in a branch was made."""

    def __init__(self, found: Mapping[Any, LeftOut]) -> None:
        super().__init__()
        self.found = found


def there(values: Mapping[Any, Any]) -> list[Any]:
    """The values, all of which are there; WithoutThese where some are left out."""
    missing = {key: y for key, y in values.items() if isinstance(y, LeftOut)}
    if missing:
        raise WithoutThese(missing)
    return list(values.values())


class Node:
    """A node that is being read."""

    __slots__ = ("_attributes", "given", "name", "proto", "region")

    def __init__(self, proto: Any, name: str, region: Region, given: Mapping[str, Any]) -> None:
        self.proto = proto
        self.name = name
        """Its name in the graph that is made: with the prefix of the import, and of the calls that it is in."""
        self.region = region
        self.given = given
        """The attributes of the call of the function that it is in: some of its own may be named after them."""
        self._attributes = proto.attr

    @property
    def op_type(self) -> str:
        """The op type."""
        return str(self.proto.op)

    @property
    def exactly(self) -> str:
        """The name to give to the operation that stands for the node."""
        return self.name + "/"

    def attribute(self, name: str, default: Any = REQUIRED) -> Any:
        """The value of an attribute: a number, bytes, a dtype, a shape, an array, a tuple; `default` if not stated."""
        if name not in self._attributes:
            if default is REQUIRED:
                self.reject(f"the attribute '{name}' is missing")
            return default
        value = self._attributes[name]
        kind = _KINDS.get(name, Any) if default is REQUIRED else _kind_of(default)
        if value.placeholder:
            if value.placeholder not in self.given:
                self.reject(f"the attribute '{name}' stands for '{value.placeholder}', which the call does not give")
            value = self.given[value.placeholder]
        found = attribute_of(value)
        if not fits(found, kind):
            self.reject(f"the attribute '{name}' cannot be {shown(found)}")
        return found

    def count(self, name: str) -> int:
        """The value of an attribute that says how many outputs there are, or tensors to make."""
        found: int = self.attribute(name)
        if found < 0:
            self.reject(f"the attribute '{name}' cannot be {found}")
        reading().expects_nodes(found)
        return found

    def all_of(self, defaults: Mapping[str, Any]) -> list[Any]:
        """The values of the attributes of these names, texts as such."""
        values = [self.attribute(name, default) for name, default in defaults.items()]
        return [value.decode(errors="replace") if isinstance(value, bytes) else value for value in values]

    def text(self, name: str, default: str = "") -> str:
        """The value of an attribute that is a string."""
        found: bytes = self.attribute(name, default.encode())
        return found.decode(errors="replace")

    def make(self, primitive: Primitive, *inputs: Tensor) -> Any:
        """The outputs of an operation of that primitive, which has the name of the node."""
        kinds = declared(type(primitive))  # type: ignore[arg-type]
        for key, value in primitive.attributes.items():
            if not fits(value, kinds[key]):
                self.reject(f"'{key}' of {primitive.type} cannot be {shown(value)}")
        result = get_default_graph().acting.add(primitive, inputs, self.exactly).result
        return result if isinstance(result, Tensor) or result else None

    def wants(self, i: int) -> bool:
        """Whether something reads output `i`."""
        return self.region.wants(str(self.proto.name), i)

    @staticmethod
    def static(x: Tensor) -> np.ndarray[Any, Any] | None:
        """The value of `x` where it is known while the graph is read."""
        return constant_value(x)

    def integers(self, x: Tensor, what: str) -> list[int]:
        """The elements of `x`, integers that must be known while the graph is read."""
        known = self.static(x)
        if known is None:
            self.refuse(f"{what} must be known; here it is computed by '{x.op.name}'")
        if known.dtype.kind not in "iu":
            self.reject(f"{what} must be integers, not {x.type}")
        return [int(n) for n in known.ravel()]

    def left_out(self, *, derivative: bool = False) -> LeftOut:
        """What stands for the outputs of a node that is not read, with all that depends on it."""
        return LeftOut(self.name, self.op_type, derivative)

    def reject(self, text: str) -> NoReturn:
        """Raise the error that says what is wrong with this node."""
        raise InvalidArgumentError(f"import_graph_def: {self}: {text}")

    def refuse(self, text: str) -> NoReturn:
        """Raise the error that says what of this node cannot be read."""
        raise UnimplementedError(f"import_graph_def: {self}: {text}")

    @property
    def place(self) -> Place:
        """Where its operations come from, for messages."""
        return Place(str(self), self.region.translation.read_at)

    def __str__(self) -> str:
        return f"node '{self.name}' ({self.op_type})"


def _kind_of(default: Any) -> Any:
    """The type of the values of an attribute that has this default."""
    if default is None:
        return Any
    return bytes | DType if isinstance(default, str) else type(default)


def same(node: Node, *xs: Tensor) -> Any:
    """The primitive that has TensorFlow's op type, as a reader."""
    primitive: Any = primitive_class(node.op_type)
    return node.make(primitive(), *xs)


def making(primitive: Callable[..., Primitive], **attributes: Any) -> Callable[..., Any]:
    """A reader: the primitive of the attributes of these names, each with its default."""
    return lambda node, *xs: node.make(primitive(*node.all_of(attributes)), *xs)


def calling(function: Callable[..., Any], count: int, **attributes: Any) -> Callable[..., Any]:
    """A reader: the function of `count` inputs and of the attributes of these names, each with its default."""

    def read(node: Node, *xs: Tensor) -> Any:
        if len(xs) != count:
            node.reject(f"it takes {count} input{'s' * (count != 1)}, not {len(xs)}")
        return function(*xs, *node.all_of(attributes), name=node.exactly)

    return read
