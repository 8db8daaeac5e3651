"""Training curve: loss and accuracy against steps, as a PNG drawn by matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from .data import NEEDS
from .failure import USAGE, CommandError
from .history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIGHT = {"ink": "#1c2430", "quiet": "#8a94a3", "page": "#ffffff", "loss": "#1f6feb", "accuracy": "#1a8a55"}
DARK = {"ink": "#e7ebf1", "quiet": "#77818f", "page": "#1a2028", "loss": "#6ea8ff", "accuracy": "#4fc98d"}
GOAL = 0.98


def require_matplotlib() -> None:
    """CommandError where matplotlib is not installed: better before the training than after it."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise CommandError(NEEDS, USAGE) from None


def curve_png(history: History, colours: dict[str, str]) -> bytes:
    """The picture, in `LIGHT` or `DARK` colours."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.4), dpi=144, facecolor=colours["page"], layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_loss(left, history, colours)
    _draw_accuracy(right, history, colours)
    last = f": {history.accuracies[-1]:.2%}" if history.accuracies else ""
    for axes, title in ((left, "training loss"), (right, f"accuracy on held-out digits{last}")):
        axes.set_title(title, color=colours["ink"], loc="left", fontsize=11, fontweight="bold")
        axes.set_xlabel("step", color=colours["quiet"])
        axes.set_facecolor(colours["page"])
        axes.tick_params(colors=colours["quiet"], which="both", length=3)
        axes.grid(color=colours["quiet"], alpha=0.18, linewidth=0.8)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(colours["quiet"])
    file = BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _draw_loss(axes: Axes, history: History, colours: dict[str, str]) -> None:
    steps, losses = np.array(history.loss_steps), np.array(history.losses)
    axes.plot(steps, losses, color=colours["loss"], alpha=0.25, linewidth=0.8)
    width = max(1, len(losses) // 40)
    if len(losses) > 2 * width:
        smooth = np.convolve(losses, np.full(width, 1.0 / width), mode="valid")
        axes.plot(steps[width - 1 :], smooth, color=colours["loss"], linewidth=1.8)
    axes.set_yscale("log")


def _draw_accuracy(axes: Axes, history: History, colours: dict[str, str]) -> None:
    steps, accuracies = history.accuracy_steps, history.accuracies
    axes.axhline(GOAL, color=colours["quiet"], linewidth=1.0, linestyle=(0, (4, 3)))
    axes.plot(steps, accuracies, color=colours["accuracy"], linewidth=1.8, marker="o", markersize=3)
    axes.set_ylim(min(0.9, max(0.0, min(accuracies[1:] or [0.9]) - 0.02)), 1.0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
