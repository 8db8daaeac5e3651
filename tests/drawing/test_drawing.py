"""The picture of a graph: well formed, complete, and laid out so that it can be read."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.pictures import FOLDER, PICTURES, picture

import pullback as pb
from pullback.drawing.layout import layout
from pullback.drawing.parts import AFTER, BACKWARD, FORWARD, diagram

SVG = "{http://www.w3.org/2000/svg}"


def perceptron(layers: int = 2) -> tuple[pb.Tensor, list[pb.Tensor]]:
    """A loss, and its gradients by the weights."""
    graph = pb.get_default_graph()
    x = pb.placeholder(pb.float32, [None, 4], name="x")
    weights = []
    for i in range(layers):
        with graph.name_scope(f"layer{i}"):
            weights.append(pb.placeholder(pb.float32, [4, 4], name="w"))
            x = pb.tanh(pb.matmul(x, weights[-1]))
    loss = pb.square(x, name="loss")
    return loss, pb.gradients(loss, weights)


def drawn(picture: pb.Picture) -> dict[str, ElementTree.Element]:
    """The elements that stand for operations, by the operation's name."""
    root = ElementTree.fromstring(picture.svg)
    groups = [g for g in root.iter(f"{SVG}g") if "operation" in g.get("class", "").split()]
    return {name: g for g in groups for name in g.get("data-name", "").split()}


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


def classes(element: ElementTree.Element) -> set[str]:
    return set(element.get("class", "").split())


@pytest.mark.parametrize("depth", [None, 1, 2])
def test_every_operation_is_drawn_once_with_its_line_of_the_text_form(depth: int | None) -> None:
    perceptron()
    graph = pb.get_default_graph()
    shown = drawn(pb.draw(graph, depth))
    assert set(shown) == {op.name for op in graph.operations}
    titles = {name: element.findtext(f"{SVG}title") or "" for name, element in shown.items()}
    assert [titles[op.name] for op in graph.operations] == str(graph).split("\n")


@pytest.mark.parametrize("depth", [None, 1])
def test_forward_and_backward_are_told_apart(depth: int | None) -> None:
    loss, gradients = perceptron()
    for name, element in drawn(pb.draw([loss, *gradients], depth)).items():
        kind = BACKWARD if name.startswith("gradients/") else FORWARD
        assert classes(element) & {FORWARD, BACKWARD, AFTER} == {kind}, name


def test_what_uses_the_gradients_is_told_apart_from_both() -> None:
    _, gradients = perceptron()
    step = pb.multiply(gradients[0], 0.1, name="step")
    shown = drawn(pb.draw(step))
    assert AFTER in classes(shown["step"])
    assert FORWARD in classes(shown["layer0/MatMul"])


def test_what_only_a_user_of_gradients_reads_stands_with_it() -> None:
    _, gradients = perceptron()
    rate = pb.placeholder(pb.float32, [], name="rate")
    shown = drawn(pb.draw(pb.multiply(gradients[0], rate)))
    assert AFTER in classes(shown["rate"])
    assert FORWARD in classes(shown["x"])


def test_what_was_asked_for_is_marked() -> None:
    loss, gradients = perceptron()
    shown = drawn(pb.draw([loss, gradients], depth=1))
    marked = {name for name, element in shown.items() if "result" in classes(element)}
    assert marked == {loss.op.name, *(g.op.name for g in gradients)}


def test_only_what_is_needed_is_drawn() -> None:
    loss, _ = perceptron()
    assert set(drawn(pb.draw(loss))) == {"x", "layer0/w", "layer0/MatMul", "layer0/Tanh"} | {
        "layer1/w",
        "layer1/MatMul",
        "layer1/Tanh",
        "loss",
    }


def test_gradients_bring_what_they_are_the_gradients_of() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    y = pb.multiply(x, pb.placeholder(pb.float32, [2]), name="y")
    assert "y" in drawn(pb.draw(pb.gradients(y, x)))


