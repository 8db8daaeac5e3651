"""Unicode texts of TensorFlow 1: texts as the numbers of their characters, and in other encodings, on the host.

>>> import pullback.compat.v1 as tf
>>> numbers = tf.strings.unicode_decode(["ab", "c"], "UTF-8")
>>> session = tf.Session()
>>> session.run(numbers).to_list(), session.run(tf.strings.unicode_encode(numbers, "UTF-8")).tolist()
([[97, 98], [99]], [b'ab', b'c'])
>>> codes, places = tf.strings.unicode_decode_with_offsets("é!", "UTF-8")
>>> characters, _ = tf.strings.unicode_split_with_offsets("é!", "UTF-8")
>>> session.run([codes, places, characters])
[array([233,  33], dtype=int32), array([0, 2]), array([b'\\xc3\\xa9', b'!'], dtype=object)]
>>> session.run([tf.strings.unicode_transcode("a", "UTF-8", "UTF-16-BE"), tf.strings.unicode_split("ab", "UTF-8")])
[b'\\x00a', array([b'a', b'b'], dtype=object)]
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb

from ...primitives.creation.constant import as_array

Array = np.ndarray[Any, Any]
Characters = list[tuple[int, int]]
"""The numbers of characters, and the places of their bytes."""
_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")


@dataclass(frozen=True)
class Errors:
    """What becomes of bytes and numbers that are no characters."""

    how: str
    replacement: int
    controls: bool = False
    """Whether control characters below 32 are replaced too."""

    def __post_init__(self) -> None:
        if self.how not in ("strict", "replace", "ignore"):
            raise ValueError(f"strings: errors must be 'strict', 'replace' or 'ignore', not {self.how!r}")
        if not _is_character(self.replacement):
            raise ValueError(f"strings: replacement_char must be the number of a character, not {self.replacement}")

    def instead(self, what: str) -> list[int]:
        """What stands in place of `what`; InvalidArgumentError where nothing may."""
        if self.how == "strict":
            raise pb.errors.InvalidArgumentError(f"Invalid formatting on input string: {what}")
        return [self.replacement] if self.how == "replace" else []

    def kept(self, code: int) -> list[int]:
        """A character, or what stands in its place."""
        if code >= 32 or not self.controls:
            return [code]
        return [] if self.how == "ignore" else [self.replacement]


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The numbers of the characters of each text, int32.

    `errors` says what becomes of bytes that are no characters: "replace" by `replacement_char`, "ignore", or "strict".

    Shapes: `input` [n...], dense or ragged; the result has one more axis, which is ragged. Dtypes: string.

    Raises:
        ValueError: an encoding that Python has not, or other `errors`. InvalidArgumentError: from a run, if they are
            "strict" and a text is malformed.
    """
    wish = Errors(errors, replacement_char, replace_control_characters)
    return _characters(input, input_encoding, wish, _numbers, name or "UnicodeDecode")[0]


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As `unicode_decode`, and for each character the place of its first byte, int64."""
    wish = Errors(errors, replacement_char, replace_control_characters)
    return _characters(input, input_encoding, wish, _numbers, name or "UnicodeDecode")


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """The characters of each text, each a text in `input_encoding`; see `unicode_decode`."""
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char, name)[0]


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    """As `unicode_split`, and for each character the place of its first byte, int64."""

    def texts(found: list[Characters]) -> Array:
        return as_array([chr(code).encode(input_encoding) for row in found for code, _ in row], pb.string)

    return _characters(input, input_encoding, Errors(errors, replacement_char), texts, name or "UnicodeSplit")


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> pb.Tensor | pb.RaggedTensor:
    """Texts in another encoding, "UTF-8", "UTF-16-BE" or "UTF-32-BE"; see `unicode_decode`."""
    if isinstance(input, pb.RaggedTensor):
        inner = unicode_transcode(
            input.values,
            input_encoding,
            output_encoding,
            errors,
            replacement_char,
            replace_control_characters,
            name,
        )
        return input.with_values(inner)
    codec, output = _codec("input_encoding", input_encoding), _output(output_encoding)
    wish = Errors(errors, replacement_char, replace_control_characters)

    def again(texts: Array) -> Array:
        found = ["".join(chr(code) for code, _ in _decoded(text, codec, wish)) for text in texts.ravel().tolist()]
        return as_array([text.encode(output) for text in found], pb.string).reshape(texts.shape)

    x = pb.convert_to_tensor(input, pb.string)
    return _of_texts(again, x, x.shape, name or "UnicodeTranscode")


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> pb.Tensor | pb.RaggedTensor:
    """Texts of the characters whose numbers stand along the last axis of `input`.

    Shapes: `input` [..., characters], dense or ragged, at least a vector; the result has an axis less. Dtypes: int32.

    Raises:
        ValueError: another encoding than "UTF-8", "UTF-16-BE" and "UTF-32-BE", other `errors`, or `input` is a scalar.
        InvalidArgumentError: from a run, if they are "strict" and a number is that of no character.
    """
    output, wish = _output(output_encoding), Errors(errors, replacement_char)

    def encoded(codes: list[int]) -> bytes:
        found = [c for code in codes for c in ([code] if _is_character(code) else wish.instead(f"{code}"))]
        return "".join(map(chr, found)).encode(output)

    if isinstance(input, pb.RaggedTensor) and input.ragged_rank > 1:
        return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char, name))
    if isinstance(input, pb.RaggedTensor):

        def of_rows(codes: Array, splits: Array) -> Array:
            parts = np.split(codes, splits[1:-1]) if len(splits) > 1 else []
            return as_array([encoded(part.tolist()) for part in parts], pb.string)

        spec = pb.TensorSpec([input.shape.size(0)], pb.string)
        inputs = [input.values, input.row_splits]
        rows: pb.Tensor = pb.numpy_function(of_rows, inputs, spec, stateful=False, name=name or "UnicodeEncode")
        return rows
    x = pb.convert_to_tensor(input)
    if x.shape.rank == 0:
        raise ValueError(f"strings.unicode_encode: input must have at least one axis, that of characters: {x}")

    def of_last_axis(codes: Array) -> Array:
        parts = codes.reshape(-1, codes.shape[-1]).tolist()
        return as_array([encoded(part) for part in parts], pb.string).reshape(codes.shape[:-1])

    return _of_texts(of_last_axis, x, x.shape[:-1], name or "UnicodeEncode")


def _characters(
    input: Any, encoding: str, wish: Errors, values: Callable[[list[Characters]], Array], name: str
) -> tuple[Any, Any]:
    """What `values` makes of the characters of texts, and their places, in rows."""
    if isinstance(input, pb.RaggedTensor):
        first, second = _characters(input.values, encoding, wish, values, name)
        return input.with_values(first), input.with_values(second)
    x = pb.convert_to_tensor(input, pb.string)
    if x.shape.rank is None:
        raise ValueError(f"strings: the rank of texts must be known: {x}; use tf.ensure_shape")
    if x.shape.rank > 1:
        return _characters(pb.RaggedTensor.from_tensor(x, ragged_rank=x.shape.rank - 1), encoding, wish, values, name)
    codec = _codec("input_encoding", encoding)

    def decoded(texts: Array) -> list[Array]:
        found = [list(_decoded(text, codec, wish)) for text in texts.ravel().tolist()]
        places = [at for row in found for _, at in row]
        return [
            values(found),
            np.array(places, np.int64),
            np.array([len(row) for row in found], np.int64).reshape(texts.shape),
        ]

    kind = pb.int32 if values is _numbers else pb.string
    specs = [pb.TensorSpec([None], kind), pb.TensorSpec([None], pb.int64), pb.TensorSpec(x.shape, pb.int64)]
    codes, places, lengths = pb.numpy_function(decoded, [x], specs, stateful=False, name=name)
    if x.shape.rank == 0:
        return codes, places
    rows = pb.RaggedTensor.from_row_lengths(codes, lengths, validate=False)
    return rows, rows.with_values(places)


def _numbers(found: list[Characters]) -> Array:
    return np.array([code for row in found for code, _ in row], np.int32)


def _decoded(text: bytes, codec: str, wish: Errors) -> Iterator[tuple[int, int]]:
    """The characters of a text, and the places of their bytes."""
    at = 0
    while at < len(text):
        end, bad = len(text), len(text)
        try:
            good = text[at:].decode(codec)
        except UnicodeDecodeError as error:
            end, bad = at + error.start, at + error.end
            good = text[at:end].decode(codec)
        for character in good:
            yield from ((code, at) for code in wish.kept(ord(character)))
            at += len(character.encode(codec))
        if bad > end:
            yield from ((code, end) for code in wish.instead(repr(text)))
        at = bad


def _of_texts(function: Callable[[Array], Array], x: pb.Tensor, shape: pb.TensorShape, name: str) -> pb.Tensor:
    found: pb.Tensor = pb.numpy_function(function, [x], pb.TensorSpec(shape, pb.string), stateful=False, name=name)
    return found


def _codec(what: str, encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(f"strings: there is no {what} {encoding!r}; Python's codecs are there, as 'UTF-8'") from None


def _output(encoding: str) -> str:
    if encoding not in _OUTPUTS:
        raise ValueError(f"strings: output_encoding must be 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE', not {encoding!r}")
    return encoding


def _is_character(code: int) -> bool:
    """Whether it is the number of a character, and not of half of one."""
    return 0 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000
