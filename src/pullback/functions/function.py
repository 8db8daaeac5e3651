"""Traced functions (`function`): a Python function traced once for each signature, and from then on a call.

With tensors it adds one operation to their graph; with arrays it runs and returns arrays.
"""

from __future__ import annotations

import inspect
import logging
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, update_wrapper
from typing import Any, NamedTuple

import numpy as np

from ..control_flow.concrete_function import ConcreteFunction
from ..control_flow.signature import (
    Kind,
    Static,
    TensorSpec,
    is_case_of,
    kind_of,
    named_lengths,
    parts_of,
    structure_key,
    up_to,
)
from ..core import function as core
from ..core import nest
from ..core.composite import AbstractComposite
from ..core.contexts import in_graph_of_inputs
from ..core.graph import AbstractTensorLike, Graph, Tensor, get_default_graph
from ..core.sites import Site, user_site
from ..core.slices import IndexedSlices
from ..core.types import TensorType
from ..engines.eager import run_function
from ..passes.optimizing import Optimizing
from ..passes.ruleset import Rules, as_rules
from ..primitives.variables.variable import creating_variables

_log = logging.getLogger("pullback")
_lock = threading.RLock()
"""One thread traces at a time."""
_MANY_TRACES = 8
_MOST_TRACES = 64


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: object = None,
    experimental_attributes: Mapping[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    *,
    optimize: Rules | str | None = None,
) -> Any:
    """`func` as a `Function`: traced once for each kind of arguments, and differentiated once for each.

    Use it as a decorator, with arguments or without, on functions and on methods.

    Called with a tensor or a variable among its arguments, or while another function, branch or loop is traced, it
    adds one call to the graph. Called with arrays only, it runs and returns arrays: in the default session of the
    graph, else in one that pullback keeps for the graph; there variables get their initial values by themselves.

    Arrays and tensors are told apart by dtype and static shape; everything else, Python numbers included, by its value.

    Args:
        func: the function.
        input_signature: nested `TensorSpec`s, one for each argument: it is traced once, for these.
        jit_compile: marks the calls with the attribute `_XlaMustCompile`; engines compile whatever they can anyway.
        reduce_retracing: where only shapes differ from what was traced before, trace for what they have in common.
        experimental_attributes: attributes of the calls.
        optimize: "exact", "safe" or "fast", or `pb.Rules`: what was traced is optimised, as `pb.optimize` does.

    The other arguments are taken for TensorFlow's sake and change nothing; `if` and `while` on tensors are not
    rewritten: use `pb.cond` and `pb.while_loop`.

    Raises:
        TypeError: `input_signature` holds anything but `TensorSpec`.

    >>> import numpy as np
    >>> import pullback as pb
    >>> @pb.function
    ... def cube(x):
    ...     return x * x * x
    >>> cube(np.float32(2.0))
    np.float32(8.0)
    >>> x = pb.constant(2.0)
    >>> y = cube(x)
    >>> y.op.type
    'PartitionedCall'
    >>> pb.Session().run(pb.gradients(y, x))
    [np.float32(12.0)]
    """
    del autograph, experimental_implements, experimental_autograph_options, experimental_follow_type_hints
    attrs = dict(experimental_attributes or {})
    if jit_compile or experimental_compile:
        attrs["_XlaMustCompile"] = True
    optimizing = None if optimize is None else Optimizing(as_rules(optimize)).function
    reduce = bool(reduce_retracing or experimental_relax_shapes)
    options = _Options(_checked(input_signature), reduce, attrs, optimizing)
    return partial(Function, options=options) if func is None else Function(func, options)


class _Options(NamedTuple):
    input_signature: tuple[Any, ...] | None = None
    reduce_retracing: bool = False
    attrs: Mapping[str, Any] = {}
    optimize: Callable[[core.Function], core.Function] | None = None
    in_graph: bool = False


def _checked(signature: Sequence[Any] | None) -> tuple[Any, ...] | None:
    if signature is None:
        return None
    if not isinstance(signature, list | tuple):
        raise TypeError(f"function: input_signature must be a list or tuple of TensorSpec, not {signature!r}")
    for leaf in nest.flatten(list(signature)):
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f"function: input_signature must hold nothing but TensorSpec, not {leaf!r}")
    return tuple(signature)


