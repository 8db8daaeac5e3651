"""TensorBoard summaries: graphs, forward and backward, folded by name scope, and values of runs.

A summary is a dictionary of tensors by tag. A session fetches it as any dictionary; a FileWriter writes what came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from ..core.dtypes import TokenType
from ..core.function import Function, Parameter
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.printing import functions_in
from ..core.typing import TensorLike
from ..engines.configuration import RunMetadata
from ..engines.default_session import evaluate
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.identity.identity import identity
from ..primitives.variables.collections import GraphKeys
from .run_metadata import serialized_metadata
from .summary_values import Tag, array_of, fill_values, type_number

_SHOWN_ATTRIBUTE = 200


class FileWriter:
    """Writes event files into the folder `logdir`, which `tensorboard --logdir` shows.

    The arguments after `graph` are taken for TensorFlow's sake; `filename_suffix` is used.

    Raises:
        ImportError: the package tensorboard is not installed.

    >>> import pullback as pb, tempfile
    >>> x = pb.placeholder(pb.float32, [3], name="x")
    >>> y = pb.reduce_sum(pb.square(x))
    >>> dx, = pb.gradients(y, x)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pb.summary.FileWriter(folder, y.graph).close()
    """

    def __init__(
        self,
        logdir: str | PathLike[str],
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
        name: str | None = None,
    ) -> None:
        del graph_def, session, name
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ModuleNotFoundError as error:
            raise ImportError(
                "summary.FileWriter needs the package tensorboard: pip install 'pullback[tensorboard]'"
            ) from error
        self._writer = EventFileWriter(fspath(logdir), max_queue, flush_secs, filename_suffix or "")
        self._tags: set[str] = set()
        if graph is not None:
            self.add_graph(graph)

    def add_graph(self, graph: Graph, global_step: int | None = None) -> None:
        """Write `graph` as it is now."""
        import time

        from tensorboard.compat.proto.event_pb2 import Event

        event = Event(wall_time=time.time(), graph_def=graph_def(graph).SerializeToString())
        if global_step is not None:
            event.step = global_step
        self._writer.add_event(event)

    def add_summary(self, summary: Mapping[Tag, Any], global_step: int | None = None) -> None:
        """Write what a session returned for a summary, or for several merged into one; or a message of TensorFlow's.

        Raises:
            TypeError: `summary` is something else.
        """
        import time

        from tensorboard.compat.proto.event_pb2 import Event

        event = Event(wall_time=time.time())
        if global_step is not None:
            event.step = int(global_step)
        if isinstance(summary, bytes):
            summary = event.summary.FromString(summary)
        if isinstance(summary, type(event.summary)):
            event.summary.CopyFrom(summary)
            self._writer.add_event(event)
            return
        if not isinstance(summary, Mapping) or not all(isinstance(tag, Tag) for tag in summary):
            raise TypeError(
                f"FileWriter.add_summary: the summary is a {type(summary).__name__}; give what session.run gave for "
                "summary.merge_all()"
            )
        for tag, value in summary.items():
            fill_values(event.summary, tag, array_of(value))
        self._writer.add_event(event)

    def add_event(self, event: Any) -> None:
        """Write a message of TensorFlow's."""
        self._writer.add_event(event)

    def add_run_metadata(self, run_metadata: RunMetadata, tag: str, global_step: int | None = None) -> None:
        """Write when the operations of a traced run began and ended; each run has a `tag` of its own.

        Raises:
            ValueError: there is one of that tag.
        """
        import time

        from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata

        if tag in self._tags:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        self._tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=serialized_metadata(run_metadata))
        event = Event(wall_time=time.time(), tagged_run_metadata=tagged, step=int(global_step or 0))
        self._writer.add_event(event)

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Write a message of TensorFlow's that says when a session began or ended."""
        import time

        from tensorboard.compat.proto.event_pb2 import Event

        self._writer.add_event(Event(wall_time=time.time(), session_log=session_log, step=int(global_step or 0)))

    def get_logdir(self) -> str:
        """The folder."""
        return str(self._writer.get_logdir())

    def reopen(self) -> None:
        """No effect: after `close`, what is written goes to the end of the same folder."""

    def flush(self) -> None:
        """Write what is waiting."""
        self._writer.flush()

    def close(self) -> None:
        """Write what is waiting, and close the file."""
        self._writer.close()

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Summary(dict[Tag, Any]):
    """Tensors by tag, and the name of the first, or of the operation that merges them in TensorFlow."""

    def __init__(self, tensors: Mapping[Tag, Any], name: str) -> None:
        super().__init__(tensors)
        self.name = name

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """What a run gives for it in `session`, or in the default session; see `FileWriter.add_summary`.

        Raises:
            ValueError: there is no session.
        """
        return evaluate(self, feed_dict, session, "eval")

    @property
    def graph(self) -> Graph:
        """The graph of its tensors."""
        graph: Graph = next(iter(self.values())).graph
        return graph


