"""SavedModels and MetaGraphDefs that are written: what is read again is what was there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import FailedPreconditionError

X = np.arange(6, dtype=np.float32).reshape(2, 3) / 5


def a_model() -> tuple[pb.Session, pb.Tensor, pb.Tensor, pb.Tensor]:
    """A session of a dense layer, its input, its result, and the derivative of that."""
    x = pb.placeholder(pb.float32, [None, 3], name="x")
    w, b = pb.get_variable("dense/w", [3, 2]), pb.Variable([1.0, 2.0], name="b")
    pb.Variable(np.int64(5), name="step", trainable=False)
    y = pb.tanh(x @ w + b, name="y")
    (dx,) = pb.gradients(y, x, name="grad")
    session = pb.Session(engine="numpy")
    session.run(pb.global_variables_initializer())
    return session, x, y, pb.convert_to_tensor(dx)


def test_a_saved_model_gives_what_the_session_gave(tmp_path: Path) -> None:
    session, x, y, dx = a_model()
    pb.saved_model.simple_save(session, tmp_path / "model", {"x": x}, {"y": y, "dx": dx})
    model = pb.saved_model.load(tmp_path / "model", "serve")
    offered = model.signatures["serving_default"]
    assert offered.method_name == "tensorflow/serving/predict"
    assert sorted(model.values) == ["b", "dense/w", "step"]
    found = model.session("numpy").run(dict(offered.outputs), {offered.inputs["x"]: X})
    wanted = session.run({"y": y, "dx": dx}, {x: X})
    for key in wanted:
        np.testing.assert_allclose(found[key], wanted[key], rtol=1e-6)
    names = [v.op.name for v in model.graph.get_collection(pb.GraphKeys.TRAINABLE_VARIABLES)]
    assert names == ["dense/w", "b"]


def test_a_folder_that_has_something_is_left_alone(tmp_path: Path) -> None:
    session, x, y, _ = a_model()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="give a folder that is empty or not there") as caught:
        pb.saved_model.simple_save(session, tmp_path, {"x": x}, {"y": y})
    assert str(caught.value).startswith(f"saved_model.save: there is something in {tmp_path};")


def test_a_model_without_variables_has_no_saver(tmp_path: Path) -> None:
    x = pb.placeholder(pb.float32, [], name="x")
    pb.saved_model.simple_save(pb.Session(engine="numpy"), tmp_path / "model", {"x": x}, {"y": x * 2.0})
    assert sorted(path.name for path in (tmp_path / "model").rglob("*")) == ["saved_model.pb", "variables"]
    meta = pb.train.export_meta_graph()
    assert not meta.HasField("saver_def")


def test_a_variable_without_a_value_is_named(tmp_path: Path) -> None:
    x = pb.Variable(1.0, name="w")
    with pytest.raises(FailedPreconditionError, match="'w'"):
        pb.saved_model.simple_save(pb.Session(engine="numpy"), tmp_path / "model", {}, {"y": x.value()})


@pytest.mark.parametrize("as_text", [False, True])
def test_a_meta_graph_goes_with_its_checkpoint(as_text: bool, tmp_path: Path) -> None:
    session, x, y, _ = a_model()
    wanted = session.run(y, {x: X})
    meta = tmp_path / ("model.meta.pbtxt" if as_text else "model.meta")
    pb.train.export_meta_graph(meta, as_text=as_text)
    path = pb.train.Saver().save(session, tmp_path / "model", format="tensorflow")
    with pb.Graph().as_default():
        saver: Any = pb.train.import_meta_graph(str(meta))
        other = pb.Session(engine="numpy")
        saver.restore(other, path)
        np.testing.assert_allclose(other.run("y:0", {"x:0": X}), wanted, rtol=1e-6)


def test_a_meta_graph_has_the_collections() -> None:
    _, x, y, _ = a_model()
    step = pb.train.get_or_create_global_step()
    given = {
        "ys": [y, y.op],
        "sizes": [3, 4],
        "rates": [0.5],
        "titles": ["a", b"b"],
        "mixed": [y, 3],
        "pairs": [(x, y)],
    }
    for key, values in given.items():
        for value in values:
            pb.add_to_collection(key, value)
    meta = pb.train.export_meta_graph()
    with pb.Graph().as_default() as graph:
        pb.train.import_meta_graph(meta)
        assert pb.get_collection("ys") == [graph.get_tensor_by_name(y.name), graph.get_operation_by_name(y.op.name)]
        assert [pb.get_collection(key) for key in ("sizes", "rates", "titles")] == [[3, 4], [0.5], [b"a", b"b"]]
        assert [pb.get_collection(key) for key in ("mixed", "pairs")] == [[], []]
        assert pb.train.get_global_step().name == step.name


def test_saver_nodes_have_tensorflows_names() -> None:
    a_model()
    meta = pb.train.export_meta_graph()
    nodes = {node.name: node.op for node in meta.graph_def.node}
    assert [nodes[name] for name in ("save/Const", "save/SaveV2", "save/RestoreV2", "save/restore_all")] == [
        *("Const", "SaveV2", "RestoreV2", "NoOp"),
    ]
    assert (meta.saver_def.filename_tensor_name, meta.saver_def.version) == ("save/Const:0", 2)


def test_a_saver_exports_the_graph_with_itself(tmp_path: Path) -> None:
    with pb.device("/cpu:0"):
        v, _ = pb.Variable(1.0, name="v"), pb.Variable(2.0, name="w")
    pb.add_to_collection("sizes", 3)
    saver = pb.train.Saver([v], max_to_keep=7)
    meta = saver.export_meta_graph(tmp_path / "model.meta", collection_list=["sizes"], clear_devices=True)
    assert (tmp_path / "model.meta").read_bytes() == meta.SerializeToString(deterministic=True)
    assert (list(meta.collection_def), meta.saver_def.max_to_keep) == (["sizes"], 7)
    (names,) = [n for n in meta.graph_def.node if n.name == "save/tensor_names"]
    assert list(names.attr["value"].tensor.string_val) == [b"v"]
    assert not any(n.device for n in meta.graph_def.node)
    assert "trainable_variables" in saver.export_meta_graph().collection_def
    with pytest.raises(ValueError, match="export_meta_graph: the whole graph is exported; leave out export_scope='a'"):
        saver.export_meta_graph(export_scope="a")


def test_variables_keep_their_order(tmp_path: Path) -> None:
    with pb.Graph().as_default() as graph, pb.Session(graph=graph, engine="numpy") as session:
        w, b = pb.get_variable("w", [2]), pb.Variable(1.0, name="b")
        pb.train.AdamOptimizer(0.1).minimize(pb.reduce_sum(w * b))
        session.run(pb.global_variables_initializer())
        order = [[v.name for v in values] for values in (pb.global_variables(), pb.trainable_variables())]
        path = pb.train.Saver().save(session, tmp_path / "model")
    with pb.Graph().as_default():
        pb.train.import_meta_graph(f"{path}.meta")
        assert [[v.name for v in values] for values in (pb.global_variables(), pb.trainable_variables())] == order
