"""Gradient registry: which rule differentiates an operation, its override, a registered one, or its primitive's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from ..core.function import AbstractFunctional
from ..core.graph import Graph, Operation
from ..core.primitive import Primitive, no_gradient, primitive_class, primitive_classes
from ..core.printing import functions_in
from ..core.sites import Site, user_site
from .choices import Rule, Rules, chosen_rules


class _Entry(NamedTuple):
    rule: Rule | None
    site: Site | None


_registered: dict[str, _Entry] = {}


class RegisterGradient:
    """A decorator that registers a function as the gradient of an op type, or under a name for `gradient_override_map`.

    The function is called with the operation and one cotangent for each output, and returns one for each input: a
    tensor, IndexedSlices, or None (zero, or not differentiable).

    Raises:
        TypeError: `op_type` is not a string.
        KeyError: the type has a gradient already; override it with `Graph.gradient_override_map`.

    >>> import pullback as pb
    >>> @pb.RegisterGradient("Doubled")
    ... def doubled(op, dy):
    ...     return 2.0 * dy
    >>> graph = pb.Graph()
    >>> with graph.as_default(), graph.gradient_override_map({"Tanh": "Doubled"}):
    ...     x = pb.constant(0.5)
    ...     dx, = pb.gradients(pb.tanh(x), x)
    >>> float(pb.Session(graph=graph).run(dx))
    2.0
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, rule: Rule) -> Rule:
        _register(self._op_type, rule)
        return rule


def NotDifferentiable(op_type: str) -> None:
    """Declares that an op type has no derivative: the gradient stops there with None, without an error.

    Raises:
        TypeError: `op_type` is not a string.
        KeyError: the type has a gradient already.

    >>> NotDifferentiable("MyRounding")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


NoGradient = NotDifferentiable


def _register(op_type: str, rule: Rule | None) -> None:
    known = _registered.get(op_type)
    cls = primitive_class(op_type)
    if known is not None:
        where = f"Previous registration was in {known.site}" if known.site else "Previous registration was elsewhere"
    elif cls is not None and cls.gradient is not Primitive.gradient:
        where = f"Previous registration was in {cls.__module__}.{cls.__qualname__}"
    else:
        _registered[op_type] = _Entry(rule, user_site())
        return
    raise KeyError(f"Registering two gradient with name '{op_type}'! ({where})")


def rule_of(op: Operation) -> Rule | None:
    """The function that differentiates `op`, called as `rule(op, *dys)`; None where it is declared to have none.

    The rules chosen for this call of `gradients` come first, then the operation's override, then the type's own.

    Raises:
        LookupError: nothing says how to differentiate `op`.
    """
    primitive = op.primitive
    called = primitive.called if isinstance(primitive, AbstractFunctional) else ""
    chosen = chosen_rules()
    if chosen:
        for key in (op.name, called, op.type):
            if key in chosen:
                return chosen[key]
    if op.attrs:
        override = op.attrs.get("_gradient_op_type")
        if override is not None:
            return _by_name(op, override.decode())
    if called in _registered:
        return _registered[called].rule
    own = type(primitive).gradient
    if own is no_gradient:
        return None
    if own is Primitive.gradient:
        return _by_name(op, op.type)
    return primitive.gradient


def as_rules(rules: Mapping[Any, Rule | None] | None, graph: Graph) -> Rules | None:
    """What a caller of `gradients` chose, with op types in place of classes.

    Raises:
        ValueError: a key is neither an operation or function of `graph`, at any depth, nor an op type.
        TypeError: a key or a rule is of the wrong kind.
    """
    if rules is None:
        return None
    if not isinstance(rules, Mapping):
        raise TypeError(f"gradients: rules must be a dictionary, not {rules!r}")
    chosen = {_rule_name(key): rule for key, rule in rules.items()}
    for name, rule in chosen.items():
        if rule is not None and not callable(rule):
            raise TypeError(f"gradients: the rule for '{name}' must be a function of (op, *dys) or None, not {rule!r}")
    unknown = [name for name in chosen if primitive_class(name) is None and name not in _registered]
    if unknown:
        _check_names(unknown, graph)
    return chosen


def _rule_name(key: Any) -> str:
    if isinstance(key, type) and issubclass(key, Primitive):
        return key.type
    if not isinstance(key, str):
        raise TypeError(f"gradients: rules are chosen by the name or type of operations, or by Primitive, not {key!r}")
    return key


def _check_names(names: Sequence[str], graph: Graph) -> None:
    known: set[str] = set()
    for level in graph.levels():
        operations = level.get_operations()
        functions = functions_in(operations)
        known.update(op.name for op in operations)
        known.update(f.name for f in functions)
        known.update(op.name for f in functions for op in f.operations)
    for name in names:
        if name not in known:
            near = get_close_matches(name, sorted({*known, *primitive_classes()}), n=3)
            hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
            raise ValueError(f"gradients: rules has '{name}', which is neither an operation here nor an op type.{hint}")


def _by_name(op: Operation, name: str) -> Rule | None:
    entry = _registered.get(name)
    if entry is not None:
        return entry.rule
    cls = primitive_class(name)
    if cls is None or cls.gradient is Primitive.gradient:
        raise LookupError(name)
    if cls.gradient is no_gradient:
        return None
    if name == op.type:
        return op.primitive.gradient
    raise LookupError(name)
