"""`Defun`: functions of the graph, as `tensorflow.python.framework.function` of TensorFlow 1 has them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import pullback as pb

from ...core import nest
from ...core.dtypes import DType
from ...core.function import origin_of
from ...core.needs import needed
from ...core.typing import DTypeLike
from ...graphdef.exporting import function_def
from ...primitives.variables.operations import VarHandleOp


class Defun:
    """A decorator: the function that it makes is traced, and each of its calls is one operation of the graph.

    Args:
        input_types: the dtypes of the arguments, to which arrays and numbers are converted; or none of them.
        func_name: the name of the calls; that of the Python function unless given.
        grad_func: the derivative, a function of the arguments and the cotangents of the results.
        python_grad_func: the derivative, a function of the call, with `inputs` and `outputs`, and these cotangents.

        out_names: a name for each result, which has no other meaning.
        capture_by_value: what the function needs of the graph around it may not act or differ from run to run, except
            for the operations `whitelisted_stateful_ops`.

    `noinline`, `_implements`, `_reference` and those that begin with `experimental_` are attributes of the definition.
    `shape_func` and those that speak of compiling are taken for TensorFlow's sake.

    Raises:
        TypeError: a dtype that is none; an argument that there is not.
        ValueError: there are two derivatives; the function has defaults or takes keyword arguments; when it is called:
            more or fewer arguments; keyword arguments; None among the results; what cannot be captured by value.
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
        whitelisted_stateful_ops: Collection[pb.Operation] | None = None,
        **attributes: Any,
    ) -> None:
        del shape_func, compiled, separate_compiled_gradients
        unknown = [key for key in attributes if not key.startswith(("experimental_", "_implements", "_reference"))]
        if unknown:
            raise TypeError(f"Defun: there is no argument {unknown[0]!r}")
        if grad_func is not None and python_grad_func is not None:
            raise ValueError("Defun: Gradient defined twice; give grad_func or python_grad_func")
        self._types = [pb.as_dtype(dtype) for dtype in input_types]
        self._name = func_name
        allowed = frozenset(whitelisted_stateful_ops or ()) if capture_by_value else None
        self._options = Options(
            _Derivative(grad_func, python_grad_func),
            out_names,
            {**({"_noinline": True} if noinline else {}), **attributes},
            allowed,
        )

    def __call__(self, func: Callable[..., Any]) -> DefinedFunction:
        """`func` as a function of the graph."""
        name = self._name or _name_of(func)
        for p in inspect.signature(func).parameters.values() if inspect.isfunction(func) else ():
            if p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY):
                raise ValueError(f"{name}: arguments with defaults and keyword arguments are not supported: {p}")
        return DefinedFunction(func, name, self._types, self._options)


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


class Options(NamedTuple):
    """What a `Defun` says of its functions."""

    derivative: _Derivative
    out_names: Sequence[str] | None
    attributes: Mapping[str, Any]
    by_value: frozenset[pb.Operation] | None
    """The operations that act, or differ from run to run, and may be captured; None where all may."""


_by_name: WeakValueDictionary[str, DefinedFunction] = WeakValueDictionary()


def defined(name: str) -> DefinedFunction | None:
    """The last function that was defined with that name and is there still."""
    return _by_name.get(name)


def get_extra_vars() -> list[pb.Variable]:
    """The variables that the function which is being traced uses so far."""
    return [x for x in get_extra_args() if isinstance(x, pb.Variable)]


def get_extra_args() -> list[pb.Tensor | pb.Variable]:
    """What the function which is being traced uses so far beside its arguments: variables, and tensors inside it.

    >>> import pullback.compat.v1 as tf
    >>> from pullback.compat.v1.defun import Defun
    >>> w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    >>> @Defun(tf.float32)
    ... def slope(x):
    ...     return tf.gradients(w * x * x, get_extra_args())
    >>> session = tf.Session()
    >>> session.run(w.initializer)
    >>> session.run(slope(3.0))
    np.float32(9.0)
    """
    captured = [(origin_of(x), inner) for x, inner in pb.get_default_graph().captures.items()]
    return [pb.Variable.from_handle(x) if isinstance(x.op.primitive, VarHandleOp) else inner for x, inner in captured]


