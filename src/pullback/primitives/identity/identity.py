"""Identity operations: identity, stop_gradient, prevent_gradient, ensure_shape, group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from ...core import nest
from ...core.contexts import in_graph_of_inputs
from ...core.graph import Graph, get_default_graph
from ...core.operation import Operation, Tensor, site_of
from ...core.primitive import Primitive, no_gradient, same_type
from ...core.shape import TensorShape, unnamed_shape
from ...core.slices import IndexedSlices
from ...core.traits import ELEMENTWISE, JOINS, MOVES, VIEWS, reads_shape
from ...core.types import TensorType
from ...core.typing import ShapeLike, TensorLike
from ..creation.constant import convert_to_tensor


@overload
def identity(input: IndexedSlices, name: str | None = None) -> IndexedSlices: ...  # type: ignore[overload-overlap]
@overload
def identity(input: TensorLike, name: str | None = None) -> Tensor: ...
def identity(input: TensorLike, name: str | None = None) -> Tensor | IndexedSlices:
    """A tensor equal to `input`; of IndexedSlices, slices.

    Shapes, dtypes: any.

    Derivative: dx = dy.

    >>> import pullback as pb
    >>> pb.Session().run(pb.identity(3.0))
    np.float32(3.0)
    """
    if isinstance(input, IndexedSlices):
        return IndexedSlices(identity(input.values), identity(input.indices), input.dense_shape, input.static_shape)
    return Identity()(convert_to_tensor(input), name=name)


class Identity(Primitive):
    traits = (ELEMENTWISE, MOVES, VIEWS)
    takes_slices = True
    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x

    def gradient(self, op: Operation, dy: Any) -> Sequence[Any]:
        del op
        return (dy,)


@in_graph_of_inputs
def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """Tensors equal to those of the list `input`, of one operation.

    Shapes, dtypes: any.

    Derivative: dx_i = dy_i.

    >>> import pullback as pb
    >>> pb.Session().run(pb.identity_n([1.0, 2]))
    [np.float32(1.0), np.int32(2)]
    """
    graph = get_default_graph()
    tensors = [convert_to_tensor(x) for x in input]
    graph = tensors[0].graph if tensors else graph
    return list(graph.add(IdentityN(), tensors, name).outputs)


class IdentityN(Primitive):
    traits = (MOVES, JOINS)
    takes_slices = True

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        return xs

    def kernel(self, xp: Any, *xs: Any) -> Any:
        del xp
        return xs[0] if len(xs) == 1 else xs

    def gradient(self, op: Operation, *dys: Any) -> Sequence[Any]:
        del op
        return dys


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """A tensor equal to `input` that counts as a constant in every derivative.

    Shapes, dtypes: any.

    Derivative: none, on purpose.

    >>> import pullback as pb
    >>> x = pb.constant(3.0)
    >>> dx, = pb.gradients(x * pb.stop_gradient(x), x)
    >>> pb.Session().run(dx)
    np.float32(3.0)
    """
    return StopGradient()(convert_to_tensor(input), name=name)


class StopGradient(Primitive):
    traits = (ELEMENTWISE, MOVES, VIEWS)
    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x

    gradient = no_gradient


def prevent_gradient(input: TensorLike, message: str = "", name: str | None = None) -> Tensor:
    """A tensor equal to `input` through which differentiating is an error.

    Shapes, dtypes: any. `gradients` raises LookupError with `message` where it meets this operation.

    Derivative: an error: it is asked for by mistake.

    >>> import pullback as pb
    >>> x = pb.constant(3.0)
    >>> pb.gradients(pb.prevent_gradient(x, "frozen"), x)
    Traceback (most recent call last):
    LookupError: Gradient explicitly disabled. Reason: frozen (operation 'PreventGradient'...
    """
    return PreventGradient(message)(convert_to_tensor(input), name=name)


class PreventGradient(Primitive):
    traits = (MOVES,)

    message: str = ""

    infer = same_type

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        return x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del dy
        where = f"operation '{op.name}', made at {site_of(op)}"
        raise LookupError(f"Gradient explicitly disabled. Reason: {self.message} ({where})")


@in_graph_of_inputs
def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor equal to `x`, known to have `shape`; a run fails where it has another.

    Shapes: any that agrees with `shape`, whose unknown lengths are None. Dtypes: any.

    Derivative: dx = dy.

    Raises:
        ValueError: the static shape of `x` contradicts `shape`, or `shape` names a length.

    >>> import pullback as pb
    >>> pb.ensure_shape(pb.placeholder(pb.float32, [None, 3]), [2, None])
    <Tensor 'EnsureShape:0' float32[2,3]>
    """
    return EnsureShape(unnamed_shape("ensure_shape", shape))(convert_to_tensor(x), name=name)


class EnsureShape(Primitive):
    traits = (MOVES, VIEWS)

    shape: TensorShape

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if not self.shape.is_compatible_with(x.shape):
            raise ValueError(f"ensure_shape: {x} cannot have shape {self.shape}")
        return (TensorType(x.dtype, x.shape.merge_with(self.shape)),)

    def kernel(self, xp: Any, x: Any) -> Any:
        del xp
        if not self.shape.is_compatible_with(x.shape):
            raise ValueError(f"ensure_shape: the value has shape {x.shape}, which is not {self.shape}")
        return x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return (dy,)


class EnsureShapeLike(Primitive):
    """`x`, which must have the shape of `like`; values of `like` are not read."""

    traits = (MOVES, VIEWS, reads_shape(1))

    def infer(self, x: TensorType, like: TensorType) -> tuple[TensorType, ...]:
        if not x.shape.is_compatible_with(like.shape):
            raise ValueError(f"the shape of {x} must be that of {like}")
        return (TensorType(x.dtype, like.shape.merge_with(x.shape)),)

    def kernel(self, xp: Any, x: Any, like: Any) -> Any:
        del xp
        if x.shape != like.shape:
            raise ValueError(f"the shape must be {like.shape}, not {x.shape}")
        return x

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        del op
        return dy, None


def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing, to hang control inputs on.

    >>> no_op().type
    'NoOp'
    """
    return get_default_graph().add(NoOp(), (), name)


def group_operations(*inputs: Any, name: str | None = None) -> Operation:
    """One operation that runs after all of `inputs`: operations, tensors or variables, in nested lists too.

    It is on their device. Where they have several, it runs after one for each of these, which is on the device.

    >>> import pullback as pb
    >>> len(pb.group([pb.no_op(), [pb.constant(1.0)]]).control_inputs)
    2
    """
    graph = get_default_graph()
    elements = nest.flatten(inputs)
    first = next((x for x in elements if isinstance(x, Tensor | Operation)), None)
    graph = graph if first is None else first.graph
    by_device: dict[str, list[Any]] = {}
    for x in elements:
        by_device.setdefault(getattr(x, "device", ""), []).append(x)
    if len(by_device) < 2:
        return _after(graph, elements, next(iter(by_device), ""), name)
    with graph.within(name or "group_deps") as scope:
        gates = [_after(graph, by_device[device], device, None) for device in sorted(by_device)]
        return _after(graph, gates, "", scope)


def _after(graph: Graph, elements: Sequence[Any], device: str, name: str | None) -> Operation:
    if not elements:
        return graph.add(NoOp(), (), name)
    with graph.control_dependencies(elements), graph.device(device):
        return graph.add(NoOp(), (), name)


class NoOp(Primitive):
    def infer(self) -> tuple[TensorType, ...]:
        return ()

    def kernel(self, xp: Any) -> Any:
        del xp
        return ()

    gradient = no_gradient
