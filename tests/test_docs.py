"""What the pages say is so: every Python block of README.md and docs/ is run, page by page, from top to bottom.

A block with `>>>` is a doctest. Any other is a program; where a ```text block comes next, that is what it prints. A
block below a line `<!-- not run: reason -->` is left out. Floats may differ in their last digits, as engines do.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    path for path in [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.exists()
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*?$", re.MULTILINE | re.DOTALL)
FLOAT = re.compile(r"\s*[-+]?\d+\.\d*(?:e[-+]?\d+)?\s*")
NOT_RUN = re.compile(r"<!-- not run: \S.* -->\s*$")


class Checker(doctest.OutputChecker):
    """Takes floats for equal that differ by a rounding."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        wanted, found = FLOAT.findall(want), FLOAT.findall(got)
        if len(wanted) != len(found) or not wanted:
            return False
        close = all(math.isclose(float(a), float(b), rel_tol=1e-5) for a, b in zip(wanted, found, strict=True))
        return close and super().check_output(FLOAT.sub("#", want), FLOAT.sub("#", got), optionflags)


@dataclass(frozen=True)
class Block:
    """A Python block of a page: where it starts, its text, what it prints (None: not said)."""

    line: int
    source: str
    output: str | None


def blocks(text: str) -> list[Block]:
    """The Python blocks of a page that are to be run."""
    fences = list(FENCE.finditer(text))
    found = []
    for i, fence in enumerate(fences):
        if fence[1] != "python" or NOT_RUN.search(text[: fence.start()]):
            continue
        printed = fences[i + 1][2] if i + 1 < len(fences) and fences[i + 1][1] == "text" else None
        found.append(Block(text.count("\n", 0, fence.start()) + 1, fence[2], printed))
    return found


def run_page(text: str, name: str) -> None:
    """Run the blocks of a page in one name space."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(text):
        if ">>>" in block.source:
            run_doctest(block, name, names)
        else:
            run_program(block, name, names)


def run_doctest(block: Block, name: str, names: dict[str, Any]) -> None:
    """Run a block of questions and answers."""
    test = doctest.DocTestParser().get_doctest(block.source, names, name, name, block.line)
    report = io.StringIO()
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, report.getvalue()


def run_program(block: Block, name: str, names: dict[str, Any]) -> None:
    """Run a block that is a program."""
    printed = io.StringIO()
    code = compile("\n" * block.line + block.source, name, "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    if block.output is not None:
        said = Checker().check_output(block.output, printed.getvalue(), FLAGS)
        assert said, f"{name}, line {block.line}: the page says\n{block.output}\nand it prints\n{printed.getvalue()}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run_and_print_what_it_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_files_that_a_page_points_at_are_there(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", FENCE.sub("", path.read_text(encoding="utf-8")))
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert not missing


def test_a_wrong_answer_is_noticed() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_page("```python\n>>> 1 + 1\n3\n```\n", "page")


def test_a_rounding_is_no_wrong_answer_and_more_is() -> None:
    run_page("```python\n>>> [0.3333335, 1]\n[0.3333333, 1]\n```\n", "page")
    with pytest.raises(AssertionError, match="Expected"):
        run_page("```python\n>>> [0.3334, 1]\n[0.3333, 1]\n```\n", "page")


def test_a_wrong_output_is_noticed() -> None:
    with pytest.raises(AssertionError, match="page, line 1: the page says"):
        run_page("```python\nprint(1)\n```\nprints\n```text\n2\n```\n", "page")


def test_blocks_share_their_names_and_some_are_left_out() -> None:
    run_page(
        "```python\nx = 1\n```\n<!-- not run: shows a mistake -->\n```python\nx = 0\n```\n```python\n>>> x\n1\n```\n",
        "page",
    )
