"""Protocol messages (Protocol Buffers) that no package ships: what a `.proto` file says, as texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

_PACKAGE = "pullback"


def described(file: str, syntax: str, messages: Mapping[str, str], imports: Sequence[str] = ()) -> SimpleNamespace:
    """The classes of `messages`, by name: for each its fields, `number name type`, with commas between them.

    Before a type, `*` says that there are many, `|` that only one of the fields with that sign has a value, and `>`
    that there is one for each of some names. `.pullback.Name` is another one of `messages`.

    >>> made = described("pullback/shown.proto", "proto3", {"Point": "1 x float", "Line": "1 ends *.pullback.Point"})
    >>> made.Line(ends=[made.Point(x=1.0)]).SerializeToString().hex()
    '0a050d0000803f'
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    proto = descriptor_pb2.FileDescriptorProto(name=file, package=_PACKAGE, syntax=syntax, dependency=imports)
    for name, fields in messages.items():
        message = proto.message_type.add(name=name)
        for text in fields.split(", "):
            _describe(message, text, descriptor_pb2.FieldDescriptorProto)
    made = descriptor_pool.Default().AddSerializedFile(proto.SerializeToString())
    return SimpleNamespace(**{n: message_factory.GetMessageClass(made.message_types_by_name[n]) for n in messages})


def _describe(message: Any, text: str, kinds: Any) -> None:
    number, name, kind = text.split()
    sign, kind = (kind[0], kind[1:]) if kind[0] in "*|>" else ("", kind)
    field = message.field.add(number=int(number), name=name)
    field.label = kinds.LABEL_REPEATED if sign in ("*", ">") else kinds.LABEL_OPTIONAL
    if sign == ">":
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        _describe(entry, "1 key string", kinds)
        _describe(entry, f"2 value {kind}", kinds)
        kind = f".{_PACKAGE}.{message.name}.{entry.name}"
    if sign == "|":
        if not message.oneof_decl:
            message.oneof_decl.add(name="kind")
        field.oneof_index = 0
    if kind.startswith("."):
        field.type, field.type_name = kinds.TYPE_MESSAGE, kind
    else:
        field.type = getattr(kinds, f"TYPE_{kind.upper()}")
