"""Mutations of protobuf messages: a valid message with a few things in it that are not what they were."""

from __future__ import annotations

from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

NUMBERS = (0, 1, -1, 2, -2, 3, 7, 77, 255, 2**31 - 1, 2**31, -(2**31), 2**33, 2**40, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -1e30, 1e-40, float("inf"), float("-inf"), float("nan"))
TEXTS = ("", " ", "x", "nowhere", "a" * 300, "\x1b[2J", "\x00", "ä", "../../etc/passwd", "/", "-1", "9" * 5000, ":0")
_BITS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
Place = tuple[Message, FieldDescriptor]


def mutated(message: Any, random: Random) -> Any:
    """A copy of `message` with one to three things changed, or, now and then, some of its bytes."""
    copy = type(message)()
    if random.random() < 0.1:
        data = bytearray(message.SerializeToString())
        for _ in range(random.randint(1, 4)):
            _change_bytes(data, random)
        try:
            copy.ParseFromString(bytes(data))
        except DecodeError:
            pass
        else:
            return copy
    copy.CopyFrom(message)
    for _ in range(random.randint(1, 3)):
        places = _places(copy)
        if places:
            _change(*random.choice(places), places, random)
    return copy


def _places(message: Message) -> list[Place]:
    """The fields that are set in a message, and in those that it holds."""
    found, pending = [], [message]
    while pending:
        one = pending.pop()
        for field, value in one.ListFields():
            found.append((one, field))
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                pending.extend(messages_of(value, field))
    return found


def messages_of(value: Any, field: FieldDescriptor) -> list[Message]:
    """The messages in the value of a field of messages: of a list, those of a mapping from keys to messages too."""
    if not field.is_repeated:
        return [value]
    found = list(value.values()) if is_mapping(field) else list(value)
    return [one for one in found if isinstance(one, Message)]


def is_mapping(field: FieldDescriptor) -> bool:
    """Whether a field is a mapping."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _change(message: Any, field: FieldDescriptor, places: list[Place], random: Random) -> None:
    value = getattr(message, field.name)
    if random.random() < 0.1:
        message.ClearField(field.name)
    elif is_mapping(field):
        _change_mapping(value, random)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        _change_messages(message, field, value, places, random)
    elif field.is_repeated:
        _change_list(value, field, places, random)
    else:
        setattr(message, field.name, _other(value, field, places, random))


def _change_messages(message: Any, field: FieldDescriptor, value: Any, places: list[Place], random: Random) -> None:
    same = [(getattr(m, f.name), f) for m, f in places if f.message_type is field.message_type]
    chosen = random.choice([one for v, f in same for one in messages_of(v, f)])
    other = type(chosen)()
    other.CopyFrom(chosen)
    if not field.is_repeated:
        value.CopyFrom(other)
        return
    i, kind = random.randrange(len(value)), random.randrange(4)
    if kind == 0:
        del value[i]
    elif kind == 1:
        value.add().CopyFrom(value[i])
    elif kind == 2:
        value[i].CopyFrom(other)
    else:
        j, kept = random.randrange(len(value)), type(other)()
        kept.CopyFrom(value[i])
        value[i].CopyFrom(value[j])
        value[j].CopyFrom(kept)


def _change_mapping(value: Any, random: Random) -> None:
    """Take an entry away, give one the message of another, or put one under another key."""
    keys = sorted(value)
    key, other = random.choice(keys), random.choice(keys)
    kept = value[random.choice([key, other])]
    if random.random() < 0.4 or not isinstance(kept, Message):
        del value[key]
    else:
        copy = type(kept)()
        copy.CopyFrom(kept)
        named = isinstance(key, str) and random.random() < 0.2
        value[random.choice(TEXTS) if named else other].CopyFrom(copy)


def _change_list(value: Any, field: FieldDescriptor, places: list[Place], random: Random) -> None:
    i, kind = random.randrange(len(value)), random.randrange(4)
    if kind == 0:
        del value[i]
    elif kind == 1:
        value.append(value[i])
    elif kind == 2:
        value[i] = _other(value[i], field, places, random)
    else:
        value.append(_other(value[i], field, places, random))


def _other(value: Any, field: FieldDescriptor, places: list[Place], random: Random) -> Any:
    """Another value for a field, or an element of it."""
    if isinstance(value, bytes):
        data = bytearray(value)
        _change_bytes(data, random)
        return bytes(data)
    if isinstance(value, str):
        texts = [getattr(m, f.name) for m, f in places if f.cpp_type == field.cpp_type and f.type == field.type]
        near = [t for text in texts for t in ([text] if isinstance(text, str) else text)]
        return random.choice([*TEXTS, *near, *near])
    if isinstance(value, float):
        return random.choice(FLOATS)
    if isinstance(value, bool):
        return not value
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return random.choice([one.number for one in field.enum_type.values])
    least, most = _BITS[field.cpp_type]
    wanted = random.choice([*NUMBERS, *[value + 1, value - 1] * 4, *range(30)])
    return min(max(wanted, least), most)


def _change_bytes(data: bytearray, random: Random) -> None:
    """Flip a bit, cut, double, or put other bytes in."""
    at, kind = random.randrange(len(data) + 1), random.randrange(5)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << random.randrange(8)
    elif kind == 1:
        del data[at : at + random.randint(1, 8)]
    elif kind == 2:
        data[at:at] = data[at : at + 8]
    elif kind == 3 and len(data) >= 8:
        at -= at % 8
        data[at : at + 8] = random.choice(NUMBERS).to_bytes(8, "little", signed=True)[: len(data) - at]
    else:
        data[at : at + 1] = random.choice([b"\xff", b"\x00", b"\x1b", b"\xff\xfe", b"\x80\x80\x80\x80\x01"])
