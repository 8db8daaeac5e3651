"""`tf.saved_model.builder`: what is built is loaded again, with signatures, tags and values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback as pb
import pullback.compat.v1 as tf

KEY = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def a_model() -> tuple[pb.Session, Any]:
    """A session, and the signature of what it computes."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 2])
    y = tf.nn.softmax(tf.matmul(x, w), name="y")
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": y})


@pytest.mark.parametrize("as_text", [False, True])
def test_what_is_built_is_loaded_with_its_values(as_text: bool, tmp_path: Path) -> None:
    session, signature = a_model()
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "model"))
    builder.add_meta_graph_and_variables(session, [tf.saved_model.tag_constants.SERVING], {KEY: signature})
    builder.add_meta_graph(["serve", "gpu"], {"other": signature})
    path = builder.save(as_text)
    assert path.decode().endswith(".pbtxt" if as_text else ".pb")
    assert tf.saved_model.maybe_saved_model_directory(tmp_path / "model")
    x = np.eye(3, dtype=np.float32)
    wanted = session.run("y:0", {"x:0": x})
    with tf.Session(graph=tf.Graph()) as again:
        meta = tf.saved_model.loader.load(again, ["serve"], str(tmp_path / "model"))
        offered = meta.signature_def[KEY]
        assert tf.saved_model.is_valid_signature(offered)
        y = tf.saved_model.utils.get_tensor_from_tensor_info(offered.outputs["y"])
        assert again.run(y, {offered.inputs["x"].name: x}).tolist() == wanted.tolist()
    assert list(pb.saved_model.load(tmp_path / "model", {"serve", "gpu"}).signatures) == ["other"]


def test_what_is_to_be_run_first_is_said(tmp_path: Path) -> None:
    session, _ = a_model()
    builder = tf.saved_model.Builder(tmp_path / "model")
    first = tf.saved_model.main_op.main_op()
    builder.add_meta_graph_and_variables(session, ["serve"], main_op=first, clear_devices=True)
    builder.save()
    with tf.Session(graph=tf.Graph()) as again:
        meta = tf.saved_model.load(again, ["serve"], tmp_path / "model")
    assert list(meta.collection_def["saved_model_main_op"].node_list.value) == [first.name]


def test_files_go_with_the_model(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a b c")
    asset = tf.constant(str(tmp_path / "words.txt"), name="words")
    builder = tf.saved_model.Builder(tmp_path / "model")
    builder.add_meta_graph_and_variables(tf.Session(), ["serve"], assets_collection=[asset])
    with pytest.raises(ValueError, match=r"^SavedModelBuilder: two assets are called 'words\.txt': /.*, b/words\.txt$"):
        builder.add_meta_graph(["gpu"], assets_collection=[tf.constant("b/words.txt")])
    builder.save()
    (tmp_path / "words.txt").unlink()
    (tmp_path / "model").rename(tmp_path / "elsewhere")
    with tf.Session(graph=tf.Graph(), engine="numpy") as again:
        meta = tf.saved_model.load(again, ["serve"], tmp_path / "elsewhere")
    (node,) = [node for node in meta.graph_def.node if node.name == "words"]
    (path,) = node.attr["value"].tensor.string_val
    assert Path(path.decode()).read_text() == "a b c"


def test_signatures_have_the_methods_of_their_kind() -> None:
    examples, scores = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None])
    utils = tf.saved_model.signature_def_utils
    regression = utils.regression_signature_def(examples, scores)
    assert (regression.method_name, list(regression.outputs)) == ("tensorflow/serving/regress", ["outputs"])
    classes = utils.classification_signature_def(examples, None, scores)
    assert (classes.method_name, list(classes.outputs)) == ("tensorflow/serving/classify", ["scores"])
    assert not utils.is_valid_signature(utils.build_signature_def({}, {}, "mine"))


def test_messages(tmp_path: Path) -> None:
    session, signature = a_model()
    builder = tf.saved_model.Builder(tmp_path / "model")
    with pytest.raises(RuntimeError, match=r"^SavedModelBuilder: there is no graph; add one with add_meta_graph_and_"):
        builder.save()
    with pytest.raises(RuntimeError, match=r"^SavedModelBuilder: no variables were added; begin with add_meta"):
        builder.add_meta_graph(["serve"])
    builder.add_meta_graph_and_variables(session, ["serve"], {KEY: signature})
    with pytest.raises(RuntimeError, match=r"^SavedModelBuilder: variables were added before; further graphs go"):
        builder.add_meta_graph_and_variables(session, ["serve"])
    text = "SavedModelBuilder: an asset is a constant with the path of a file, not "
    with pytest.raises(ValueError, match=f"^{text}"):
        builder.add_meta_graph(["gpu"], assets_collection=[tf.placeholder(tf.string, [])])
    with pytest.raises(
        ValueError, match=r"^SavedModelBuilder: there is no file a/words\.txt, which is to go with the m"
    ):
        builder.add_meta_graph(["gpu"], assets_collection=[tf.constant("a/words.txt")])
    builder.save()
    with pytest.raises(ValueError, match=r"^saved_model\.save: there is something in "):
        tf.saved_model.Builder(tmp_path / "model")
    with pytest.raises(ValueError, match=r"^predict_signature_def: there are no outputs; name one tensor at least$"):
        tf.saved_model.predict_signature_def({"x": tf.constant(1.0)}, {})
    with pytest.raises(ValueError, match=r"^classification_signature_def: classes and scores are None; give one"):
        tf.saved_model.classification_signature_def(tf.constant("a"), None, None)
