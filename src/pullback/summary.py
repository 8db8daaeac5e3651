"""`pb.summary`: graphs for TensorBoard, forward and backward, folded by name scope."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

from .core.dtypes import DType, TokenType, bfloat16
from .core.function import Function, Parameter
from .core.graph import Graph, Operation, Tensor
from .core.printing import functions_in

_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF", "bool": "BOOL"}
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

    def flush(self) -> None:
        """Write what is waiting."""
        self._writer.flush()

    def close(self) -> None:
        """Write what is waiting, and close the file."""
        self._writer.close()


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
    node.input.extend(f"^{control.name}" for control in op.control_inputs)
    for y in op.outputs:
        shape = node.attr["_output_shapes"].list.shape.add()
        if y.shape.rank is None:
            shape.unknown_rank = True
        else:
            shape.dim.extend([type(shape).Dim(size=-1 if n is None else n) for n in y.shape.as_list()])
    if op.outputs and not isinstance(op.outputs[0].dtype, TokenType):
        node.attr["dtype"].type = _type_number(op.outputs[0].dtype)
    for name, value in op.primitive.attributes.items():
        node.attr[name].s = str(value)[:_SHOWN_ATTRIBUTE].encode()


def _reference(x: Tensor, parameters: dict[Operation, str]) -> str:
    name = parameters.get(x.op, x.op.name)
    return name if x.value_index == 0 or x.op in parameters else f"{name}:{x.value_index}"


def _type_number(dtype: DType) -> int:
    from tensorboard.compat.proto import types_pb2

    name = "BFLOAT16" if dtype == bfloat16 else _NAMES.get(dtype.name, dtype.name.upper())
    return int(getattr(types_pb2, f"DT_{name}"))


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
