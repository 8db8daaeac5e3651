"""Run-time checks (`check_numerics`, `Assert`): that numbers are finite, that conditions hold. What fails raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import FLOATING, bfloat16, float16, string
from ...core.dtypes import bool as bool_
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.traits import MOVES, VIEWS
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor

NAN, INFINITE = 2, 1


class AbstractGuard(Primitive):
    """A primitive that refuses some values. An engine asks for the `fault` and raises where it is not 0.

    With NumPy the kernel itself does so; in a compiled program the faults are outputs, looked at after it has run.
    """

    def fault(self, xp: Any, *arrays: Any) -> Any:
        """0 where all is well, else a number up to 3."""
        raise NotImplementedError(f"{type(self).__name__} defines no fault()")

    def complaint(self, fault: int, arrays: Sequence[Any]) -> str:
        """What to say about a fault; `arrays` are empty where the values are not at hand."""
        raise NotImplementedError(f"{type(self).__name__} defines no complaint()")

    def passed(self, xp: Any, *arrays: Any) -> Any:
        """The outputs where all is well."""
        raise NotImplementedError(f"{type(self).__name__} defines no passed()")

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        if xp is np:
            fault = int(self.fault(np, *arrays))
            if fault:
                raise ValueError(self.complaint(fault, arrays))
        return self.passed(xp, *arrays)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """`tensor`; a run in which it holds NaN or infinity raises InvalidArgumentError with `message`.

    Its gradient is checked in the same way.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy, checked too.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.check_numerics([1.0, 2.0], "x"))
    array([1., 2.], dtype=float32)
    """
    return CheckNumerics(str(message))(convert_to_tensor(tensor), name=name)


class CheckNumerics(AbstractGuard):
    traits = (MOVES, VIEWS)

    message: str

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.dtype not in FLOATING:
            raise TypeError(f"check_numerics: takes floats, not {x}")
        return (x,)

    def fault(self, xp: Any, *arrays: Any) -> Any:
        nan, infinite = xp.any(xp.isnan(arrays[0])), xp.any(xp.isinf(arrays[0]))
        return NAN * nan.astype(np.int32) + INFINITE * infinite.astype(np.int32)

    def complaint(self, fault: int, arrays: Sequence[Any]) -> str:
        found = {NAN: "NaN", INFINITE: "Inf", NAN + INFINITE: "Inf and NaN"}[fault]
        return f"{self.message} : Tensor had {found} values"

    def passed(self, xp: Any, *arrays: Any) -> Any:
        del xp
        return arrays[0]

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        said = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {self.message}"
        return (lambda: CheckNumerics(said)(dy),)


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """`x`; a run in which it holds NaN or infinity raises InvalidArgumentError with `message`.

    Its gradient is checked in the same way.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy, checked too.

    Raises:
        TypeError: another dtype.

    >>> import pullback as pb
    >>> pb.Session().run(pb.debugging.assert_all_finite([1.0, 2.0], "x"))
    array([1., 2.], dtype=float32)
    """
    return check_numerics(x, message, name or "VerifyFinite")


@in_graph_of_inputs
def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """`t` (or `x`), as `assert_all_finite` does it: the older name, with `msg` or `message`.

    Shapes: any. Dtypes: any float.

    Derivative: dx = dy, checked too.

    Raises:
        TypeError: another dtype. ValueError: no tensor or no message is given.

    >>> import pullback as pb
    >>> pb.Session().run(pb.verify_tensor_all_finite([1.0, 2.0], "x"))
    array([1., 2.], dtype=float32)
    """
    value, said = x if t is None else t, message if msg is None else msg
    if value is None or said is None:
        raise ValueError("verify_tensor_all_finite: give a tensor and a message")
    return assert_all_finite(value, said, name)


class Assert(AbstractGuard):
    """Whether all of the first input is true; the others are shown where it is not."""

    stateful = True

    message: str = ""
    summarize: int = 3
    behind: tuple[str, ...] = ()
    """What is said behind each of the values that are shown, if anything is said there."""

    def infer(self, condition: TensorType, *data: TensorType) -> tuple[TensorType, ...]:
        del data
        if condition.dtype != bool_:
            raise TypeError(f"Assert: the condition must be bool, not {condition}")
        return ()

    def fault(self, xp: Any, *arrays: Any) -> Any:
        return 1 - xp.all(arrays[0]).astype(np.int32)

    def complaint(self, fault: int, arrays: Sequence[Any]) -> str:
        del fault
        if not arrays:
            said = " ".join([self.message, *filter(None, self.behind)])
            return f"{said} (the NumPy engine shows the values)"
        return self.text([summary(x, self.summarize) for x in arrays[1:]])

    def text(self, shown: Sequence[str]) -> str:
        """What it says, with the values `shown` where they belong."""
        pairs = zip(shown, self.behind, strict=True) if self.behind else [(text, "") for text in shown]
        return " ".join([self.message, *[text for pair in pairs for text in pair if text]]).strip()

    def passed(self, xp: Any, *arrays: Any) -> Any:
        del xp, arrays
        return ()

    gradient = no_gradient


def summary(x: Any, count: int | None) -> str:
    """The first and the last `count` elements along each axis, as TensorFlow prints them; all for None or below 0."""
    array = np.array(x, string) if isinstance(x, bytes) else np.asarray(x)
    if array.dtype == string and not array.ndim:
        return str(array.item().decode(errors="backslashreplace"))
    if array.dtype == string:
        quoted = [f'"{text.decode(errors="backslashreplace")}"' for text in array.flat]
        array = np.array(quoted, object).reshape(array.shape)
    edge = array.size if count is None or count < 0 else max(count, 1)
    texts: Any = {"object": str, "int": str, "float_kind": _float_text, "bool": lambda x: "1" if x else "0"}
    if array.dtype in (float16, bfloat16):
        array = array.astype(np.float32)
    return np.array2string(
        array, separator=" ", edgeitems=edge, threshold=2 * edge, max_line_width=10**6, formatter=texts
    )


def quoted_summary(x: Any, count: int | None) -> str:
    """The same, with quotation marks around one text too."""
    shown = summary(x, count)
    array = np.asarray(x)
    return f'"{shown}"' if array.dtype.kind in "SO" and not array.ndim else shown


def _float_text(x: Any) -> str:
    """A float with 6 digits, 15 of float64, or, where these are not enough, 9 or 17."""
    few, enough = (15, 17) if x.dtype == np.float64 else (6, 9)
    text = f"{float(x):.{few}g}"
    return text if x.dtype.type(text) == x or x != x else f"{float(x):.{enough}g}"
