"""Checkpoints in programs of TensorFlow 1: variables that begin with what one has, and the notes of a folder.

>>> import os, tempfile
>>> import pullback.compat.v1 as tf
>>> train = tf.train
>>> v = tf.Variable(1.0)
>>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
...     session.run(v.initializer)
...     path = train.Saver().save(session, os.path.join(folder, "at"), global_step=1)
...     print(list(train.checkpoints_iterator(folder, timeout=0)) == [path], len(train.get_checkpoint_mtimes([path])))
...     train.update_checkpoint_state(folder, path)
...     print(train.generate_checkpoint_state_proto(folder, path).model_checkpoint_path == path)
...     train.remove_checkpoint(path)
...     print(train.checkpoint_exists(path))
...     with tf.summary.FileWriter(folder) as writer:
...         writer.add_summary(tf.Summary(), 5)
...     print([e.step for name in os.listdir(folder) if "tfevents" in name
...            for e in train.summary_iterator(os.path.join(folder, name))])
True 1
True
False
[0, 5]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pullback as pb

from ....checkpoints.places import place_to_restore, remove, time_of
from ....checkpoints.state_file import note_state
from ....primitives.variables.operations import AssignVariableOp
from ....records.files import read_records
from ..messages import message

PathLike = str | os.PathLike[str]
_WAIT = 1.0


def init_from_checkpoint(ckpt_dir_or_file: PathLike, assignment_map: Mapping[str, Any]) -> None:
    """Let initializers give variables what a checkpoint has: for each name in it a variable, its name, or a list.

    From a scope to a scope, `{"old/": "new/"}`, all variables in the second one; "/" is the outermost.

    Raises:
        ValueError: the checkpoint has no such name, or another shape; there is no such variable.

    >>> import tempfile
    >>> import pullback.compat.v1 as tf
    >>> v = tf.get_variable("v", initializer=1.0)
    >>> with tf.Session() as session, tempfile.TemporaryDirectory() as folder:
    ...     session.run(v.initializer)
    ...     path = tf.train.Saver([v]).save(session, folder + "/model")
    ...     w = tf.get_variable("new/v", initializer=5.0)
    ...     tf.train.init_from_checkpoint(path, {"/": "new/"})
    ...     session.run(tf.global_variables_initializer())
    ...     session.run(w)
    np.float32(1.0)
    """
    reader = pb.train.NewCheckpointReader(ckpt_dir_or_file)
    known = {v.op.name: v for v in pb.all_variables()}
    for name, wanted in sorted(assignment_map.items()):
        if isinstance(wanted, str) and wanted not in known:
            for key, variable in _of_scope(name, wanted, known):
                initialize_from(variable, reader, key)
            continue
        for one in wanted if isinstance(wanted, list | tuple) else [wanted]:
            initialize_from(known[one] if isinstance(one, str) else one, reader, name)


def _of_scope(name: str, scope: str, known: Mapping[str, pb.Variable]) -> Iterator[tuple[str, pb.Variable]]:
    """The variables of a scope, with their names in a checkpoint in which the scope is called `name`."""
    if not name.endswith("/"):
        raise ValueError(
            f"init_from_checkpoint: there is no variable '{scope}'; a scope '{scope}' is assigned from a scope 'name/'"
        )
    inside = scope.rstrip("/") + "/" if scope != "/" else ""
    for variable, v in known.items():
        if variable.startswith(inside):
            yield ("" if name == "/" else name) + variable.removeprefix(inside), v


def initialize_from(variable: pb.Variable, reader: pb.train.CheckpointReader, name: str) -> None:
    """Let the initializer of `variable` give it what a checkpoint has of that name.

    Raises:
        ValueError: the checkpoint has no such name, or another shape.
    """
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {reader.path} checkpoint")
    if not variable.shape.is_compatible_with(shapes[name]) or variable.dtype != dtypes[name]:
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.dtype} {variable.shape}) doesn't match with shape of tensor "
            f"{name} ({dtypes[name]} {shapes[name]}) from checkpoint reader."
        )
    begin_with(variable, lambda: reader.get_tensor(name))


def begin_with(variable: pb.Variable, read: Callable[..., Any], make: Callable[[], pb.Tensor] | None = None) -> None:
    """Let the initializer of `variable` give it what `read` returns, of the value of the tensor that `make` makes."""
    graph = variable.graph
    with graph.as_default(), graph.entered(graph.scope._replace(controllers=())), graph.within("init"):
        spec = pb.TensorSpec(variable.shape, variable.dtype)
        given = [] if make is None else [make()]
        value = pb.numpy_function(read, given, spec, stateful=False, name=f"{variable.op.name}/read")
        variable.initial_value = value
        assign = AssignVariableOp(variable.dtype, variable.shape)
        variable.initializer = assign.operation(variable.handle, value, name=f"{variable.op.name}/Assign")


def update_checkpoint_state(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: object = None,
    last_preserved_timestamp: object = None,
) -> None:
    """Note in a folder which of its checkpoints is the latest one, and which there are."""
    del all_model_checkpoint_timestamps, last_preserved_timestamp
    paths = _latest_last(save_dir, model_checkpoint_path, all_model_checkpoint_paths)
    note_state(Path(save_dir), latest_filename, [Path(path) for path in paths])


def generate_checkpoint_state_proto(
    save_dir: PathLike,
    model_checkpoint_path: PathLike,
    all_model_checkpoint_paths: Sequence[PathLike] | None = None,
    all_model_checkpoint_timestamps: object = None,
    last_preserved_timestamp: object = None,
) -> pb.train.CheckpointState:
    """What such a note says, the latest last; paths that are not absolute begin in a folder that is."""
    del all_model_checkpoint_timestamps, last_preserved_timestamp
    paths = _latest_last(save_dir, model_checkpoint_path, all_model_checkpoint_paths)
    named = [path if os.path.isabs(path) else os.path.relpath(path, save_dir) for path in paths]
    return pb.train.CheckpointState(named[-1], tuple(named))


def _latest_last(save_dir: PathLike, latest: PathLike, others: Sequence[PathLike] | None) -> list[str]:
    """The paths once each; those in an absolute folder may begin there, others begin where the program runs."""
    folder = save_dir if os.path.isabs(save_dir) else ""
    paths = [os.path.join(folder, path) for path in (*(others or ()), latest)]
    return [*[path for path in paths if path != paths[-1]], paths[-1]]


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[PathLike]) -> list[float]:
    """When the checkpoints were written, in seconds since 1970, without those that are not there."""
    times = [time_of(place_to_restore(prefix)) for prefix in checkpoint_prefixes]
    return [seconds for seconds in times if seconds]


def remove_checkpoint(
    checkpoint_prefix: PathLike, checkpoint_format_version: object = None, meta_graph_suffix: str = "meta"
) -> None:
    """Delete a checkpoint."""
    del checkpoint_format_version
    remove(place_to_restore(checkpoint_prefix), meta_graph_suffix)


def export_meta_graph(
    filename: PathLike | None = None,
    meta_info_def: object = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: pb.Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
) -> Any:
    """The MetaGraphDef of `graph`, the default one for None, with a saver of its variables that is as `saver_def` says.

    The rest is as for `Saver.export_meta_graph`; `graph_def` is taken for TensorFlow's sake: it is that of the graph.
    """
    del meta_info_def, graph_def
    with (graph or pb.get_default_graph()).as_default():
        return pb.train.Saver(saver_def=saver_def, allow_empty=True).export_meta_graph(
            filename,
            collection_list,
            as_text,
            export_scope,
            clear_devices,
            clear_extraneous_savers,
            strip_default_attrs,
            save_debug_info,
        )


def wait_for_new_checkpoint(
    checkpoint_dir: PathLike,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = _WAIT,
    timeout: float | None = None,
) -> str | None:
    """The latest checkpoint of a folder, once it is not `last_checkpoint`; None after `timeout` seconds."""
    end = None if timeout is None else time.monotonic() + timeout
    while (path := pb.train.latest_checkpoint(checkpoint_dir)) is None or path == last_checkpoint:
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)
    return path


def checkpoints_iterator(
    checkpoint_dir: PathLike,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The checkpoints of a folder as they come, until none has for `timeout` seconds, and `timeout_fn` agrees."""
    path = None
    while True:
        following = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if following is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        begun, path = time.monotonic(), following
        yield path
        time.sleep(max(0.0, begun + min_interval_secs - time.monotonic()))


def summary_iterator(path: PathLike) -> Iterator[Any]:
    """The events in a file that a FileWriter wrote, as messages.

    Raises:
        NotFoundError: there is no such file. DataLossError: it is torn or was changed.
        ImportError: the package tensorboard is not installed.
    """
    kind = message("Event")
    return (_event(kind, record, path) for record in read_records(path))


def _event(kind: Any, record: bytes, path: PathLike) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(record)
    except DecodeError as error:
        raise pb.errors.DataLossError(f"{os.fsdecode(path)} is no file of events: {error}") from None
