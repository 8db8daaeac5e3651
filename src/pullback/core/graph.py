"""Computation graph: an append-only list of operations whose order is a topological order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from . import feeding, naming
from .collections import Collections
from .errors import InaccessibleTensorError
from .index import OperationIndex
from .operation import AbstractTensorLike as AbstractTensorLike
from .operation import Operation as Operation
from .operation import Tensor as Tensor
from .operation import site_of as site_of
from .scopes import NOTHING, Controller, CurrentScope, DefaultGraphs, DeviceFunction, Scope
from .seen import seen
from .shape import with_symbols
from .sites import Place, Site, user_site
from .types import TensorType

if TYPE_CHECKING:
    from .primitive import Primitive


class Graph(Collections):
    """A dataflow graph: operations in the order they were made, which only grows.

    Several threads may add to one graph; each has its own scopes. A call that fails inside `transaction` leaves no
    trace. `finalize` forbids further growth.

    The body of a function, a branch or a loop is a graph with an `outer` one. While it is open (see `function.trace`),
    the graphs around it act as the body: what is asked of them is made in it, and what it reads from them is captured.

    >>> import pullback as pb
    >>> graph = pb.Graph()
    >>> with graph.as_default():
    ...     y = pb.tanh(pb.constant(0.5, name="x"))
    >>> print(graph)
    x: float32[] = Const[value=0.5]()
    Tanh: float32[] = Tanh(x)
    """

    as_graph_def: ClassVar[Callable[..., Any]]

    def __init__(self, outer: Graph | None = None, name: str = "") -> None:
        super().__init__(outer)
        self.operations: list[Operation] = []
        self.outer = outer
        self.name = name
        self.captures: dict[Tensor, Tensor] = {}
        """Of a body: its parameter for each tensor of the outer graph that it reads."""
        self.rows: dict[Tensor, tuple[Tensor, Tensor]] = {}  # For a row: what it is a row of, and its number.
        self.outer_controls: list[tuple[Operation, Controller]] = []
        """Of a body: operations of graphs around it that must run before it does, and the blocks that say so."""
        self.seed: int | None = None if outer is None else outer.seed
        self.choice: tuple[Tensor, int, int] | None = None
        """Of a branch: what chooses it, a truth value or a number, its own number, and how many there are."""
        self.on_demand = outer is None
        """Whether effects in bodies inside may happen on demand only; in functions all of them happen."""
        self.finalized = False
        self.names = naming.Names()
        self.refined: dict[Tensor, Tensor] = {}
        """For a tensor of which more of the shape became known: what stands for it in operations from then on."""
        self.on_rewriting: list[Callable[[Callable[[Tensor], Tensor]], None]] = []
        """What is told, after a pass has added to the graph, what stands for each tensor."""
        self.eager: Any = None
        """What keeps the values of variables for functions that are called with arrays."""
        self.never_fed: set[Tensor] = set()
        self.never_fetched: set[Operation] = set()
        self._current = CurrentScope()
        self._index = OperationIndex(self.operations)

    def add(self, primitive: Primitive, inputs: Sequence[Tensor] = (), name: str | None = None) -> Operation:
        """A new operation that applies `primitive` to `inputs`, all of this graph.

        `name` is made unique within the current name scope; with a `/` at its end it is taken as it is.

        Raises:
            RuntimeError: the graph is finalized.
            ValueError, TypeError: what `primitive.infer` says of the inputs' types; an input of another graph.
        """
        if open_bodies and (inside := self.acting) is not self:
            return inside.add(primitive, inputs, name)
        if self.outer is not None:
            inputs = [self.capture(x) for x in inputs]
        if self.refined:
            inputs = [self.refined.get(x, x) for x in inputs]
        scope = self._current.scope
        if scope.guard is not None:
            primitive, inputs = scope.guard(primitive, inputs)
        given = self._told_lengths(primitive, inputs) if primitive.length_inputs else map(_type_of, inputs)
        types = primitive.infer(*given)
        with self._lock:
            if self.finalized:
                raise self._no_growth(primitive, inputs)
            operations = self.operations
            op = Operation(
                self,
                len(operations),
                primitive,
                tuple(inputs),
                self.names.claim(scope.prefix + primitive.type) if name is None else self._claim(name, scope.prefix),
                scope.site or user_site(),
                scope.original_op,
                NOTHING,
            )
            if len(types) == 1:
                op.result = Tensor(op, 0, _told_apart(types[0]) if types[0][1].has_unknown else types[0])
            else:
                op.result = tuple([Tensor(op, i, _told_apart(t)) for i, t in enumerate(types)])
            if scope[1:6] != _PLAIN:
                scope.apply(op)
            operations.append(op)
        return op

    @staticmethod
    def _told_lengths(primitive: Primitive, inputs: Sequence[Tensor]) -> list[TensorType]:
        from .values import types_with_lengths

        return types_with_lengths(inputs, primitive.length_inputs)

    def _no_growth(self, primitive: Primitive, inputs: Sequence[Tensor]) -> Exception:
        if self.outer is None:
            return RuntimeError("Graph is finalized and cannot be modified.")
        if not inputs:
            return InaccessibleTensorError(
                f"Cannot add '{primitive.type}' to the body '{self.name}', which is finished: one of its tensors is "
                "used outside; return it from the body instead."
            )
        return InaccessibleTensorError(
            f"Cannot use '{inputs[0].name}' (made at {site_of(inputs[0])}) as input to '{primitive.type}', because it "
            f"is inside the body '{self.name}'; return it from the body instead."
        )

    @property
    def acting(self) -> Graph:
        """The body that is open in this thread, if it lies inside this graph; else this graph."""
        innermost = _defaults.stack[-1] if _defaults.stack else self
        return innermost if innermost is self or innermost.lies_in(self) else self

    def lies_in(self, graph: Graph) -> bool:
        """Whether this is a body inside `graph`, at any depth."""
        return self is not graph and graph in self.levels()

    def levels(self) -> Iterator[Graph]:
        """This graph and those around it, from the inside to the outside."""
        graph: Graph | None = self
        while graph is not None:
            yield graph
            graph = graph.outer

    @property
    def outermost(self) -> Graph:
        """The graph around all bodies around this one."""
        return list(self.levels())[-1]

    def capture(self, x: Tensor) -> Tensor:
        """What stands in this body for `x`, a tensor of it or of a graph around it.

        Raises:
            ValueError: `x` belongs to neither.
        """
        if x.op.graph is self:
            return x
        from .function import capture

        return capture(self, x)

    def restore(
        self,
        primitive: Primitive,
        inputs: Sequence[Tensor],
        name: str,
        *,
        control_inputs: tuple[Operation, ...],
        device: str,
        attrs: Mapping[str, Any],
        original_op: Operation | None,
        site: Site | Place | None = None,
    ) -> Operation:
        """A new operation with everything given and no scope applied: for making a saved graph again."""
        with self._lock, self.entered(Scope(original_op=original_op, site=site)):
            op = self.add(primitive, inputs, name + "/")
            op.controls, op.device, op.attrs = control_inputs, device, attrs
        return op

    def _claim(self, name: str, prefix: str) -> str:
        """`name` below `prefix` made unique, or, with a `/` at its end, as it is."""
        if name[-1:] == "/":
            return self._claim_exactly(name[:-1])
        if not prefix and name not in naming.valid_names:
            naming.check_operation_name(name)
        return self.names.claim(prefix + name)

    def _claim_exactly(self, name: str) -> str:
        with self._lock:
            there = self._index.named(name)
        if there is not None:
            raise ValueError(f"there is an operation '{name}' already; a name that ends in '/' is not made unique")
        self.names.claim_exactly(name)
        return name

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """The default graph of the block, of which all that this thread adds stays, or, where it raises, nothing."""
        stack, bodies, current = [*_defaults.stack], {*open_bodies}, self._current
        blocks, scope = [*current.blocks], current.scope
        try:
            with self.as_default(), self._lock:
                size = len(self.operations)
                sizes = {key: len(values) for key, values in self.collections.items()}
                since = self.names.begin()
                try:
                    yield
                except BaseException:
                    self._cut(size, sizes)
                    self.names.end(since, undo=True)
                    raise
                self.names.end(since, undo=False)
        except BaseException:  # An interrupt may come while a block inside is entered or left.
            _defaults.stack[:], current.blocks[:], current.scope = stack, blocks, scope
            open_bodies.difference_update([body for body in open_bodies - bodies if body.lies_in(self)])
            raise

    def _cut(self, size: int, sizes: Mapping[str, int]) -> None:
        """Take back the operations from number `size` on, and what is in collections beyond `sizes`."""
        del self.operations[size:]
        self.captures = {x: inner for x, inner in self.captures.items() if inner.op.index < size}
        self._index.cut(size)
        self.refined = {x: y for x, y in self.refined.items() if y.op.index < size}
        for key, values in self.collections.items():
            del values[sizes.get(key, 0) :]

    def finalize(self) -> None:
        """Forbid further operations; RuntimeError from then on."""
        self.finalized = True

    def as_default(self) -> AbstractContextManager[Graph]:
        """Make this the default graph of this thread inside the block."""
        return _defaults.block(self)

    # Scopes

    @property
    def scope(self) -> Scope:
        """All scopes of this thread on this graph, as one value; assign to replace them."""
        return (self.acting if open_bodies else self)._current.scope

    @scope.setter
    def scope(self, scope: Scope) -> None:
        (self.acting if open_bodies else self)._current.scope = scope

    def entered(self, scope: Scope) -> AbstractContextManager[Scope]:
        """Replace all scopes of this thread on this graph inside the block."""
        return (self.acting if open_bodies else self)._current.block(scope)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current name scope, made unique; with `mark_as_used=False` it is only looked up."""
        graph = self.acting if open_bodies else self
        full = graph.scope.prefix + name
        with graph._lock:
            return graph.names.claim(full) if mark_as_used else graph.names.peek(full)

    def unique_full_name(self, name: str) -> str:
        """`name`, which begins with its scopes, made unique."""
        graph = self.acting if open_bodies else self
        with graph._lock:
            return graph.names.claim(name)

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Names begin with `name/`, made unique unless it ends in `/`; None clears.

        Raises:
            ValueError: not a valid scope name. TypeError: no string.
        """
        if not isinstance(name, str | None):
            raise TypeError(f"name_scope: the name must be a string or None, not {name!r}")
        prefix = name or ""
        if prefix and prefix[-1] != "/":
            naming.check_scope_name(prefix, self.scope.prefix)
            prefix = self.unique_name(prefix) + "/"
        with self.entered(self.scope._replace(prefix=prefix)):
            yield prefix

    @contextmanager
    def within(self, name: str | None) -> Iterator[str]:
        """As `name_scope`, and inside this is the default graph: for functions that make several operations."""
        default = nullcontext() if self.acting is get_default_graph() else self.as_default()
        with default, self.name_scope(name) as prefix:
            yield prefix

    def get_name_scope(self) -> str:
        """The current name scope, without the `/` at its end; in a body that is being traced, behind that around it."""
        return "".join([graph._current.scope.prefix for graph in self.acting.levels()][::-1])[:-1]

    @contextmanager
    def device(self, device_name_or_function: str | DeviceFunction | None) -> Iterator[None]:
        """Operations made inside are put where a string says, or a function of the operation; None clears."""
        outer, device = self.scope, device_name_or_function
        devices = () if device is None else (*outer.devices, device)
        with self.entered(outer._replace(devices=devices)):
            yield

    @contextmanager
    def colocate_with(
        self, op: Operation | Tensor | AbstractTensorLike | None, ignore_existing: bool = False
    ) -> Iterator[None]:
        """Operations made inside are put where `op` is, and blocks around say unless `ignore_existing`; None clears."""
        outer = self.scope
        around = () if ignore_existing or op is None else outer.colocation
        own = () if op is None else (getattr(op, "op", op),)
        with self.entered(outer._replace(colocation=(*around, *own))):
            yield

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Operations made inside run after `control_inputs` (operations, tensors, variables); None clears."""
        outer = self.scope
        blocks = () if control_inputs is None else (*outer.controllers, self.acting._controller(control_inputs))
        with self.entered(outer._replace(controllers=blocks)):
            yield

    def _controller(self, control_inputs: Sequence[Any]) -> Controller:
        """The block of `control_inputs`; with it, operations of a graph around go to `outer_controls`."""
        sides: tuple[list[Operation], list[Operation]] = [], []
        for x in control_inputs:
            element = x.graph_element() if isinstance(x, AbstractTensorLike) else x
            inside = isinstance(element, Tensor | Operation) and self.lies_in(element.graph)
            element = element if inside else self.as_graph_element(element)
            sides[inside].append(element.op if isinstance(element, Tensor) else element)
        controller = Controller(tuple(sides[False]))
        self.outer_controls += [(op, controller) for op in sides[True]]
        return controller

    @contextmanager
    def attr_scope(self, attrs: Mapping[str, Any]) -> Iterator[None]:
        """Operations made inside carry `attrs`; a None removes an attribute of a block around."""
        with self.entered(self.scope._replace(attrs={**self.scope.attrs, **attrs})):
            yield

    @contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Operations made inside, of the types named, are differentiated by the rules registered under the names given.

        Raises:
            TypeError: not a dictionary of strings to strings.
        """
        given = isinstance(op_type_map, dict) and [text for pair in op_type_map.items() for text in pair]
        if given is False or not all(isinstance(text, str) for text in given):
            raise TypeError(f"op_type_map must be a dictionary mapping strings to strings, not {op_type_map!r}")
        outer = self.scope
        with self.entered(outer._replace(gradient_types={**outer.gradient_types, **op_type_map})):
            yield

    # Looking things up

    def get_operations(self) -> list[Operation]:
        """The operations, in the order they were made."""
        return list(self.operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; KeyError where there is none, ValueError where a tensor is named."""
        with self._lock:
            op = self._index.named(name)
        if op is None:
            if ":" in name:
                raise ValueError(f"The name '{name}' looks like a tensor's; an operation's has no ':' in it.")
            raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
        return op

    def operations_of(self, cls: type[Primitive]) -> list[Operation]:
        """The operations whose primitive is of class `cls`, in the order they were made."""
        with self._lock:
            return self._index.of_class(cls)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor named `operation:number`, in programs of TensorFlow 1 its variable; errors as above."""
        op_name, colon, number = name.rpartition(":")
        if not colon or not number.isdigit():
            form = "a tensor's has the form '<operation>:<output number>'."
            raise ValueError(f"The name '{name}' looks like an operation's; {form}")
        op = self.get_operation_by_name(op_name)
        if int(number) >= len(op.outputs):
            raise KeyError(f"The name '{name}' refers to output {number} of '{op_name}', which has {len(op.outputs)}.")
        return seen.named(op.outputs[int(number)])  # type: ignore[no-any-return]

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation of this graph that `obj` is, names, or (a variable) stands for.

        Raises:
            TypeError: `obj` is of another kind, or of one not allowed.
            ValueError: it belongs to another graph.
            KeyError: no such name.
        """
        if isinstance(obj, str):
            obj = self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        if isinstance(obj, AbstractTensorLike):
            obj = obj.graph_element()
        allowed = (isinstance(obj, Tensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation)
        if not allowed:
            wanted = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
            raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}: {obj!r}")
        if obj.graph is not self:
            raise InaccessibleTensorError(f"{obj!r} is not an element of this graph; it was made at {site_of(obj)}")
        return obj

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function, a branch or a loop."""
        return self.outer is not None

    def _get_control_flow_context(self) -> None:
        """None, as where TensorFlow's loops are functions; programs of version 1 ask for it."""

    @property
    def version(self) -> int:
        """A number that grows with each operation."""
        return len(self.operations)

    is_feedable, is_fetchable = feeding.is_feedable, feeding.is_fetchable
    prevent_feeding, prevent_fetching = feeding.prevent_feeding, feeding.prevent_fetching

    def to_dict(self) -> dict[str, Any]:
        """The graph as a dict that JSON can hold; `from_dict` makes it again."""
        from .serialize import graph_to_dict

        return graph_to_dict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any], python_functions: Mapping[str, Callable[..., Any]] | None = None) -> Graph:
        """The graph that `to_dict` was called on; DataLossError where `data` is not such a dict.

        `data` may come from a stranger: it is read within `pb.config.Limits`, and nothing in it is executed. What it
        calls of Python, by `py_function`, it only names; `python_functions` says what may be called by these names.
        """
        from .deserialize import graph_from_dict

        return graph_from_dict(data, python_functions)

    def __str__(self) -> str:
        from .printing import graph_text

        return graph_text(self.operations)


