"""`Defun`: functions of the graph, as `tensorflow.python.framework.function` of TensorFlow 1 has them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pullback as pb

from ...core import nest
from ...core.typing import DTypeLike


class Defun:
    """A decorator: the function that it makes is traced, and each of its calls is one operation of the graph.

    Args:
        input_types: the dtypes of the arguments, to which arrays and numbers are converted; or none of them.
        func_name: the name of the calls; that of the Python function unless given.
        grad_func: the derivative, a function of the arguments and the cotangents of the results.
        python_grad_func: the derivative, a function of the call, with `inputs` and `outputs`, and these cotangents.

        out_names: a name for each result, which has no other meaning.

    `shape_func`, `noinline`, those that speak of compiling and capturing, and those that begin with `experimental_` are
    taken for TensorFlow's sake.

    Raises:
        TypeError: a dtype that is none; an argument that there is not.
        ValueError: there are two derivatives; when it is called: more or fewer arguments; keyword arguments.
        InvalidArgumentError: when it is called: there are not as many `out_names` as results.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.defun import Defun
    >>> @Defun(tf.float32, python_grad_func=lambda call, dy: 10.0 * dy * call.inputs[0])
    ... def square(x):
    ...     return x * x
    >>> x = tf.constant(3.0)
    >>> y = square(x)
    >>> tf.Session().run([y, *tf.gradients(y, x)])
    [np.float32(9.0), np.float32(30.0)]
    """

    def __init__(
        self,
        *input_types: DTypeLike,
        func_name: str | None = None,
        grad_func: Callable[..., Any] | None = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: object = None,
        noinline: bool = False,
        compiled: bool = False,
        separate_compiled_gradients: bool = False,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: object = None,
        **attributes: Any,
    ) -> None:
        del shape_func, noinline, compiled, separate_compiled_gradients, capture_by_value, whitelisted_stateful_ops
        unknown = [key for key in attributes if not key.startswith(("experimental_", "_implements", "_reference"))]
        if unknown:
            raise TypeError(f"Defun: there is no argument {unknown[0]!r}")
        if grad_func is not None and python_grad_func is not None:
            raise ValueError("Defun: Gradient defined twice; give grad_func or python_grad_func")
        self._types = [pb.as_dtype(dtype) for dtype in input_types]
        self._name, self._out_names = func_name, out_names
        self._derivative = _Derivative(grad_func, python_grad_func)

    def __call__(self, func: Callable[..., Any]) -> DefinedFunction:
        """`func` as a function of the graph."""
        return DefinedFunction(func, self._name or _name_of(func), self._types, self._derivative, self._out_names)


def _name_of(func: Callable[..., Any]) -> str:
    """The name of a function, or of the class of another callable, as operations can have it."""
    called = getattr(func, "__name__", type(func).__name__)
    return re.sub(r"[^A-Za-z0-9.]+", "_", called).strip("_") or "function"


class DefinedCall(NamedTuple):
    """A call, as a derivative in Python sees it."""

    inputs: list[pb.Tensor]
    outputs: list[pb.Tensor]


class _Derivative(NamedTuple):
    grad_func: Callable[..., Any] | None
    python_grad_func: Callable[..., Any] | None

    def of(self, call: DefinedCall, dys: Sequence[pb.Tensor]) -> list[Any]:
        """The cotangents of the arguments."""
        if self.python_grad_func is not None:
            return nest.flatten(self.python_grad_func(call, *dys))
        assert self.grad_func is not None
        return nest.flatten(self.grad_func(*call.inputs, *dys))


class DefinedFunction:
    """A Python function of tensors whose calls are operations; traced once for each kind of arguments."""

    def __init__(
        self,
        func: Callable[..., Any],
        name: str,
        types: Sequence[DTypeLike],
        derivative: _Derivative,
        out_names: Sequence[str] | None = None,
    ) -> None:
        self._func = func
        self._types = types
        self._derivative = derivative
        self._out_names = out_names
        parameters = inspect.signature(func).parameters.values()
        self._many = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self._names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self._traced: dict[tuple[pb.TensorType, ...], pb.ConcreteFunction] = {}
        self.name = name
        """The name of its calls."""

    @property
    def declared_input_types(self) -> list[Any]:
        """The dtypes that it was declared with."""
        return list(self._types)

    @property
    def argument_count(self) -> int:
        """How many arguments it takes."""
        return len(self._types) if self._many else len(self._names)

    @property
    def captured_inputs(self) -> list[Any]:
        """None: a call itself finds what the function needs beside its arguments."""
        return []

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """Names and types of its operations that act, or give something else each time, for arguments of any shape."""
        inputs = [pb.TensorSpec(pb.TensorShape(None), dtype) for dtype in self._types]
        body = pb.function(self._func).get_concrete_function(*inputs).graph
        return [(op.name, op.type) for op in body.get_operations() if op.primitive.stateful]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, as the Python function returns them, or the operation if there are none; takes `name` too."""
        name = kwargs.pop("name", None) or self.name
        self._check(args, kwargs)
        types: Sequence[Any] = self._types or [None] * len(args)
        inputs = [pb.convert_to_tensor(x, dtype) for x, dtype in zip(args, types, strict=True)]
        if self._derivative == (None, None):
            return self._call(inputs, name)
        return pb.custom_gradient(lambda *xs: self._with_derivative(list(xs), name))(*inputs)

    def _check(self, args: Sequence[Any], unknown: Mapping[str, Any]) -> None:
        if unknown:
            raise ValueError(f"{self.name}: Unknown keyword arguments {sorted(unknown)}; it takes name only")
        count = self.argument_count
        if len(args) != count and not (self._many and not self._types):
            raise ValueError(f"{self.name}: Expected number of arguments: {count}, received: {len(args)}")
        if self._types and len(self._types) != count:
            raise ValueError(f"{self.name}: {len(self._types)} input types were declared for {count} arguments")

    def _call(self, inputs: list[pb.Tensor], name: str) -> Any:
        key = tuple(x.type for x in inputs)
        if key not in self._traced:
            names = self._names if not self._many else [f"args_{i}" for i in range(len(inputs))]
            self._traced[key] = pb.ConcreteFunction(self._func, self.name, (inputs, {}), names, {})
        results = self._traced[key].call_with(inputs, zeros=True, name=name)
        count = len(nest.flatten(results))
        if self._out_names and len(self._out_names) != count:
            raise pb.errors.InvalidArgumentError(
                f"{self.name}: output names must be either empty or equal in size to outputs. output names size = "
                f"{len(self._out_names)} outputs size = {count}"
            )
        return results

    def _with_derivative(self, inputs: list[pb.Tensor], name: str) -> Any:
        results = self._call(inputs, name)
        outputs = nest.flatten(results)

        def derivative(*dys: Any, variables: Sequence[Any] = ()) -> Any:
            given = [pb.zeros_like(y) if dy is None else dy for y, dy in zip(outputs, dys, strict=True)]
            dxs = self._derivative.of(DefinedCall(inputs, outputs), given)
            return (dxs, [None] * len(variables)) if variables else dxs

        return results, derivative
