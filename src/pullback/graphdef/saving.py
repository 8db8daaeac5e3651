"""SavedModel and MetaGraphDef export: a graph with its variables, what saves and restores them, and signatures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..checkpoints.saver import Saver
from ..checkpoints.tensor_bundle import write_bundle
from ..core.data_types import NUMBERS
from ..core.dtypes import string
from ..core.files import replace_file
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..engines.session import Session
from ..primitives.variables.collections import GraphKeys
from ..primitives.variables.variable import Variable
from .body import set_attribute, set_shape
from .exporting import export, written
from .messages import messages
from .restoring import holds_variables
from .saved_model import Signature

_PREDICT = "tensorflow/serving/predict"


def export_meta_graph(
    filename: str | PathLike[str] | None = None, graph: Graph | None = None, as_text: bool = False
) -> Any:
    """The MetaGraphDef of `graph`, the default one for None, which goes into the file `filename` too where it is given.

    It has the graph, its variables, and the nodes that save and restore them: `import_meta_graph` of TensorFlow gives a
    saver for what `Saver.save(..., format="tensorflow")` wrote. It has the collections of tensors, operations, numbers
    and texts; a collection of several of these, or of something else, is left out.

    Raises:
        UnimplementedError: an operation has no pendant in TensorFlow.

    >>> import pullback as pb
    >>> w = pb.Variable([1.0, 2.0], name="w")
    >>> meta = pb.train.export_meta_graph()
    >>> meta.saver_def.restore_op_name, sorted(meta.collection_def)
    ('save/restore_all', ['trainable_variables', 'variables'])
    """
    graph = graph or get_default_graph()
    made = with_saver(graph, {v.op.name: v for v in _variables(graph)})
    if filename is not None:
        write_message(made, filename, as_text)
    return made


def write_message(made: Any, filename: str | PathLike[str], as_text: bool) -> None:
    """Writes a message into a file."""
    data = written(made, as_text)
    replace_file(Path(filename), lambda file: file.write(data))


def with_saver(graph: Graph, saved: Mapping[str, Variable]) -> Any:
    """The MetaGraphDef of `graph` with a saver of variables, by their names in a checkpoint.

    Raises:
        What `export_meta_graph` raises.
    """
    made = messages().MetaGraphDef()
    made.graph_def.CopyFrom(export(graph))
    variables = _variables(graph)
    for variable in variables:
        keys = [GraphKeys.GLOBAL_VARIABLES, *([GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else [])]
        for key in keys:
            made.collection_def[key].bytes_list.value.append(_described(variable))
    read = {node.name for node in made.graph_def.node}
    for variable in dict.fromkeys([*variables, *saved.values()]):
        name = _read_of(variable).removesuffix(":0")
        if name not in read:
            _add(made.graph_def.node, name, "ReadVariableOp", [variable.op.name], dtype=variable.dtype)
    if saved:
        _add_saver(made, saved)
    _add_collections(made, graph)
    return made


def save(
    session: Session,
    export_dir: str | PathLike[str],
    signatures: Mapping[str, Signature],
    tags: Sequence[str] = ("serve",),
) -> None:
    """Writes a SavedModel: the graph of a session, the values of its variables, and what it offers.

    Raises:
        UnimplementedError: an operation has no pendant in TensorFlow.
        ValueError: there is something in the folder `export_dir`. FailedPreconditionError: a variable has no value.

    >>> import tempfile
    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [None], name="x")
    >>> w = pb.Variable(3.0, name="w")
    >>> session = pb.Session()
    >>> session.run(w.initializer)
    >>> offered = {"serving_default": pb.saved_model.Signature({"x": x}, {"y": w * x})}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pb.saved_model.save(session, folder + "/model", offered)
    ...     model = pb.saved_model.load(folder + "/model")
    >>> model.values
    {'w': array(3., dtype=float32)}
    """
    folder = Path(export_dir)
    check_empty(folder)
    meta = meta_graph_of(session.graph, tags)
    for name, signature in signatures.items():
        _sign(meta.signature_def[name], signature)
    write_model(folder, [meta], values_of(session))


def check_empty(folder: Path) -> None:
    """ValueError where there is something in a folder."""
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"saved_model.save: there is something in {folder}; give a folder that is empty or not there")


def meta_graph_of(graph: Graph, tags: Sequence[str]) -> Any:
    """The MetaGraphDef of a graph, with its tags."""
    meta = export_meta_graph(graph=graph)
    meta.meta_info_def.tags.extend(tags)
    return meta


def values_of(session: Session) -> dict[str, np.ndarray[Any, Any]]:
    """The values of the variables of a session, by name."""
    return {v.op.name: session.read_variable(v.op) for v in _variables(session.graph)}


def write_model(
    folder: Path, metas: Sequence[Any], values: Mapping[str, np.ndarray[Any, Any]], as_text: bool = False
) -> Path:
    """Writes MetaGraphDefs and the values that their variables share as a SavedModel; the file of the former."""
    made = messages().SavedModel(saved_model_schema_version=1)
    made.meta_graphs.extend(metas)
    (folder / "variables").mkdir(parents=True, exist_ok=True)
    if values:
        write_bundle(folder / "variables" / "variables", values)
    data, path = written(made, as_text), folder / ("saved_model.pbtxt" if as_text else "saved_model.pb")
    replace_file(path, lambda file: file.write(data))
    return path


def simple_save(
    session: Session,
    export_dir: str | PathLike[str],
    inputs: Mapping[str, Tensor],
    outputs: Mapping[str, Tensor],
    legacy_init_op: object = None,
) -> None:
    """Writes a SavedModel with one signature, `serving_default`, of these tensors; see `save`.

    Raises:
        What `save` raises.

    >>> import tempfile
    >>> import pullback as pb
    >>> x = pb.placeholder(pb.float32, [None], name="x")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pb.saved_model.simple_save(pb.Session(), folder + "/model", {"x": x}, {"y": pb.tanh(x)})
    ...     sorted(pb.saved_model.load(folder + "/model").signatures)
    ['serving_default']
    """
    del legacy_init_op
    save(session, export_dir, {"serving_default": Signature(inputs, outputs, _PREDICT)})


def _variables(graph: Graph) -> list[Variable]:
    """The variables of a graph, in the order in which they were made."""
    found: list[Variable] = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    return found


def _add_collections(meta: Any, graph: Graph) -> None:
    """Adds the collections each of whose elements a MetaGraphDef has a place for, one place for all."""
    nodes = {node.name for node in meta.graph_def.node}
    for key in set(graph.get_all_collection_keys()) - set(meta.collection_def):
        found = [_place_of(key, value, nodes) for value in graph.get_collection(key)]
        kinds = {kind for kind, _ in found}
        if len(kinds) == 1 and None not in kinds:
            getattr(meta.collection_def[key], kinds.pop()).value.extend([value for _, value in found])


def _place_of(key: str, value: Any, nodes: Collection[str]) -> tuple[Any, Any]:
    """The field of a CollectionDef that takes `value`, and what it takes; None where there is none."""
    if isinstance(value, Variable):
        named = holds_variables(key) and _read_of(value).removesuffix(":0") in nodes
        return ("bytes_list", _described(value)) if named else (None, value)
    if isinstance(value, Tensor | Operation):
        op = value.op if isinstance(value, Tensor) else value
        return "node_list" if op.name in nodes else None, value.name
    if key == GraphKeys.SAVERS and isinstance(value, Saver):
        return "bytes_list", value.as_saver_def().SerializeToString()
    if isinstance(value, str | bytes):
        return "bytes_list", value.encode() if isinstance(value, str) else value
    if isinstance(value, int):
        return "int64_list", value
    return "float_list" if isinstance(value, float) else None, value


def _described(variable: Variable) -> bytes:
    """A VariableDef."""
    made = messages().VariableDef(variable_name=f"{variable.op.name}:0", is_resource=True, trainable=variable.trainable)
    if variable.initializer is not None:
        made.initializer_name = variable.initializer.name
    made.snapshot_name = _read_of(variable)
    data: bytes = made.SerializeToString()
    return data


def _read_of(variable: Variable) -> str:
    return f"save/Read/{variable.op.name}:0"


def _add_saver(meta: Any, saved: Mapping[str, Variable]) -> None:
    """Adds the nodes that save and restore variables, under the names that TensorFlow's `Saver` gives them."""
    variables = saved.values()
    nodes, dtypes = meta.graph_def.node, [v.dtype for v in variables]
    _add(nodes, "save/Const", "Const", [], value=np.array(b"model", string), dtype=string)
    names = np.array([name.encode() for name in saved], string)
    _add(nodes, "save/tensor_names", "Const", [], value=names, dtype=string)
    _add(nodes, "save/shape_and_slices", "Const", [], value=np.full(len(variables), b"", string), dtype=string)
    keys = ["save/Const", "save/tensor_names", "save/shape_and_slices"]
    _add(nodes, "save/SaveV2", "SaveV2", [*keys, *[_read_of(v).removesuffix(":0") for v in variables]], dtypes=dtypes)
    _add(nodes, "save/control_dependency", "Identity", ["save/Const", "^save/SaveV2"], T=string)
    _add(nodes, "save/RestoreV2", "RestoreV2", keys, dtypes=dtypes)
    for i, v in enumerate(variables):
        value = f"save/RestoreV2:{i}" if i else "save/RestoreV2"
        _add(nodes, f"save/Assign_{i}", "AssignVariableOp", [v.op.name, value], dtype=v.dtype)
    _add(nodes, "save/restore_all", "NoOp", [f"^save/Assign_{i}" for i in range(len(variables))])
    meta.saver_def.CopyFrom(saver_def())


def saver_def() -> Any:
    """A SaverDef with the names of the nodes that save and restore variables."""
    made = messages().MetaGraphDef().saver_def
    made.filename_tensor_name, made.save_tensor_name = "save/Const:0", "save/control_dependency:0"
    made.restore_op_name, made.version = "save/restore_all", type(made).V2
    return made


def _add(nodes: Any, name: str, op_type: str, inputs: Sequence[str], **attributes: Any) -> None:
    node = nodes.add(name=name, op=op_type, input=inputs)
    for key, value in attributes.items():
        set_attribute(node.attr[key], value)


def _sign(made: Any, signature: Signature) -> None:
    """A SignatureDef."""
    made.method_name = signature.method_name or _PREDICT
    for infos, tensors in ((made.inputs, signature.inputs), (made.outputs, signature.outputs)):
        for key, x in tensors.items():
            describe(infos[key], x)


def describe(info: Any, x: Tensor) -> None:
    """Gives a TensorInfo the name, dtype and shape of a tensor."""
    info.name, info.dtype = x.name, NUMBERS[x.dtype]
    set_shape(info.tensor_shape, x.shape)
