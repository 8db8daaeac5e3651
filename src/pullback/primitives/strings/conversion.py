"""Conversion between texts and numbers: texts made of numbers, and numbers read from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import (
    COMPLEX,
    FLOATING,
    INTEGER,
    DType,
    as_dtype,
    dtype_name,
    float32,
    float64,
    int32,
    int64,
    string,
)
from ...core.dtypes import bool as bool_
from ...core.errors import InvalidArgumentError
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import DTypeLike, TensorLike
from ..creation.constant import convert_to_tensor
from ..debugging.guards import quoted_summary
from .base import check_text, texts


def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each element of `input` as a text: integers in decimal, floats as `%f` (or `%e`, `%g`) of C, "true" and "false".

    `precision` digits stand behind the point (6 for -1); a text is at least `width` wide, and is filled with what
    `fill` says, as in C: "" for blanks on the left, "0", "+", "-" for blanks on the right, or " ".

    Shapes: any. Dtypes: any but resources.

    Raises:
        ValueError: `scientific` and `shortest` together, or a fill that is not known.
        TypeError: there is no text of that dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.as_string([1.5, -2.0], precision=2)).tolist()
    [b'1.50', b'-2.00']
    """
    if scientific and shortest:
        raise ValueError("as_string: pass scientific or shortest, not both")
    if fill not in ("", "0", "+", "-", " "):
        raise ValueError(f"as_string: fill must be '', '0', '+', '-' or ' ', not {fill!r}")
    return AsString(precision, scientific, shortest, width, fill)(convert_to_tensor(input), name=name)


class AsString(Primitive):
    precision: int
    scientific: bool
    shortest: bool
    width: int
    fill: str

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in {*INTEGER, *FLOATING, *COMPLEX, bool_, string}:
            raise TypeError(f"as_string: there is no text of {x}")
        return (TensorType(string, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        x = np.asarray(x)
        kind = "e" if self.scientific else "g" if self.shortest else "f"
        flags = self.fill + (str(self.width) if self.width >= 0 else "")
        digits = f".{self.precision}" if self.precision >= 0 else ""
        number = f"%{flags}{digits}{kind}"
        if x.dtype == string:
            return x
        if x.dtype == bool_:
            return texts([f"%{flags.strip('0+')}s" % ("true" if b else "false") for b in x.flat], x.shape)
        if x.dtype in INTEGER:
            return texts([f"%{flags}d" % n for n in x.flat], x.shape)
        if x.dtype in COMPLEX:
            return texts([f"({number % z.real},{number % z.imag})" for z in x.flat], x.shape)
        return texts([number % float(n) for n in x.flat], x.shape)

    gradient = no_gradient


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """The text `template` with each `placeholder` in it replaced by one of `inputs`, as it prints.

    Shapes: any; the result is a scalar. Dtypes: any but resources. Of long axes the first and the last `summarize`
    elements are shown, all for -1.

    Raises:
        ValueError: there are not as many placeholders as inputs.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.format("x = {}, y = {}", [pb.constant([1, 2]), pb.constant("z")]))
    b'x = [1 2], y = "z"'
    """
    tensors = [convert_to_tensor(x) for x in (inputs if isinstance(inputs, list | tuple) else [inputs])]
    count = template.count(placeholder)
    if count != len(tensors):
        raise ValueError(
            f"{count} placeholder(s) in template does not match {len(tensors)} tensor(s) provided as input"
        )
    return StringFormat(template, placeholder, summarize)(*tensors, name=name)


class StringFormat(Primitive):
    template: str
    placeholder: str
    summarize: int

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        del xs
        return (TensorType(string, TensorShape([])),)

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        first, *rest = self.template.split(self.placeholder)
        shown = [quoted_summary(x, self.summarize) + text for x, text in zip(xs, rest, strict=True)]
        return texts(["".join([first, *shown])], ())

    gradient = no_gradient


def to_number(input: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """The number that each text of `input` says.

    Shapes: any. Dtypes: float32, float64, int32 or int64.

    Raises:
        TypeError: another dtype. InvalidArgumentError: when it runs, a text that is no number.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.to_number(["1.5", "-2"]))
    array([ 1.5, -2. ], dtype=float32)
    """
    return StringToNumber(as_dtype(out_type))(convert_to_tensor(input), name=name)


class StringToNumber(Primitive):
    out_type: DType

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        check_text("strings.to_number", x)
        if self.out_type not in (float32, float64, int32, int64):
            raise TypeError(f"strings.to_number: out_type must be a float or integer, not {dtype_name(self.out_type)}")
        return (TensorType(self.out_type, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        array = np.asarray(x)
        number: Any = float if self.out_type in FLOATING else int
        made = np.empty(array.shape, self.out_type)  # type: ignore[arg-type]
        for i, text in enumerate(array.flat):
            try:
                made.flat[i] = number(text)
            except (ValueError, OverflowError):
                raise InvalidArgumentError(f"strings.to_number: {text!r} is no {dtype_name(self.out_type)}") from None
        return made

    gradient = no_gradient
