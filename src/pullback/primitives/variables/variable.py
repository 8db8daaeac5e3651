"""Variables: arrays that a session keeps from run to run, behind a handle; reading them, and assigning to them.

Within one run the operations on one variable act in the order in which they were made: a read made before an assignment
gives the value before it, a read made after it the value after it. No control dependencies are needed for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, ClassVar

from ...core.contexts import graph_among
from ...core.dtypes import DType
from ...core.function import lifted
from ...core.graph import AbstractTensorLike, Graph, Operation, Tensor, get_default_graph
from ...core.operation import Reference
from ...core.primitive import Primitive
from ...core.seen import seen
from ...core.shape import TensorShape, as_shape
from ...core.slices import IndexedSlices
from ...core.typing import DTypeLike, ShapeLike, TensorLike
from ..creation.constant import convert_to_tensor
from ..indexing.scatter_nd import gather_nd
from .collections import GraphKeys
from .operations import (
    AssignAddVariableOp,
    AssignSubVariableOp,
    AssignVariableOp,
    InitializedValue,
    ReadVariableOp,
    ResourceGather,
    VarHandleOp,
    VarIsInitializedOp,
    handle_primitive,
    read_variable,
    variable_type,
    variable_zeros,
    written,
)
from .partitions import parts_of
from .references import be_reference, is_reference
from .updates import scatter_rows, scatter_slices

__all__ = ["Variable", "is_variable_initialized", "variable_zeros"]


_creating: ContextVar[Callable[[str], None] | None] = ContextVar("creating", default=None)


@contextmanager
def creating_variables(noted: Callable[[str], None]) -> Iterator[None]:
    """A block in which `noted` is told the name of each variable before it is made."""
    token = _creating.set(noted)
    try:
        yield
    finally:
        _creating.reset(token)


class Variable(AbstractTensorLike):
    """An array that a session keeps from run to run; it stands for its value wherever a tensor is taken.

    Every use reads the value: `v + 1.0` makes a ReadVariableOp. Within one run, reads and assignments act in the order
    in which they were made; a fetch of the variable is a read made with it, and so gives the value before all but its
    initializer; after `pb.compat.v1.disable_resource_variables()` the value at the end of the run.
    Run `initializer`, or `pb.global_variables_initializer()`, before the first read.

    Args:
        initial_value: anything that converts to a tensor, or a function of no arguments that returns it.
        trainable: whether optimizers change it unless told which variables to change; True unless said otherwise.
        validate_shape: False lets later values have other shapes.
        name: the name; made unique within the name scope, and taken as it is with a `/` at its end.
        dtype: the element type; that of `initial_value` unless given.
        constraint: a function that maps a new value to the one to keep; optimizers apply it after their step.
        shape: the static shape; that of `initial_value` unless given.
        collections: the collections of the graph to add it to; `GraphKeys.GLOBAL_VARIABLES` unless given.

    `caching_device` is taken and changes nothing; `variable_def` and `import_scope` are refused: `Variable.from_handle`
    makes a variable from a handle in a graph.

    Raises:
        ValueError: there is no initial value, or its shape is unknown or not `shape`. TypeError: it has another dtype.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0], name="v")
    >>> v
    <Variable 'v:0' float32[2]>
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(v.assign_add([1.0, 1.0]))
    array([2., 3.], dtype=float32)
    """

    handle: Tensor
    """The resource tensor that names the variable; the derivative by a variable is that by its handle."""
    initial_value: Tensor | None
    initializer: Operation | None
    """The operation that assigns the initial value."""
    constraint: Callable[[Any], Any] | None
    partitions: Sequence[int] | None
    """How many parts a partitioner asked for along each axis, over which iteration goes; None without one."""

    _save_slice_info: ClassVar[None] = None
    """TensorFlow's name for what a variable is a part of; programs ask it when they restore."""
    # Defined by `compat/v1/assignments.py`.
    count_up_to: ClassVar[Callable[..., Tensor]]
    _ref: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike] | None = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: DTypeLike | None = None,
        import_scope: object = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: ShapeLike | None = None,
        *,
        collections: Sequence[str] | None = None,
    ) -> None:
        del caching_device, synchronization, aggregation
        if initial_value is None:
            raise ValueError("Variable: initial_value must be specified.")
        if variable_def is not None or import_scope is not None:
            raise ValueError("Variable: variable_def and import_scope are not taken; use Variable.from_handle(handle)")
        trainable = trainable is None or bool(trainable)
        noted = _creating.get()
        if noted is not None:
            noted((name or "Variable").rstrip("/"))
        graph = (graph_among([initial_value]) or get_default_graph()).outermost
        with graph.transaction(), graph.entered(graph.scope._replace(controllers=())):
            with graph.within(name or "Variable") as scope:
                initial = _initial_tensor(initial_value, dtype)
                static = _static_shape(initial, shape, validate_shape)
                keys = None if collections is None else tuple(collections)
                handle_op = VarHandleOp(initial.dtype, static.static, scope[:-1], trainable, keys)
                self.handle: Tensor = graph.add(handle_op, (), scope).outputs[0]
                self.initial_value = initial
                self.constraint, self.partitions = constraint, None
                self.initializer = AssignVariableOp(initial.dtype, static).operation(
                    self.handle, initial, name="Assign"
                )
                with graph.within("Read"):
                    self._snapshot: Tensor = ReadVariableOp(initial.dtype, static.static)(self.handle)
            if seen.references:
                be_reference(self._snapshot)
            for key in collections_of(handle_op):
                graph.add_to_collection(key, self)

    @classmethod
    def from_handle(cls, handle: Tensor | Operation) -> Variable:
        """The variable behind `handle`, equal to every other one of the same handle.

        Its initializer is found by name; it is None where the graph has none. A constraint is not part of the graph.

        Raises:
            TypeError: `handle` is no variable's handle.

        >>> import pullback as pb
        >>> v = pb.Variable(0.0)
        >>> pb.Variable.from_handle(v.handle) == v
        True
        """
        op = handle.op if isinstance(handle, Tensor) else handle
        if not isinstance(op.primitive, VarHandleOp):
            raise TypeError(f"Variable.from_handle: {handle!r} is not the handle of a variable")
        variable = cls.__new__(cls)
        variable.handle = op.outputs[0]
        variable.constraint = variable.partitions = None
        variable.initializer = _operation_named(op.graph, op.name + "/Assign", AssignVariableOp)
        variable.initial_value = None if variable.initializer is None else variable.initializer.inputs[1]
        read = _operation_named(op.graph, op.name + "/Read/ReadVariableOp", ReadVariableOp)
        variable._snapshot = variable.read_value() if read is None else read.outputs[0]
        return variable

    # What it is

    @property
    def op(self) -> Operation:
        """The operation that makes the handle."""
        return self.handle.op

    @property
    def name(self) -> str:
        """The name of the handle: `v:0`."""
        return self.handle.name

    @property
    def graph(self) -> Graph:
        """The graph that holds the handle."""
        return self.handle.op.graph

    @property
    def device(self) -> str:
        """The device string of the handle."""
        return self.handle.op.device

    @property
    def dtype(self) -> DType:
        """The element type."""
        return seen.dtype(variable_type(self.handle).dtype)  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return variable_type(self.handle).shape

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it unless told which variables to change."""
        trainable: bool = handle_primitive(self.handle).trainable
        return trainable

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Nothing, where the static shape says all that `shape` says: variables never change their type.

        Raises:
            ValueError: the shapes contradict each other, or `shape` says more.
        """
        if self.shape.merge_with(shape) != self.shape:
            raise ValueError(
                f"set_shape: {self!r} cannot be given the shape {as_shape(shape)}; use pb.Variable(..., shape=)"
            )

    def ref(self) -> Reference:
        """A key for sets and dictionaries, whose `deref` gives the variable; the variable itself does as well."""
        return Reference(self)

    # Reading

    def as_tensor(self) -> Tensor:
        """A new read of the value, on the device of the variable."""
        graph = self.graph.acting
        if not graph.scope.devices:
            return read_variable(self.handle)
        with graph.device(None), graph.device(self.device or None):
            return read_variable(self.handle)

    def graph_element(self) -> Tensor:
        """The read that was made with the variable: what a fetch of the variable gives."""
        return self._snapshot

    def value(self) -> Tensor:
        """A new read of the value, on the device of the variable."""
        return self.as_tensor()

    def read_value(self) -> Tensor:
        """A new read of the value, in a name scope `Read`: a derivative by it counts this read only."""
        with self.graph.within("Read"):
            return read_variable(self.handle)

    def initialized_value(self) -> Tensor:
        """The value, or the initial value where there is none yet: what another initial value is made of."""
        if self.initial_value is None:
            return read_variable(self.handle)
        type_ = variable_type(self.handle)
        with self.graph.device(self.device) if self.device else nullcontext():
            return InitializedValue(type_.dtype, type_.shape)(self.handle, self.initial_value)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows `indices` [...] of the value: [..., row...]; derivatives by the variable are IndexedSlices.

        A run with an index out of range fails on the NumPy engine; on XLA, rows of floats are then NaN.

        Raises:
            TypeError: the indices are no integers. ValueError: the variable is a scalar.
        """
        type_ = variable_type(self.handle)
        return ResourceGather(type_.dtype, type_.shape)(
            self.handle, convert_to_tensor(indices, graph=self.graph), name=name or "Gather"
        )

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The slices of the value at the index vectors `indices` [..., k]; see `pb.gather_nd`."""
        return gather_nd(self.as_tensor(), indices, name=name)

    def eval(self, session: Any = None) -> Any:
        """The value in `session`, or in the default session."""
        return self._snapshot.eval(session=session)

    # Assigning

    def assign(
        self, value: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Replaces the value: a tensor that assigns and reads again, or, with `read_value=False`, the operation.

        Raises:
            ValueError: the shape does not fit. TypeError: the dtype is another.
        """
        del use_locking
        return self._assigned(AssignVariableOp, value, name, read_value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds `delta`, of the variable's shape, to the value; returns as `assign` does."""
        del use_locking
        return self._assigned(AssignAddVariableOp, delta, name, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts `delta`, of the variable's shape, from the value; returns as `assign` does."""
        del use_locking
        return self._assigned(AssignSubVariableOp, delta, name, read_value)

    def _assigned(self, cls: Callable[..., Primitive], value: Any, name: str | None, read_value: bool) -> Any:
        type_ = variable_type(self.handle)
        tensor = convert_to_tensor(value, type_.dtype, graph=self.graph)
        graph = self.graph.acting
        primitive, usual = cls(type_.dtype, type_.shape), "Assign" if cls is AssignVariableOp else None
        with graph.colocate_with(self.handle) if graph.scope.devices else nullcontext():
            if not read_value:
                return primitive.operation(self.handle, tensor, name=name or usual)
            return written(graph, lambda: primitive.operation(self.handle, tensor, name=usual), name)

    def load(self, value: TensorLike, session: Any = None) -> None:
        """Put the array `value` in place of the value in `session`, or in the default session.

        Raises:
            ValueError: the variable has no initializer, or the shape does not fit.
        """
        if self.initializer is None:
            raise ValueError(f"Variable.load: {self!r} has no initializer in its graph; use assign")
        self.initializer.run(feed_dict={self.initializer.inputs[1]: value}, session=session)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Replaces rows by those of `sparse_delta`; the new value. Of equal indices the last takes effect."""
        return self._scattered("update", sparse_delta, name)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Adds `sparse_delta` to rows; the new value. Equal indices all take effect, here and in those below."""
        return self._scattered("add", sparse_delta, name)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Subtracts `sparse_delta` from rows; the new value."""
        return self._scattered("sub", sparse_delta, name)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Multiplies rows by `sparse_delta`; the new value."""
        return self._scattered("mul", sparse_delta, name)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """Divides rows by `sparse_delta`; the new value."""
        return self._scattered("div", sparse_delta, name)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """The larger of rows and `sparse_delta`, element by element; the new value."""
        return self._scattered("max", sparse_delta, name)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Tensor:
        """The smaller of rows and `sparse_delta`, element by element; the new value."""
        return self._scattered("min", sparse_delta, name)

    def _scattered(self, kind: Any, delta: IndexedSlices, name: str | None) -> Tensor:
        if not isinstance(delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {delta!r}")
        return written(self.graph, lambda: scatter_rows(kind, self.handle, delta.indices, delta.values), name)

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """Replaces slices: `updates` [..., slice...] at `indices` [..., depth]; the new value."""
        return self._scattered_nd("update", indices, updates, name)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """Adds `updates` [..., slice...] to the slices at `indices` [..., depth]; the new value."""
        return self._scattered_nd("add", indices, updates, name)

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
        """Subtracts `updates` [..., slice...] from the slices at `indices` [..., depth]; the new value."""
        return self._scattered_nd("sub", indices, updates, name)

    def _scattered_nd(self, kind: Any, indices: Any, updates: Any, name: str | None) -> Tensor:
        return written(self.graph, lambda: scatter_slices(kind, self.handle, indices, updates), name)

    # Standing for its value

    def __eq__(self, other: object) -> bool:
        """Whether both are the variable of one handle; compare values with `pb.equal`."""
        return isinstance(other, Variable) and other.handle is self.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __bool__(self) -> bool:
        """True of variables of version 1, as of any object; TypeError for others."""
        if is_reference(self.graph_element()):
            return True
        raise TypeError(f"the truth of {self!r} is not known while the graph is built; run it with Session.run")

    def __iter__(self) -> Any:
        """The parts that a partitioner asked for, itself where there is one part; TypeError without a partitioner.

        Each part stands for its elements, and has the `initializer` of the whole.
        """
        if self.partitions is None:
            raise TypeError(f"{self!r} is not iterable while the graph is built; use pb.unstack")
        return iter(parts_of(self, self.partitions) if max(self.partitions) > 1 else [self])

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{self!r} has no value while the graph is built; get one with Session.run")

    def __repr__(self) -> str:
        return f"<Variable '{self.name}' {variable_type(self.handle)}>"


def is_variable_initialized(variable: Variable) -> Tensor:
    """Whether the session has a value for `variable`: a bool scalar.

    >>> import pullback as pb
    >>> v = pb.Variable(0.0)
    >>> pb.Session().run(pb.is_variable_initialized(v))
    np.False_
    """
    with variable.graph.within(variable.op.name + "/IsInitialized/"):
        known = VarIsInitializedOp()(variable.handle)
    return known


def _initial_tensor(value: Any, dtype: Any) -> Tensor:
    with get_default_graph().name_scope("Initializer"):
        if callable(value) and not isinstance(value, AbstractTensorLike):
            value = value()
        return lifted(convert_to_tensor(value, dtype, name="initial_value"), get_default_graph())


def _static_shape(initial: Tensor, shape: Any, validate: bool) -> TensorShape:
    if shape is not None:
        static = as_shape(shape)
        if not static.is_compatible_with(initial.shape):
            raise ValueError(f"Variable: the initial value is {initial}, but shape={static} was asked for")
        return static
    if not validate:
        return TensorShape.UNKNOWN
    if not initial.shape.is_fully_defined():
        raise ValueError(
            f"Variable: initial_value must have a shape specified: {initial}; or pass validate_shape=False"
        )
    return initial.shape


def collections_of(handle: VarHandleOp) -> list[str]:
    """The collections that the variable of a handle is put in when it is made."""
    keys = [GraphKeys.GLOBAL_VARIABLES] if handle.collections is None else list(handle.collections)
    if handle.trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    return keys


def variables_of(graph: Graph, key: str) -> list[Variable]:
    """The variables of a collection of `graph`, and those that were in it when the graph was written to a file."""
    found = [v if isinstance(v, Variable) else Variable.from_handle(v) for v in graph.get_collection(key)]
    known = {v.op for v in found}
    for op in graph.operations_of(VarHandleOp):
        primitive = op.primitive
        if isinstance(primitive, VarHandleOp) and op not in known and key in collections_of(primitive):
            found.append(Variable.from_handle(op))
    return found


def _operation_named(graph: Graph, name: str, cls: type[Primitive]) -> Operation | None:
    try:
        op = graph.get_operation_by_name(name)
    except KeyError:
        return None
    return op if isinstance(op.primitive, cls) else None