def scalar(
    name: str, tensor: TensorLike, collections: Sequence[str] | None = None, family: str | None = None
) -> Summary:
    """A summary of one number, a curve over the steps. `family` stands before its name, and first in its tag.

    >>> import pullback as pb
    >>> with pb.name_scope("train"):
    ...     loss = pb.summary.scalar("loss", 2.0)
    >>> {tag.name: float(value) for tag, value in pb.Session().run(loss).items()}
    {'train/loss': 2.0}
    """
    return _made("scalar", name, tensor, collections, family)


def histogram(
    name: str, values: TensorLike, collections: Sequence[str] | None = None, family: str | None = None
) -> Summary:
    """A summary of how the elements of `values` are spread.

    >>> import pullback as pb
    >>> [tag.kind for tag in pb.summary.histogram("weights", [1.0, 2.0])]
    ['histogram']
    """
    return _made("histogram", name, values, collections, family)


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Summary:
    """A summary of the first `max_outputs` images of `tensor` [n, height, width, channels], of 1, 3 or 4 channels.

    Numbers of uint8 are shown as they are. Floats are scaled, each image by itself: from 0 to the largest, or, where
    some are negative, with 0 in the middle.

    >>> import pullback as pb
    >>> [tag.kind for tag in pb.summary.image("digit", pb.zeros([1, 8, 8, 1]))]
    ['image']
    """
    return _made("image", name, tensor, collections, family, max_outputs)


def text(name: str, tensor: TensorLike, collections: Sequence[str] | None = None) -> Summary:
    """A summary of texts, in Markdown: one, a column or a table of them.

    >>> import pullback as pb
    >>> [tag.kind for tag in pb.summary.text("note", "*new*")]
    ['text']
    """
    return _made("text", name, tensor, collections, None)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: float,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Summary:
    """A summary of the first `max_outputs` sounds of `tensor` [n, frames] or [n, frames, channels], between -1 and 1.

    >>> import pullback as pb
    >>> [tag.rate for tag in pb.summary.audio("beep", pb.zeros([1, 80]), 8000.0)]
    [8000.0]
    """
    return _made("audio", name, tensor, collections, family, max_outputs, float(sample_rate))


def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: object = None,
    collections: Sequence[str] | None = None,
    summary_metadata: object = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Summary:
    """A summary of a whole tensor, as it is.

    >>> import pullback as pb
    >>> [tag.kind for tag in pb.summary.tensor_summary("weights", pb.zeros([2, 2]))]
    ['tensor']
    """
    del summary_description, summary_metadata, display_name
    return _made("tensor", name, tensor, collections, family)


