"""Object-based checkpoints: variables saved by the path of attributes that leads to them, `tf.train.Checkpoint`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pullback as pb

_KEY = "/.ATTRIBUTES/VARIABLE_VALUE"
"""What TensorFlow puts behind the path of a variable."""


class Checkpoint:
    """Saves and restores the variables of objects: `Checkpoint(model=model, optimizer=optimizer, step=step)`.

    Variables are found in attributes, lists and dictionaries, as deep as they go; names that begin with "_" are left
    out. A file of TensorFlow's has the same names for the same attributes, but for the slots of optimizers.

    >>> import pullback as pb, tempfile
    >>> tf = pb.compat.v1
    >>> v = tf.Variable(1.0)
    >>> checkpoint = tf.train.Checkpoint(weights=[v])
    >>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
    ...     session.run(v.initializer)
    ...     path = checkpoint.save(folder + "/model")
    ...     _ = session.run(v.assign(5.0))
    ...     checkpoint.restore(path).assert_consumed().run_restore_ops()
    ...     session.run(v)
    np.float32(1.0)
    """

    def __init__(self, **kwargs: Any) -> None:
        self._objects: dict[str, Any] = {}
        self._counter: pb.Variable | None = None
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_"):
            self._objects[name] = value

    @property
    def save_counter(self) -> pb.Variable:
        """How often it was saved."""
        if self._counter is None:
            self._counter = pb.Variable(0, trainable=False, dtype=pb.int64, name="save_counter")
        return self._counter

    def variables(self) -> dict[str, pb.Variable]:
        """What is saved, by the names in the file."""
        found = dict(_found("", self._objects, []))
        return {f"{path}{_KEY}": v for path, v in {**found, "save_counter": self.save_counter}.items()}

    def save(self, file_prefix: str, session: pb.Session | None = None) -> str:
        """Writes the variables, in the default session unless one is given, to a file `file_prefix-<number>`; its path.

        Raises:
            FailedPreconditionError: a variable has no value.
        """
        running = _session(session)
        _initialise([self.save_counter], running)
        number = running.run(self.save_counter.assign_add(1))
        return self.write(f"{file_prefix}-{number}", session)

    def write(self, file_prefix: str, session: pb.Session | None = None) -> str:
        """As `save`, without a number, and without counting."""
        running = _session(session)
        _initialise([self.save_counter], running)
        return pb.train.Saver(self.variables()).save(running, file_prefix, write_meta_graph=False)

    def restore(self, save_path: str | None) -> RestoreStatus:
        """What restores the variables from a file, those that it has; initialises them where there is no path."""
        variables = self.variables()
        if save_path is None:
            return RestoreStatus(variables, {}, lambda session: None)
        saved = {name for name, _ in pb.train.list_variables(save_path)}
        there = {name: v for name, v in variables.items() if name in saved}
        return RestoreStatus(
            variables, there, lambda session: pb.train.Saver(there, allow_empty=True).restore(session, save_path)
        )

    def read(self, save_path: str) -> RestoreStatus:
        """As `restore`."""
        return self.restore(save_path)


class RestoreStatus:
    """What a file has for a checkpoint, and how to bring it into a session."""

    def __init__(
        self,
        variables: Mapping[str, pb.Variable],
        there: Mapping[str, pb.Variable],
        restore: Callable[[pb.Session], None],
    ) -> None:
        self._variables, self._there, self._restore = variables, there, restore

    def run_restore_ops(self, session: pb.Session | None = None) -> None:
        """Brings the values into the session, the default one unless it is given."""
        self._restore(_session(session))

    def initialize_or_restore(self, session: pb.Session | None = None) -> None:
        """The same, and initialises what has no value then."""
        running = _session(session)
        self._restore(running)
        _initialise([v for name, v in self._variables.items() if name not in self._there], running)

    def assert_consumed(self) -> RestoreStatus:
        """Itself; AssertionError where the file lacks a variable."""
        missing = [name.removesuffix(_KEY) for name in self._variables if name not in self._there]
        if missing:
            raise AssertionError(f"Checkpoint.restore: the file has no values for {', '.join(missing)}")
        return self

    assert_existing_objects_matched = assert_consumed

    def assert_nontrivial_match(self) -> RestoreStatus:
        """Itself; AssertionError where the file has none of the variables."""
        if not self._there:
            raise AssertionError("Checkpoint.restore: the file has none of the variables")
        return self

    def expect_partial(self) -> RestoreStatus:
        """Itself."""
        return self


class CheckpointManager:
    """Keeps the newest `max_to_keep` checkpoints in a folder.

    >>> import pullback as pb, tempfile
    >>> tf = pb.compat.v1
    >>> v = tf.Variable(1.0)
    >>> with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
    ...     session.run(v.initializer)
    ...     manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), folder, max_to_keep=2)
    ...     paths = [manager.save() for _ in range(3)]
    ...     manager.checkpoints == paths[1:], manager.latest_checkpoint == paths[-1]
    (True, True)
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: object = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        del step_counter, checkpoint_interval, last_checkpoint_step
        self.checkpoint, self.directory = checkpoint, os.fspath(directory)
        self._prefix, self._init_fn = os.path.join(self.directory, checkpoint_name), init_fn
        self._keeping = (max_to_keep, keep_checkpoint_every_n_hours or 10000.0)
        self._saver: pb.train.Saver | None = None

    @property
    def checkpoints(self) -> list[str]:
        """The files, oldest first."""
        state = pb.train.get_checkpoint_state(self.directory)
        return [] if state is None else list(state.all_model_checkpoint_paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest file, or None."""
        return self.checkpoints[-1] if self.checkpoints else None

    def save(self, checkpoint_number: int | None = None, check_interval: bool = True, options: object = None) -> str:
        """Writes the variables in the default session to a new file, and deletes the oldest ones; its path."""
        del check_interval, options
        session = _session(None)
        counter = self.checkpoint.save_counter
        _initialise([counter], session)
        number = session.run(counter.assign_add(1))
        if self._saver is None:
            most, hours = self._keeping
            self._saver = pb.train.Saver(
                self.checkpoint.variables(), max_to_keep=most, keep_checkpoint_every_n_hours=hours
            )
        step = number if checkpoint_number is None else checkpoint_number
        return self._saver.save(session, self._prefix, step, write_meta_graph=False)

    def restore_or_initialize(self) -> str | None:
        """Restores the newest file in the default session, and returns it; calls `init_fn` where there is none."""
        newest = self.latest_checkpoint
        if newest is not None:
            self.checkpoint.restore(newest).run_restore_ops()
        elif self._init_fn is not None:
            self._init_fn()
        return newest


def _found(path: str, value: Any, around: Sequence[Any]) -> Iterator[tuple[str, pb.Variable]]:
    """The variables behind `value`, by paths of attributes."""
    if isinstance(value, pb.Variable):
        yield path, value
        return
    if any(value is x for x in around):
        return
    for name, inner in _parts(value):
        yield from _found(f"{path}/{name}" if path else name, inner, [*around, value])


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, pb.train.Optimizer):
        return [(v.op.name.replace("/", ".S"), v) for v in value.variables()]
    if isinstance(value, pb.nn.rnn_cell.RNNCell):
        return [(name.replace("/", ".S"), inner) for name, inner in value._checkpoint_dependencies]
    if isinstance(value, Mapping):
        return [(str(key), inner) for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return [(str(i), inner) for i, inner in enumerate(value)]
    return [(name, inner) for name, inner in getattr(value, "__dict__", {}).items() if not name.startswith("_")]


def _session(session: pb.Session | None) -> pb.Session:
    found = session or pb.get_default_session()
    if found is None:
        raise ValueError("Checkpoint: there is no default session; pass session=, or use `with session.as_default()`")
    return found


def _initialise(variables: Sequence[pb.Variable], session: pb.Session) -> None:
    """Initialise those that have no value."""
    empty = [v for v in variables if not _has_value(v, session)]
    if empty:
        session.run(pb.initialize_variables(empty))


def _has_value(variable: pb.Variable, session: pb.Session) -> bool:
    try:
        session.run(variable)
    except pb.errors.FailedPreconditionError:
        return False
    return True
