"""Command-line flags as TensorFlow 1 has them: `tf.flags`, which `tf.app.flags` is as well.

A flag is `--name=value` or `--name value`, with one dash or two; one of truth values `--name` or `--noname`. What is no
flag that was defined is left to the program.

>>> import pullback.compat.v1 as tf
>>> values = tf.flags.FlagValues()
>>> tf.flags.DEFINE_float("rate", 0.1, "the learning rate", flag_values=values)
>>> tf.flags.DEFINE_multi_integer("size", [10], "the size of a layer", flag_values=values)
>>> values(["program", "--rate=0.5", "--size", "3", "--size=4", "file"])
['program', 'file']
>>> values.rate, values.size
(0.5, [3, 4])
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple


class _Flag(NamedTuple):
    parse: Callable[[str], Any]
    help: str
    is_switch: bool
    is_multi: bool = False
    """Whether it may be given several times, its value being the list of all."""


class FlagValues:
    """The values of flags as attributes; read from the command line of the process when the first is asked for."""

    def __init__(self) -> None:
        self.__dict__.update(_flags={}, _values={}, _defaults={}, _rest=None)

    def __call__(self, argv: Sequence[str], known_only: bool = True) -> list[str]:
        """Take the values from `argv`, whose first element is the program; what is no flag comes back.

        Raises:
            ValueError: a flag has no value, or one of another kind; without `known_only`, a flag is not known.
        """
        rest = list(self._taken(list(argv)))
        unknown = [text for text in rest[1:] if text.startswith("--")]
        if unknown and not known_only:
            raise ValueError(f"unknown flag {unknown[0]}; there are {', '.join(f'--{name}' for name in self._flags)}")
        self.__dict__["_rest"] = rest
        return rest

    def _taken(self, argv: list[str]) -> Iterator[str]:
        yield from argv[:1]
        pending = argv[:0:-1]
        while pending:
            text = pending.pop()
            written, equals, value = text.partition("=")
            name = written.lstrip("-").replace("-", "_")
            flag = self._flags.get(name)
            if text == "--":
                yield from reversed(pending)
                return
            if not text.startswith("-") or (flag is None and not self._is_switched_off(name)):
                yield text
            elif flag is None:
                self._values[name[2:]] = False
            elif flag.is_switch and not equals:
                self._values[name] = True
            else:
                if not equals and not pending:
                    raise ValueError(f"flag --{name} needs a value: --{name}=...")
                parsed = self._parsed(name, value if equals else pending.pop())
                self._values[name] = [*self._values.get(name, []), parsed] if flag.is_multi else parsed

    def _is_switched_off(self, name: str) -> bool:
        flag = self._flags.get(name[2:]) if name.startswith("no") else None
        return flag is not None and flag.is_switch

    def _parsed(self, name: str, text: str) -> Any:
        try:
            return self._flags[name].parse(text)
        except ValueError as error:
            raise ValueError(f"flag --{name}={text}: {error}") from None

    def _define(self, name: str, default: Any, help: str, parse: Callable[[str], Any], is_switch: bool = False) -> None:
        self._add(name, _Flag(parse, help, is_switch), parse(default) if isinstance(default, str) else default)

    def _define_multi(self, name: str, default: Any, help: str, parse: Callable[[str], Any]) -> None:
        several = [] if default is None else list(default) if isinstance(default, list | tuple) else [default]
        start = None if default is None else [parse(x) if isinstance(x, str) else x for x in several]
        self._add(name, _Flag(parse, help, False, is_multi=True), start)

    def _add(self, name: str, flag: _Flag, default: Any) -> None:
        if name in self._flags:
            raise ValueError(f"the flag '{name}' is defined twice")
        self._flags[name], self._defaults[name] = flag, default

    def is_parsed(self) -> bool:
        """Whether a command line was read."""
        return self._rest is not None

    def flag_values_dict(self) -> dict[str, Any]:
        """The values of all flags, by name."""
        return {name: getattr(self, name) for name in self._flags}

    def __getattr__(self, name: str) -> Any:
        if name not in self._flags:
            raise AttributeError(f"no flag '{name}' is defined; there are {', '.join(self._flags) or 'none'}")
        if not self.is_parsed():
            self(sys.argv)
        return self._values.get(name, self._defaults[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags:
            raise AttributeError(f"no flag '{name}' is defined; there are {', '.join(self._flags) or 'none'}")
        self._values[name] = value

    def __delattr__(self, name: str) -> None:
        del self._flags[name], self._defaults[name]
        self._values.pop(name, None)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)


FLAGS = FlagValues()


def DEFINE_string(name: str, default: str | None, help: str = "", flag_values: FlagValues = FLAGS) -> None:
    """A flag of text."""
    flag_values._define(name, default, help, str)


def DEFINE_integer(
    name: str,
    default: int | None,
    help: str = "",
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
) -> None:
    """A flag of a whole number."""
    flag_values._define(name, default, help, _number(int, lower_bound, upper_bound))


def DEFINE_float(
    name: str,
    default: float | None,
    help: str = "",
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
) -> None:
    """A flag of a number."""
    flag_values._define(name, default, help, _number(float, lower_bound, upper_bound))


def DEFINE_boolean(name: str, default: bool | None, help: str = "", flag_values: FlagValues = FLAGS) -> None:
    """A flag that is on or off."""
    flag_values._define(name, default, help, _truth, is_switch=True)


DEFINE_bool = DEFINE_boolean


def DEFINE_enum(
    name: str, default: str | None, enum_values: Sequence[str], help: str = "", flag_values: FlagValues = FLAGS
) -> None:
    """A flag of one of some texts."""
    flag_values._define(name, default, help, _one_of(enum_values))


def DEFINE_enum_class(
    name: str, default: Enum | str | None, enum_class: type[Enum], help: str = "", flag_values: FlagValues = FLAGS
) -> None:
    """A flag of one of the members of `enum_class`, by name; capitals make no difference."""

    def parse(text: str) -> Enum:
        for member in enum_class:
            if member.name.lower() == text.lower():
                return member
        raise ValueError(f"it is one of {', '.join(member.name for member in enum_class)}")

    flag_values._define(name, default, help, parse)


def DEFINE_list(
    name: str, default: Sequence[str] | str | None, help: str = "", flag_values: FlagValues = FLAGS
) -> None:
    """A flag of texts with commas between them."""
    flag_values._define(name, default, help, lambda text: [part.strip() for part in text.split(",")] if text else [])


def DEFINE_multi_string(
    name: str, default: str | Sequence[str] | None, help: str = "", flag_values: FlagValues = FLAGS
) -> None:
    """A flag that may be given several times; the list of all texts."""
    flag_values._define_multi(name, default, help, str)


def DEFINE_multi_integer(
    name: str,
    default: int | Sequence[int] | None,
    help: str = "",
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
) -> None:
    """A flag that may be given several times; the list of all whole numbers."""
    flag_values._define_multi(name, default, help, _number(int, lower_bound, upper_bound))


def DEFINE_multi_float(
    name: str,
    default: float | Sequence[float] | None,
    help: str = "",
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
) -> None:
    """A flag that may be given several times; the list of all numbers."""
    flag_values._define_multi(name, default, help, _number(float, lower_bound, upper_bound))


def DEFINE_multi_enum(
    name: str,
    default: str | Sequence[str] | None,
    enum_values: Sequence[str],
    help: str = "",
    flag_values: FlagValues = FLAGS,
) -> None:
    """A flag that may be given several times; the list of all, each one of some texts."""
    flag_values._define_multi(name, default, help, _one_of(enum_values))


def DEFINE_spaceseplist(
    name: str, default: Sequence[str] | str | None, help: str = "", flag_values: FlagValues = FLAGS
) -> None:
    """A flag of texts with spaces between them."""
    flag_values._define(name, default, help, str.split)


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """Let reading a command line without this flag fail.

    Raises:
        ValueError: it was read, and the flag was not there.
    """
    if flag_values.is_parsed() and flag_values[flag_name] is None:
        raise ValueError(f"the flag --{flag_name} must be given")


def mark_flags_as_required(flag_names: Sequence[str], flag_values: FlagValues = FLAGS) -> None:
    """Let reading a command line without these flags fail; see `mark_flag_as_required`."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def _one_of(values: Sequence[str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in values:
            raise ValueError(f"it is one of {', '.join(values)}")
        return text

    return parse


def _number(kind: Callable[[str], Any], low: float | None, high: float | None) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        value = kind(text)
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError(f"it must be from {'-inf' if low is None else low} to {'inf' if high is None else high}")
        return value

    return parse


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "t", "1", "yes", "false", "f", "0", "no"):
        raise ValueError("it is true or false")
    return text.lower() in ("true", "t", "1", "yes")
