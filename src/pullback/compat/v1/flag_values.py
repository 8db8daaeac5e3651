"""Command-line flags: their values, as attributes, and what is known of each; `flags` has what defines them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Error(ValueError):
    """What is wrong with a flag."""


class DuplicateFlagError(Error):
    """A flag is defined twice."""


class IllegalFlagValueError(Error):
    """The value of a flag is of another kind, or refused by a validator."""


class UnrecognizedFlagError(Error):
    """A command line has a flag that is not defined."""


ValidationError = IllegalFlagValueError


@dataclass(eq=False)
class Flag:
    """What is known of one flag: `FLAGS["rate"].value`."""

    name: str
    parse: Callable[[str], Any]
    help: str
    default: Any
    module: str
    boolean: bool = False
    is_multi: bool = False
    """Whether it may be given several times, its value being the list of all."""
    value: Any = None
    present: int = 0
    """How often a command line gave it."""

    @property
    def using_default_value(self) -> bool:
        """Whether nobody gave it another value."""
        return not self.present and self.value == self.default

    def unparse(self) -> None:
        """Let it have its default again."""
        self.value, self.present = self.default, 0

    def serialize(self) -> str:
        """The flag as a command line has it; nothing where it has no value."""
        if self.value is None:
            return ""
        if self.boolean:
            return f"--{self.name}" if self.value else f"--no{self.name}"
        if self.is_multi:
            return "\n".join(f"--{self.name}={x}" for x in self.value)
        text = ",".join(self.value) if isinstance(self.value, list) else getattr(self.value, "name", self.value)
        return f"--{self.name}={text}"


class FlagHolder(NamedTuple):
    """What a definition of a flag gives: its value without its name."""

    flag_values: FlagValues
    flag: Flag
    ensure_non_none_value: bool = False

    @property
    def name(self) -> str:
        """The name of the flag."""
        return self.flag.name

    @property
    def value(self) -> Any:
        """The value of the flag.

        Raises:
            IllegalFlagValueError: there is none, and the holder is to ensure one.
        """
        value = getattr(self.flag_values, self.flag.name)
        if value is None and self.ensure_non_none_value:
            raise IllegalFlagValueError(f"the flag --{self.flag.name} must have a value")
        return value

    @property
    def default(self) -> Any:
        """The default of the flag."""
        return self.flag.default


class FlagValues:
    """The values of flags as attributes; read from the command line of the process when the first is asked for."""

    def __init__(self) -> None:
        self.__dict__.update({"__flags": {}, "_rest": None, "_checks": []})

    def __call__(self, argv: Sequence[str], known_only: bool = True) -> list[str]:
        """Take the values from `argv`, whose first element is the program; what is no flag comes back.

        Raises:
            IllegalFlagValueError: a flag has no value, or one of another kind.
            UnrecognizedFlagError: without `known_only`, a flag is not known.
        """
        rest = list(self._taken(list(argv)))
        unknown = [text for text in rest[1:] if text.startswith("--")]
        if unknown and not known_only:
            raise UnrecognizedFlagError(
                f"unknown flag {unknown[0]}; there are {', '.join(f'--{name}' for name in self._flags())}"
            )
        self.__dict__["_rest"] = rest
        self.validate_all_flags()
        return rest

    def _taken(self, argv: list[str]) -> Iterator[str]:
        yield from argv[:1]
        pending, given = argv[:0:-1], self._flags()
        while pending:
            text = pending.pop()
            written, equals, value = text.partition("=")
            name = written.lstrip("-").replace("-", "_")
            flag = given.get(name)
            if text == "--":
                yield from reversed(pending)
                return
            if text.startswith("--flagfile=") and flag is None:
                pending.extend(_arguments_of_file(value)[::-1])
            elif not text.startswith("-") or (flag is None and not self._is_switched_off(name)):
                yield text
            elif flag is None:
                _give(given[name[2:]], False)
            elif flag.boolean and not equals:
                _give(flag, True)
            else:
                if not equals and not pending:
                    raise IllegalFlagValueError(f"flag --{name} needs a value: --{name}=...")
                parsed = _parsed(flag, value if equals else pending.pop())
                _give(flag, [*(flag.value if flag.present else []), parsed] if flag.is_multi else parsed)

    def _is_switched_off(self, name: str) -> bool:
        flag = self._flags().get(name[2:]) if name.startswith("no") else None
        return flag is not None and flag.boolean

    def _define(
        self, name: str, default: Any, help: str, parse: Callable[[str], Any], is_switch: bool = False
    ) -> FlagHolder:
        start = parse(default) if isinstance(default, str) else default
        return self._add(Flag(name, parse, help, start, _defining_module(), boolean=is_switch))

    def _define_multi(self, name: str, default: Any, help: str, parse: Callable[[str], Any]) -> FlagHolder:
        several = [] if default is None else list(default) if isinstance(default, list | tuple) else [default]
        start = None if default is None else [parse(x) if isinstance(x, str) else x for x in several]
        return self._add(Flag(name, parse, help, start, _defining_module(), is_multi=True))

    def _add(self, flag: Flag) -> FlagHolder:
        if flag.name in self._flags():
            raise DuplicateFlagError(f"the flag '{flag.name}' is defined twice")
        flag.unparse()
        self._flags()[flag.name] = flag
        return FlagHolder(self, flag)

    def _flags(self) -> dict[str, Flag]:
        flags: dict[str, Flag] = self.__dict__["__flags"]
        return flags

    def _parse_flags(self, args: Sequence[str] | None = None) -> None:
        """Read the command line now; before TensorFlow 1.5 programs asked for it."""
        self(sys.argv if args is None else [sys.argv[0], *args])

    def is_parsed(self) -> bool:
        """Whether a command line was read."""
        return self._rest is not None

    def mark_as_parsed(self) -> None:
        """Let the flags have their defaults, and read no command line."""
        self.__dict__["_rest"] = self.__dict__["_rest"] or []

    def unparse_flags(self) -> None:
        """Let the flags have their defaults, until a command line is read again."""
        self.__dict__["_rest"] = None
        for flag in self._flags().values():
            flag.unparse()

    def validate_all_flags(self) -> None:
        """Ask all validators.

        Raises:
            IllegalFlagValueError: one of them refuses a value.
        """
        for names, check, message in self._checks:
            values = {name: self._flags()[name].value for name in names if name in self._flags()}
            if len(values) == len(names) and not check(values):
                raise IllegalFlagValueError(message)

    def flag_values_dict(self) -> dict[str, Any]:
        """The values of all flags, by name."""
        return {name: getattr(self, name) for name in self._flags()}

    def get_flag_value(self, name: str, default: Any) -> Any:
        """The value of a flag, or `default` where it has none or is not defined."""
        value = getattr(self, name) if name in self else None
        return default if value is None else value

    def set_default(self, name: str, value: Any) -> None:
        """Give a flag another default."""
        flag = self[name]
        changed = not flag.using_default_value
        flag.default = flag.parse(value) if isinstance(value, str) else value
        if not changed:
            flag.unparse()

    def flags_into_string(self) -> str:
        """All flags that have a value, as a command line has them, one a line."""
        return "".join(f"{line}\n" for flag in self._flags().values() if (line := flag.serialize()))

    def append_flags_into_file(self, filename: str) -> None:
        """Write `flags_into_string` at the end of a file, which `--flagfile=` reads."""
        with Path(filename).open("a", encoding="utf-8") as file:
            file.write(self.flags_into_string())

    def flags_by_module_dict(self) -> dict[str, list[Flag]]:
        """The flags that each module defines, by its name."""
        return {module: self.get_key_flags_for_module(module) for module in {f.module for f in self._flags().values()}}

    key_flags_by_module_dict = flags_by_module_dict

    def get_key_flags_for_module(self, module: Any) -> list[Flag]:
        """The flags that a module defines: the module, its name, or the file of the program."""
        name = getattr(module, "__name__", module)
        name = "__main__" if name == sys.argv[0] else name
        return [flag for flag in self._flags().values() if flag.module == name]

    def get_help(self, prefix: str = "", include_special_flags: bool = True) -> str:
        """A line on each flag."""
        del include_special_flags
        lines = (f"{prefix}  --{f.name}: {f.help} (default: {f.default!r})" for f in self._flags().values())
        return "\n".join(lines)

    def __getattr__(self, name: str) -> Any:
        flag = self._flags().get(name)
        if flag is None:
            raise AttributeError(f"no flag '{name}' is defined; there are {', '.join(self._flags()) or 'none'}")
        if not self.is_parsed():
            self(sys.argv)
        return flag.value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags():
            raise AttributeError(f"no flag '{name}' is defined; there are {', '.join(self._flags()) or 'none'}")
        self._flags()[name].value = value

    def __delattr__(self, name: str) -> None:
        if name not in self._flags():
            raise AttributeError(f"no flag '{name}' is defined; there are {', '.join(self._flags()) or 'none'}")
        del self._flags()[name]

    def __getitem__(self, name: str) -> Flag:
        return self._flags()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._flags()

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags())

    def __len__(self) -> int:
        return len(self._flags())

    def __dir__(self) -> list[str]:
        return sorted(self._flags())


def _parsed(flag: Flag, text: str) -> Any:
    try:
        return flag.parse(text)
    except ValueError as error:
        raise IllegalFlagValueError(f"flag --{flag.name}={text}: {error}") from None


def _give(flag: Flag, value: Any) -> None:
    flag.value, flag.present = value, flag.present + 1


def _arguments_of_file(path: str) -> list[str]:
    lines = (line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith(("#", "//"))]


def _defining_module() -> str:
    """The name of the module whose line defines a flag."""
    frame: Any = sys._getframe(1)
    while frame.f_globals["__name__"] in (__name__, f"{__package__}.flags"):
        frame = frame.f_back
    return str(frame.f_globals["__name__"])
