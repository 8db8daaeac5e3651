"""GraphDef export of assertions, checks and printing."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import string
from ...core.graph import Operation
from ...primitives.debugging.guards import Assert, CheckNumerics
from ...primitives.debugging.printing import PrintV1, PrintV2
from ..body import Body, Ref
from ..exporting import writer


@writer(CheckNumerics)
def check_numerics(body: Body, op: Operation, x: Ref) -> Any:
    primitive: Any = op.primitive
    return body.main("CheckNumerics", x, message=primitive.message)


@writer(Assert)
def assert_(body: Body, op: Operation, condition: Ref, *data: Ref) -> Any:
    primitive: Any = op.primitive
    shown = [body.constant(primitive.message.encode(), string), *data] if primitive.message else list(data)
    body.main("Assert", condition, shown, summarize=3 if primitive.summarize is None else primitive.summarize)
    return ()


@writer(PrintV1)
def print_v1(body: Body, op: Operation, x: Ref, *data: Ref) -> Any:
    primitive: Any = op.primitive
    first, count = primitive.first_n, primitive.summarize
    return body.main("Print", x, list(data), message=primitive.message, first_n=first, summarize=count)


@writer(PrintV2)
def print_(body: Body, op: Operation, *inputs: Ref) -> Any:
    primitive: Any = op.primitive
    marks = ["{}" if part is None else part.replace("{}", "{ }") for part in primitive.parts]
    summarize = 3 if primitive.summarize is None else primitive.summarize
    text = body.node(
        "StringFormat", list(inputs), template=primitive.sep.join(marks), placeholder="{}", summarize=summarize
    )
    body.main("PrintV2", text, output_stream=primitive.stream, end=primitive.end)
    return ()
