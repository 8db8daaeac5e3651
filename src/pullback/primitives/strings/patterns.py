"""Regular expressions on texts."""

from __future__ import annotations

import re
from functools import cache

from ...core.dtypes import bool as bool_
from ...core.errors import InvalidArgumentError
from ...core.operation import Tensor
from ...core.typing import TensorLike
from ..creation.constant import convert_to_tensor
from .base import AbstractTextwise

_REFERENCE = re.compile(r"\\(.)", re.DOTALL)


def regex_replace(
    input: TensorLike, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Each text with what matches `pattern` replaced by `rewrite`, the first match only without `replace_global`.

    In `rewrite`, `\\1` to `\\9` are what the groups of the pattern match, and `\\0` is all of it. Patterns are those
    of Python; TensorFlow's (RE2) are nearly the same.

    Shapes: any. Dtypes: string.

    Raises:
        TypeError: another dtype. InvalidArgumentError: the pattern is none, or has no group that `rewrite` names.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.regex_replace(["aab"], "(a+)(b)", r"\\2-\\1")).tolist()
    [b'b-aa']
    """
    _checked("strings.regex_replace", pattern, rewrite)
    return StaticRegexReplace(pattern, rewrite, replace_global)(convert_to_tensor(input), name=name)


class StaticRegexReplace(AbstractTextwise):
    what = "strings.regex_replace"

    pattern: str
    rewrite: str
    replace_global: bool

    def of(self, text: bytes) -> bytes:
        found = _compiled(self.pattern).sub(
            lambda match: _rewritten(match, self.rewrite), _decoded(text), 0 if self.replace_global else 1
        )
        return found.encode(errors="surrogateescape")


def regex_full_match(input: TensorLike, pattern: str, name: str | None = None) -> Tensor:
    """Whether each text, from its begin to its end, matches `pattern`.

    Shapes: any. Dtypes: string; the result is bool.

    Raises:
        TypeError: another dtype. InvalidArgumentError: the pattern is none.

    >>> import pullback as pb
    >>> pb.Session().run(pb.strings.regex_full_match(["ab", "abc"], "a.?")).tolist()
    [True, False]
    """
    _checked("strings.regex_full_match", pattern, "")
    return StaticRegexFullMatch(pattern)(convert_to_tensor(input), name=name)


class StaticRegexFullMatch(AbstractTextwise):
    what = "strings.regex_full_match"
    result = bool_

    pattern: str

    def of(self, text: bytes) -> bool:
        return _compiled(self.pattern).fullmatch(_decoded(text)) is not None


def _checked(what: str, pattern: str, rewrite: str) -> None:
    try:
        groups = _compiled(pattern).groups
    except re.error as error:
        raise InvalidArgumentError(f"{what}: invalid pattern {pattern!r}: {error}") from None
    for sign in _REFERENCE.findall(rewrite):
        if sign != "\\" and not (sign.isdecimal() and int(sign) <= groups):
            raise InvalidArgumentError(
                f"{what}: rewrite {rewrite!r} has '\\{sign}', and the groups of {pattern!r} are {groups}"
            )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _decoded(text: bytes) -> str:
    """A text as characters; bytes that are none stay as they are."""
    return text.decode(errors="surrogateescape")


def _rewritten(match: re.Match[str], rewrite: str) -> str:
    return _REFERENCE.sub(lambda sign: sign[1] if sign[1] == "\\" else match[int(sign[1])] or "", rewrite)
