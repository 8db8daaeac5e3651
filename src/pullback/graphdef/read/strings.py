"""GraphDef import of texts. What is joined of known ones, as the names of files are, makes no operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import string
from ...core.operation import Tensor
from ...core.primitive import Primitive
from ...layers.strings import unsorted_segment_join
from ...primitives.shape.reshape import reshape
from ...primitives.strings.buckets import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from ...primitives.strings.conversion import as_string, format, to_number
from ...primitives.strings.parts import StringJoin, join, length, lower, reduce_join, strip, substr, upper
from ...primitives.strings.patterns import regex_full_match, regex_replace
from ...primitives.strings.splitting import StringSplit, StringSplitV2
from ..nodes import REQUIRED, Node, calling, reader
from .operands import tensor_of, text_of

reader("StringToNumber")(calling(to_number, 1, out_type="float32"))
reader("StringStrip")(calling(strip, 1))
reader("StringToHashBucketStrong")(calling(to_hash_bucket_strong, 1, num_buckets=REQUIRED, key=REQUIRED))
reader("StringLength")(calling(length, 1, unit="BYTE"))
reader("Substr")(calling(substr, 3, unit="BYTE"))
reader("UnsortedSegmentJoin")(calling(unsorted_segment_join, 3, separator=""))
reader("StringLower")(calling(lower, 1, encoding=""))
reader("StringUpper")(calling(upper, 1, encoding=""))
reader("StringToHashBucket")(calling(to_hash_bucket, 1, num_buckets=REQUIRED))
reader("StringToHashBucketFast")(calling(to_hash_bucket_fast, 1, num_buckets=REQUIRED))
reader("AsString")(calling(as_string, 1, precision=-1, scientific=False, shortest=False, width=-1, fill=""))


@reader("StaticRegexReplace")
def replaced(node: Node, x: Tensor) -> Any:
    every = node.attribute("replace_global", True)
    return regex_replace(x, node.text("pattern"), node.text("rewrite"), every, name=node.exactly)


@reader("RegexReplace")
def replaced_by(node: Node, x: Tensor, pattern: Tensor, rewrite: Tensor) -> Any:
    found = text_of(node, pattern, "pattern"), text_of(node, rewrite, "rewrite")
    return regex_replace(x, *found, node.attribute("replace_global", True), name=node.exactly)


@reader("StaticRegexFullMatch", anything=True)
def matched(node: Node, x: Any) -> Any:
    """Left out for known texts: savers ask so where files are."""
    if not isinstance(x, Tensor):
        return node.left_out()
    return regex_full_match(x, node.text("pattern"), name=node.exactly)


@reader("RegexFullMatch")
def matched_by(node: Node, x: Tensor, pattern: Tensor) -> Any:
    return regex_full_match(x, text_of(node, pattern, "pattern"), name=node.exactly)


@reader("StringJoin", anything=True)
def joined(node: Node, *xs: Any) -> Any:
    separator = node.text("separator")
    if all(isinstance(x, np.ndarray) for x in xs):
        return _known(StringJoin(separator), *xs)
    return join([tensor_of(node, x) for x in xs], separator, name=node.exactly)


@reader("ReduceJoin")
def joined_along(node: Node, x: Tensor, axes: Tensor) -> Any:
    along = node.integers(axes, "reduction_indices")
    return reduce_join(x, along, node.attribute("keep_dims", False), node.text("separator"), name=node.exactly)


@reader("StringFormat")
def formatted(node: Node, *xs: Tensor) -> Any:
    said = node.text("template", "%s"), list(xs), node.text("placeholder", "%s"), node.attribute("summarize", 3)
    return format(*said, name=node.exactly)


@reader("StringSplit", outputs=("indices", "values", "shape"))
def split(node: Node, x: Tensor, delimiter: Tensor) -> Any:
    return _parts(node, StringSplit(text_of(node, delimiter, "delimiter"), node.attribute("skip_empty", True)), x)


@reader("StringSplitV2", outputs=("indices", "values", "shape"))
def split_at(node: Node, x: Tensor, sep: Tensor) -> Any:
    return _parts(node, StringSplitV2(text_of(node, sep, "sep"), node.attribute("maxsplit", -1)), x)


def _parts(node: Node, primitive: Primitive, x: Tensor) -> Any:
    return node.make(primitive, reshape(x, [1]) if x.shape.rank == 0 else x)


def _known(primitive: Primitive, *xs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What a primitive makes of known texts."""
    made: np.ndarray[Any, Any] = np.asarray(primitive.kernel(np, *xs), string)
    return made
