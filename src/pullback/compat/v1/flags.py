"""Command-line flags as TensorFlow 1 has them: `tf.flags`, which `tf.app.flags` is as well.

A flag is `--name=value` or `--name value`, with one dash or two; one of truth values `--name` or `--noname`. What is no
flag that was defined is left to the program.

>>> import pullback.compat.v1 as tf
>>> values = tf.flags.FlagValues()
>>> rate = tf.flags.DEFINE_float("rate", 0.1, "the learning rate", flag_values=values)
>>> size = tf.flags.DEFINE_multi_integer("size", [10], "the size of a layer", flag_values=values)
>>> values(["program", "--rate=0.5", "--size", "3", "--size=4", "file"])
['program', 'file']
>>> values.rate, values.size, rate.value, values["rate"].default
(0.5, [3, 4], 0.5, 0.1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from .flag_values import DuplicateFlagError as DuplicateFlagError
from .flag_values import Error as Error
from .flag_values import FlagHolder
from .flag_values import FlagValues as FlagValues
from .flag_values import IllegalFlagValueError as IllegalFlagValueError
from .flag_values import UnrecognizedFlagError as UnrecognizedFlagError
from .flag_values import ValidationError as ValidationError

FLAGS = FlagValues()


def DEFINE_string(name: str, default: str | None, help: str = "", flag_values: FlagValues = FLAGS) -> FlagHolder:
    """A flag of text."""
    return flag_values._define(name, default, help, str)


def DEFINE_integer(
    name: str,
    default: int | None,
    help: str = "",
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
) -> FlagHolder:
    """A flag of a whole number."""
    return flag_values._define(name, default, help, _number(int, lower_bound, upper_bound))


def DEFINE_float(
    name: str,
    default: float | None,
    help: str = "",
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
) -> FlagHolder:
    """A flag of a number."""
    return flag_values._define(name, default, help, _number(float, lower_bound, upper_bound))


def DEFINE_boolean(name: str, default: bool | None, help: str = "", flag_values: FlagValues = FLAGS) -> FlagHolder:
    """A flag that is on or off."""
    return flag_values._define(name, default, help, _truth, is_switch=True)


DEFINE_bool = DEFINE_boolean


def DEFINE_enum(
    name: str, default: str | None, enum_values: Sequence[str], help: str = "", flag_values: FlagValues = FLAGS
) -> FlagHolder:
    """A flag of one of some texts."""
    return flag_values._define(name, default, help, _one_of(enum_values))


def DEFINE_enum_class(
    name: str, default: Enum | str | None, enum_class: type[Enum], help: str = "", flag_values: FlagValues = FLAGS
) -> FlagHolder:
    """A flag of one of the members of `enum_class`, by name; capitals make no difference."""
    return flag_values._define(name, default, help, _member_of(enum_class))


def DEFINE_list(
    name: str, default: Sequence[str] | str | None, help: str = "", flag_values: FlagValues = FLAGS
) -> FlagHolder:
    """A flag of texts with commas between them."""
    return flag_values._define(
        name, default, help, lambda text: [part.strip() for part in text.split(",")] if text else []
    )


def DEFINE_multi_string(
    name: str, default: str | Sequence[str] | None, help: str = "", flag_values: FlagValues = FLAGS
) -> FlagHolder:
    """A flag that may be given several times; the list of all texts."""
    return flag_values._define_multi(name, default, help, str)


def DEFINE_multi_integer(
    name: str,
    default: int | Sequence[int] | None,
    help: str = "",
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
) -> FlagHolder:
    """A flag that may be given several times; the list of all whole numbers."""
    return flag_values._define_multi(name, default, help, _number(int, lower_bound, upper_bound))


def DEFINE_multi_float(
    name: str,
    default: float | Sequence[float] | None,
    help: str = "",
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
) -> FlagHolder:
    """A flag that may be given several times; the list of all numbers."""
    return flag_values._define_multi(name, default, help, _number(float, lower_bound, upper_bound))


def DEFINE_multi_enum(
    name: str,
    default: str | Sequence[str] | None,
    enum_values: Sequence[str],
    help: str = "",
    flag_values: FlagValues = FLAGS,
) -> FlagHolder:
    """A flag that may be given several times; the list of all, each one of some texts."""
    return flag_values._define_multi(name, default, help, _one_of(enum_values))


def DEFINE_spaceseplist(
    name: str, default: Sequence[str] | str | None, help: str = "", flag_values: FlagValues = FLAGS
) -> FlagHolder:
    """A flag of texts with spaces between them."""
    return flag_values._define(name, default, help, str.split)


def DEFINE_multi_enum_class(
    name: str,
    default: Any,
    enum_class: type[Enum],
    help: str = "",
    flag_values: FlagValues = FLAGS,
) -> FlagHolder:
    """A flag that may be given several times; the list of all, each a member of `enum_class`."""
    return flag_values._define_multi(name, default, help, _member_of(enum_class))


def set_default(flag_holder: FlagHolder, value: Any) -> None:
    """Give a flag another default."""
    flag_holder.flag_values.set_default(flag_holder.name, value)


def register_validator(
    flag_name: str,
    checker: Callable[[Any], bool],
    message: str = "Flag validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:
    """Let reading a command line fail where `checker` of a flag's value is false."""
    _check([flag_name], lambda values: checker(values[flag_name]), f"flag --{flag_name}: {message}", flag_values)


