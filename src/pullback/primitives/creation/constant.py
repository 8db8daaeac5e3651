"""Constants, and the conversion of whatever a user writes to a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import COMPLEX, FLOATING, INTEGER, DType, TokenType, as_dtype, dtype_name, float32, int32, string
from ...core.errors import WrongKindError
from ...core.graph import Graph, get_default_graph
from ...core.nest import is_plain
from ...core.operation import AbstractTensorLike, Operation, Tensor
from ...core.shape import TensorShape, as_shape
from ...core.slices import IndexedSlices
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ...core.values import Const as Const
from ...core.values import constant_value as constant_value
from ...core.values import shape_value as shape_value
from .given_numbers import is_text, knows_its_dtype, read, without_fractions

_CAN_BE = ((INTEGER, INTEGER | FLOATING | COMPLEX), (FLOATING, FLOATING | COMPLEX), (COMPLEX, COMPLEX))
"""What numbers of some dtypes can be where another one is hinted at."""
LARGEST_CONSTANT = 64
"""The most elements of which what is known while a graph is built is kept as an array."""


@in_graph_of_inputs
def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str | None = "Const"
) -> Tensor:
    """A tensor that always has the value `value`: a number, a list, or an array.

    An array is copied, unless nobody can write to it: `array.setflags(write=False)` spares the memory.

    Shapes: that of `value`, or `shape`, to which it is reshaped (one element is repeated).
    Dtypes: `dtype`, else the array's own; Python floats become float32 and Python integers int32. Floats of an array
    lose their fractions where an integer dtype is asked for, those of a list must be without.

    Raises:
        TypeError: `value` holds what no dtype can, or does not fit `dtype`.
        ValueError: it does not fill `shape`.

    >>> constant([1.0, 2.0])
    <Tensor 'Const:0' float32[2]>
    """
    wanted = None if dtype is None else as_dtype(dtype)
    is_array = not isinstance(value, Tensor | AbstractTensorLike) and knows_its_dtype(value)
    array = as_array(without_fractions(value, wanted) if is_array else value, wanted)
    if shape is not None:
        dims = as_shape(shape).known
        if array.size == 1:
            array = np.broadcast_to(array.reshape(()), dims)
        elif array.size != TensorShape(dims).num_elements():
            raise ValueError(f"constant: {array.size} values do not fill the shape {as_shape(shape)}")
        array = array.reshape(dims)
    return constant_in(get_default_graph(), _frozen(array), name)


def constant_in(graph: Graph, array: np.ndarray[Any, Any], name: str | None = None) -> Tensor:
    """A constant of `graph` that holds `array` itself, not a copy."""
    return graph.add(Const(array), (), name).outputs[0]


Conversion = Callable[[Any, Any, Any], Any]
_conversions: list[tuple[Any, Conversion, int]] = []


def register_conversion(base_type: Any, conversion: Conversion, priority: int) -> None:
    """Let `conversion(value, dtype, name)` make tensors of objects of `base_type`, before those of higher priority."""
    _conversions.append((base_type, conversion, priority))
    _conversions.sort(key=lambda entry: entry[2])


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
    name: str | None = None,
    *,
    graph: Graph | None = None,
) -> Tensor:
    """`value` as a tensor: one already, a variable's value, slices made dense, or a constant.

    Dtypes: `dtype` binds; `dtype_hint` is taken where all numbers can have it: of integers any that they fit into, of
    floats a float or complex one, of an empty list any.

    Raises:
        TypeError: `value` cannot become a tensor, or is a tensor of another dtype.

    >>> convert_to_tensor(3, dtype="float64").dtype
    dtype('float64')
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        tensor = value
    elif isinstance(value, AbstractTensorLike):
        tensor = value.as_tensor()
    elif isinstance(value, IndexedSlices):
        from ..base.densify import densify

        if wanted is not None and value.dtype != wanted:
            raise TypeError(f"{value} was given where {dtype_name(wanted)} is needed; convert its values with pb.cast")
        tensor = densify(value, name=name)
    else:
        return _constant_or_stack(value, wanted, dtype_hint, name, graph)
    if wanted is not None and tensor.dtype != wanted:
        raise TypeError(f"{tensor} was given where {dtype_name(wanted)} is needed; convert it with pb.cast")
    return tensor


def _constant_or_stack(value: Any, dtype: DType | None, hint: Any, name: str | None, graph: Graph | None) -> Tensor:
    for base_type, conversion, _ in _conversions:
        if isinstance(value, base_type):
            converted = conversion(value, dtype, name)
            if converted is not NotImplemented:
                return convert_to_tensor(converted, dtype)
    if _holds_tensors(value):
        from ..shape.stacking import stack

        first = next(x for x in leaves(value) if isinstance(x, Tensor | AbstractTensorLike))
        inner = dtype or convert_to_tensor(first).dtype
        return stack([_element(x, inner, dtype is not None) for x in value], name=name)
    if dtype is None and hint is not None:
        dtype = _hinted(value, as_dtype(hint))
    return constant_in(graph or get_default_graph(), _frozen(as_array(value, dtype)), name)


