"""Source locations: where the user made an operation, found cheaply, read only when a message needs it."""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType
from typing import NamedTuple

_passed_over = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, "<frozen "]
"""How the names of files begin in which no operation is said to be made."""
_is_ours: dict[str, bool] = {}
_sites: dict[tuple[int, int], Site] = {}
"""Every site by the identity of its code object, which the site keeps alive: most operations are made in loops."""


class Site(NamedTuple):
    """One place in a user's program: a code object and an offset into it (the line is worked out on demand)."""

    code: CodeType
    offset: int

    @property
    def line(self) -> int:
        """The line number."""
        for start, end, line in self.code.co_lines():
            if start <= self.offset < end and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def text(self) -> str:
        """The source of the line, stripped; empty where the source is not at hand."""
        return linecache.getline(self.code.co_filename, self.line).strip()

    def __str__(self) -> str:
        """As `train.py:12: y = pb.matmul(x, w)`."""
        place = f"{os.path.basename(self.code.co_filename)}:{self.line}"
        return f"{place}: {self.text}" if self.text else place


class Place(NamedTuple):
    """A place that is no line of a program: a command, or a node of a model and the line that read it."""

    what: object
    site: Site | Place | None = None

    def __str__(self) -> str:
        """As `node 'Conv_3' (Conv, opset 21), train.py:12: graph = pb.onnx.load(path)`."""
        return str(self.what) if self.site is None else f"{self.what}, {self.site}"


def pass_over(file: str) -> None:
    """No operation is said to be made in `file` from now on: it is the script that started one of our commands."""
    _is_ours[file] = True


def pass_over_package(folder: str) -> None:
    """No operation is said to be made in the files of `folder`, a library that calls us for a user."""
    _passed_over.append(os.path.join(folder, ""))


def user_site() -> Site | None:
    """The innermost frame that is neither pullback's own nor the interpreter's, nor passed over."""
    frame = sys._getframe(1).f_back  # the caller is ours
    while frame is not None:
        code = frame.f_code
        ours = _is_ours.get(code.co_filename)
        if ours is None:
            ours = _is_ours[code.co_filename] = code.co_filename.startswith(tuple(_passed_over))
        if not ours:
            key = id(code), frame.f_lasti
            return _sites.get(key) or _sites.setdefault(key, Site(code, frame.f_lasti))
        frame = frame.f_back
    return None
