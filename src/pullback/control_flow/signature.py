"""Function signatures: a trace is told apart by dtypes and static shapes of tensors, all else by its value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import nest
from ..core.composite import AbstractComposite
from ..core.dtypes import DType, as_dtype, dtype_name
from ..core.graph import Tensor
from ..core.lengths import Length, symbol
from ..core.shape import TensorShape, as_shape
from ..core.slices import IndexedSlices, IndexedSlicesValue
from ..core.types import TensorType, type_of_array
from ..core.typing import DTypeLike, ShapeLike
from ..primitives.creation.constant import as_array, convert_to_tensor
from ..primitives.creation.given_numbers import read
from ..primitives.variables.variable import Variable
from .tracing import take_apart


@dataclass(frozen=True, init=False, repr=False)
class TensorSpec:
    """The dtype and static shape that a function takes for one argument; None stands for any length, or any shape.

    >>> import pullback as pb
    >>> pb.TensorSpec([None, 3], pb.float64, name="rows")
    TensorSpec(shape=(None, 3), dtype=float64, name='rows')
    """

    shape: TensorShape
    dtype: DType
    name: str | None

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None) -> None:
        object.__setattr__(self, "shape", as_shape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "name", name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec of the dtype and static shape of a tensor or a variable."""
        default = tensor.op.name if isinstance(tensor, Tensor | Variable) else None
        return cls(tensor.shape, tensor.dtype, name or default)

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """The same spec under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_tensor: TensorSpec | Tensor) -> bool:
        """Whether a tensor, array or spec may have the dtype and shape at once that this one has."""
        other = type_of(spec_or_tensor)
        return other.dtype == self.dtype and self.shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other: TensorSpec) -> bool:
        """Whether all that fits this spec fits `other`."""
        return self.dtype == other.dtype and is_case_of(self.shape, other.shape)

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        """The narrowest spec that both fit; ValueError where their dtypes differ."""
        if self.dtype != other.dtype:
            raise ValueError(f"TensorSpec: {self!r} and {other!r} have different dtypes")
        return TensorSpec(self.shape.most_specific_compatible_shape(other.shape), self.dtype, self.name)

    @property
    def type(self) -> TensorType:
        """The type of the tensors that fit."""
        return TensorType(self.dtype, self.shape)

    def __repr__(self) -> str:
        dims = self.shape.sizes
        shape = "<unknown>" if dims is None else repr(dims)
        return f"TensorSpec(shape={shape}, dtype={dtype_name(self.dtype)}, name={self.name!r})"


def is_case_of(shape: TensorShape, wider: TensorShape) -> bool:
    """Whether every array of static shape `shape` has the static shape `wider`."""
    if wider.sizes is None:
        return True
    if shape.sizes is None or len(shape.sizes) != len(wider.sizes):
        return False
    return all(b is None or a == b for a, b in zip(shape.sizes, wider.sizes, strict=True))


def is_array(value: Any) -> bool:
    """Whether `value` is an array of NumPy, of jax, or of what converts like them; Python numbers are not."""
    if isinstance(value, np.ndarray | np.generic):
        return True
    return getattr(type(value), "__array__", None) is not None and not isinstance(value, Tensor | Variable)


def type_of(value: Any) -> TensorType:
    """The type of a tensor, spec or array."""
    if isinstance(value, TensorSpec | Tensor):
        return value.type
    return type_of_array(read(value, None) if isinstance(value, np.ndarray) else as_array(np.asarray(value)))


class Static:
    """A leaf that is not traced: equal to another of the same type and value, or, if it has no hash, to itself."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            hash(value)
            self._key: Any = (type(value), value)
        except TypeError:
            self._key = id(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        text = repr(self.value)
        return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True)
class Composite:
    """A leaf that is made of several tensors: slices, an array of tensors."""

    kind: str
    types: tuple[TensorType, ...]
    rebuild: Callable[[Sequence[Tensor]], Any] = field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind} of {self.types[0]}"


Kind = TensorType | Composite | Static
"""What is known of one leaf while a function is traced."""


def kind_of(leaf: Any) -> Kind:
    """What is known of an argument while the function is traced."""
    if isinstance(leaf, TensorSpec | Tensor) or is_array(leaf):
        return type_of(leaf)
    if isinstance(leaf, IndexedSlices | AbstractComposite):
        (template,), tensors = take_apart([leaf])
        static = f" {leaf.static_shape}" if isinstance(leaf, IndexedSlices) else ""
        return Composite(template.kind + static, tuple([x.type for x in tensors]), template.rebuild)
    return Static(leaf)


