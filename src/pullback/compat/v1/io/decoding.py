"""Decoding of texts in TensorFlow 1: raw bytes, rows of tables (CSV), base 64, compressed data.

>>> import zlib
>>> import pullback.compat.v1 as tf
>>> texts = [tf.decode_base64("YWI"), tf.io.decode_compressed(zlib.compress(b"cd"), "ZLIB")]
>>> tf.Session().run(texts)
[b'ab', b'cd']
"""

from __future__ import annotations

import base64
import binascii
import csv
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....core import nest
from ....core.contexts import in_graph_of_inputs
from ....core.dtypes import FLOATING, dtype_name
from ....core.limits import reading
from ....core.typing import DTypeLike, TensorLike
from ....primitives.creation.constant import as_array
from ....records.files import window_of
from ..composites import of_composites_too

Array = np.ndarray[Any, Any]


@in_graph_of_inputs
def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> pb.Tensor:
    """The bytes of texts, all of one length, as numbers of `out_type`.

    Shapes: those of the texts, and an axis more. Dtypes: any of numbers.

    Raises:
        InvalidArgumentError: from a run, if a text has not whole numbers, or not as many bytes as the others.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.decode_raw(b"\\x01\\x00\\x02\\x00", tf.int16))
    array([1, 2], dtype=int16)
    """
    given: Any = bytes if input_bytes is None else input_bytes
    texts = pb.convert_to_tensor(given)
    dtype: Any = pb.as_dtype(out_type)  # type: ignore[arg-type]

    def decode(array: Array) -> Array:
        sizes = {len(data) for data in array.flat}
        if len(sizes) > 1:
            raise pb.errors.InvalidArgumentError(
                f"DecodeRaw requires input strings to all be the same size, not {sorted(sizes)}"
            )
        size = sizes.pop() if sizes else 0
        if size % dtype.itemsize:
            kind = dtype_name(dtype)
            raise pb.errors.InvalidArgumentError(
                f"Input to DecodeRaw has length {size} that is not a multiple of {dtype.itemsize}, the size of {kind}"
            )
        numbers = np.frombuffer(b"".join(array.flat), dtype).reshape(*array.shape, size // dtype.itemsize)
        return numbers if little_endian == (sys.byteorder == "little") else numbers.byteswap()

    spec = pb.TensorSpec(texts.shape.concatenate(pb.TensorShape([None])), dtype)
    return _called(decode, texts, spec, name or "DecodeRaw")


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[pb.Tensor]:
    """The columns of rows of a table, one tensor for each of `record_defaults`: what stands for a field left empty.

    A default without elements, or a dtype, says that there must be a value. Quotes are those of RFC 4180.

    Shapes: all those of `records`. Dtypes: those of the defaults: float32, float64, int32, int64 or string.

    Raises:
        ValueError: `select_cols` are not as many as the defaults, or not in order.
        InvalidArgumentError: from a run, for a row of another number of fields, or a field of another kind.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.decode_csv(["1,a", ",b"], [[0.5], [""]]))
    [array([1. , 0.5], dtype=float32), array([b'a', b'b'], dtype=object)]
    """
    if select_cols is not None and (
        len(select_cols) != len(record_defaults) or sorted(set(select_cols)) != [*select_cols]
    ):
        raise ValueError(f"decode_csv: select_cols must be {len(record_defaults)} rising numbers, not {select_cols}")
    texts = pb.convert_to_tensor(records)
    defaults = [_default(default) for default in record_defaults]
    quoting: Any = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE

    def fields(row: int, data: Any) -> list[str]:
        try:
            # Latin-1 has a character for each byte.
            found = next(
                csv.reader([data.decode("latin-1")], delimiter=field_delim, quoting=quoting, strict=True), [""]
            )
        except csv.Error as error:
            raise pb.errors.InvalidArgumentError(f"decode_csv: record {row} is no row of a table: {error}") from None
        if select_cols is not None:
            found = [found[i] for i in select_cols if i < len(found)]
        if len(found) != len(defaults):
            raise pb.errors.InvalidArgumentError(f"Expect {len(defaults)} fields but have {len(found)} in record {row}")
        return found

    def decode(array: Array) -> Any:
        rows = [fields(i, data) for i, data in enumerate(array.flat)]
        columns = [
            as_array([_field(i, j, rows[i][j], default, na_value) for i in range(len(rows))], default.dtype)
            for j, default in enumerate(defaults)
        ]
        arrays = [column.reshape(array.shape) for column in columns]
        return arrays[0] if len(arrays) == 1 else arrays

    specs = [pb.TensorSpec(texts.shape, default.dtype) for default in defaults]
    return list(pb.numpy_function(decode, [texts], specs, stateful=False, name=name or "DecodeCSV"))


@of_composites_too
def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> pb.Tensor:
    """Texts in base 64, with - and _ for + and /; with `pad`, filled up by =.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run([tf.encode_base64(b"\\xff\\xfe"), tf.decode_base64("__4")])
    [b'__4', b'\\xff\\xfe']
    """

    def encode(data: Any) -> Any:
        text = base64.urlsafe_b64encode(data)
        return text if pad else text.rstrip(b"=")

    return _each(encode, input, name or "EncodeBase64")


@of_composites_too
def decode_base64(input: TensorLike, name: str | None = None) -> pb.Tensor:
    """What texts in base 64 stand for.

    Raises:
        InvalidArgumentError: from a run, for what is no base 64.
    """

    def decode(data: Any) -> Any:
        try:
            return base64.b64decode(data + b"=" * (-len(data) % 4), b"-_", validate=True)
        except binascii.Error as error:
            raise pb.errors.InvalidArgumentError(f"decode_base64: {data!r} is no base 64: {error}") from None

    return _each(decode, input, name or "DecodeBase64")


@of_composites_too
def decode_compressed(bytes: TensorLike, compression_type: str = "", name: str | None = None) -> pb.Tensor:
    """What texts compressed as "ZLIB" or "GZIP" unpack to.

    Raises:
        ValueError: no compression has that name. InvalidArgumentError: from a run, for what is not compressed so, or
        is larger than `pb.config.Limits` allows.
    """
    window = window_of(compression_type)

    def decode(data: Any) -> Any:
        unpacker = zlib.decompressobj(window)
        try:
            found = unpacker.decompress(data, reading().limits.bytes)
        except zlib.error as error:
            raise pb.errors.InvalidArgumentError(
                f"decode_compressed: this is not {compression_type}: {error}"
            ) from None
        if not unpacker.eof:
            raise pb.errors.InvalidArgumentError(f"decode_compressed: this {compression_type} is torn, or too large")
        return found

    return _each(decode if window else lambda data: data, bytes, name or "DecodeCompressed")


def _default(default: Any) -> Array:
    """The default of a field, an array without elements where it has none."""
    parts = nest.flatten(default) if isinstance(default, list | tuple) else [default]
    arrays = [_of_one(part) for part in parts] or [np.empty(0, np.float32)]
    array = np.concatenate(arrays)
    if array.size > 1 or array.dtype not in (pb.float32, pb.double, pb.int32, pb.int64, pb.string):
        raise ValueError(f"decode_csv: a default is one number or text, or [], not {default!r}")
    return array


def _of_one(default: Any) -> Array:
    """A dtype as a vector without elements, all else as one of its elements."""
    if isinstance(default, pb.Tensor):
        value = pb.get_static_value(default)
        if value is None:
            raise ValueError(f"decode_csv: the default {default} must be a constant")
        return np.ravel(value)
    if isinstance(default, str | bytes):
        return np.ravel(as_array(default, pb.string))
    try:
        return np.empty(0, pb.as_dtype(default))
    except TypeError:
        return np.ravel(as_array(default))


def _field(row: int, column: int, text: str, default: Array, na_value: str) -> Any:
    """The value of a field."""
    if text in ("", na_value):
        if not default.size:
            raise pb.errors.InvalidArgumentError(f"Field {column} is required but missing in record {row}!")
        return default[0]
    if default.dtype == pb.string:
        return text.encode("latin-1")
    try:
        return float(text) if default.dtype in FLOATING else np.array(int(text), default.dtype)
    except (ValueError, OverflowError):
        kind = dtype_name(default.dtype)
        raise pb.errors.InvalidArgumentError(f"Field {column} in record {row} is not a valid {kind}: {text}") from None


def _each(function: Callable[[Any], Any], texts: TensorLike, name: str) -> pb.Tensor:
    """What a function gives for each text."""
    x = pb.convert_to_tensor(texts)

    def call(array: Array) -> Array:
        made = np.empty(array.size, object)
        made[:] = [function(data) for data in array.flat]
        return made.reshape(array.shape)

    return _called(call, x, pb.TensorSpec(x.shape, pb.string), name)


def _called(function: Callable[[Array], Array], x: pb.Tensor, spec: pb.TensorSpec, name: str) -> pb.Tensor:
    y: pb.Tensor = pb.numpy_function(function, [x], spec, stateful=False, name=name)
    return y
