"""Assertions of shapes by symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

check = pb.debugging.assert_shapes


@pytest.mark.parametrize(
    "shapes",
    [
        [([2, 3], ("N", "M")), ([3], ("M",))],
        [([2, 3], "NM"), ([2, 5], ("N", 5))],
        [([4, 2, 3], ("...", "N", "M")), ([2], "N")],
        [([2, 3, 4], (..., "M")), ([4], "M"), ([2, 9], ("B", "*")), ([2], ("B",))],
        [([2, 3], (None, "M")), ([7], (".",)), ([], ()), ([1], ())],
        [([], ("N",)), ([1], ("N",))],
        [([0, 3], ("N", "M")), ([0], ("N",))],
        [([2, 3], None)],
        [],
    ],
)
@pytest.mark.parametrize("known", ["all", "rank", "nothing"])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_shapes_that_fit_are_none(shapes: Any, known: str, engine: str) -> None:
    unknown = {"all": lambda s: s, "rank": lambda s: [None] * len(s), "nothing": lambda s: None}[known]
    given = [pb.placeholder(pb.float32, unknown(shape)) for shape, _ in shapes]
    op = check([(x, said) for x, (_, said) in zip(given, shapes, strict=True)])
    feeds = {x: np.zeros(shape) for x, (shape, _) in zip(given, shapes, strict=True)}
    assert pb.Session(engine=engine).run(op, feeds) is None


WRONG: list[tuple[Any, str]] = [
    ([([2, 3], ("N", "N"))], r"axis 1 of .* must have the length 2, as axis 0 of .*"),
    ([([2, 3], ("N", "M")), ([4], ("M",))], r"axis 0 of .* must have the length 3, as axis 1 of .*"),
    ([([2, 3], (2, 4))], r"axis 1 of .* must have the length 4, "),
    ([([2, 3], (2,))], r"must have 1 axes"),
    ([([3], ("...", "N", 3))], r"must have 2 axes or more"),
    ([([2, 3], ("...", 4))], r"axis -1 of .* must have the length 4, "),
    ([([], (3,))], r"axis 0 of .* must have the length 3, "),
    ([([5], ())], r"axis 0 of .* must have the length 1, "),
]


@pytest.mark.parametrize(("shapes", "text"), WRONG)
def test_shapes_that_are_known_to_be_others_are_refused(shapes: Any, text: str) -> None:
    with pytest.raises(ValueError, match=rf"^Hey\. assert_shapes: .*{text}"):
        check([(pb.zeros(shape), said) for shape, said in shapes], message="Hey")


@pytest.mark.parametrize("shapes", [shapes for shapes, _ in WRONG])
@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_others_are_an_error_of_the_run(shapes: Any, engine: str) -> None:
    given = [pb.placeholder(pb.float32) for _ in shapes]
    op = check([(x, said) for x, (_, said) in zip(given, shapes, strict=True)])
    with pytest.raises(pb.errors.InvalidArgumentError, match="assert_shapes"):
        pb.Session(engine=engine).run(op, {x: np.zeros(shape) for x, (shape, _) in zip(given, shapes, strict=True)})


def test_lengths_are_sequences() -> None:
    with pytest.raises(ValueError, match=r"^assert_shapes: the lengths of .* must be a sequence, and not 5$"):
        check({pb.zeros([5]): 5})
    assert pb.compat.v1.debugging.assert_shapes is check