_PLAIN = Scope()[1:6]
_type_of = attrgetter("type")


def _told_apart(of: TensorType) -> TensorType:
    """`of` with a symbol of its own for each length of which inference knows nothing."""
    return TensorType(of[0], with_symbols(of[1])) if of[1].has_unknown else of


open_bodies: set[Graph] = set()
"""The bodies that are being built, in all threads: while there are none, nobody needs to ask which graph acts."""
_defaults = DefaultGraphs()
_global_graph = Graph()


def get_default_graph() -> Graph:
    """The innermost graph of this thread's `as_default` blocks, else the one graph of the process.

    >>> import pullback as pb
    >>> with pb.Graph().as_default() as graph:
    ...     pb.get_default_graph() is graph
    True
    """
    return _defaults.stack[-1] if _defaults.stack else _global_graph


def reset_default_graph() -> None:
    """Put an empty graph in place of the process's default one.

    Raises:
        AssertionError: inside an `as_default` block.

    >>> import pullback as pb
    >>> with pb.Graph().as_default():
    ...     pb.reset_default_graph()
    Traceback (most recent call last):
    AssertionError: Do not use reset_default_graph() to clear nested graphs; leave the `as_default` block first.
    """
    global _global_graph
    if _defaults.stack:
        advice = "leave the `as_default` block first."
        raise AssertionError(f"Do not use reset_default_graph() to clear nested graphs; {advice}")
    _global_graph = Graph()
