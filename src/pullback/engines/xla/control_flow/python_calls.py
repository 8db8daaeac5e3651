"""XLA custom calls of Python functions, which are handed NumPy's arrays by the thread that runs the program.

jax's own callbacks make arrays of jax of them first. From 100 KB on XLA copies those on a thread of its pool: where a
process has one processor the pool's only thread is the one that waits for the copy, for ever. And outside the thread of
the run jax's switch for numbers of 64 bits is off: it makes float32 of float64, int32 of int64, without a word. So such
numbers are handed over as words of 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from ..jax_internals import effect_of_calls, sharding_of_calls
from .words import host_in_words, host_of_words, in_words, of_words, shape_in_words

Function = Callable[..., Sequence[np.ndarray[Any, Any]]]

_python_call = Primitive("pullback_python_call")
_python_call.multiple_results = True


def on_words(function: Function, arrays: Sequence[Any]) -> Function:
    """`function`, as `call_python` calls it where the program gives it `arrays`."""
    kinds = [(x.dtype, x.ndim) for x in arrays]

    def call(*given: Any) -> list[np.ndarray[Any, Any]]:
        # The memory is that of the program, which goes on with it.
        copies = [host_of_words(np.array(x), *kind) for x, kind in zip(given, kinds, strict=True)]
        return [host_in_words(np.asarray(y)) for y in function(*copies)]

    return call


def call_python(call: Function, results: Sequence[Any], arrays: Sequence[Any], acts: bool) -> list[Any]:
    """What a function `on_words` returns when the program runs, of the shapes and dtypes of `results`.

    A function that `acts` is called even where nobody reads what it returns.
    """
    made = [shape_in_words(y) for y in results]
    shapes = tuple([jax.core.ShapedArray(y.shape, y.dtype) for y in made])
    given = map(in_words, arrays)
    found = _python_call.bind(*given, call=call, shapes=shapes, acts=acts)  # type: ignore[no-untyped-call]
    return [of_words(x, y.dtype) for x, y in zip(found, results, strict=True)]


@_python_call.def_effectful_abstract_eval  # type: ignore[untyped-decorator]
def _types(*given: Any, call: Function, shapes: tuple[Any, ...], acts: bool) -> tuple[tuple[Any, ...], set[Any]]:
    del given, call
    return shapes, {effect_of_calls()} if acts else set()


@_python_call.def_impl  # type: ignore[untyped-decorator]
def _at_once(*given: Any, call: Function, shapes: tuple[Any, ...], acts: bool) -> list[Any]:
    del shapes, acts
    return list(call(*map(np.asarray, given)))


def _one_by_one(given: Sequence[Any], axes: Sequence[Any], **parameters: Any) -> tuple[Any, tuple[int, ...]]:
    """The rule of `jax.vmap`: a call for each of many."""
    pairs = enumerate(zip(given, axes, strict=True))
    many = {i: jnp.moveaxis(x, axis, 0) for i, (x, axis) in pairs if axis is not None}

    def one(rows: Any) -> Any:
        here = [rows.get(i, x) for i, x in enumerate(given)]
        return _python_call.bind(*here, **parameters)  # type: ignore[no-untyped-call]

    found = lax.map(one, many)
    return found, (0,) * len(found)


batching.primitive_batchers[_python_call] = _one_by_one


def _lowered(context: Any, *operands: Any, call: Function, shapes: tuple[Any, ...], acts: bool) -> Any:
    del shapes
    found, _, _ = mlir.emit_python_callback(
        context,
        lambda *given: tuple(call(*given)),
        None,
        list(operands),
        context.avals_in,
        context.avals_out,
        has_side_effect=acts,
        returns_token=False,
        sharding=sharding_of_calls(context),
    )
    return found


mlir.register_lowering(_python_call, _lowered, cacheable=False)
