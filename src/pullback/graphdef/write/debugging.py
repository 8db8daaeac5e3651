"""GraphDef export of assertions, checks and printing."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import string
from ...primitives.debugging.guards import Assert, CheckNumerics
from ...primitives.debugging.printing import PrintV1, PrintV2
from ..body import Body, Ref
from ..exporting import with_attributes, writer

writer(CheckNumerics)(with_attributes)


@writer(Assert)
def assert_(body: Body, p: Any, condition: Ref, *data: Ref) -> Any:
    shown = [text for pair in zip(data, p.behind or [""] * len(data), strict=True) for text in pair]
    said = [body.constant(x.encode(), string) if isinstance(x, str) else x for x in [p.message, *shown] if x != ""]
    body.main("Assert", condition, said, summarize=3 if p.summarize is None else p.summarize)
    return ()


@writer(PrintV1)
def print_v1(body: Body, p: Any, x: Ref, *data: Ref) -> Any:
    first, count = p.first_n, p.summarize
    return body.main("Print", x, list(data), message=p.message, first_n=first, summarize=count)


@writer(PrintV2)
def print_(body: Body, p: Any, *inputs: Ref) -> Any:
    marks = ["{}" if part is None else part.replace("{}", "{ }") for part in p.parts]
    summarize = 3 if p.summarize is None else p.summarize
    text = body.node("StringFormat", list(inputs), template=p.sep.join(marks), placeholder="{}", summarize=summarize)
    body.main("PrintV2", text, output_stream=p.stream, end=p.end)
    return ()
