"""MetaGraphDefs and SavedModels: collections, savers, the values of variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("tensorboard")

from .test_fixtures import FIXTURES, arrays


def session_with_values(graph: pb.Graph, data: dict[str, Any], scope: str = "") -> pb.Session:
    """A session in which the variables have the values that they had in TensorFlow."""
    session = pb.Session(graph=graph, engine="numpy")
    for key, value in data.items():
        if key.startswith("variable|"):
            session.write_variable(graph.get_operation_by_name(scope + key[9:]), value)
    return session


def test_a_training_step_of_tensorflow_is_tensorflows() -> None:
    data = arrays("training")
    with pb.Graph().as_default() as graph:
        pb.train.import_meta_graph(FIXTURES / "training.meta")
        session = session_with_values(graph, data)
    losses = []
    for _ in data["losses"]:
        losses.append(session.run("loss:0", {"x:0": data["feed|x:0"]}))
        session.run("train", {"x:0": data["feed|x:0"]})
    np.testing.assert_allclose(losses, data["losses"], rtol=1e-6)
    for name in ("layer/w", "layer/b_r"):
        after = session.read_variable(graph.get_operation_by_name(name))
        np.testing.assert_allclose(after, data[f"after|{name}"], rtol=1e-6)


def test_collections_are_there_again() -> None:
    with pb.Graph().as_default() as graph:
        pb.train.import_meta_graph(FIXTURES / "training.meta")
        assert [v.name for v in pb.trainable_variables()] == ["layer/w:0", "layer/b_r:0"]
        assert len(pb.global_variables()) == 5
        assert pb.get_collection("ys") == [graph.get_tensor_by_name("y:0")]
        assert pb.train.get_global_step() == pb.get_collection("global_step")[0]
        assert pb.get_collection("train_op") == [graph.get_operation_by_name("train")]


def test_names_are_below_the_scope() -> None:
    with pb.Graph().as_default():
        pb.train.import_meta_graph(FIXTURES / "training.meta", import_scope="again")
        assert [v.name for v in pb.trainable_variables()] == ["again/layer/w:0", "again/layer/b_r:0"]


def test_initializers_are_found() -> None:
    with pb.Graph().as_default() as graph:
        pb.train.import_meta_graph(FIXTURES / "training.meta")
        session = pb.Session(graph=graph, engine="numpy")
        session.run(pb.global_variables_initializer())
    np.testing.assert_array_equal(
        session.read_variable(graph.get_operation_by_name("layer/w")), arrays("training")["variable|layer/w"]
    )


def test_its_saver_restores_what_tensorflow_saved(tmp_path: Path) -> None:
    pytest.importorskip("google_crc32c")
    data = arrays("training")
    with pb.Graph().as_default() as graph:
        saver = pb.train.import_meta_graph(FIXTURES / "training.meta")
        assert saver is not None
        path = saver.save(session_with_values(graph, data), str(tmp_path / "model"), format="tensorflow")
        session = pb.Session(graph=graph, engine="numpy")
        saver.restore(session, path)
    np.testing.assert_array_equal(
        session.read_variable(graph.get_operation_by_name("layer/w/Momentum")), data["variable|layer/w/Momentum"]
    )


def test_our_derivative_of_an_imported_graph_is_the_one_that_tensorflow_wrote_into_it() -> None:
    data = arrays("training")
    with pb.Graph().as_default() as graph:
        pb.train.import_meta_graph(FIXTURES / "training.meta")
        session = session_with_values(graph, data)
        (dw,) = pb.gradients(graph.get_tensor_by_name("loss:0"), pb.trainable_variables()[:1])
    own, theirs = session.run([dw, "gradients/MatMul_grad/MatMul_1:0"], {"x:0": data["feed|x:0"]})
    np.testing.assert_allclose(own, theirs, rtol=1e-6)


def test_the_loader_of_version_1_fills_the_session() -> None:
    pytest.importorskip("google_crc32c")
    data = arrays("saved_calls")
    with pb.Session(graph=pb.Graph(), engine="numpy") as session:
        meta = pb.saved_model.loader.load(session, ["serve"], FIXTURES / "saved_calls")
        signature = meta.signature_def["serving_default"]
        y = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: data["feed|x"]})
    np.testing.assert_allclose(y, data["value|y"], rtol=1e-6)


def test_tags_that_no_graph_has_are_an_error() -> None:
    with pytest.raises(pb.errors.NotFoundError) as error:
        pb.saved_model.load(FIXTURES / "saved_calls", "train")
    assert str(error.value) == (
        f"saved_model.load: {FIXTURES / 'saved_calls'} has no one graph with the tags {{'train'}}; there are ['serve']"
    )


def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    assert not pb.saved_model.loader.maybe_saved_model_directory(tmp_path)
    with pytest.raises(pb.errors.NotFoundError, match="there is no file"):
        pb.saved_model.load(tmp_path)


def test_nodes_of_functions_have_names_below_that_of_the_call() -> None:
    pytest.importorskip("google_crc32c")
    graph = pb.saved_model.load(FIXTURES / "saved_calls").graph
    names = [op.name for op in graph.operations if op.type == "Tanh"]
    assert len(names) == 2
    assert all(name.startswith("StatefulPartitionedCall/") and name.endswith("/Tanh") for name in names)


def test_a_training_step_whose_derivative_is_left_out_is_left_out_as_a_whole() -> None:
    """TensorFlow keeps the steps of a loop on stacks for its own derivative; ours takes its place."""
    data = arrays("training_of_a_loop")
    with pb.Graph().as_default() as graph:
        pb.train.import_meta_graph(FIXTURES / "training_of_a_loop.meta")
        (dw,) = pb.gradients(graph.get_tensor_by_name("loss:0"), pb.trainable_variables())
        session = session_with_values(graph, data)
    assert not {op.name for op in graph.operations} & {"train", "train/update", "train/Assign"}
    np.testing.assert_allclose(session.run(dw, {"x:0": data["feed|x:0"]}), data["grad"], rtol=1e-5)


def test_names_of_tags_and_signatures_are_those_of_tensorflow() -> None:
    constants = pb.saved_model.signature_constants
    assert pb.saved_model.tag_constants.SERVING == "serve"
    assert constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY == "serving_default"


def test_programs_of_version_1_parse_a_graph_def_and_import_it() -> None:
    import pullback.compat.v1 as tf

    with tf.Graph().as_default() as graph, tf.gfile.GFile(str(FIXTURES / "cond.pb"), "rb") as file:
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(file.read())
        tf.import_graph_def(graph_def, name="")
    assert graph.get_tensor_by_name("loss:0").shape == []


def test_variables_that_a_saver_does_not_restore_are_found_among_the_objects() -> None:
    """Keras's models restore copies of their variables; those that are read have the names of the objects."""
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    from pullback.graphdef.restoring import Saved, saved_variables

    graph_def = GraphDef()
    graph_def.node.add(name="layer/w", op="VarHandleOp")
    key = "layer/w/.ATTRIBUTES/VARIABLE_VALUE"
    assert saved_variables(graph_def, {"layer/w": key}) == {"layer/w": Saved(key)}