def test_a_name_scope_becomes_one_box_and_its_gradients_another() -> None:
    loss, gradients = perceptron()
    labels = [box.label for box in diagram([loss, *gradients], depth=1).boxes]
    assert labels == ["x", "layer0", "layer1", "loss", "gradient of loss", "gradient of layer1", "gradient of layer0"]


def test_gradients_of_gradients_stand_in_a_lane_of_their_own() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    (dx,) = pb.gradients(pb.tanh(x), x)
    second = pb.gradients(dx, x)
    boxes = diagram(second, None).boxes
    lanes = {box.label: box.lane for box in boxes}
    assert lanes["x"] == 0
    assert {lane for name, lane in lanes.items() if name.startswith("gradients/")} == {1}
    assert {lane for name, lane in lanes.items() if name.startswith("gradients_1/")} == {2}


def test_the_lanes_are_named() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    (dx,) = pb.gradients(pb.tanh(x), x)
    (dx2,) = pb.gradients(dx, x)
    root = ElementTree.fromstring(pb.draw(pb.multiply(dx2, 2.0)).svg)
    headings = [text.text for text in root.iter(f"{SVG}text") if "lane" in classes(text)]
    assert headings == ["↓ forward", "↑ backward", "second backward", "after"]


def test_a_variable_is_read_just_above_where_it_is_used() -> None:
    x = pb.placeholder(pb.float32, [2], name="x")
    weights = [pb.Variable([1.0, 1.0], name=f"w{i}") for i in range(3)]
    reads = [w.read_value() for w in weights]
    for read in reads:
        x = pb.sin(pb.multiply(x, read))
    shown = diagram(x, None)
    edges = [(arrow.source, arrow.target) for arrow in shown.arrows]
    centres = layout([(60.0, 40.0)] * len(shown.boxes), [0] * len(shown.boxes), edges, shown.anchors).centres
    y = {box.label: centre[1] for box, centre in zip(shown.boxes, centres, strict=True)}
    assert [y[read.op.name] for read in reads[1:]] == [y["Sin"], y["Sin_1"]]


def test_a_sum_of_gradients_belongs_to_what_reads_it() -> None:
    graph = pb.get_default_graph()
    x = pb.placeholder(pb.float32, [3], name="x")
    with graph.name_scope("block"):
        y = pb.tanh(x)
    z = pb.multiply(pb.sin(y), pb.cos(y), name="z")
    boxes = {box.label: box for box in diagram(pb.gradients(z, x), depth=1).boxes}
    assert "AddN" in [op.type for op in boxes["gradient of block"].operations]


def test_control_dependencies_are_drawn() -> None:
    graph = pb.get_default_graph()
    first = pb.no_op(name="first")
    with graph.control_dependencies([first]):
        second = pb.no_op(name="second")
    assert "control dependency" in pb.draw(second).svg


def test_variables_and_slices_and_nothing_may_be_among_the_fetches() -> None:
    v = pb.Variable([1.0, 2.0], name="v")
    slices = pb.IndexedSlices(pb.constant([[1.0]], name="values"), pb.constant([0], name="rows"))
    assert {"v", "values", "rows"} <= set(drawn(pb.draw({"all": [v, slices, None]})))


def test_names_with_special_letters_are_escaped() -> None:
    text = pb.draw(pb.placeholder(pb.float32, [1], name="a>b")).svg
    assert "a&gt;b" in text
    ElementTree.fromstring(text)


def test_a_scope_of_many_operations_shows_some_and_counts_the_rest() -> None:
    graph = pb.get_default_graph()
    with graph.name_scope("long"):
        x = pb.placeholder(pb.float32, [1])
        for _ in range(99):
            x = pb.sin(x)
    picture = pb.draw(x, depth=1)
    assert "… 77 more" in picture.svg
    assert len(drawn(picture)) == 100


