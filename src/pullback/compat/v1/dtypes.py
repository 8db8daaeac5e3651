"""Dtypes with the methods of TensorFlow 1: `x.dtype.as_numpy_dtype`, `tf.float32.is_floating`, ...

>>> import pullback.compat.v1 as tf
>>> tf.as_dtype("float").is_floating, tf.as_dtype(tf.int32).size
(True, 4)
"""

from __future__ import annotations

import functools
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from ... import dtypes as today
from ...core import dtypes
from ...interop.summary_values import type_number

_NUMBERED = (
    "float32 float64 int32 uint8 int16 int8 string complex64 int64 bool 11 12 13 bfloat16 15 16 "
    "uint16 complex128 float16 resource variant uint32 uint64"
)
_BY_NUMBER = {i: name for i, name in enumerate(_NUMBERED.split(), 1) if not name.isdecimal()}
"""By the numbers of TensorFlow's `DataType`; those of references are greater by 100."""


class DType:
    """A dtype as TensorFlow has it: equal to NumPy's, taken wherever NumPy's is, and with more methods.

    >>> import pullback.compat.v1 as tf
    >>> tf.float32.is_floating, tf.int8.max, tf.as_dtype("complex64").real_dtype
    (True, 127, tf.float32)
    >>> tf.float32 == np.float32, np.zeros(2, tf.float64).dtype
    (True, dtype('float64'))
    """

    __slots__ = ("dtype",)
    dtype: dtypes.DType
    """NumPy's, where NumPy and pullback look for it."""

    def __init__(self, type_enum: Any, handle_data: object = None) -> None:
        del handle_data
        self.dtype = dtypes.as_dtype(_named(type_enum))

    @property
    def as_numpy_dtype(self) -> type:
        """The class of NumPy's scalars of this dtype."""
        return object if self.dtype == dtypes.string else np.dtype(self.dtype).type  # type: ignore[arg-type]

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: there are no references."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return DType(dtypes.real_dtype(self.dtype))

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return 0 if self.dtype == dtypes.string else self.dtype.itemsize

    @property
    def name(self) -> str:
        """Its name."""
        return dtypes.dtype_name(self.dtype)

    @property
    def as_datatype_enum(self) -> int:
        """The number that TensorFlow's messages have for it."""
        return type_number(self.dtype)

    @property
    def is_floating(self) -> bool:
        """Whether it is a floating-point number, not a complex one."""
        return self.dtype in dtypes.FLOATING | dtypes.NARROW and not self.is_integer

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer."""
        return self.dtype in dtypes.INTEGER or self.dtype.name in ("int2", "int4", "uint2", "uint4")

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an integer that is never negative."""
        return self.is_integer and self.dtype.name.startswith("u")

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex number."""
        return self.dtype in dtypes.COMPLEX

    @property
    def is_bool(self) -> bool:
        """Whether it is a truth value."""
        return self.dtype == dtypes.bool

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether arrays of NumPy have it."""
        return isinstance(self.dtype, np.dtype)

    @property
    def min(self) -> Any:
        """The smallest finite number.

        Raises:
            TypeError: there is none.
        """
        return self._range("minimum").min

    @property
    def max(self) -> Any:
        """The largest finite number.

        Raises:
            TypeError: there is none.
        """
        return self._range("maximum").max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The darkest and the brightest element of an image of this dtype."""
        return (0, 1) if self.is_floating else (False, True) if self.is_bool else (0, self.max)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether it is the same dtype."""
        return self.dtype == dtypes.as_dtype(other)

    def _range(self, what: str) -> Any:
        if self.is_integer:
            return ml_dtypes.iinfo(self.dtype)  # type: ignore[no-untyped-call]
        if self.is_floating:
            return ml_dtypes.finfo(self.dtype)  # type: ignore[no-untyped-call]
        raise TypeError(f"Cannot find {what} value of {self}.")

    def __getattr__(self, name: str) -> Any:
        """All else is NumPy's: `kind`, `itemsize`, ..."""
        return getattr(object.__getattribute__(self, "dtype"), name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """NumPy's class, beside its own: `isinstance` is true of both."""
        return type(object.__getattribute__(self, "dtype"))

    def __eq__(self, other: object) -> bool:
        return self.dtype == (other.dtype if type(other) is DType else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return as_dtype, (self.dtype,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"


@functools.cache
def seen(dtype: dtypes.DType) -> Any:
    """`dtype` with the methods of TensorFlow 1; what is no dtype of arrays, as it is."""
    return DType(dtype) if isinstance(dtype, np.dtype) else dtype


def as_dtype(type_value: Any) -> Any:
    """The dtype that `type_value` names; see `pb.as_dtype`. Numbers are those of messages (`attr["T"].type`)."""
    return seen(dtypes.as_dtype(_named(type_value)))


def _named(type_value: Any) -> Any:
    """The name of a dtype that is given by number; all else as it is."""
    if type(type_value) is not int or not 0 < type_value < 200:
        return type_value
    return _BY_NUMBER.get(type_value % 100, type_value)


experimental = SimpleNamespace(**{name: seen(dtype) for name, dtype in vars(today.experimental).items()})


def __getattr__(name: str) -> Any:
    if name in ("as_string", "complex", "saturate_cast"):
        return getattr(import_module(f"{__package__}"), name)
    return with_methods(getattr(today, name))


def with_methods(value: Any) -> Any:
    """`value`, with the methods of TensorFlow 1 if it is a dtype."""
    return seen(value) if isinstance(value, np.dtype) else value
