"""ONNX models as graphs: `OnnxGraph`, whose values have the names that they have in the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onnx import ModelProto, NodeProto

from ..core.graph import Graph, Operation, Tensor
from ..core.sites import Place, Site
from .provenance import Provenance
from .successors import Successors
from .weights import External

if TYPE_CHECKING:
    from .reading import Node

LOOPS = ("Loop", "Scan")
Dims = tuple[int | str | None, ...]


class OnnxGraph(Graph):
    """A graph like any other, made by `load`; `graph["name"]` is the value of that name in the model.

    Every value of the main graph has its name: inputs, initializers and intermediates. A value is a tensor, or, where
    the model says so, a sequence of tensors or an optional one.
    """

    def __init__(self, model: ModelProto, rank_of: Callable[[str], int | None] | None = None) -> None:
        super().__init__(name=model.graph.name)
        self.model = model
        """The model as it was read: at opset 21 or newer, functions inlined, without large initializers."""
        self.rank_of = rank_of
        """While it is read: how many axes a value has, as far as the model or onnx's inference says it."""
        self.provenance = Provenance()
        self.inputs: tuple[Tensor, ...] = ()
        """Placeholders for the model's inputs, initializers not among them."""
        self.outputs: tuple[Tensor, ...] = ()
        self.values: dict[str, Any] = {}
        """All values of the main graph by name."""
        self.initializers: dict[str, Tensor] = {}
        """Those of the values that are initializers: constants."""
        self.dims: Mapping[str, Dims] = {}
        """The lengths of each input and output as declared, symbolic ones by name; none where no shape is declared."""
        self.nodes: list[Node] = []
        """The nodes of the main graph, in order."""
        self.origin: dict[Tensor, Node] = {}
        """The node that a tensor came from."""
        self.stand_ins: dict[Operation, Node] = {}
        """Operations that give what a node gives, and, where derivatives read it, more."""
        self.successors = Successors(self)
        """What passes have made of the nodes."""
        self.on_rewriting.append(self.successors.follow)
        self.external: dict[Tensor, External] = {}
        """Where the elements of an initializer are, if in a file beside the model."""
        self.rounded: dict[Tensor, tuple[Tensor, list[Tensor]]] = {}
        """For what QuantizeLinear gives: what it is given, and what DequantizeLinear makes of it."""
        self.read_at: Site | Place | None = None
        """Where the model was read."""
        self.watched: tuple[str, ...] = ()
        """The values inside loops that were asked for: `graph[name]` is what they were at each step."""
        self.left_out: tuple[str, ...] = ()
        """The outputs of the model that are not here, for they depend on what cannot be read."""
        self.moves: dict[str, Tensor] = {}
        """For each of these what was added to it at the first step: zeros."""
        self.updates: dict[str, Tensor] = {}
        """Of a model in training: for each running mean and variance what a step makes of it."""

    @cached_property
    def opsets(self) -> dict[str, int]:
        """The version of each operator set that the model uses."""
        return {domain_of(entry.domain): entry.version for entry in self.model.opset_import}

    @cached_property
    def inner_names(self) -> frozenset[str]:
        """The names of the values inside the loops of the main graph."""
        return frozenset(name for node in self.model.graph.node for name in names_inside(node))

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return self._names(self.model.graph.input)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return self._names(self.model.graph.output)

    @property
    def input_tensors(self) -> dict[str, Tensor]:
        """The tensors of the inputs by name; of a sequence or an optional value by name and number."""
        return self._tensors(self.input_names, self.inputs)

    @property
    def output_tensors(self) -> dict[str, Tensor]:
        """The tensors of the outputs, named as those of the inputs."""
        return self._tensors(self.output_names, self.outputs)

    def only_tensor(self, name: str) -> Tensor | None:
        """The tensor that the value of that name is, or is made of; None where it is made of several."""
        value = self[name]
        parts = (value,) if isinstance(value, Tensor) else value.tensors
        return parts[0] if len(parts) == 1 else None

    def name_of(self, tensor: Tensor) -> str | None:
        """The first name of `tensor` in the model, or None."""
        return next((name for name, value in self.values.items() if value is tensor), None)

    def __getitem__(self, name: str) -> Any:
        if name not in self.values:
            near = get_close_matches(name, self.values, 3, 0.5)
            hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
            if name in self.inner_names:
                hint = f"; it is inside a loop: load the model with watch=['{name}']"
            raise KeyError(f"the model has no value '{name}'{hint}")
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values

    @staticmethod
    def without_model() -> OnnxGraph:
        """A graph that is of no ONNX model, whose values `name_values` names."""
        return OnnxGraph(ModelProto())

    def name_values(self, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> None:
        """Give all tensors of a graph of no model their names, as `scope/x` and `scope/x:0`; and these two theirs."""
        tensors = [y for op in self.operations for y in op.outputs]
        first = {x.op.name: x for x in tensors if x.value_index == 0}
        self.values = {**inputs, **outputs, **first, **{x.name: x for x in tensors}}
        self.inputs, self.outputs = tuple(inputs.values()), tuple(outputs.values())
        for name in inputs:
            self.model.graph.input.add(name=name)
        for name in outputs:
            self.model.graph.output.add(name=name)

    @property
    def size(self) -> int:
        """The number of nodes of the model, or of the operations of a graph of no model when they were named."""
        return len(self.model.graph.node) or len({x.op for x in self.values.values()})

    @staticmethod
    def _tensors(names: Sequence[str], values: Sequence[Any]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for name, value in zip(names, values, strict=True):
            parts = (value,) if isinstance(value, Tensor) else value.tensors
            found |= {f"{name}/{i}" if len(parts) > 1 else name: x for i, x in enumerate(parts)}
        return found

    @staticmethod
    def _names(entries: Any) -> tuple[str, ...]:
        return tuple([entry.name for entry in entries])


def domain_of(domain: str) -> str:
    """`domain`, or the empty string for the default one, which has two names."""
    return "" if domain == "ai.onnx" else domain


def names_inside(node: NodeProto) -> list[str]:
    """The names of what a loop carries, and of what the nodes in it make; none for other nodes."""
    if node.op_type not in LOOPS or node.domain not in ("", "ai.onnx"):
        return []
    body = next(a.g for a in node.attribute if a.name == "body")
    carried = body.input[2:] if node.op_type == "Loop" else body.input
    return [*[entry.name for entry in carried], *[y for inner in body.node for y in inner.output if y]]
