"""Functions of several operations on tensors of a graph that is not the default one: the operations are in theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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


def test_the_name_scope_of_another_graph_is_of_names_only() -> None:
    graph, other = pb.Graph(), pb.Graph()
    with graph.as_default():
        x = pb.constant(1.0)
    with other.as_default(), graph.name_scope("inside"):
        assert pb.get_default_graph() is other
        assert pb.constant(1.0).op.name == "Const"
        assert pb.negative(x).op.name == "inside/Neg"


def test_the_name_scope_of_tensors_is_left_when_its_block_fails() -> None:
    graph, other = pb.Graph(), pb.Graph()
    with graph.as_default():
        x = pb.constant(1.0)
    with other.as_default():
        with pytest.raises(ZeroDivisionError), pb.name_scope("inside", values=[x]):
            1 / (pb.get_default_graph() is other)
        assert pb.get_default_graph() is other
        assert graph.get_name_scope() == ""


def test_the_name_scope_of_tensors_leaves_the_body_that_is_built() -> None:
    x = pb.constant(1.0)
    bodies = []

    def body(y: Any) -> Any:
        with pb.name_scope("inside", values=[x]):
            bodies.append(pb.get_default_graph())
            return y + x

    y = pb.while_loop(lambda y: y < 3.0, body, [pb.constant(0.0)])
    assert bodies[0].lies_in(pb.get_default_graph())
    assert pb.Session(engine="numpy").run(y) == [3.0]


def test_tensors_of_two_graphs_are_not_mixed() -> None:
    with pb.Graph().as_default():
        x = pb.constant([1.0, 2.0])
    with pb.Graph().as_default():
        places = pb.constant([0])
        for function in (pb.gather, lambda x, i: pb.concat([x, pb.cast(i, x.dtype)], 0)):
            with pytest.raises(ValueError, match="must be from the same graph"):
                function(x, places)


def test_bodies_are_in_the_graph_of_what_control_flow_is_given() -> None:
    graph, other = pb.Graph(), pb.Graph()
    with graph.as_default():
        x, flag = pb.constant([1.0, 2.0]), pb.constant(True)
        total = pb.Variable(3.0)
    with other.as_default():
        ys = [
            pb.cond(flag, lambda: x * 2.0, lambda: x),
            pb.case([(flag, lambda: x * 3.0)], default=lambda: x),
            pb.case({flag: lambda: x * 4.0}, default=lambda: x),
            pb.map_fn(lambda rows: rows["x"] + rows["y"], {"x": x, "y": np.float32([4.0, 4.0])}),
            pb.foldl(lambda a, b: a + b, x, 0.0),
            pb.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * 2.0), (0, x))[1],
            pb.concat([[total], [1.0]], 0),
        ]
    assert not other.get_operations()
    with pb.Session(graph=graph, engine="numpy") as session:
        session.run(total.initializer)
        found = [y.tolist() for y in session.run(ys)]
    assert found == [[2.0, 4.0], [3.0, 6.0], [4.0, 8.0], [5.0, 6.0], 3.0, [4.0, 8.0], [3.0, 1.0]]