class _Traced(NamedTuple):
    """What was traced for one key: a function for each set of tensors it captured."""

    key: Any
    kinds: tuple[Kind, ...]
    names: tuple[str, ...]
    site: Site | None
    concrete: ConcreteFunction


class Function:
    """A Python function that is traced; made by `pb.function`.

    >>> import pullback as pb
    >>> scale = pb.function(lambda x, by: x * by)
    >>> y = scale(pb.constant([1.0, 2.0]), 3.0)
    >>> print(scale.pretty_printed_concrete_signatures())
    lambda(x: float32[2], by: 3.0) -> float32[2]
    """

    def __init__(self, func: Callable[..., Any], options: _Options | None = None, name: str = "") -> None:
        if not callable(func):
            raise TypeError(f"function: func must be callable, not {func!r}")
        self._func = func
        self._options = options or _Options()
        self._signature = inspect.signature(func)
        self._name = _valid_name(name or getattr(func, "__name__", type(func).__name__))
        self._traced: list[_Traced] = []
        self._by_key: dict[Any, list[_Traced]] = {}
        self._known: dict[Any, ConcreteFunction] = {}
        """What arrays alone, by dtypes and shapes, were run by: found without looking at them leaf by leaf."""
        self._methods: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        update_wrapper(self, func, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        return self._func

    @property
    def function_spec(self) -> inspect.Signature:
        """The signature of the Python function."""
        return self._signature

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The `TensorSpec`s that it was declared with, or None."""
        return self._options.input_signature

    def in_graph(self) -> Function:
        """The function each call of which adds to the graph, one with arrays only too.

        >>> import pullback as pb
        >>> pb.function(lambda: pb.constant(1.0)).in_graph()()
        <Tensor 'PartitionedCall:0' float32[]>
        """
        return Function(self._func, self._options._replace(in_graph=True), self._name)

    def __get__(self, instance: Any, owner: Any = None) -> Function:
        """The method of one object, with traces of its own."""
        if instance is None:
            return self
        if not _has_weak_key(instance):
            return Function(partial(self._func, instance), self._options, self._name)
        known = self._methods.get(instance)
        if known is None:
            known = self._methods[instance] = Function(_method(self._func, instance), self._options)
        return known

    def experimental_get_tracing_count(self) -> int:
        """How many times it has been traced."""
        return len(self._traced)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function traced for these arguments: tensors, arrays, `TensorSpec`s, or Python values.

        Without arguments: that of the `input_signature`.
        """
        if not args and not kwargs and self._options.input_signature is not None:
            args = self._options.input_signature
        return self._concrete(*self._bound(args, kwargs))

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures that it has been traced for, a line each."""
        del verbose
        return "\n".join(str(entry.concrete) for entry in self._traced)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for these arguments: tensors where one of them is a tensor, else arrays."""
        graph = get_default_graph()
        quick = None
        in_graph = graph.outer is not None or self._options.in_graph
        if not kwargs and not in_graph and all(type(x) is np.ndarray for x in args):
            quick = (*[(x.dtype, x.shape) for x in args], _scopes_key(graph))
            known = self._known.get(quick)
            if known is not None and known.can_be_called_in(graph):
                return run_function(known, args)
        inputs, names = self._bound(args, kwargs)
        concrete = self._concrete(inputs, names)
        leaves = nest.flatten(inputs)
        if in_graph or any(map(_is_of_graph, leaves)):
            return concrete.call_with(leaves)
        arrays = [x for leaf in leaves for x in parts_of(leaf, kind_of(leaf))]
        if quick is not None and len(arrays) == len(leaves) == len(args):
            self._known[quick] = concrete
        return run_function(concrete, arrays)

    # Tracing

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, list[str]]:
        """The arguments as positional and keyword arguments, and a name for each leaf."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None
        specs = self._options.input_signature
        bound.apply_defaults()
        inputs = (list(bound.args), dict(bound.kwargs))
        if specs is not None:
            inputs = self._as_specified(inputs, specs)
        return inputs, self._leaf_names(*inputs)

    def _as_specified(self, inputs: Any, specs: Sequence[Any]) -> Any:
        args, kwargs = inputs
        names = self._argument_names(args)
        given = [up_to(s, x, f"{self._name}: {n}") for s, x, n in zip(specs, args, names, strict=False)]
        if len(args) < len(specs):
            raise TypeError(f"{self._name}: input_signature is for {len(specs)} arguments, and {len(args)} were given")
        return [*given, *args[len(specs) :]], kwargs

    def _argument_names(self, args: Sequence[Any]) -> list[str]:
        names: list[str] = []
        for parameter in self._signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}_{i}" for i in range(len(args) - len(names))]
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
        return names

    def _leaf_names(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        found: list[str] = []
        keyed = [(name, kwargs[name]) for name in sorted(kwargs)]
        for name, value in [*zip(self._argument_names(args), args, strict=False), *keyed]:
            count = len(nest.flatten(value))
            found += [name] if not nest.is_nested(value) else [f"{name}_{i}" for i in range(count)]
        return found

    @in_graph_of_inputs
    def _concrete(self, inputs: Any, names: list[str]) -> ConcreteFunction:
        graph = get_default_graph()
        leaves = nest.flatten(inputs)
        tensors = [x for leaf in leaves if _is_of_graph(leaf) for x in parts_of(leaf, kind_of(leaf))]
        graph = tensors[0].graph.acting if tensors else graph
        specs = self._options.input_signature
        if specs is not None:
            known = nest.flatten(list(specs))
            kinds = [*[spec.type for spec in known], *[kind_of(x) for x in leaves[len(known) :]]]
        else:
            kinds = [kind_of(x) for x in leaves]
        shape = (structure_key(inputs), _scopes_key(graph), named_lengths(kinds))
        with _lock:
            entry = self._find(shape, tuple(kinds), graph)
            if entry is None:
                entry = self._trace(shape, self._widened(shape, kinds), inputs, names, graph)
        return entry.concrete

    def _find(self, shape: Any, kinds: tuple[Kind, ...], graph: Graph) -> _Traced | None:
        for entry in self._by_key.get((shape, kinds), ()):
            if entry.concrete.can_be_called_in(graph):
                return entry
        if not self._options.reduce_retracing:
            return None
        for entry in self._traced:
            fits = entry.key == shape and all(_fits(a, b) for a, b in zip(kinds, entry.kinds, strict=True))
            if fits and entry.concrete.can_be_called_in(graph):
                return entry
        return None

    def _widened(self, shape: Any, kinds: list[Kind]) -> list[Kind]:
        """`kinds` with shapes wide enough for what was traced before, where that differed in shapes only."""
        if not self._options.reduce_retracing:
            return kinds
        for entry in reversed(self._traced):
            if entry.key == shape and all(_differ_in_shape(a, b) for a, b in zip(kinds, entry.kinds, strict=True)):
                return [_common(a, b) for a, b in zip(kinds, entry.kinds, strict=True)]
        return kinds

    def _trace(self, shape: Any, kinds: Sequence[Kind], inputs: Any, names: list[str], graph: Graph) -> _Traced:
        self._check_count(kinds, names)
        leaves = [
            TensorSpec(kind.shape, kind.dtype) if isinstance(kind, TensorType) else leaf
            for kind, leaf in zip(kinds, nest.flatten(inputs), strict=True)
        ]
        packed = nest.pack_sequence_as(inputs, leaves)
        name = self._name if not self._traced else f"{self._name}_{len(self._traced)}"
        with graph.as_default(), _no_recursion(self, (shape, tuple(kinds))):
            concrete = self._traced_once(name, packed, names)
        entry = _Traced(shape, tuple(kinds), tuple(names), user_site(), concrete)
        self._traced.append(entry)
        self._by_key.setdefault((shape, entry.kinds), []).append(entry)
        return entry

    def _traced_once(self, name: str, inputs: Any, names: Sequence[str]) -> ConcreteFunction:
        """Traced; a second time where the first time made variables, which must make none."""
        trace = partial(ConcreteFunction, self._func, name, inputs, names, self._options.attrs, self._options.optimize)
        made: list[Any] = []
        with creating_variables(self._refuse if self._traced else made.append):
            concrete = trace()
        if made:
            with creating_variables(self._refuse):
                concrete = trace()
        return concrete

    def _refuse(self, name: Any) -> None:
        raise ValueError(
            f"function '{self._name}' only supports singleton Variables created on the first call. Make sure the "
            f"Variable is only created once or created outside the function: {name} was made again."
        )

    def _check_count(self, kinds: Sequence[Kind], names: Sequence[str]) -> None:
        count = len(self._traced)
        if count == _MOST_TRACES:
            raise RuntimeError(
                f"function '{self._name}' was traced {count} times, which is the limit. {self._changed(kinds, names)}"
            )
        if count == _MANY_TRACES:
            _log.warning("function '%s' was traced %d times. %s", self._name, count, self._changed(kinds, names))

    def _changed(self, kinds: Sequence[Kind], names: Sequence[str]) -> str:
        """What the last trace and the next differ in, and what to do."""
        last = self._traced[-1]
        if list(names) != list(last.names):
            return f"The arguments changed from {list(last.names)} to {list(names)}."
        differing = [(n, a, b) for n, a, b in zip(names, last.kinds, kinds, strict=True) if a != b]
        if not differing:
            return "It reads tensors of a body that is traced anew each time: hand them in as arguments."
        changes = "; ".join(f"'{n}' from {a} to {b}" for n, a, b in differing)
        advice = {
            True: "Hand in numbers that change as arrays or tensors.",
            False: "Use reduce_retracing=True, or an input_signature with None for the lengths that change.",
        }
        static = any(isinstance(a, Static) or isinstance(b, Static) for _, a, b in differing)
        return f"It changed {changes}. {advice[static]}"

    def __repr__(self) -> str:
        return f"<Function '{self._name}' traced {len(self._traced)} times>"


def _has_weak_key(instance: Any) -> bool:
    """Whether what belongs to `instance` can be kept for as long as it lives."""
    try:
        weakref.ref(instance)
        hash(instance)
    except TypeError:
        return False
    return True


def _method(func: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """`func` as a method of `instance`, which it does not keep alive."""
    reference = weakref.ref(instance)

    def method(*args: Any, **kwargs: Any) -> Any:
        return func(reference(), *args, **kwargs)

    update_wrapper(method, func, updated=())
    parameters = list(inspect.signature(func).parameters.values())
    method.__signature__ = inspect.Signature(parameters[1:])  # type: ignore[attr-defined]
    return method


def _valid_name(name: str) -> str:
    return re.sub(r"^[^A-Za-z0-9.]+", "", re.sub(r"[^A-Za-z0-9_.\-]", "", name)) or "f"


def _scopes_key(graph: Graph) -> Any:
    """What the scopes around a trace leave on its operations."""
    scope = graph.scope
    if not (scope.devices or scope.attrs or scope.gradient_types):
        return None
    attrs = tuple([(name, repr(value)) for name, value in scope.attrs.items()])
    return scope.devices, attrs, tuple(scope.gradient_types.items())


def _is_of_graph(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | AbstractTensorLike | IndexedSlices | AbstractComposite)


def _fits(kind: Kind, wider: Kind) -> bool:
    if isinstance(kind, TensorType) and isinstance(wider, TensorType):
        return kind.dtype == wider.dtype and is_case_of(kind.shape, wider.shape)
    return kind == wider


def _differ_in_shape(a: Kind, b: Kind) -> bool:
    return a.dtype == b.dtype if isinstance(a, TensorType) and isinstance(b, TensorType) else a == b


def _common(a: Kind, b: Kind) -> Kind:
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return TensorType(a.dtype, a.shape.most_specific_compatible_shape(b.shape))
    return a


class _Tracing(threading.local):
    def __init__(self) -> None:
        self.keys: list[Any] = []


_tracing = _Tracing()


@contextmanager
def _no_recursion(traced: Function, key: Any) -> Iterator[None]:
    if (id(traced), key) in _tracing.keys:
        raise RecursionError(
            f"function '{traced._name}' calls itself with arguments of the same kind while it is traced. "
            "A graph cannot recurse: use pb.while_loop."
        )
    _tracing.keys.append((id(traced), key))
    try:
        yield
    finally:
        _tracing.keys.pop()