def validator(flag_name: str, message: str = "Flag validation failed", flag_values: FlagValues = FLAGS) -> Any:
    """The decorator that makes a function a validator of a flag; see `register_validator`."""

    def registered(checker: Callable[[Any], bool]) -> Callable[[Any], bool]:
        register_validator(flag_name, checker, message, flag_values)
        return checker

    return registered


def register_multi_flags_validator(
    flag_names: Sequence[str],
    multi_flags_checker: Callable[[dict[str, Any]], bool],
    message: str = "Flags validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:
    """Let reading a command line fail where a function of the values of several flags, by name, is false."""
    _check(flag_names, multi_flags_checker, f"flags {', '.join(flag_names)}: {message}", flag_values)


def multi_flags_validator(
    flag_names: Sequence[str], message: str = "Flags validation failed", flag_values: FlagValues = FLAGS
) -> Any:
    """The decorator that makes a function a validator of several flags; see `register_multi_flags_validator`."""

    def registered(checker: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], bool]:
        register_multi_flags_validator(flag_names, checker, message, flag_values)
        return checker

    return registered


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """Let reading a command line without this flag fail.

    Raises:
        IllegalFlagValueError: it was read, and the flag was not there.
    """
    message = f"the flag --{flag_name} must be given"
    _check([flag_name], lambda values: values[flag_name] is not None, message, flag_values)


def mark_flags_as_required(flag_names: Sequence[str], flag_values: FlagValues = FLAGS) -> None:
    """Let reading a command line without these flags fail; see `mark_flag_as_required`."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(
    flag_names: Sequence[str], required: bool = False, flag_values: FlagValues = FLAGS
) -> None:
    """Let reading a command line with several of these flags fail, with none of them too if `required`."""

    def is_one(values: dict[str, Any]) -> bool:
        count = sum(value is not None for value in values.values())
        return count == 1 or (not count and not required)

    how_many = "exactly one" if required else "at most one"
    _check(flag_names, is_one, f"{how_many} of the flags {', '.join(flag_names)} may be given", flag_values)


def _check(
    names: Sequence[str], check: Callable[[dict[str, Any]], bool], message: str, flag_values: FlagValues
) -> None:
    flag_values._checks.append((tuple(names), check, message))
    if flag_values.is_parsed():
        flag_values.validate_all_flags()


def _member_of(enum_class: type[Enum]) -> Callable[[str], Enum]:
    def parse(text: str) -> Enum:
        for member in enum_class:
            if member.name.lower() == text.lower():
                return member
        raise ValueError(f"it is one of {', '.join(member.name for member in enum_class)}")

    return parse


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
