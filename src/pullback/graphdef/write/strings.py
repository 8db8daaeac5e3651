"""GraphDef export of texts."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.strings.buckets import StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong
from ...primitives.strings.conversion import AsString, StringFormat, StringToNumber
from ...primitives.strings.parts import StringJoin, StringLength, StringLower, StringStrip, StringUpper, Substr
from ...primitives.strings.patterns import StaticRegexFullMatch, StaticRegexReplace
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