def _element(x: Any, dtype: DType, is_asked_for: bool) -> Tensor:
    """An element of a list that holds tensors; where a dtype was asked for, tensors become it as numbers do."""
    if not is_asked_for or not isinstance(x, Tensor | AbstractTensorLike):
        return convert_to_tensor(x, dtype)
    from ..casting.cast import cast

    tensor = convert_to_tensor(x)
    return cast(tensor, dtype) if _becomes(tensor.type.dtype, dtype) else convert_to_tensor(tensor, dtype)


def _frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array` where nobody can write to its memory, else a copy to which nobody can."""
    owner: Any = array
    while type(owner) is np.ndarray and not owner.flags.writeable and owner.base is not None:
        owner = owner.base
    if type(owner) is np.ndarray and not owner.flags.writeable:
        return array
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


def _holds_tensors(value: Any) -> bool:
    pending = [value] if isinstance(value, list | tuple) else []
    while pending:
        x = pending.pop()
        if isinstance(x, Tensor | AbstractTensorLike):
            return True
        if isinstance(x, list | tuple) and not is_plain(x):
            pending.extend(x)
    return False


def leaves(value: Any) -> Iterable[Any]:
    """The innermost elements of nested lists and tuples."""
    stack = [value] if isinstance(value, list | tuple) else []
    while stack:
        for x in stack.pop():
            if isinstance(x, list | tuple):
                stack.append(x)
            else:
                yield x


def is_python_number(value: Any) -> bool:
    """Whether `value` is a bare Python number, which adopts the dtype of what it meets."""
    return type(value) in (int, float, complex, bool)


def _hinted(value: Any, hint: DType) -> DType | None:
    """`hint` where all numbers in `value` can have it, else None (their own)."""
    if type(value) is int and hint in FLOATING | COMPLEX:
        return hint
    array = as_array(value)
    if isinstance(value, list | tuple) and not array.size:
        return hint
    if hint not in next((others for own, others in _CAN_BE if array.dtype in own), ()):
        return None
    changed = isinstance(hint, np.dtype) and hint in INTEGER and not np.array_equal(array.astype(hint), array)
    return None if changed else hint


def as_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """`value` as a NumPy array of a dtype that pullback has; Python floats are float32, Python integers int32.

    Raises:
        TypeError: it holds what no dtype can, or a tensor, or does not fit `dtype`.
    """
    if type(value) is int and isinstance(dtype, np.dtype) and dtype.kind in "iu":
        try:
            return np.array(value, dtype)
        except OverflowError:
            raise TypeError(f"{value!r} does not fit {dtype.name}") from None
    if dtype is string or (dtype is None and is_text(value)):
        return _text_array(value)
    if isinstance(value, Tensor | Operation):
        raise TypeError(f"{value!r} has no value while the graph is built; get one with Session.run")
    if isinstance(dtype, TokenType):
        raise TypeError(f"no array has dtype {dtype}: {value!r}")
    try:
        array = read(value, dtype)
    except ValueError as error:
        raise WrongKindError(f"{value!r} is not a rectangular array of numbers: {error}") from None
    wanted = dtype
    if dtype is None:
        dtype = array.dtype if knows_its_dtype(value) else _python_dtype(array)
    try:
        found = as_dtype(array.dtype)
    except TypeError:
        found = string
    if value is None:
        raise ValueError("None is not a tensor (gradients() gives None for an x that no y depends on)")
    if found is string:
        expected = f"Expected {wanted.name}, got {value!r} of type '{type(value).__name__}' instead: " if wanted else ""
        raise TypeError(f"{expected}{value!r} is not an array of numbers (NumPy makes it {array.dtype})")
    if array.dtype != dtype:
        return _cast_exactly(value, array, dtype)
    return array


def _text_array(value: Any) -> np.ndarray[Any, Any]:
    """Texts as an array of `bytes`, those of Python's `str` in UTF-8."""
    try:
        array = np.array(value, string)
    except ValueError as error:
        raise WrongKindError(f"{value!r} is not a rectangular array of texts: {error}") from None
    for i, text in enumerate(array.flat):
        if not isinstance(text, str | bytes):
            raise TypeError(f"{text!r} was given where a text is needed; convert it with pb.strings.as_string")
        array.flat[i] = text.encode() if isinstance(text, str) else bytes(text)
    return array


def _python_dtype(array: np.ndarray[Any, Any]) -> DType:
    if array.dtype == np.float64:
        return float32
    if array.dtype == np.int64 and (array.size == 0 or abs(array).max() < 2**31):
        return int32
    dtype: DType = array.dtype
    return dtype


_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}


def _becomes(given: Any, dtype: Any) -> bool:
    """Whether what a user writes as a number of the dtype `given` may stand where `dtype` is needed."""
    return _KINDS.get(given.kind, 4) <= _KINDS.get(dtype.kind, -1)


def _cast_exactly(value: Any, array: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    if not _becomes(array.dtype, dtype) and array.size:
        raise TypeError(f"{value!r} was given where {dtype.name} is needed; convert it with pb.cast or NumPy's astype")
    with np.errstate(over="ignore"):
        cast = array.astype(dtype)
    if dtype in INTEGER and not (cast == array).all():
        raise TypeError(f"{value!r} does not fit {dtype.name}")
    return cast
