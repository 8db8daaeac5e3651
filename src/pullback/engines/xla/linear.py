"""A primitive of jax for linear maps that know their transposes; jax batches and differentiates it as its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Map = Callable[..., Any]
"""From where the derivative is taken, and vectors, to vectors; jax can differentiate it."""


def linear_map(
    forward: Map, backward: Map, at: Sequence[Any], vectors: Sequence[Any], like: Sequence[Any]
) -> list[Any]:
    """`forward(*at, *vectors)`, linear in `vectors`, whose transpose is `backward`; the results are like `like`."""
    types, args = tuple([_type_of(y) for y in like]), map(jnp.asarray, [*at, *vectors])
    return _linear.bind(*args, forward=forward, backward=backward, count=len(at), types=types)  # type: ignore[no-any-return]


_linear: Any = Primitive("pullback_linear")
_linear.multiple_results = True


def _type_of(x: Any) -> Any:
    return jax.core.ShapedArray(x.shape, x.dtype)


def _whole(vector: Any) -> Any:
    """A tangent or cotangent as an array."""
    return ad.instantiate_zeros(vector)  # type: ignore[no-untyped-call]


def _computed(*args: Any, forward: Map, **_: Any) -> list[Any]:
    return list(forward(*args))


def _types(*args: Any, types: Sequence[Any], **_: Any) -> list[Any]:
    del args
    return list(types)


def _differentiated(primals: Sequence[Any], tangents: Sequence[Any], **maps: Any) -> tuple[list[Any], list[Any]]:
    """Linear in vectors; by where the derivative is taken it has a derivative of its own."""
    results, count = _linear.bind(*primals, **maps), maps["count"]
    if all(isinstance(t, ad.Zero) for t in tangents[:count]):
        vectors = [*map(_whole, tangents[count:])]
        return results, _linear.bind(*primals[:count], *vectors, **maps)
    moved = [i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero)]

    def forward(*values: Any) -> list[Any]:
        args = list(primals)
        for i, value in zip(moved, values, strict=True):
            args[i] = value
        return list(maps["forward"](*args))

    _, derivative = jax.jvp(forward, [primals[i] for i in moved], [tangents[i] for i in moved])
    return results, derivative


def _transposed(
    cotangents: Sequence[Any], *args: Any, forward: Map, backward: Map, count: int, types: Sequence[Any]
) -> list[Any]:
    del types
    vectors = [*map(_whole, cotangents)]
    unknown = [isinstance(x, ad.UndefinedPrimal) for x in args[count:]]
    like = [x.aval if is_unknown else x for x, is_unknown in zip(args[count:], unknown, strict=True)]
    found = linear_map(backward, forward, args[:count], vectors, like)
    return [*[None] * count, *[x if is_unknown else None for x, is_unknown in zip(found, unknown, strict=True)]]


class _Mapped(NamedTuple):
    """A map of each of several points and vectors: `axes` are 0, and None for what all have in common."""

    each: Map
    axes: tuple[int | None, ...]

    def __call__(self, *args: Any) -> Any:
        return jax.vmap(self.each, in_axes=self.axes)(*args)


def _batched(
    args: Sequence[Any], axes: Sequence[Any], *, forward: Map, backward: Map, count: int, types: Sequence[Any]
) -> tuple[list[Any], list[int]]:
    """Vectors differ in all cases, so that transposes add nothing up: jax does, where one was repeated."""
    size = next(x.shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
    at = [x if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(args[:count], axes[:count], strict=True)]
    vectors = [_repeated(x, axis, size) for x, axis in zip(args[count:], axes[count:], strict=True)]
    common = tuple([None if axis is None else 0 for axis in axes[:count]])
    found = _linear.bind(
        *at,
        *vectors,
        forward=_Mapped(forward, (*common, *[0] * len(vectors))),
        backward=_Mapped(backward, (*common, *[0] * len(types))),
        count=count,
        types=tuple([jax.core.ShapedArray((size, *y.shape), y.dtype) for y in types]),
    )
    return found, [0] * len(found)


def _repeated(x: Any, axis: int | None, size: int) -> Any:
    return batching.bdim_at_front(x, axis, size)  # type: ignore[no-untyped-call]


_linear.def_impl(_computed)
_linear.def_abstract_eval(_types)
mlir.register_lowering(_linear, mlir.lower_fun(_computed, multiple_results=True))
ad.primitive_jvps[_linear] = _differentiated
ad.primitive_transposes[_linear] = _transposed
batching.primitive_batchers[_linear] = _batched
