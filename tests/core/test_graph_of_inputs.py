"""Functions of several operations on tensors of a graph that is not the default one: the operations are in theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pullback as pb

NUMBERS, IMAGES = [[1.0, 2.0], [3.0, 4.0]], [[[[0.1, 0.2, 0.3]] * 4] * 4]


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda x: pb.nn.moments(x, [0]), NUMBERS),
        (lambda x: pb.nn.l2_normalize(x, 1), NUMBERS),
        (lambda x: pb.linalg.expm(x), NUMBERS),
        (lambda x: pb.math.reduce_std(x, 0), NUMBERS),
        (lambda x: pb.image.rgb_to_hsv(x), IMAGES),
        (lambda x: pb.image.adjust_hue(x, 0.2), IMAGES),
        (lambda x: pb.image.per_image_standardization(x), IMAGES),
        (lambda x: pb.math.bincount(pb.cast(x, pb.int32)), NUMBERS),
        (lambda x: pb.math.confusion_matrix(pb.cast(x[0], pb.int32), pb.cast(x[0], pb.int32)), NUMBERS),
        (lambda x: pb.sequence_mask(pb.cast(x, pb.int32), 4), NUMBERS),
        (lambda x: pb.linspace(x[0], x[1], 3), NUMBERS),
        (lambda x: pb.gradients(pb.reduce_sum(pb.nn.softplus(x)), [x]), NUMBERS),
    ],
)
def test_operations_are_in_the_graph_of_what_they_read(function: Callable[[Any], Any], values: Any) -> None:
    graph, other = pb.Graph(), pb.Graph()
    with graph.as_default():
        x = pb.constant(values)
    with other.as_default():
        y = function(x)
        assert pb.get_default_graph() is other
    assert not other.get_operations()
    pb.Session(graph=graph, engine="numpy").run(y)


def test_the_scope_of_another_graph_is_left_when_its_block_fails() -> None:
    graph, other = pb.Graph(), pb.Graph()
    with other.as_default():
        with pytest.raises(ZeroDivisionError), graph.name_scope("inside"):
            1 / (pb.get_default_graph() is other)
        assert pb.get_default_graph() is other
        assert graph.get_name_scope() == ""


def test_the_scope_of_a_graph_leaves_the_body_that_is_built_in_it() -> None:
    graph = pb.get_default_graph()
    bodies = []

    def body(x: Any) -> Any:
        with graph.name_scope("inside"):
            bodies.append(pb.get_default_graph())
            return x + 1.0

    y = pb.while_loop(lambda x: x < 3.0, body, [pb.constant(0.0)])
    assert bodies[0].lies_in(graph)
    assert pb.Session(engine="numpy").run(y) == [3.0]
