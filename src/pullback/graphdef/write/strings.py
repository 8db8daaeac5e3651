"""GraphDef export of texts."""

from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...primitives.strings import AsString, StringFormat, StringJoin, StringLength, StringToNumber
from ..body import Body, Ref
from ..exporting import writer


@writer(AsString, StringLength, StringToNumber)
def with_attributes(body: Body, op: Operation, x: Ref) -> Any:
    """The attributes are TensorFlow's."""
    return body.main(op.type, x, **op.primitive.attributes)


@writer(StringJoin, StringFormat)
def of_several(body: Body, op: Operation, *xs: Ref) -> Any:
    return body.main(op.type, list(xs), **op.primitive.attributes)
