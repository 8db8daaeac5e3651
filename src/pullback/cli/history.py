"""Training history: losses and accuracies by step, kept in a file for those who resume."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class History:
    """Losses of steps, and accuracies on held-out digits after steps."""

    loss_steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    accuracy_steps: list[int] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)

    def add_loss(self, step: int, loss: float) -> None:
        """The loss on the batch of a step."""
        self.loss_steps.append(step)
        self.losses.append(loss)

    def add_accuracy(self, step: int, accuracy: float) -> None:
        """The accuracy after a step."""
        self.accuracy_steps.append(step)
        self.accuracies.append(accuracy)

    def save(self, path: Path) -> None:
        """Write the file, all or nothing."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(part, path)


def load_history(path: Path, until: int) -> History:
    """What the file says of the steps until `until`; an empty history where there is no such file, or not of ours."""
    history = History()
    try:
        saved = History(**json.loads(path.read_text(encoding="utf-8")))
        for step, loss in zip(saved.loss_steps, saved.losses, strict=True):
            if step <= until:
                history.add_loss(int(step), float(loss))
        for step, accuracy in zip(saved.accuracy_steps, saved.accuracies, strict=True):
            if step <= until:
                history.add_accuracy(int(step), float(accuracy))
    except (OSError, ValueError, TypeError):
        # Only the beginning of the curve is lost; the checkpoint decides whether one can resume.
        return History()
    return history
