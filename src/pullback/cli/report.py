"""HTML report of the demo: one page that holds everything a training run left, without any other file."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from io import BytesIO
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Mistake:
    """A held-out digit that was read wrong: the image, what it is, what it was taken for and how surely."""

    image: np.ndarray[Any, Any]
    label: int
    predicted: int
    probability: float


@dataclass(frozen=True, eq=False)
class Report:
    """Everything the page shows."""

    accuracy: float
    held_out: int
    tiles: list[tuple[str, str]]
    """A number and what it is, the accuracy left out."""
    facts: list[tuple[str, str]]
    light_curve: bytes
    dark_curve: bytes
    picture: str
    text: str
    mistakes: list[Mistake]


def report_html(report: Report) -> str:
    """The page."""
    wrong = round((1.0 - report.accuracy) * report.held_out)
    tiles = [(f"{report.accuracy:.2%}", f"of {report.held_out} held-out digits read right"), *report.tiles]
    style = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pullback demo</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>A graph, its derivative, and what they learned</h1>
<p class="quiet">A convolutional classifier of handwritten digits was built as a graph. <code>pb.gradients</code> added
its derivative to the same graph, and Adam used it to train.</p>
<div class="tiles">{_tiles(tiles)}</div>

<h2>Training</h2>
<p class="quiet">Left, the loss on each batch and its running mean; right, the accuracy on digits that were never
trained on.</p>
<div class="card">{_curve(report)}</div>

<h2>The graph and its derivative</h2>
<p class="quiet">Read blue downward: from images to the loss. Then orange upward: each box is the gradient of the box
on its left, and is made of ordinary operations that could be differentiated again. Point at an operation to see its
line of the text form.</p>
<div class="card">{report.picture}</div>

<h2>What it still reads wrong</h2>
<p class="quiet">{_sentence_on_mistakes(wrong, len(report.mistakes))}</p>
{_mistakes(report.mistakes)}

<h2>The same graph as text</h2>
<p class="quiet">One line an operation, in the order they were made: name, types, what it does, to what.</p>
<div class="card"><details><summary>{len(report.text.splitlines())} operations</summary>
<pre>{escape(report.text)}</pre></details></div>

<h2>How it was made</h2>
<div class="card"><table>{_facts(report.facts)}</table></div>
</main>
</body>
</html>
"""


def _tiles(tiles: list[tuple[str, str]]) -> str:
    first, *others = [f"<b>{escape(number)}</b><span>{escape(what)}</span></div>" for number, what in tiles]
    return "".join([f'<div class="tile first">{first}', *(f'<div class="tile">{tile}' for tile in others)])


def _curve(report: Report) -> str:
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{_data(report.dark_curve)}">'
        f'<img alt="training loss and accuracy against steps" src="{_data(report.light_curve)}"></picture>'
    )


def _sentence_on_mistakes(wrong: int, shown: int) -> str:
    if not wrong:
        return "Nothing, of the held-out digits."
    which = "all" if shown == wrong else f"the {shown} it was surest of"
    return f"{wrong} of the held-out digits; here {which}. What it is, what it was taken for, and how surely."


def _mistakes(mistakes: list[Mistake]) -> str:
    figures = [
        f'<figure><img alt="a handwritten {m.label}" src="{_data(_digit_png(m.image))}">'
        f"<figcaption><i>{m.label}</i> taken for <b>{m.predicted}</b><br>{m.probability:.0%} sure</figcaption></figure>"
        for m in mistakes
    ]
    return f'<div class="card digits">{"".join(figures)}</div>' if figures else ""


def _facts(facts: list[tuple[str, str]]) -> str:
    return "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in facts)


def _digit_png(image: np.ndarray[Any, Any]) -> bytes:
    from matplotlib.image import imsave

    file = BytesIO()
    imsave(file, image.reshape(8, 8), cmap="gray", vmin=0.0, vmax=1.0, format="png")
    return file.getvalue()


def _data(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
