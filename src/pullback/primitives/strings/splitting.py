"""Texts taken apart: at separators, into bytes, into characters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...core.dtypes import int64, string
from ...core.operation import Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from ..ragged.ragged_tensor import RaggedTensor
from ..shape.reshape import reshape
from ..sparse.sparse_tensor import SparseTensor
from .base import check_text, texts


def split(
    input: TensorLike, sep: str | None = None, maxsplit: int = -1, name: str | None = None
) -> RaggedTensor | Tensor:
    """The parts of each text, between each `sep`, or between blanks of any length where None; at most `maxsplit` cuts.

    Shapes: `input` [n], the result [n, (parts)]; of one text a vector. Dtypes: string.

    Raises:
        TypeError: another dtype. ValueError: `input` is neither a vector nor one text.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.split(["a b", "c"])).to_list()
    [[b'a', b'b'], [b'c']]
    """
    return ragged_parts(StringSplitV2(sep or "", maxsplit), input, name)


class AbstractSplit(Primitive):
    """The parts of texts as a sparse tensor: indices, values, shape. A subclass says `parts`, and `what` it is."""

    what: ClassVar[str] = "strings.split"
    """The function that users call."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        check_text(self.what, x)
        if x.shape.rank not in (1, None):
            raise ValueError(f"{self.what}: takes a vector of texts, not {x}")
        rows = TensorType(int64, TensorShape([None, 2]))
        return rows, TensorType(string, TensorShape([None])), TensorType(int64, TensorShape([2]))

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        rows = [self.parts(text) for text in np.asarray(x).flat]
        places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        shape = np.array([len(rows), max(map(len, rows), default=0)], np.int64)
        values = [part for row in rows for part in row]
        return np.array(places, np.int64).reshape(-1, 2), texts(values, (len(values),)), shape

    gradient = no_gradient

    def parts(self, text: bytes) -> list[Any]:
        """The parts of a text."""
        raise NotImplementedError


class StringSplitV2(AbstractSplit):
    sep: str
    maxsplit: int

    def parts(self, text: bytes) -> list[Any]:
        return text.split(self.sep.encode() or None, self.maxsplit)


class StringSplit(AbstractSplit):
    """Between any of the bytes of `delimiter`, bytes where it has none."""

    delimiter: str
    skip_empty: bool

    def parts(self, text: bytes) -> list[Any]:
        if not self.delimiter:
            return [text[i : i + 1] for i in range(len(text))]
        first, *others = [bytes([c]) for c in self.delimiter.encode()]
        for other in others:
            text = text.replace(other, first)
        return [part for part in text.split(first) if part or not self.skip_empty] if text else []


def bytes_split(input: TensorLike, name: str | None = None) -> RaggedTensor | Tensor:
    """The bytes of each text, each a text.

    Shapes: `input` [n], the result [n, (bytes)]; of one text a vector. Dtypes: string.

    Raises:
        TypeError, ValueError: see `split`.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.bytes_split(["ab", "c"])).to_list()
    [[b'a', b'b'], [b'c']]
    """
    return ragged_parts(StringSplit("", True), input, name)


def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> RaggedTensor | Tensor:
    """The characters of each text, each a text in UTF-8.

    Shapes: `input` [n], the result [n, (characters)]; of one text a vector. Dtypes: string.

    Raises:
        TypeError: see `split`. ValueError: as there, another encoding than "UTF-8", or other `errors` than "replace"
        and "ignore".

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.unicode_split(["zö", "c"], "UTF-8")).to_list()
    [[b'z', b'\\xc3\\xb6'], [b'c']]
    """
    if input_encoding != "UTF-8":
        raise ValueError(f"strings.unicode_split: input_encoding must be 'UTF-8', not {input_encoding!r}")
    if errors not in ("replace", "ignore"):
        raise ValueError(f"strings.unicode_split: errors must be 'replace' or 'ignore', not {errors!r}")
    return ragged_parts(UnicodeSplit(chr(replacement_char) if errors == "replace" else ""), input, name)


class UnicodeSplit(AbstractSplit):
    what = "strings.unicode_split"

    replacement: str

    def parts(self, text: bytes) -> list[Any]:
        found = text.decode(errors="replace").replace("\ufffd", self.replacement)
        return [c.encode() for c in found]


def sparse_parts(primitive: AbstractSplit, input: TensorLike, name: str | None) -> SparseTensor:
    """The parts of texts, one text or a vector of them, as a sparse tensor."""
    x = convert_to_tensor(input)
    return SparseTensor(*primitive.operation(reshape(x, [1]) if x.shape.rank == 0 else x, name=name).outputs)


def ragged_parts(primitive: AbstractSplit, input: TensorLike, name: str | None) -> RaggedTensor | Tensor:
    """The parts of texts as a ragged tensor, of one text as a vector."""
    x = convert_to_tensor(input)
    parts = sparse_parts(primitive, x, name)
    if x.shape.rank == 0:
        values: Tensor = parts.values
        return values
    return RaggedTensor.from_value_rowids(parts.values, parts.indices[:, 0], parts.dense_shape[0], validate=False)