def test_the_picture_can_be_saved_and_shown_in_a_notebook(tmp_path: Path) -> None:
    picture = pb.draw(perceptron()[0])
    picture.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == picture.svg == picture._repr_svg_()


def test_the_picture_needs_nothing_from_elsewhere() -> None:
    text = pb.draw(perceptron()[0]).svg
    assert text.count("http") == 1, "the SVG name space"


def test_too_many_boxes_are_refused() -> None:
    x = pb.placeholder(pb.float32, [1])
    for _ in range(1600):
        x = pb.sin(x)
    text = (
        "draw: 1601 boxes are too many for a picture (1500 at most); "
        "pass depth= for a box a name scope, or fewer fetches"
    )
    with pytest.raises(ValueError, match=exactly(text)):
        pb.draw(x)


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match=exactly("draw: a graph, or tensors, operations and lists of them, not 3")):
        pb.draw([3])


@pytest.mark.parametrize("nothing", [[], None, [None]])
def test_nothing_is_refused(nothing: object) -> None:
    text = "draw: nothing to draw; pass a graph, or tensors and operations of one"
    with pytest.raises(ValueError, match=exactly(text)):
        pb.draw(nothing)


def test_an_empty_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="the graph is empty"):
        pb.draw(pb.Graph())


def test_fetches_of_two_graphs_are_refused() -> None:
    x = pb.placeholder(pb.float32, [1])
    with pb.Graph().as_default():
        y = pb.placeholder(pb.float32, [1])
    with pytest.raises(ValueError, match="not an element of this graph"):
        pb.draw([x, y])


def test_boxes_never_overlap() -> None:
    sizes = [(40.0 + 7 * (i % 5), 30.0) for i in range(40)]
    edges = [(i, j) for i in range(40) for j in range(i + 1, 40) if (i * j) % 7 == 3 or (j == i + 1 and i % 4)]
    lanes = [0] * 30 + [1] * 10
    anchors = [None] * 30 + [2 * i for i in range(10)]
    places = layout(sizes, lanes, edges, anchors)
    for (i, a), (j, b) in itertools.combinations(enumerate(places.centres), 2):
        apart_x = abs(a[0] - b[0]) - (sizes[i][0] + sizes[j][0]) / 2
        apart_y = abs(a[1] - b[1]) - (sizes[i][1] + sizes[j][1]) / 2
        assert max(apart_x, apart_y) > 10, (i, j)


def test_forward_goes_down_and_backward_comes_up_beside_it() -> None:
    loss, gradients = perceptron(3)
    shown = diagram([loss, *gradients], depth=1)
    sizes = [(100.0, 40.0)] * len(shown.boxes)
    edges = [(arrow.source, arrow.target) for arrow in shown.arrows]
    centres = layout(sizes, [box.lane for box in shown.boxes], edges, shown.anchors).centres
    y = {box.label: centre[1] for box, centre in zip(shown.boxes, centres, strict=True)}
    assert y["x"] < y["layer0"] < y["layer1"] < y["layer2"] < y["loss"]
    for name in ("layer0", "layer1", "layer2", "loss"):
        assert y[f"gradient of {name}"] == y[name]


def test_a_chain_is_straight() -> None:
    x = pb.placeholder(pb.float32, [3], name="x")
    for _ in range(10):
        x = pb.sin(pb.multiply(x, pb.placeholder(pb.float32, [3])))
    shown = diagram(x, None)
    edges = [(arrow.source, arrow.target) for arrow in shown.arrows]
    centres = layout([(60.0, 40.0)] * len(shown.boxes), [0] * len(shown.boxes), edges, shown.anchors).centres
    sines = [c[0] for box, c in zip(shown.boxes, centres, strict=True) if box.operations[0].type == "Sin"]
    assert max(sines) - min(sines) < 20


@pytest.mark.parametrize("name", PICTURES)
def test_the_pictures_of_the_guide_are_those_drawn_now(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == picture(name), "make them anew: python docs/pictures.py"
