"""Checkpoints (`Saver`): the variables of a session saved to files and restored."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ..core.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ..core.files import replace_file
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.types import TensorType, type_of_array
from ..core.typing import TensorLike
from ..engines.session import Session
from ..engines.shards import Source
from ..layers.variables.scope import global_variables
from ..primitives.base.state import AbstractStateful
from ..primitives.variables.variable import Variable
from .files import Kind, SavedArray, write_checkpoint
from .places import (
    FILE,
    FOLDER,
    TENSORFLOW,
    is_there,
    place_to_restore,
    place_to_save,
    prefix_of,
    read,
    remove,
    time_of,
)
from .sharded import SavedSource, tensorstore_module, write_folder
from .state_file import note_state
from .tensorflow_files import names_of_objects, write_tensorflow

Format = Literal["pullback", "tensorflow"]


class Saver:
    """Saves variables of a session to files, and restores them.

    Without `var_list` these are all variables that the default graph has now, and with them goes the state of its
    random operations, so that training goes on as if it had not stopped. `var_list` may be a list, or a dictionary by
    the names that the variables have in the file. The newest `max_to_keep` files are kept, all of them for None or 0.
    With `reshape`, a saved array may have another shape of as many elements; with `pad_step_number`, the step in a
    file's name has 8 digits. Of the files no longer kept one stays for each `keep_checkpoint_every_n_hours`. `name`,
    `restore_sequentially`, `write_version`, `save_relative_paths` and `filename` are taken for TensorFlow's sake.

    With `sharded`, a checkpoint is a folder of Zarr arrays (needs tensorstore): each process writes the parts of
    variables that it has, and restores those that it needs: of what is spread over a mesh none ever holds all.

    With `defer_build` the variables are those that the graph has when `build()` is called. `saver_def`, a message
    SaverDef, says in place of `max_to_keep` and `keep_checkpoint_every_n_hours` what is kept.

    Raises:
        ValueError: there are no variables, unless `allow_empty`, or two have the same name; `builder` is asked for, or
            `var_list` with `defer_build`.
        ImportError: `sharded`, and tensorstore is not installed.

    >>> import pullback as pb, tempfile
    >>> v = pb.Variable(1.0, name="v")
    >>> saver, session = pb.train.Saver(), pb.Session()
    >>> session.run(v.initializer)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = saver.save(session, folder + "/model", global_step=7)
    ...     _ = session.run(v.assign(5.0))
    ...     saver.restore(session, path)
    >>> session.run(v)
    np.float32(1.0)
    """

    def __init__(
        self,
        var_list: Sequence[Variable] | Mapping[str, Variable] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: object = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: object = None,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        del name, restore_sequentially, write_version, save_relative_paths, filename
        if builder is not None:
            raise ValueError(
                "Saver: builder is not supported; a saver saves variables, and states of random operations"
            )
        if defer_build and var_list is not None:
            raise ValueError("Saver: with defer_build build() takes the variables of the graph; leave var_list out")
        if sharded:
            tensorstore_module()
        self._allow_empty = allow_empty
        self._named = None if defer_build else self._taken(var_list)
        self._with_states = var_list is None
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = (max_to_keep if saver_def is None else saver_def.max_to_keep) or None
        self._pad_step_number = pad_step_number
        self._hours = (saver_def and saver_def.keep_checkpoint_every_n_hours) or keep_checkpoint_every_n_hours
        self._next_to_stay = time.time() + self._hours * 3600.0
        self._kept: list[Path] = []
        self._meta_graph: tuple[Graph | None, int, bytes] = None, 0, b""

    def as_saver_def(self) -> Any:
        """The message SaverDef that says what this saver keeps, and names its nodes in an exported graph.

        Raises:
            ImportError: TensorFlow's messages are not installed.
        """
        from ..graphdef.saving import saver_def

        made = saver_def()
        self._describe(made)
        return made

    @property
    def saver_def(self) -> Any:
        """The same as `as_saver_def`."""
        return self.as_saver_def()

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The same as `as_saver_def`, whatever the scope."""
        del export_scope
        return self.as_saver_def()

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """A saver of the variables of the default graph that keeps what the message says, whatever the scope."""
        del import_scope
        return Saver(saver_def=saver_def)

    def _describe(self, saver_def: Any) -> None:
        saver_def.max_to_keep = self._max_to_keep or 0
        saver_def.keep_checkpoint_every_n_hours = self._hours
        saver_def.sharded = self._sharded

    def build(self) -> None:
        """Take the variables that the graph has now, for a saver that was made with `defer_build`."""
        if self._named is None:
            self._named = self._taken(None)

    def _taken(self, var_list: Sequence[Variable] | Mapping[str, Variable] | None) -> dict[str, Variable]:
        found = _by_name(global_variables() if var_list is None else var_list)
        if not found and not self._allow_empty:
            raise ValueError("No variables to save")
        return found

    @property
    def _variables(self) -> dict[str, Variable]:
        if self._named is None:
            raise RuntimeError("Saver: build() should be called before save and restore if defer_build is True")
        return self._named

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str | os.PathLike[str]]) -> None:
        """Keep those of the checkpoints, oldest first, that are still there, as if this saver had written them."""
        places = [place_to_restore(path) for path in checkpoint_paths]
        self._kept = [place for place in places if is_there(place)]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str | os.PathLike[str]]) -> None:
        """Keep those checkpoints, oldest first, as if this saver had written them."""
        self.recover_last_checkpoints(last_checkpoints)

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of the checkpoints that this saver has written and kept, oldest first."""
        return [prefix_of(path) for path in self._kept]

    def save(
        self,
        sess: Session,
        save_path: str | os.PathLike[str],
        global_step: TensorLike | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
        format: Format = "pullback",
    ) -> str:
        """Writes the variables to `save_path`, or `save_path-<global_step>`; returns that path.

        It is what files begin with. In the format "pullback" this is one, which ends with `.npz`; in the format
        "tensorflow" there are two, `.index` and `.data-00000-of-00001`: version 2, which TensorFlow reads.
        The folder is made if the one around it is there. The checkpoint appears whole or not at all. Then it is noted
        as the latest one of its folder, and the oldest of this saver's checkpoints beyond `max_to_keep` are deleted.

        With `write_meta_graph` the graph goes beside it, into `<path>.<meta_graph_suffix>`, for `import_meta_graph`;
        but not where TensorFlow's messages are not installed, nor, with a warning, where TensorFlow has no pendant of
        an operation. `strip_default_attrs` and `save_debug_info` are taken for TensorFlow's sake.

        Where a mesh spans processes, all of them call this. The first one writes; with `sharded` each writes its part,
        into a folder that ends with `.zarr`. Any number of processes can restore it.

        Raises:
            FailedPreconditionError: a variable has no value in the session.
            ValueError: what the folder would be in does not exist, or the format; a `sharded` saver has one format.
            ImportError: the format "tensorflow" needs a package that is not installed.
        """
        del strip_default_attrs, save_debug_info
        step = _step_of(sess, global_step)
        shown = f"{step:08d}" if self._pad_step_number and step is not None else step
        path = place_to_save(save_path, shown, self._ending(format))
        if not path.parent.parent.is_dir():
            raise ValueError(f"Parent directory of {path} doesn't exist, can't save.")
        path.parent.mkdir(exist_ok=True)
        self._write(sess, path)
        dropped = self._keep(path)
        if sess.leads and write_state:
            note_state(path.parent, latest_filename, self._kept)
        for old in dropped if sess.leads else ():
            remove(old, meta_graph_suffix)
        if sess.leads and write_meta_graph:
            self._write_meta_graph(sess.graph, Path(f"{prefix_of(path)}.{meta_graph_suffix}"))
        sess.meet(f"saved {path.name}")
        return prefix_of(path)

    def _write(self, sess: Session, path: Path) -> None:
        saved: dict[str, tuple[Kind, Operation]] = {name: ("variable", v.op) for name, v in self._variables.items()}
        for op in self._states(sess.graph):
            if sess.has_variable(op):
                saved.setdefault(op.name, ("state", op))
        if self._sharded:
            shards = {name: (kind, sess.shards_of(op)) for name, (kind, op) in saved.items()}
            write_folder(path, shards, sess.leads, sess.meet)
            return
        arrays = {name: SavedArray(kind, sess.read_variable(op)) for name, (kind, op) in saved.items()}
        if sess.leads:
            (write_checkpoint if path.suffix == FILE else write_tensorflow)(path, arrays)

    def export_meta_graph(
        self,
        filename: str | os.PathLike[str] | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The MetaGraphDef of the default graph with this saver, which goes into the file `filename` where it is given.

        It has the collections named in `collection_list`, all for None, and without `clear_devices` the devices. The
        last three parameters are taken for TensorFlow's sake.

        Raises:
            UnimplementedError: an operation has no pendant in TensorFlow. ValueError: a part of the graph is asked for.
        """
        from ..graphdef.saving import write_message

        del clear_extraneous_savers, strip_default_attrs, save_debug_info
        if export_scope:
            raise ValueError(f"export_meta_graph: the whole graph is exported; leave out export_scope={export_scope!r}")
        made = self._described(get_default_graph())
        for key in [] if collection_list is None else set(made.collection_def) - set(collection_list):
            del made.collection_def[key]
        for node in made.graph_def.node if clear_devices else ():
            node.ClearField("device")
        if filename is not None:
            write_message(made, filename, as_text)
        return made

    def _write_meta_graph(self, graph: Graph, path: Path) -> None:
        """Write the MetaGraphDef of `graph`; its bytes are kept, for the next time if the graph did not grow."""
        if self._meta_graph[:2] != (graph, len(graph.operations)):
            try:
                data = self._described(graph).SerializeToString(deterministic=True)
            except ImportError:
                data = b""
            except UnimplementedError as error:
                warnings.warn(f"Saver.save: the graph is not written to {path}: {error}", stacklevel=3)
                data = b""
            self._meta_graph = graph, len(graph.operations), data
        data = self._meta_graph[2]
        if data:
            replace_file(path, lambda file: file.write(data))

    def _described(self, graph: Graph) -> Any:
        """The MetaGraphDef of `graph` with this saver."""
        from ..graphdef.saving import with_saver

        made = with_saver(graph, self._variables)
        self._describe(made.saver_def)
        return made

    def restore(self, sess: Session, save_path: str | os.PathLike[str]) -> None:
        """Gives the variables the values of the checkpoint `save_path`; all of them, or none where one does not fit.

        It may be one that TensorFlow wrote, see `load_checkpoint`, also with `tf.train.Checkpoint`: a variable is found
        by its name there. One that has no value yet is spread over the mesh as its initializer would spread it.

        Raises:
            ValueError: there is no such checkpoint (a NotFoundError too). NotFoundError: it lacks a variable.
            DataLossError: it is torn, was changed, or is no checkpoint.
            InvalidArgumentError: a variable has another shape or dtype than was saved.
            ResourceExhaustedError: it is beyond a limit of `pb.config.Limits`.
        """
        if save_path is None:
            raise ValueError("Can't load save_path when it is None: latest_checkpoint() found no checkpoint")
        path = place_to_restore(save_path)
        saved = read(path)
        sources = {v.op: self._fitting(name, v, saved, path) for name, v in self._variables.items()}
        for op in self._states(sess.graph):
            state = saved.get(op.name)
            if state is not None and state.kind == "state":
                sources[op] = _fitting_state(op, state.source, path)
        missing = [v.initializer for v in self._variables.values() if not sess.has_variable(v.op)]
        sess.load_variables(sources, [op for op in missing if op is not None])

    def _ending(self, format: Format) -> str:
        """How the path of a checkpoint ends."""
        if format not in get_args(Format):
            raise ValueError(f"Saver.save: no format {format!r}; there are {', '.join(get_args(Format))}")
        if self._sharded and format == "tensorflow":
            raise ValueError(
                "Saver.save: format='tensorflow' is written by one process; make a saver that is not sharded"
            )
        if format == "tensorflow":
            return TENSORFLOW
        return FOLDER if self._sharded else FILE

    def _states(self, graph: Graph) -> list[Operation]:
        """The operations that keep a state of their own."""
        if not self._with_states:
            return []
        return [op for op in graph.operations if isinstance(op.primitive, AbstractStateful) and op.primitive.owns_state]

    def _fitting(self, name: str, variable: Variable, saved: Mapping[str, SavedSource], path: Path) -> Source:
        """Where the saved value of `variable` is, checked against its type."""
        wanted = TensorType(variable.dtype, variable.shape)
        array = saved.get(name) or saved.get(names_of_objects(path, saved).get(name, ""))
        if array is None or array.kind != "variable":
            known = ", ".join(sorted(n for n, a in saved.items() if a.kind == "variable")) or "nothing"
            raise NotFoundError(f"restore: {path} has no variable '{name}' ({wanted}); it has {known}")
        found = array.source.type
        if self._reshape and wanted.shape.num_elements() == found.shape.num_elements() and wanted.dtype == found.dtype:
            shape = wanted.shape.known
            return Source(wanted, lambda index: array.source.whole().reshape(shape)[index])
        if found.dtype != wanted.dtype or not wanted.shape.is_compatible_with(found.shape):
            raise InvalidArgumentError(f"restore: the variable '{name}' is {wanted}, but {path} has {found} for it")
        return array.source

    def _keep(self, path: Path) -> list[Path]:
        """Note a new file; the files to delete for it."""
        self._kept = [p for p in self._kept if p != path] + [path]
        count = len(self._kept) if self._max_to_keep is None else self._max_to_keep
        dropped, self._kept = self._kept[:-count], self._kept[-count:]
        return [path for path in dropped if not self._stays(path)]

    def _stays(self, path: Path) -> bool:
        """Whether `keep_checkpoint_every_n_hours` keeps a file that `max_to_keep` would delete."""
        if time_of(path) < self._next_to_stay:
            return False
        self._next_to_stay += self._hours * 3600.0
        return True


