"""Python callbacks (`py_function`, `numpy_function`): operations that call Python with arrays while a graph runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import TRAINABLE, as_dtype, string
from ..core.graph import Operation, get_default_graph, site_of
from ..core.primitive import Primitive, no_gradient
from ..core.python_function import PythonFunction
from ..core.shape import TensorShape
from ..core.types import TensorType
from ..core.typing import DTypeLike, TensorLike
from ..primitives.creation.constant import as_array, convert_to_tensor
from ..primitives.creation.given_numbers import read
from .signature import TensorSpec


def py_function(
    func: Callable[..., Any],
    inp: TensorLike,
    Tout: DTypeLike | TensorSpec | Sequence[DTypeLike | TensorSpec],
    name: str | None = None,
    *,
    gradient: Callable[..., Any] | None = None,
) -> Any:
    """What `func` returns for the arrays of `inp`, each time a run needs it.

    Shapes: as `Tout` says: a dtype, or a `TensorSpec` with a shape, for each array that `func` returns; a list where it
    returns several, an empty one where it returns none. XLA needs whole shapes. Dtypes: those of `Tout`.

    `gradient` makes it differentiable, once: it is called with the arrays of `inp` and one cotangent for each result,
    and returns one array for each of `inp`; None stands for zeros. A `func` that is written with pullback's functions
    needs no `py_function`: call it on the tensors, and all derivatives are there.

    The function is not part of a saved graph. What it raises comes out of the run as an InvalidArgumentError that names
    the operation, with the original as its `__cause__`.

    Derivative: what gradient returns; none without it.

    Raises:
        TypeError: `func` is not callable.
        LookupError: from `gradients`, where there is no `gradient`.

    >>> import numpy as np
    >>> import pullback as pb
    >>> x = pb.constant([1.0, 4.0])
    >>> spec = pb.TensorSpec([2], pb.float32)
    >>> y = pb.py_function(np.sqrt, [x], spec, gradient=lambda x, dy: dy / (2.0 * np.sqrt(x)))
    >>> pb.Session().run([y, *pb.gradients(y, x)])
    [array([1., 2.], dtype=float32), array([0.5 , 0.25], dtype=float32)]
    """
    backward = None if gradient is None else PythonFunction(_checked("py_function: gradient", gradient))
    return _called(EagerPyFunc, "py_function", func, inp, Tout, name, backward=backward)


def numpy_function(
    func: Callable[..., Any],
    inp: TensorLike,
    Tout: DTypeLike | TensorSpec | Sequence[DTypeLike | TensorSpec],
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """What `func` returns for the arrays of `inp`, each time a run needs it; it has no derivative.

    Shapes, dtypes: as for `py_function`. With `stateful=False` a function that always returns the same for the same
    arrays may be called less often than its operations are run.

    Derivative: none: Python code is not looked into.

    Raises:
        TypeError: `func` is not callable.

    >>> import numpy as np
    >>> import pullback as pb
    >>> y = pb.numpy_function(np.sort, [[3.0, 1.0, 2.0]], pb.TensorSpec([3], pb.float32))
    >>> pb.Session().run(y)
    array([1., 2., 3.], dtype=float32)
    """
    return _called(PyFunc if stateful else PyFuncStateless, "numpy_function", func, inp, Tout, name)


def _checked(what: str, func: Callable[..., Any]) -> Callable[..., Any]:
    if not callable(func):
        raise TypeError(f"{what} must be callable, not {func!r}")
    return func


def _called(cls: Any, what: str, func: Any, inp: Any, Tout: Any, name: str | None, **more: Any) -> Any:
    several = isinstance(Tout, list | tuple)
    outputs = tuple([_type(t) for t in (Tout if several else [Tout])])
    tensors = [convert_to_tensor(x) for x in (inp if isinstance(inp, list | tuple) else [inp])]
    graph = tensors[0].graph.acting if tensors else get_default_graph()
    op = graph.add(cls(PythonFunction(_checked(f"{what}: func", func)), outputs, **more), tensors, name)
    if not several:
        return op.outputs[0]
    return op.outputs if outputs else op


def _type(wanted: Any) -> TensorType:
    if isinstance(wanted, TensorSpec):
        return wanted.type
    return TensorType(as_dtype(wanted), TensorShape.UNKNOWN)


class AbstractPythonCall(Primitive):
    """What a Python function returns for arrays."""

    calls_python = True

    func: PythonFunction
    outputs: tuple[TensorType, ...]
    wanted: tuple[bool, ...] = ()
    """Of a derivative: for each input of what is differentiated, whether its cotangent is a result."""

    def infer(self, *xs: TensorType) -> tuple[TensorType, ...]:
        del xs
        return self.outputs

    def kernel(self, xp: Any, *arrays: Any) -> Any:
        asarray = xp.asarray
        results = self.results([asarray(x) for x in arrays])
        return results[0] if len(results) == 1 else tuple(results)

    def results(self, arrays: Sequence[Any]) -> list[Any]:
        """What the function returns, as arrays of the types that were declared."""
        returned = self.func.call(*arrays)
        if self.wanted:
            returned = self._cotangents(arrays, returned)
        if not self.outputs:
            return []
        values: Sequence[Any] = returned if isinstance(returned, list | tuple) else [returned]
        if len(values) != len(self.outputs):
            raise ValueError(f"'{self.func}' returned {len(values)} values, and Tout declares {len(self.outputs)}")
        return [self._result(i, value) for i, value in enumerate(values)]

    def _cotangents(self, arrays: Sequence[Any], returned: Any) -> Any:
        """Those of the returned values that are wanted, zeros for None."""
        entries = list(returned) if isinstance(returned, list | tuple) else [returned]
        if len(entries) != len(self.wanted):
            raise ValueError(f"gradient '{self.func}' returned {len(entries)} values for {len(self.wanted)} inputs")
        triples = zip(arrays, entries, self.wanted, strict=False)
        found = [np.zeros_like(x) if dx is None else np.asarray(dx, x.dtype) for x, dx, want in triples if want]
        return found[0] if len(found) == 1 else found

    def _result(self, i: int, value: Any) -> Any:
        declared = self.outputs[i]
        is_array = isinstance(value, np.ndarray | np.generic) and declared.dtype is not string
        array = read(value, None) if is_array else as_array(value, declared.dtype)
        if array.dtype != declared.dtype or not declared.shape.is_compatible_with(array.shape):
            found = TensorType(array.dtype, TensorShape(array.shape))
            raise ValueError(f"'{self.func}' returned {found} as value {i}, and Tout declares {declared}")
        return array


class EagerPyFunc(AbstractPythonCall):
    stateful = True
    acts = True

    backward: PythonFunction | None = None

    def gradient(self, op: Operation, *dys: Any) -> Sequence[Any]:
        if self.backward is None:
            raise LookupError(
                f"No gradient defined for operation'{op.name}' (op type: {op.type}), made at {site_of(op)}: "
                f"a graph cannot look into the Python function '{self.func}'. Pass gradient= to py_function; or, if "
                "the function is written with pullback's functions, call it on the tensors without py_function; or put "
                "pb.stop_gradient() on its inputs."
            )
        wanted = tuple([x.dtype in TRAINABLE for x in op.inputs])
        types = tuple([x.type for x, want in zip(op.inputs, wanted, strict=True) if want])
        seeds = [dy for dy in dys if dy is not None]
        found = iter(op.graph.acting.add(EagerPyFunc(self.backward, types, wanted), [*op.inputs, *seeds]).outputs)
        return [next(found) if want else None for want in wanted]


class PyFunc(AbstractPythonCall):
    stateful = True
    acts = True

    gradient = no_gradient


class PyFuncStateless(AbstractPythonCall):
    gradient = no_gradient
