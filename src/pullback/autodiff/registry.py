"""Which rule differentiates an operation: its override, a registered one, or its primitive's own."""

from __future__ import annotations

from typing import NamedTuple

from ..core.graph import Operation
from ..core.primitive import Primitive, no_gradient, primitive_class
from ..core.sites import Site, user_site
from .choices import Rule, chosen_rules


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
    chosen = chosen_rules()
    if chosen and (op.name in chosen or op.type in chosen):
        return chosen[op.name] if op.name in chosen else chosen[op.type]
    if op.attrs:
        override = op.attrs.get("_gradient_op_type")
        if override is not None:
            return _by_name(op, override.decode())
    own = type(primitive).gradient
    if own is no_gradient:
        return None
    if own is Primitive.gradient:
        return _by_name(op, op.type)
    return primitive.gradient


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
