"""Variable assignment as functions: `assign(v, x)` for `v.assign(x)`, TensorFlow's older names."""

from __future__ import annotations

from typing import Any

from ...core.contexts import in_graph_of_inputs
from ...core.graph import Tensor
from ...core.typing import TensorLike
from ..base.state import ScatterKind
from ..creation.constant import convert_to_tensor
from .operations import written
from .slices import assignment_to, is_part
from .updates import scatter_rows, scatter_slices
from .variable import Variable


@in_graph_of_inputs
def assign(
    ref: Variable | Tensor,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Replaces the value of `ref`, or of the part of a variable that it is, by `value`; the variable's new value.

    Shapes: that of the variable. Dtypes: that of the variable.

    Raises:
        TypeError: `ref` is no variable, or the dtypes differ. ValueError: the shapes do.

    >>> import pullback as pb
    >>> v = pb.Variable(1.0)
    >>> pb.Session().run(pb.assign(v, 5.0))
    np.float32(5.0)
    """
    del validate_shape
    change: Any = assignment_to(ref) if is_part(ref) else _variable("assign", ref).assign
    value_after: Tensor = change(value, use_locking, name)
    return value_after


def assign_add(ref: Variable, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Adds `value` to that of `ref`; the new value.

    Shapes, dtypes, errors: as of `assign`.

    >>> import pullback as pb
    >>> v = pb.Variable(1.0)
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.assign_add(v, 5.0))
    np.float32(6.0)
    """
    value_after: Tensor = _variable("assign_add", ref).assign_add(value, use_locking, name)
    return value_after


def assign_sub(ref: Variable, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Subtracts `value` from that of `ref`; the new value.

    Shapes, dtypes, errors: as of `assign`.

    >>> import pullback as pb
    >>> v = pb.Variable(1.0)
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.assign_sub(v, 5.0))
    np.float32(-4.0)
    """
    value_after: Tensor = _variable("assign_sub", ref).assign_sub(value, use_locking, name)
    return value_after


@in_graph_of_inputs
def scatter_update(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Tensor:
    """Replaces the rows `indices` [...] of `ref` by `updates` [..., row...]; the new value.

    Of equal indices the last takes effect.

    Shapes: `updates` has that of `indices`, then that of a row. Dtypes: that of the variable; `indices` any integer.

    Raises:
        TypeError: `ref` is no variable, or a dtype is another. ValueError: the shapes do not fit.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_update(v, [1], [5.0]))
    array([1., 5.], dtype=float32)
    """
    del use_locking
    return _scattered("update", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_add(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """Adds `updates` to the rows `indices` of `ref`; the new value. Equal indices all count, here and below.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_add(v, [1, 1], [5.0, 7.0]))
    array([ 1., 14.], dtype=float32)
    """
    del use_locking
    return _scattered("add", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_sub(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """Subtracts `updates` from the rows `indices` of `ref`; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_sub(v, [1], [5.0]))
    array([ 1., -3.], dtype=float32)
    """
    del use_locking
    return _scattered("sub", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_mul(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """Multiplies the rows `indices` of `ref` by `updates`; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_mul(v, [1], [5.0]))
    array([ 1., 10.], dtype=float32)
    """
    del use_locking
    return _scattered("mul", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_div(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """Divides the rows `indices` of `ref` by `updates`; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_div(v, [1], [4.0]))
    array([1. , 0.5], dtype=float32)
    """
    del use_locking
    return _scattered("div", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_min(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """The smaller of the rows `indices` of `ref` and `updates`, element by element; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_min(v, [1], [-5.0]))
    array([ 1., -5.], dtype=float32)
    """
    del use_locking
    return _scattered("min", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_max(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """The larger of the rows `indices` of `ref` and `updates`, element by element; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([1.0, 2.0])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_max(v, [1], [5.0]))
    array([1., 5.], dtype=float32)
    """
    del use_locking
    return _scattered("max", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_nd_update(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Tensor:
    """Replaces the slices of `ref` at `indices` [..., depth] by `updates` [..., slice...]; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_nd_update(v, [[1, 0]], [9.0]))
    array([[1., 2.],
           [9., 4.]], dtype=float32)
    """
    del use_locking
    return _scattered_nd("update", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_nd_add(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """Adds `updates` [..., slice...] to the slices of `ref` at `indices` [..., depth]; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_nd_add(v, [[1, 0]], [9.0]))
    array([[ 1.,  2.],
           [12.,  4.]], dtype=float32)
    """
    del use_locking
    return _scattered_nd("add", ref, indices, updates, name)


@in_graph_of_inputs
def scatter_nd_sub(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Tensor:
    """Subtracts `updates` [..., slice...] from the slices of `ref` at `indices` [..., depth]; the new value.

    Shapes, dtypes, errors: as of `scatter_update`.

    >>> import pullback as pb
    >>> v = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> session = pb.Session()
    >>> session.run(v.initializer)
    >>> session.run(pb.scatter_nd_sub(v, [[1, 0]], [9.0]))
    array([[ 1.,  2.],
           [-6.,  4.]], dtype=float32)
    """
    del use_locking
    return _scattered_nd("sub", ref, indices, updates, name)


def _scattered(kind: ScatterKind, ref: Any, indices: Any, updates: Any, name: str | None) -> Tensor:
    handle = _variable(f"scatter_{kind}", ref).handle
    return written(handle.graph, lambda: scatter_rows(kind, handle, indices, updates), name)


def _scattered_nd(kind: ScatterKind, ref: Any, indices: Any, updates: Any, name: str | None) -> Tensor:
    handle = _variable(f"scatter_nd_{kind}", ref).handle
    return written(handle.graph, lambda: scatter_slices(kind, handle, indices, updates), name)


def _variable(function: str, ref: Any) -> Variable:
    if not isinstance(ref, Variable):
        raise TypeError(f"{function}: only a variable can be changed, not {convert_to_tensor(ref)}")
    return ref
