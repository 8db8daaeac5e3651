"""GraphDef export: a graph with TensorFlow's op types and attributes, which TensorFlow imports and runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.data_types import NUMBERS
from ..core.errors import NotRecordedError
from ..core.files import replace_file
from ..core.function import Function
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.needs import needed
from ..core.primitive import Primitive
from ..core.traits import ELEMENTWISE
from .body import Body, FunctionRef, Ref, set_attribute
from .messages import messages
from .signatures import SIGNATURES
from .traced import record_kernel

_PRODUCER = 1882
"""The version of graphs that is claimed: that of TensorFlow 2.15; its op types have not changed since."""
_writers: dict[type[Primitive], Callable[..., Any]] = {}


def writer(*classes: type[Primitive]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function writes operations of these primitives.

    It is called with a `Body`, the primitive and a `Ref` for each of the operation's inputs, and returns those of its
    outputs.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _writers.update(dict.fromkeys(classes, function))
        return function

    return register


def with_attributes(body: Body, p: Any, *xs: Ref) -> Any:
    """A node of the primitive's op type, whose attributes are TensorFlow's."""
    return body.main(p.type, *xs, **p.attributes)


def with_dtype(attribute: str) -> Callable[..., Any]:
    """A writer: a node of the primitive's op type, of which `attribute` is the dtype of the result."""
    return lambda body, p, *xs: body.main(p.type, *xs, **{attribute: body.op.outputs[0].dtype})


def export(graph: Graph | None = None, outputs: Iterable[Tensor] | None = None) -> Any:
    """`graph`, the default one for None, as a GraphDef, which TensorFlow imports and runs with equal values.

    Operations keep their names. Bodies of calls, branches and loops are functions of its library, loops are `While`.
    With `outputs` only what these tensors need is written.

    Raises:
        UnimplementedError: an operation has no pendant in TensorFlow.
        ImportError: the package tensorboard, which has TensorFlow's messages, is not installed.

    >>> import pullback as pb
    >>> y = pb.reduce_sum(pb.placeholder(pb.float32, [None, 3], name="x"), 1, name="y")
    >>> [(node.name, node.op) for node in pb.graphdef.export(y.graph).node]
    [('x', 'Placeholder'), ('y/Const', 'Const'), ('y', 'Sum')]
    """
    from . import write  # noqa: F401  (imported for the writers that it registers)

    graph = graph or get_default_graph()
    made = messages().GraphDef()
    made.versions.producer = _PRODUCER
    operations = graph.operations
    if outputs is not None:
        found = needed([y.op for y in outputs], lambda op: [*[x.op for x in op.inputs], *op.controls])
        operations = [op for op in operations if op in found]
    Export(made.library).write(Body, made.node, operations)
    return made


def function_def(
    function: Function, name: str, description: str = "", attributes: Mapping[str, Any] | None = None
) -> Any:
    """`function` as a FunctionDef, as TensorFlow has it in the library of a graph.

    Raises:
        UnimplementedError: an operation has no pendant in TensorFlow.
        ImportError: the package tensorboard, which has TensorFlow's messages, is not installed.
    """
    from . import write  # noqa: F401  (imported for the writers that it registers)

    library = messages().GraphDef().library
    Export(library).function(function)
    made = library.function[0]
    made.signature.name, made.signature.description = name, description
    made.signature.is_stateful = function.stateful
    for key, value in (attributes or {}).items():
        set_attribute(made.attr[key], value)
    return made


def write_graph(graph_or_graph_def: Any, logdir: str | os.PathLike[str], name: str, as_text: bool = True) -> str:
    """Writes a graph, or a GraphDef, as the file `name` of the folder `logdir`; returns its path.

    Raises:
        UnimplementedError: an operation of the graph has no pendant in TensorFlow.

    >>> import tempfile
    >>> import pullback as pb
    >>> y = pb.tanh(pb.placeholder(pb.float32, [3], name="x"), name="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pb.train.write_graph(y.graph, folder, "graph.pb", as_text=False)
    ...     with pb.Graph().as_default():
    ...         pb.graphdef.load(path).get_tensor_by_name("y:0")
    <Tensor 'y:0' float32[3]>
    """
    proto = export(graph_or_graph_def) if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    path = Path(logdir) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = written(proto, as_text)
    replace_file(path, lambda file: file.write(data))
    return str(path)


def written(proto: Any, as_text: bool) -> bytes:
    """A message as a file has it."""
    from google.protobuf import text_format

    data: bytes = proto.SerializeToString(deterministic=True)
    return text_format.MessageToString(proto).encode() if as_text else data


class Export:
    """The functions of a GraphDef that is being written."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._functions: dict[Function, FunctionRef] = {}
        self._names: set[str] = set()

    def write(self, kind: Any, nodes: Any, operations: Sequence[Operation]) -> Body:
        """The nodes of a graph."""
        body: Body = kind(self, nodes, operations, False)
        for op in operations:
            body.write(op)
        return body

    def nodes_of(self, body: Body, op: Operation, inputs: Sequence[Ref]) -> Any:
        """What writes an operation, called: its writer, or, of a primitive without attributes, a node of its type."""
        write = _writers.get(type(op.primitive))
        if write is not None:
            return write(body, op.primitive, *inputs)
        kinds = SIGNATURES.get(op.type)
        if kinds is not None and not op.primitive.attributes and len(kinds[0]) == len(inputs):
            return body.main(op.type, *inputs)
        if ELEMENTWISE not in op.primitive.traits:
            body.refuse("TensorFlow has no such operation; take it out, or write it with others")
        try:
            return record_kernel(body, op, inputs)
        except (NotRecordedError, AttributeError, TypeError, ValueError):
            return body.refuse("TensorFlow has no such operation; take it out, or write it with others")

    def function(self, function: Function) -> FunctionRef:
        """A function of the library."""
        if function not in self._functions:
            made = self.library.function.add()
            self._functions[function] = ref = FunctionRef(self.free_name(function.name))
            body = Body(self, made.node_def, function.operations, True)
            body.read.update(function.results)
            for i, x in enumerate(function.parameters):
                body.refs[x] = Ref(f"arg_{i}", "", 0, 0, x.dtype)
            for op in function.operations:
                body.write(op)
            self.sign(
                made, ref.name, [x.dtype for x in function.parameters], body, [body.refs[y] for y in function.results]
            )
        return self._functions[function]

    def sign(self, made: Any, name: str, dtypes: Sequence[Any], body: Body, results: Sequence[Ref]) -> None:
        """Says how a function is called and what it returns."""
        made.signature.name = name
        for i, dtype in enumerate(dtypes):
            made.signature.input_arg.add(name=f"arg_{i}").type = NUMBERS[dtype]
        for i, ref in enumerate(results):
            made.signature.output_arg.add(name=f"result_{i}").type = NUMBERS[ref.dtype]
            made.ret[f"result_{i}"] = body.reference(ref)

    def free_name(self, wanted: str) -> str:
        """A name for a function that none has yet."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", wanted) or "function"
        name, number = base, 0
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name
