"""Sanitised text: what files say, as it may be printed."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, with which a name could rule a terminal; what turns the direction of a text; halves of pairs."""


def printable(text: str) -> str:
    r"""`text` with escape sequences for control characters, newlines and tabs left as they are.

    >>> printable("layer\x1b[2J")
    'layer\\x1b[2J'
    """
    return _UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
