"""Texts on the host, whatever the engine: what all operations on them share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core.dtypes import DType, string
from ...core.primitive import Primitive, no_gradient
from ...core.types import TensorType


def check_text(what: str, x: TensorType) -> None:
    """TypeError where `x` is no tensor of texts."""
    if x.dtype != string:
        raise TypeError(f"{what}: takes no {x}; it takes string")


def texts(values: list[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array of these texts."""
    array = np.empty(len(values), string)
    array[:] = [text.encode() if isinstance(text, str) else text for text in values]
    return array.reshape(shape)


class AbstractTextwise(Primitive):
    """What gives one text or number for each text: a subclass says `result`, `of` and, for messages, `what`."""

    what: ClassVar[str]
    """The function that users call."""
    result: ClassVar[DType] = string
    """The dtype of what it gives."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        check_text(self.what, x)
        return (TensorType(self.result, x.shape),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        array, dtype = np.asarray(x), self.result
        found = [self.of(text) for text in array.flat]
        return texts(found, array.shape) if dtype == string else np.array(found, dtype).reshape(array.shape)  # type: ignore[arg-type]

    gradient = no_gradient

    def of(self, text: bytes) -> Any:
        """What it gives for a text."""
        raise NotImplementedError