class DefinedFunction:
    """A Python function of tensors whose calls are operations; traced once for each kind of arguments.

    Its operations are on the device of the block in which it was made.
    """

    def __init__(self, func: Callable[..., Any], name: str, types: Sequence[DType], options: Options) -> None:
        self._func = func
        self._types = types
        self._options = options
        parameters = inspect.signature(func).parameters.values()
        self._many = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self._names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self._traced: dict[tuple[pb.TensorType, ...], pb.ConcreteFunction] = {}
        self._devices = pb.get_default_graph().scope.devices
        self.name = name
        """The name of its calls."""
        _by_name[name] = self

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
        body = self._for([pb.TensorType(dtype, pb.TensorShape(None)) for dtype in self._types]).graph
        return [(op.name, op.type) for op in body.get_operations() if op.primitive.stateful]

    @property
    def definition(self) -> Any:
        """The message FunctionDef that describes it, for arguments of any shape.

        Raises:
            ValueError: it was declared with another number of dtypes than it has arguments; see `instantiate`.
        """
        self._check_types()
        traced = self._for([pb.TensorType(dtype, pb.TensorShape(None)) for dtype in self._types])
        said = inspect.getdoc(self._func) or ""
        return function_def(traced.function, self.name, said, self._options.attributes)

    def instantiate(self, input_types: Sequence[DTypeLike]) -> DefinedFunction:
        """The same function, declared with these dtypes."""
        return DefinedFunction(self._func, self.name, [pb.as_dtype(dtype) for dtype in input_types], self._options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results, as the Python function returns them, the one of a list, or the operation; takes `name` too."""
        name = kwargs.pop("name", None) or self.name
        self._check(args, kwargs)
        types: Sequence[Any] = self._types or [None] * len(args)
        inputs = [pb.convert_to_tensor(x, dtype) for x, dtype in zip(args, types, strict=True)]
        if self._options.derivative == (None, None):
            return self._call(inputs, name)
        return pb.custom_gradient(lambda *xs: self._with_derivative(list(xs), name))(*inputs)

    def _check(self, args: Sequence[Any], unknown: Mapping[str, Any]) -> None:
        if unknown:
            raise ValueError(f"{self.name}: Unknown keyword arguments {sorted(unknown)}; it takes name only")
        count = self.argument_count
        if len(args) != count and not (self._many and not self._types):
            raise ValueError(f"{self.name}: Expected number of arguments: {count}, received: {len(args)}")
        if self._types:
            self._check_types()

    def _check_types(self) -> None:
        if len(self._types) != self.argument_count:
            raise ValueError(
                f"{self.name}: {len(self._types)} specified input types for {self.argument_count} arguments; declare "
                "one for each, or none"
            )

    def _call(self, inputs: list[pb.Tensor], name: str) -> Any:
        results = self._for_values([x.type for x in inputs]).call_with(inputs, zeros=True, name=name)
        count, names = len(nest.flatten(results)), self._options.out_names
        if names and len(names) != count:
            raise pb.errors.InvalidArgumentError(
                f"{self.name}: output names must be either empty or equal in size to outputs. output names size = "
                f"{len(names)} outputs size = {count}"
            )
        return results[0] if isinstance(results, list | tuple) and len(results) == 1 else results

    def _for_values(self, types: Sequence[pb.TensorType]) -> pb.ConcreteFunction:
        """The function for arguments of these types; of any shapes where these do not fit, which a run then says."""
        try:
            return self._for(types)
        except ValueError:
            if not self._types:
                raise
            return self._for([pb.TensorType(x.dtype, pb.TensorShape(None)) for x in types])

    def _for(self, types: Sequence[pb.TensorType]) -> pb.ConcreteFunction:
        key = tuple(types)
        if key not in self._traced:
            names = self._names if not self._many else [f"args_{i}" for i in range(len(types))]
            specs = [pb.TensorSpec(x.shape, x.dtype) for x in types]
            graph = pb.get_default_graph()
            with graph.entered(graph.scope._replace(devices=self._devices)):
                made = pb.ConcreteFunction(self._body, self.name, (specs, {}), names, {})
            if self._options.by_value is not None:
                self._check_captured(made, self._options.by_value)
            self._traced[key] = made
        return self._traced[key]

    def _body(self, *args: Any) -> Any:
        results = self._func(*args)
        if isinstance(results, list | tuple) and any(x is None for x in results):
            raise ValueError(f"{self.name}: a function can not return None beside other results; leave it out")
        return results

    def _check_captured(self, traced: pb.ConcreteFunction, allowed: frozenset[pb.Operation]) -> None:
        starts = [x.op for x in traced.captured_inputs]
        for op in needed(starts, lambda op: [x.op for x in op.inputs if op not in allowed]):
            if op.primitive.stateful and op not in allowed:
                raise ValueError(
                    f"{self.name}: Cannot capture a stateful node by value: {op.name!r} ({op.type}); name it in "
                    "whitelisted_stateful_ops, or give its value as an argument"
                )

    def _with_derivative(self, inputs: list[pb.Tensor], name: str) -> Any:
        results = self._call(inputs, name)
        outputs = nest.flatten(results)

        def derivative(*dys: Any, variables: Sequence[Any] = ()) -> Any:
            given = [pb.zeros_like(y) if dy is None else dy for y, dy in zip(outputs, dys, strict=True)]
            dxs = self._options.derivative.of(DefinedCall(inputs, outputs), given)
            return (dxs, [None] * len(variables)) if variables else dxs

        return results, derivative
