"""GraphDef export of texts."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import string
from ...core.graph import Operation
from ...primitives.strings.buckets import StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong
from ...primitives.strings.conversion import AsString, StringFormat, StringToNumber
from ...primitives.strings.parts import (
    ReduceJoin,
    StringJoin,
    StringLength,
    StringLower,
    StringStrip,
    StringUpper,
    Substr,
)
from ...primitives.strings.patterns import StaticRegexFullMatch, StaticRegexReplace
from ...primitives.strings.splitting import StringSplit, StringSplitV2
from ..body import Body, Ref
from ..exporting import writer


@writer(AsString, StringLength, StringToNumber, StringLower, StringUpper, StringStrip, Substr)
@writer(StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong, StaticRegexReplace, StaticRegexFullMatch)
def with_attributes(body: Body, op: Operation, *xs: Ref) -> Any:
    """The attributes are TensorFlow's."""
    return body.main(op.type, *xs, **op.primitive.attributes)


@writer(StringJoin, StringFormat)
def of_several(body: Body, op: Operation, *xs: Ref) -> Any:
    return body.main(op.type, list(xs), **op.primitive.attributes)


@writer(ReduceJoin)
def reduced(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    attributes = {"keep_dims": primitive.keep_dims, "separator": primitive.separator}
    return body.main(op.type, x, body.integers(primitive.axes), **attributes)


@writer(StringSplit)
def split(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    delimiter = body.constant(primitive.delimiter.encode(), string)
    return body.main(op.type, x, delimiter, skip_empty=primitive.skip_empty)


@writer(StringSplitV2)
def split_at(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main(op.type, x, body.constant(primitive.sep.encode(), string), maxsplit=primitive.maxsplit)