def _fitting_state(op: Operation, saved: Source, path: Path) -> Source:
    """Where the saved state of `op` is, checked against what it begins with."""
    assert isinstance(op.primitive, AbstractStateful)
    wanted = type_of_array(op.primitive.initial_state())
    if saved.type != wanted:
        raise InvalidArgumentError(f"restore: the state of '{op.name}' is {wanted}, but {path} has {saved.type} for it")
    return saved


def _step_of(sess: Session, global_step: Any) -> int | None:
    if isinstance(global_step, Tensor | Variable):
        return int(sess.run(global_step))
    return None if global_step is None else int(global_step)


def _by_name(var_list: Sequence[Variable] | Mapping[str, Variable]) -> dict[str, Variable]:
    pairs = list(var_list.items()) if isinstance(var_list, Mapping) else [(_name_of(v), v) for v in var_list]
    named = dict(pairs)
    for name, v in pairs:
        if not isinstance(v, Variable):
            raise TypeError(f"Saver: '{name}' is {v!r}, which is no variable")
        if named[name] is not v:
            raise ValueError(f"Saver: two variables have the name '{name}'; pass a dictionary with names for the file")
    names = {v: name for name, v in named.items()}
    twice = next((name for name, v in named.items() if names[v] != name), None)
    if twice is not None:
        raise ValueError(
            f"Saver: one variable has two names, '{twice}' and '{names[named[twice]]}'; restored, it has one value"
        )
    return named


def _name_of(variable: Any) -> str:
    return variable.op.name if isinstance(variable, Variable) else repr(variable)
