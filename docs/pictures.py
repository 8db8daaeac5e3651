"""The pictures of the guide: `python docs/pictures.py` draws them anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pullback as pb

FOLDER = Path(__file__).parent / "guide" / "pictures"


def loop() -> pb.Picture:
    """A loop, and its derivative, which is a loop."""
    x = pb.constant(0.5, name="x")
    y = pb.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, pb.sin(y)), (0, x), name="loop")[1]
    (dx,) = pb.gradients(y, x)
    return pb.draw([y, dx])


def custom_rule() -> pb.Picture:
    """A call of `gradients` with a rule that lets cotangents through `round`."""
    x = pb.placeholder(pb.float32, [3], name="x")
    y = pb.reduce_sum(pb.square(pb.round(x, name="round")), name="y")
    (dx,) = pb.gradients(y, x, rules={"Round": lambda op, dy: pb.identity(dy, name="straight_through")})
    return pb.draw([y, dx])


def second_derivative() -> pb.Picture:
    """A function, its derivative, and the derivative of that."""
    x = pb.placeholder(pb.float64, [], name="x")
    y = pb.square(pb.sin(x), name="y")
    (dx,) = pb.gradients(y, x, name="first")
    (ddx,) = pb.gradients(dx, x, name="second")
    return pb.draw([y, dx, ddx])


PICTURES: dict[str, Callable[[], pb.Picture]] = {
    "loop.svg": loop,
    "custom-rule.svg": custom_rule,
    "second-derivative.svg": second_derivative,
}


def picture(name: str) -> str:
    """The picture of that name as it is drawn now."""
    with pb.Graph().as_default():
        return PICTURES[name]().svg


if __name__ == "__main__":
    for name in PICTURES:
        (FOLDER / name).write_text(picture(name), encoding="utf-8")
