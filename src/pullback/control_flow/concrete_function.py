"""Concrete functions: a Python function traced for one signature, and how it is called in a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core import nest
from ..core.composite import AbstractComposite
from ..core.contexts import in_graph_of_inputs
from ..core.function import Function, Traced, bind_shape, origin_of, trace
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.lengths import Dimension, Length
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..primitives.creation.constant import convert_to_tensor
from ..primitives.variables.operations import VarHandleOp, read_variable
from ..primitives.variables.variable import Variable
from .call import call
from .signature import Kind, Static, TensorSpec, kind_of, parameter_types, parts_of, rebuilt, types_of
from .state import with_kept, with_values


class ConcreteFunction:
    """A function traced for one signature. Calling it adds one operation to the graph that is being built.

    >>> import pullback as pb
    >>> @pb.function
    ... def square(x):
    ...     return x * x
    >>> concrete = square.get_concrete_function(pb.TensorSpec([None], pb.float32))
    >>> print(concrete)
    square(x: float32[?]) -> float32[?]
    >>> concrete(pb.constant([1.0, 2.0]))
    <Tensor 'PartitionedCall:0' float32[2]>
    """

    name: str
    python_function: Callable[..., Any]
    traced: Function
    """As it was traced: captured variables stand behind parameters that are their handles."""
    structured_outputs: Any
    """What the Python function returned, with tensors of the function's graph."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        inputs: Any,
        names: Sequence[str],
        attrs: Mapping[str, Any],
        optimize: Callable[[Function], Function] | None = None,
        *,
        on_demand: bool = False,
    ) -> None:
        self.python_function = python_function
        self.name = name
        self.attrs = attrs
        self._inputs = inputs
        leaves = nest.flatten(inputs)
        self._kinds = [kind_of(leaf) for leaf in leaves]
        self._results: list[Kind] = []
        self._on_demand = on_demand
        traced = trace(self._build, parameter_types(self._kinds), name, _part_names(self._kinds, names))
        if on_demand and traced.function.results:
            traced = traced._replace(function=replace(traced.function, on_demand=True))
        if optimize is not None:
            traced = self._optimized(traced, optimize)
        self.traced = traced.function
        self._captured = [origin_of(x) for x in traced.captured]
        controls = traced.function.outer_controls
        self._around = {*[x.op.graph for x in self._captured], *[op.graph for op in controls]}
        self._count = len(traced.function.results)
        values, self._by_value = with_values(traced)
        self.function, self._kept = with_kept(values)
        """What is called: values of variables stand behind the parameters of those that are only read."""
        self._names = names

    def _build(self, *given: Tensor) -> list[Tensor]:
        get_default_graph().on_demand = self._on_demand
        parts = iter(given)
        leaves = [rebuilt(kind, parts) for kind in self._kinds]
        args, kwargs = nest.pack_sequence_as(self._inputs, leaves)
        self.structured_outputs = self.python_function(*args, **kwargs)
        results: list[Tensor] = []
        converted = []
        for i, leaf in enumerate(nest.flatten(self.structured_outputs)):
            value = _result(leaf, i, self.name)
            kind = kind_of(value)
            self._results.append(kind)
            results += parts_of(value, kind)
            converted.append(value)
        self.structured_outputs = nest.pack_sequence_as(self.structured_outputs, converted)
        return results

    def _optimized(self, traced: Traced, optimize: Callable[[Function], Function]) -> Traced:
        """What was traced, optimised."""
        function = optimize(traced.function)
        made = dict(zip(traced.function.results, function.results, strict=True))
        self.structured_outputs = nest.map_structure(
            lambda y: made.get(y, y) if isinstance(y, Tensor) else y, self.structured_outputs
        )
        return traced._replace(function=function)

    # What it is

    @property
    def graph(self) -> Graph:
        """The graph of the function's own operations."""
        return self.traced.graph

    @property
    def inputs(self) -> list[Tensor]:
        """The parameters, those for captured tensors last."""
        return list(self.traced.parameters)

    @property
    def outputs(self) -> list[Tensor]:
        """The results, in the function's graph."""
        return list(self.traced.results)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What it reads from around it: tensors, and the handles of variables."""
        return list(self._captured)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads or changes."""
        handles = [x for x in self._captured if isinstance(x.op.primitive, VarHandleOp)]
        return tuple([Variable.from_handle(x) for x in handles])

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of the variables that are trainable."""
        return tuple([v for v in self.variables if v.trainable])

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments and keyword arguments that it was traced for, tensors as `TensorSpec`."""
        names = iter(self._names)
        leaves = [_spec(kind, next(names)) for kind in self._kinds]
        args, kwargs = nest.pack_sequence_as(self._inputs, leaves)
        return tuple(args), kwargs

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Name, parameters and results with their types; with `verbose` the operations too."""
        return f"{self}\n{self.traced}" if verbose else str(self)

    def __str__(self) -> str:
        inputs = ", ".join(f"{n}: {k}" for n, k in zip(self._names, self._kinds, strict=True))
        results = nest.pack_sequence_as(self.structured_outputs, [_Text(kind) for kind in self._results])
        return f"{self.name}({inputs}) -> {results}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self}>"

    # Calling it

    def can_be_called_in(self, graph: Graph) -> bool:
        """Whether `graph` can read all that was captured."""
        return all(around is graph or graph.lies_in(around) for around in self._around)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results as tensors, or the operation if it has none; arrays among the arguments become constants.

        Takes the arguments that it was traced for. TypeError where they are others.
        """
        leaves = nest.flatten((list(args), kwargs))
        if len(leaves) != len(self._kinds):
            leaves = leaves if len(leaves) == sum(len(types_of(kind)) for kind in self._kinds) else []
            given = iter(leaves)
            leaves = [kind.value if isinstance(kind, Static) else next(given, None) for kind in self._kinds]
        return self.call_with(leaves)

    @in_graph_of_inputs
    def call_with(
        self, leaves: Sequence[Any], *, recompute: bool = False, zeros: bool = False, name: str | None = None
    ) -> Any:
        """The call with one value for each leaf of the arguments."""
        args: list[Tensor] = []
        for kind, leaf, argument in zip(self._kinds, leaves, self._names, strict=True):
            if isinstance(kind, TensorType):
                args.append(_argument(leaf, kind, f"{self.name}: {argument}"))
            else:
                args += parts_of(leaf, kind)
        self._check_lengths(args)
        graph = get_default_graph() if not args else args[0].graph.acting
        with graph.attr_scope(self.attrs), graph.control_dependencies(self.traced.outer_controls):
            captured = [
                read_variable(x) if value else x for x, value in zip(self._captured, self._by_value, strict=True)
            ]
            op = call(self.function, [*args, *captured], name, kept=self._kept, recompute=recompute, zeros=zeros)
        return op if self.structured_outputs is None else self.packed(op.outputs[: self._count])

    def _check_lengths(self, args: Sequence[Tensor]) -> None:
        """ValueError where two lengths of `args` that the function takes for one are not known to be equal."""
        values: dict[Length, Dimension] = {}
        for x, given in zip(self.traced.parameters, args, strict=False):
            for length in bind_shape(values, x.shape, given.shape):
                raise ValueError(
                    f"{self.name}: '{length}' is one length in {self}, but the arguments are "
                    f"{', '.join(str(x.type) for x in args)}. Give equal lengths one name: pb.placeholder(dtype, "
                    f'["{length}", ...]).'
                )

    def packed(self, results: Sequence[Any], *, arrays: bool = False) -> Any:
        """`results`, which are tensors or arrays, in the structure that the Python function returned."""
        parts = iter(results)
        leaves = [rebuilt(kind, parts, arrays=arrays) for kind in self._results]
        return nest.pack_sequence_as(self.structured_outputs, leaves)


