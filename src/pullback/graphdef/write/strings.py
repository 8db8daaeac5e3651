"""GraphDef export of texts."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import string
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
from ..exporting import with_attributes, writer

writer(AsString, StringLength, StringToNumber, StringLower, StringUpper, StringStrip, Substr)(with_attributes)
writer(StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong)(with_attributes)
writer(StaticRegexReplace, StaticRegexFullMatch)(with_attributes)


@writer(StringJoin, StringFormat)
def of_several(body: Body, p: Any, *xs: Ref) -> Any:
    return body.main(p.type, list(xs), **p.attributes)


@writer(ReduceJoin)
def reduced(body: Body, p: Any, x: Ref) -> Any:
    attributes = {"keep_dims": p.keep_dims, "separator": p.separator}
    return body.main(p.type, x, body.integers(p.axes), **attributes)


@writer(StringSplit)
def split(body: Body, p: Any, x: Ref) -> Any:
    delimiter = body.constant(p.delimiter.encode(), string)
    return body.main(p.type, x, delimiter, skip_empty=p.skip_empty)


@writer(StringSplitV2)
def split_at(body: Body, p: Any, x: Ref) -> Any:
    return body.main(p.type, x, body.constant(p.sep.encode(), string), maxsplit=p.maxsplit)
