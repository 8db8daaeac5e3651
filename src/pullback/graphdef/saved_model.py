"""SavedModel: a folder with graphs by tags, signatures, and the values of variables, as TensorFlow writes it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..checkpoints.reader import load_checkpoint
from ..checkpoints.tensor_bundle import is_bundle
from ..checkpoints.tensorflow_files import names_of_objects, read_tensorflow
from ..core.errors import DataLossError, InvalidArgumentError, NotFoundError
from ..core.graph import Graph, Tensor
from ..core.limits import limited
from ..engines.session import Session
from ..primitives.variables.variable import Variable
from .messages import read_file
from .meta_graph import add_constant_graph, add_meta_graph
from .restoring import Saved, saved_variables


@dataclass(frozen=True)
class Signature:
    """What a SavedModel offers under one name: tensors to feed, and tensors to fetch or differentiate."""

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    method_name: str = ""


@dataclass(frozen=True)
class SavedModel:
    """A graph that was loaded, and the values that its variables were saved with."""

    graph: Graph
    signatures: Mapping[str, Signature]
    variables: Mapping[str, Variable]
    values: Mapping[str, np.ndarray[Any, Any]]

    def session(self, engine: str | None = None) -> Session:
        """A new session on the graph in which the variables have these values."""
        session = Session(graph=self.graph) if engine is None else Session(graph=self.graph, engine=engine)
        _write(session, self.variables, self.values)
        return session


def load(export_dir: str | PathLike[str], tags: str | Iterable[str] | None = None) -> SavedModel:
    """What TensorFlow saved into the folder `export_dir`, in a new graph.

    Of several graphs `tags` chooses the one that has all of them; unless given, there must be one, or one for serving.

    Raises:
        NotFoundError: there is no SavedModel, none with these tags, or a variable's value is missing.
        DataLossError: a file is torn.
        Else what `import_graph_def` raises.

    >>> import pullback as pb, tempfile
    >>> x, w = pb.placeholder(pb.float32, [None], name="x"), pb.Variable(3.0, name="w")
    >>> offered = {"serving_default": pb.saved_model.Signature({"x": x}, {"y": w * x})}
    >>> session, folder = pb.Session(), tempfile.TemporaryDirectory()
    >>> session.run(w.initializer)
    >>> _ = pb.saved_model.save(session, f"{folder.name}/model", offered)
    >>> model = pb.saved_model.load(f"{folder.name}/model")
    >>> signature = model.signatures["serving_default"]
    >>> with model.graph.as_default():
    ...     dx, = pb.gradients(signature.outputs["y"], signature.inputs["x"])
    >>> with model.session() as loaded:
    ...     loaded.run(dx, {signature.inputs["x"]: [1.0, 2.0]})
    array([3., 3.], dtype=float32)
    """
    wanted = {tags} if isinstance(tags, str) else None if tags is None else set(tags)
    with limited("saved_model.load"):
        meta = _chosen(Path(export_dir), wanted)
        graph = Graph()
        with graph.as_default():
            found = add_meta_graph(meta, None, {}, objects=_objects(Path(export_dir)))
        values = _values(Path(export_dir), {name: saved for name, (_, saved) in found.items()})
    variables = {name: variable for name, (variable, _) in found.items()}
    return SavedModel(graph, _signatures(graph, meta), variables, values)


def load_frozen(
    export_dir: str | PathLike[str], tags: str | Iterable[str] | None = None, signature: str = "serving_default"
) -> SavedModel:
    """What one signature of a SavedModel needs, with constants in place of the variables, of their names.

    Raises:
        NotFoundError: it has no such signature. Else what `load` raises.

    >>> import pullback as pb, tempfile
    >>> x, w = pb.placeholder(pb.float32, [None], name="x"), pb.Variable(3.0, name="w")
    >>> offered = {"serving_default": pb.saved_model.Signature({"x": x}, {"y": w * x})}
    >>> session, folder = pb.Session(), tempfile.TemporaryDirectory()
    >>> session.run(w.initializer)
    >>> _ = pb.saved_model.save(session, f"{folder.name}/model", offered)
    >>> model = pb.saved_model.load_frozen(f"{folder.name}/model")
    >>> y = model.signatures["serving_default"].outputs["y"]
    >>> pb.Session(graph=model.graph).run(y, {"x:0": [1.0, 2.0]})
    array([3., 6.], dtype=float32)
    """
    graph = Graph()
    offered = add_frozen(graph, Path(export_dir), tags, signature)
    return SavedModel(graph, {signature: offered}, {}, {})


def add_frozen(graph: Graph, folder: Path, tags: str | Iterable[str] | None, signature: str) -> Signature:
    """The signature of a SavedModel, after what it needs was added to `graph`; see `load_frozen`."""
    wanted = {tags} if isinstance(tags, str) else None if tags is None else set(tags)
    with limited("saved_model.load"):
        meta = _chosen(folder, wanted)
        if signature not in meta.signature_def:
            known = ", ".join(map(repr, meta.signature_def))
            raise NotFoundError(f"saved_model.load_frozen: there is no signature '{signature}'; there are {known}")
        chosen = meta.signature_def[signature]
        names = [info.name for side in (chosen.inputs, chosen.outputs) for info in side.values()]
        nodes = {node.name for node in meta.graph_def.node}
        for name in names:
            if name.partition(":")[0] not in nodes:
                raise InvalidArgumentError(
                    f"saved_model.load_frozen: the signature '{signature}' has '{name}', of which the graph has no node"
                )
        with graph.as_default():
            add_constant_graph(meta, _values(folder, saved_variables(meta.graph_def, _objects(folder))), names)
        offered = _signatures(graph, meta).get(signature)
        if offered is None:
            raise InvalidArgumentError(
                f"saved_model.load_frozen: the signature '{signature}' has outputs of nodes that these do not have"
            )
        return offered


def load_into(
    sess: Session,
    tags: str | Iterable[str],
    export_dir: str | PathLike[str],
    import_scope: str | None = None,
) -> Any:
    """Adds the graph of a SavedModel to that of a session, and gives its variables their values; its MetaGraphDef.

    This is `tf.compat.v1.saved_model.loader.load`. Initialisers of tables, which are not read, are not run.

    Raises:
        What `load` raises.
    """
    wanted = {tags} if isinstance(tags, str) else set(tags)
    with limited("saved_model.loader.load"):
        meta = _chosen(Path(export_dir), wanted)
        with sess.graph.as_default():
            found = add_meta_graph(meta, import_scope, {}, objects=_objects(Path(export_dir)))
        values = _values(Path(export_dir), {name: saved for name, (_, saved) in found.items()})
    _write(sess, {name: variable for name, (variable, _) in found.items()}, values)
    return meta


def maybe_saved_model_directory(export_dir: str | PathLike[str]) -> bool:
    """Whether there is a SavedModel in that folder."""
    return _file(Path(export_dir)).is_file()


def _file(folder: Path) -> Path:
    """The file with the graphs, in bytes, or as text."""
    text = folder / "saved_model.pbtxt"
    return text if text.is_file() else folder / "saved_model.pb"


def _chosen(folder: Path, tags: set[str] | None) -> Any:
    """The graph of the SavedModel that has these tags."""
    graphs = list(read_file(_file(folder), "SavedModel").meta_graphs)
    matching = [g for g in graphs if tags is None or tags == set(g.meta_info_def.tags)]
    if tags is None and len(matching) > 1:
        matching = [g for g in matching if "serve" in g.meta_info_def.tags] or matching
    if len(matching) != 1:
        known = ", ".join(str(sorted(g.meta_info_def.tags)) for g in graphs)
        raise NotFoundError(f"saved_model.load: {folder} has no one graph with the tags {tags}; there are {known}")
    _place_assets(matching[0], folder)
    return matching[0]


def _place_assets(meta: Any, folder: Path) -> None:
    """Puts the paths of the files that came with the model into the constants that hold those of the one who saved."""
    files = {asset.tensor_info.name.partition(":")[0]: Path(asset.filename).name for asset in meta.asset_file_def}
    for node in meta.graph_def.node if files else ():
        if node.op == "Const" and node.name in files:
            node.attr["value"].tensor.string_val[:] = [os.fsencode(folder / "assets" / files[node.name])]


def _objects(folder: Path) -> dict[str, str]:
    """The keys that the values of variables have among those of objects, by the names of the variables."""
    prefix = folder / "variables" / "variables"
    return names_of_objects(prefix, read_tensorflow(prefix)) if is_bundle(prefix) else {}


def _values(folder: Path, saved: Mapping[str, Saved]) -> dict[str, np.ndarray[Any, Any]]:
    """The values of variables by name."""
    if not saved:
        return {}
    reader = load_checkpoint(folder / "variables" / "variables")
    return {name: where.of(reader.get_tensor(where.key)) for name, where in saved.items()}


def _write(session: Session, variables: Mapping[str, Variable], values: Mapping[str, np.ndarray[Any, Any]]) -> None:
    for name, variable in variables.items():
        value = values[name]
        if value.dtype != variable.dtype or not variable.shape.is_compatible_with(value.shape):
            raise DataLossError(
                f"saved_model.load: '{name}' is {variable.dtype}{variable.shape}, but was saved as "
                f"{value.dtype}{list(value.shape)}"
            )
        session.write_variable(variable.op, value)


def _signatures(graph: Graph, meta: Any) -> dict[str, Signature]:
    found = {}
    for key, signature in meta.signature_def.items():
        sides = [_tensors(graph, side) for side in (signature.inputs, signature.outputs)]
        if not any(side is None for side in sides):
            inputs, outputs = sides
            found[key] = Signature(inputs or {}, outputs or {}, signature.method_name)
    return found


def _tensors(graph: Graph, infos: Mapping[str, Any]) -> dict[str, Tensor] | None:
    """The tensors of one side of a signature; None where one is not here."""
    try:
        return {key: graph.get_tensor_by_name(info.name) for key, info in infos.items()}
    except (KeyError, ValueError):
        return None