class _Text:
    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return str(self._kind)


def _part_names(kinds: Sequence[Kind], names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for kind, name in zip(kinds, names, strict=True):
        count = len(types_of(kind))
        found += [name] if count == 1 else [f"{name}_{i}" for i in range(count)]
    return found


def _spec(kind: Kind, name: str) -> Any:
    if isinstance(kind, Static):
        return kind.value
    return TensorSpec(kind.shape, kind.dtype, name) if isinstance(kind, TensorType) else kind


def _result(leaf: Any, i: int, name: str) -> Any:
    """A leaf of what a Python function returned, as a tensor, slices, or None."""
    if leaf is None or isinstance(leaf, IndexedSlices | AbstractComposite):
        return leaf
    if isinstance(leaf, Operation):
        return None
    try:
        return convert_to_tensor(leaf)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: result {i} must be a tensor, a number, an array or None, not {leaf!r}") from error


def _argument(leaf: Any, kind: TensorType, where: str) -> Tensor:
    tensor = leaf if isinstance(leaf, Tensor) else convert_to_tensor(leaf, kind.dtype)
    if tensor.dtype != kind.dtype or not kind.shape.is_compatible_with(tensor.shape):
        raise TypeError(f"{where} is {tensor.type}, but the function was traced for {kind}")
    return tensor