def named_lengths(kinds: Sequence[Kind]) -> tuple[Any, ...]:
    """The names of lengths among `kinds`, each with its place and a number that is the same for the same length."""
    shapes = [t.shape for kind in kinds for t in types_of(kind)]
    numbers: dict[Length, int] = {}
    return tuple(
        [
            (i, axis, n.name, numbers.setdefault(n, len(numbers)))
            for i, shape in enumerate(shapes)
            if shape.lengths is not shape.sizes
            for axis, n in enumerate(shape.lengths or ())
            if isinstance(n, Length) and n.is_symbol and n.name
        ]
    )


def parameter_types(kinds: Sequence[Kind]) -> list[TensorType]:
    """The types of the parameters of a function of `kinds`; names of lengths stay, as symbols of the function's own.

    A name may be that of two lengths: of one of the graph around, and of one of a function that this one is called in.
    """
    own: dict[Length, Length] = {}
    return [_with_own_symbols(t, own) for kind in kinds for t in types_of(kind)]


def _with_own_symbols(of: TensorType, own: dict[Length, Length]) -> TensorType:
    if of.shape.lengths is None or of.shape.static is of.shape:
        return of
    lengths = [
        own.setdefault(n, symbol(n.name)) if isinstance(n, Length) and n.is_symbol and n.name else d
        for n, d in zip(of.shape.lengths, of.shape.sizes or (), strict=True)
    ]
    return TensorType(of.dtype, TensorShape(lengths))


def parts_of(leaf: Any, kind: Kind) -> list[Any]:
    """The tensors or arrays that stand behind a leaf."""
    if isinstance(kind, Static):
        return []
    return take_apart([leaf])[1] if isinstance(kind, Composite) else [leaf]


def types_of(kind: Kind) -> Sequence[TensorType]:
    """The types of the tensors that stand behind a leaf."""
    if isinstance(kind, Static):
        return ()
    return kind.types if isinstance(kind, Composite) else (kind,)


def rebuilt(kind: Kind, parts: Iterator[Any], *, arrays: bool = False) -> Any:
    """The leaf of that kind made of the next of `parts`: of tensors, or of arrays."""
    if isinstance(kind, Static):
        return kind.value
    if isinstance(kind, TensorType):
        return next(parts)
    given = [next(parts) for _ in kind.types]
    if not arrays:
        return kind.rebuild(given)
    return IndexedSlicesValue(*given, *[None] * (3 - len(given))) if kind.kind[:13] == "IndexedSlices" else tuple(given)


def structure_key(structure: Any) -> Any:
    """A value that is equal for structures of one shape."""
    if isinstance(structure, Mapping):
        return type(structure), tuple([(key, structure_key(structure[key])) for key in structure])
    if not nest.is_nested(structure):
        return None
    return type(structure), tuple([structure_key(child) for child in structure])


def converted(leaf: Any, spec: TensorSpec, where: str) -> Any:
    """An argument as the tensor or array that `spec` asks for; ValueError or TypeError where it cannot be."""
    value = leaf
    if isinstance(leaf, Variable):
        value = convert_to_tensor(leaf)
    elif is_array(leaf):
        value = read(leaf, None)
    elif not isinstance(leaf, TensorSpec | Tensor):
        value = as_array(leaf, spec.dtype)
    if not spec.is_compatible_with(value) or (isinstance(value, TensorSpec) and not value.is_subtype_of(spec)):
        raise TypeError(f"{where} is {type_of(value)}, but input_signature asks for {spec.type}")
    return value


def up_to(specs: Any, values: Any, where: str) -> Any:
    """`values` in the structure of `specs`, each leaf converted to what its spec asks for."""
    if isinstance(specs, TensorSpec):
        return converted(values, specs, where)
    if not nest.is_nested(specs):
        raise TypeError(f"input_signature must hold nothing but TensorSpec, not {specs!r}")
    if isinstance(specs, Mapping):
        if not isinstance(values, Mapping) or set(values) != set(specs):
            raise TypeError(f"{where} is {values!r}, but input_signature asks for a dictionary of {list(specs)}")
        return {key: up_to(specs[key], values[key], f"{where}[{key!r}]") for key in specs}
    if not isinstance(values, Sequence) or len(values) != len(specs):
        raise TypeError(f"{where} is {values!r}, but input_signature asks for {len(specs)} values")
    pairs = zip(specs, values, strict=True)
    return type(specs)([up_to(s, v, f"{where}[{i}]") for i, (s, v) in enumerate(pairs)])
