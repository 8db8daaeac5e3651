"""IndexedSlices made dense, at a place that can be named: a policy says whether that warns, passes, or fails."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from ...core.operation import Tensor, site_of
from ...core.slices import IndexedSlices
from ..segment.sums import unsorted_segment_sum

Policy = Literal["warn", "allow", "error"]
_LARGE = 100_000_000
_policy: ContextVar[Policy] = ContextVar("densify_policy", default="warn")


@contextmanager
def densify_policy(policy: Policy) -> Iterator[None]:
    """Inside the block, making IndexedSlices dense warns where it may take much memory ("warn"), passes, or fails.

    Raises:
        ValueError: another policy than "warn", "allow", "error".

    >>> import pullback as pb
    >>> rows = pb.IndexedSlices(pb.constant([[1.0]]), pb.constant([0]), pb.constant([3, 1]))
    >>> with pb.densify_policy("error"):
    ...     pb.convert_to_tensor(rows)
    Traceback (most recent call last):
    ValueError: converting IndexedSlices 'Const:0' to a dense Tensor is refused by densify_policy("error"); ...
    """
    if policy not in ("warn", "allow", "error"):
        raise ValueError(f"densify_policy: {policy!r} is none of 'warn', 'allow', 'error'")
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


def densify(slices: IndexedSlices, name: str | None = None, *, silent: bool = False) -> Tensor:
    """The dense tensor that `slices` stand for; rows of equal number add up. With `silent` no policy is asked.

    Raises:
        ValueError: the slices have no dense_shape, or the policy is "error".
    """
    if slices.shape_tensor is None and not slices.static_shape.is_fully_defined():
        raise ValueError(
            "Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: "
            f"{slices}; pass dense_shape= where the slices are made"
        )
    if not silent:
        _apply_policy(slices)
    rows = slices.static_shape.size(0) if slices.static_shape.rank else None
    if rows is None:
        assert slices.shape_tensor is not None
        rows = slices.shape_tensor[0]
    return unsorted_segment_sum(slices.values, slices.indices, rows, name)


def _apply_policy(slices: IndexedSlices) -> None:
    policy = _policy.get()
    if policy == "allow":
        return
    where = f"IndexedSlices '{slices.name}' to a dense Tensor"
    if policy == "error":
        raise ValueError(
            f'converting {where} is refused by densify_policy("error"); it was made at {site_of(slices.op)}'
        )
    size = slices.static_shape.num_elements()
    made = f"The slices are '{slices.name}', made at {site_of(slices.op)}."
    if size is None:
        warnings.warn(
            "Converting sparse IndexedSlices to a dense Tensor of unknown shape. "
            f"This may consume a large amount of memory. {made}",
            stacklevel=4,
        )
    elif size >= _LARGE:
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {size} elements. "
            f"This may consume a large amount of memory. {made}",
            stacklevel=4,
        )
