"""TensorFlow 1 parameters for `pullback.strings`, and functions that split into sparse tensors."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ... import strings as today
from ...core.contexts import in_graph_of_inputs
from ...core.typing import TensorLike
from ...layers.strings import unsorted_segment_join as unsorted_segment_join
from ...primitives.strings.splitting import StringSplit, StringSplitV2, ragged_parts, sparse_parts
from .arguments import older
from .composites import on_composites_too
from .ngrams import ngrams as ngrams
from .unicode import unicode_decode as unicode_decode
from .unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from .unicode import unicode_encode as unicode_encode
from .unicode import unicode_split as unicode_split
from .unicode import unicode_split_with_offsets as unicode_split_with_offsets
from .unicode import unicode_transcode as unicode_transcode

PARAMETERS = {
    "length": "input, name, unit",
    "reduce_join": "inputs, axis, keep_dims:keepdims, separator, name, reduction_indices:axis, keepdims",
    "substr": "input, pos, len, name, unit",
    "to_hash_bucket": "string_tensor:input, num_buckets, name, input",
    "to_number": "string_tensor:input, out_type, name, input",
}
OF_TENSORFLOW = {
    "reduce_join": "reduce_join",
    "regex_replace": "regex_replace",
    "string_join": "join",
    "string_split": "string_split",
    "string_strip": "strip",
    "string_to_hash_bucket": "to_hash_bucket",
    "string_to_hash_bucket_fast": "to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "to_hash_bucket_strong",
    "string_to_number": "to_number",
    "substr": "substr",
}
"""The names that `tf` itself has for functions of `tf.strings`."""


@in_graph_of_inputs
def split(
    input: TensorLike | None = None,
    sep: str | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | None = None,
    name: str | None = None,
) -> pb.SparseTensor | pb.RaggedTensor | pb.Tensor:
    """As `pb.strings.split`, into a SparseTensor unless `result_type` is "RaggedTensor".

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.strings.split(["a b", "c"])).values.tolist()
    [b'a', b'b', b'c']
    """
    given: Any = source if input is None else input
    if isinstance(given, pb.RaggedTensor):
        return given.with_flat_values(ragged_parts(StringSplitV2(sep or "", maxsplit), given.flat_values, name))
    return _of_type("strings.split", StringSplitV2(sep or "", maxsplit), given, result_type, name)


def string_split(
    source: TensorLike,
    sep: str | None = None,
    skip_empty: bool = True,
    delimiter: str = " ",
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> pb.SparseTensor | pb.RaggedTensor | pb.Tensor:
    """The parts of texts between any of the bytes of `delimiter`, or `sep`, in a SparseTensor.

    >>> import pullback.compat.v1 as tf
    >>> tf.Session().run(tf.string_split(["a,b;c"], ",;")).values.tolist()
    [b'a', b'b', b'c']
    """
    between = delimiter if sep is None else sep
    return _of_type("string_split", StringSplit(between, skip_empty), source, result_type, name)


def _of_type(
    what: str, primitive: Any, source: Any, result_type: str, name: str | None
) -> pb.SparseTensor | pb.RaggedTensor | pb.Tensor:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"{what}: result_type must be 'SparseTensor' or 'RaggedTensor', not {result_type!r}")
    return (sparse_parts if result_type == "SparseTensor" else ragged_parts)(primitive, source, name)


def __getattr__(name: str) -> Any:
    return on_composites_too(name, older(getattr(today, name), PARAMETERS.get(name)), PARAMETERS.get(name))


def __dir__() -> list[str]:
    return dir(today)