def merge(inputs: Iterable[Summary], collections: Sequence[str] | None = None, name: str | None = None) -> Summary:
    """Several summaries as one.

    >>> import pullback as pb
    >>> both = pb.summary.merge([pb.summary.scalar("a", 1.0), pb.summary.scalar("b", 2.0)])
    >>> sorted(pb.Session().run(both).values())
    [np.float32(1.0), np.float32(2.0)]
    """
    graph = get_default_graph()
    found = {tag: tensor for summary in inputs for tag, tensor in summary.items()}
    merged = Summary(found, f"{graph.unique_name(name or 'Merge')}{'' if name else '/MergeSummary'}:0")
    for key in collections or ():
        graph.add_to_collection(key, merged)
    return merged


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Summary | None:
    """All summaries of the default graph as one, None where there are none; with `scope` those whose names match it.

    >>> import pullback as pb
    >>> pb.summary.merge_all() is None
    True
    """
    found: list[Summary] = get_default_graph().get_collection(key)
    chosen = [s for s in found if scope is None or any(re.match(scope, tag.name) for tag in s)]
    return merge(chosen, None, name) if chosen else None


def _made(
    kind: str,
    name: str,
    tensor: Any,
    collections: Sequence[str] | None,
    family: str | None,
    most: int = 0,
    rate: float = 0.0,
) -> Summary:
    whole = re.sub(r"[^A-Za-z0-9_./\\-]", "_", name if family is None else f"{family}/{name}").lstrip("/")
    y = identity(convert_to_tensor(tensor), name=whole)
    tag = y.op.name if family is None else f"{family}/{y.op.name}"
    summary = Summary({Tag(tag, kind, most, rate): y}, y.name)
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        y.graph.add_to_collection(key, summary)
    return summary


def serialized(values: Mapping[Tag, Any]) -> bytes:
    """What a session returned for a summary, as TensorFlow's message.

    Raises:
        ImportError: the package tensorboard is not installed.
    """
    from tensorboard.compat.proto.summary_pb2 import Summary as Message

    made = Message()
    for tag, value in values.items():
        fill_values(made, tag, array_of(value))
    text: bytes = made.SerializeToString()
    return text


def graph_def(graph: Graph) -> Any:
    """`graph` as TensorBoard's GraphDef; the bodies of calls, branches and loops are its function library.

    >>> import pullback as pb
    >>> y = pb.tanh(pb.placeholder(pb.float32, [None, 3], name="x"), name="y")
    >>> [node.name for node in pb.summary.graph_def(y.graph).node]
    ['x', 'y']
    """
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    made = GraphDef()
    made.versions.producer = 987
    for op in graph.operations:
        _fill(made.node.add(), op, {})
    for function in functions_in(graph.operations):
        _add_function(made.library.function.add(), function)
    return made


def _fill(node: Any, op: Operation, parameters: dict[Operation, str]) -> None:
    node.name, node.op, node.device = op.name, op.type, op.device
    node.input.extend(_reference(x, parameters) for x in op.inputs)
    node.input.extend(f"^{control.name}" for control in op.controls)
    for y in op.outputs:
        shape = node.attr["_output_shapes"].list.shape.add()
        if y.shape.rank is None:
            shape.unknown_rank = True
        else:
            shape.dim.extend([type(shape).Dim(size=-1 if n is None else n) for n in y.shape.as_list()])
    if op.outputs and not isinstance(op.outputs[0].dtype, TokenType):
        node.attr["dtype"].type = type_number(op.outputs[0].dtype)
    for name, value in op.primitive.attributes.items():
        node.attr[name].s = str(value)[:_SHOWN_ATTRIBUTE].encode()


def _reference(x: Tensor, parameters: dict[Operation, str]) -> str:
    name = parameters.get(x.op, x.op.name)
    return name if x.value_index == 0 or x.op in parameters else f"{name}:{x.value_index}"


def _add_function(made: Any, function: Function) -> None:
    made.signature.name = function.name
    parameters = {x.op: x.op.name for x in function.parameters}
    for x in function.parameters:
        made.signature.input_arg.add(name=x.op.name)
    for i, y in enumerate(function.results):
        made.signature.output_arg.add(name=f"result_{i}")
        made.ret[f"result_{i}"] = _reference(y, parameters)
    for op in _operations(function):
        _fill(made.node_def.add(), op, parameters)


def _operations(function: Function) -> Iterable[Operation]:
    return (op for op in function.operations if not isinstance(op.primitive, Parameter))
