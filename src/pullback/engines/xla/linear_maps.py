"""A primitive of jax for linear maps that know their transposes; jax batches and differentiates it as its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    return _bound(_Pair(forward, backward), at, vectors, [*map(_type_of, like)])


class _Pair(NamedTuple):
    """A linear map and its transpose."""

    forward: Map
    backward: Map


class _Types(NamedTuple):
    """The types of vectors, and of results."""

    vectors: tuple[Any, ...]
    results: tuple[Any, ...]


_linear: Any = Primitive("pullback_linear")
_linear.multiple_results = True


def _bound(maps: _Pair, at: Sequence[Any], vectors: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    args = [*map(jnp.asarray, [*at, *vectors])]
    types = _Types((*map(_type_of, vectors),), tuple(results))
    return _linear.bind(*args, maps=maps, types=types)  # type: ignore[no-any-return]


def _type_of(x: Any) -> Any:
    return jax.core.ShapedArray(x.shape, x.dtype)


def _whole(vector: Any) -> Any:
    """A tangent or cotangent as an array."""
    return ad.instantiate_zeros(vector)  # type: ignore[no-untyped-call]


def _parts(args: Sequence[Any], types: _Types) -> tuple[Sequence[Any], Sequence[Any]]:
    """Where the derivative is taken, and vectors."""
    count = len(args) - len(types.vectors)
    return args[:count], args[count:]


def _computed(*args: Any, maps: _Pair, types: _Types) -> list[Any]:
    del types
    return list(maps.forward(*args))


def _result_types(*args: Any, maps: _Pair, types: _Types) -> list[Any]:
    del args, maps
    return list(types.results)


def _differentiated(
    primals: Sequence[Any], tangents: Sequence[Any], *, maps: _Pair, types: _Types
) -> tuple[list[Any], list[Any]]:
    """Linear in vectors; by where the derivative is taken it has a derivative of its own."""
    (at, vectors), (moves, pushed) = _parts(primals, types), _parts(tangents, types)
    results = _bound(maps, at, vectors, types.results)
    if all(isinstance(t, ad.Zero) for t in moves):
        return results, _bound(maps, at, [*map(_whole, pushed)], types.results)
    moved = [i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero)]

    def of_moved(*values: Any) -> list[Any]:
        args = list(primals)
        for i, value in zip(moved, values, strict=True):
            args[i] = value
        return list(maps.forward(*args))

    _, derivative = jax.jvp(of_moved, [primals[i] for i in moved], [tangents[i] for i in moved])
    return results, derivative


def _transposed(cotangents: Sequence[Any], *args: Any, maps: _Pair, types: _Types) -> list[Any]:
    at, vectors = _parts(args, types)
    found = _bound(_Pair(maps.backward, maps.forward), at, [*map(_whole, cotangents)], types.vectors)
    unknown = [isinstance(x, ad.UndefinedPrimal) for x in vectors]
    return [*[None] * len(at), *[x if is_unknown else None for x, is_unknown in zip(found, unknown, strict=True)]]


@dataclass(frozen=True)
class _Mapped:
    """A map of each of several points and vectors: `axes` are 0, and None for what all have in common."""

    each: Map
    axes: tuple[int | None, ...]

    def __call__(self, *args: Any) -> Any:
        return jax.vmap(self.each, in_axes=self.axes)(*args)


def _batched(
    args: Sequence[Any], axes: Sequence[int | None], *, maps: _Pair, types: _Types
) -> tuple[list[Any], list[int]]:
    """All vectors differ, so that transposes add nothing up: jax does, where one was repeated."""
    size = next(x.shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
    (at, vectors), (at_axes, vector_axes) = _parts(args, types), _parts(axes, types)
    at = [x if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(at, at_axes, strict=True)]
    common = tuple([None if axis is None else 0 for axis in at_axes])
    each = _Pair(
        _Mapped(maps.forward, (*common, *[0] * len(types.vectors))),
        _Mapped(maps.backward, (*common, *[0] * len(types.results))),
    )
    repeated = [_repeated(x, axis, size) for x, axis in zip(vectors, vector_axes, strict=True)]
    results = [jax.core.ShapedArray((size, *y.shape), y.dtype) for y in types.results]
    return _bound(each, at, repeated, results), [0] * len(results)


def _repeated(x: Any, axis: int | None, size: int) -> Any:
    return batching.bdim_at_front(x, axis, size)  # type: ignore[no-untyped-call]


_linear.def_impl(_computed)
_linear.def_abstract_eval(_result_types)
mlir.register_lowering(_linear, mlir.lower_fun(_computed, multiple_results=True))
ad.primitive_jvps[_linear] = _differentiated
ad.primitive_transposes[_linear] = _transposed
batching.primitive_batchers[_linear] = _batched
