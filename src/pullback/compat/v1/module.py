"""Modules: `tf.Module`, a class whose objects hold variables and other modules, found by their attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pullback as pb

from ...core import nest
from ...layers.variables.layer import Layer, snake_case


class ModuleScope(AbstractContextManager[str]):
    """A block in which names begin with `name`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._entered: list[AbstractContextManager[str]] = []

    def __enter__(self) -> str:
        self._entered.append(pb.name_scope(self.name))
        return self._entered[-1].__enter__()

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


class Module:
    """What holds variables, also in lists and dicts, and in other modules; operations of methods may have its name.

    Raises:
        ValueError: `name` is no identifier of Python.

    >>> import pullback.compat.v1 as tf
    >>> class Affine(tf.Module):
    ...     def __init__(self, n, m, name=None):
    ...         super().__init__(name=name)
    ...         self.w, self.b = tf.Variable(tf.ones([n, m]), name="w"), tf.Variable(tf.zeros([m]), name="b")
    ...     @tf.Module.with_name_scope
    ...     def __call__(self, x):
    ...         return tf.add(x @ self.w, self.b, name="y")
    >>> class Net(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.parts = [Affine(3, 4), Affine(4, 2)]
    >>> net = Net()
    >>> net.parts[1](net.parts[0](tf.ones([1, 3]))).name
    'affine_1/y:0'
    >>> [v.name for v in net.trainable_variables]
    ['b:0', 'w:0', 'b_1:0', 'w_1:0']
    """

    _name: str
    _prefix: str

    def __init__(self, name: str | None = None) -> None:
        named = snake_case(type(self).__name__) if name is None else name
        if not named.isidentifier():
            raise ValueError(
                f"{named!r} is not a valid module name. Module names must be valid Python identifiers "
                "(e.g. a valid class name)."
            )
        self._name = named
        with pb.name_scope(named) as self._prefix:
            pass

    @property
    def name(self) -> str:
        """The name that it was given, or that of its class."""
        return self._name

    @property
    def name_scope(self) -> ModuleScope:
        """The block in which operations have its name, the same each time."""
        return ModuleScope(self._prefix)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator: operations that the method makes have the name of the module."""

        @functools.wraps(method)
        def named(self: Module, *args: Any, **options: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **options)

        return named

    @property
    def variables(self) -> tuple[Any, ...]:
        """Its variables, by the names of the attributes, then those of the modules in it; each once."""
        return tuple(dict.fromkeys(_variables_of(self)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of them that optimizers change."""
        return tuple([v for v in self.variables if v.trainable])

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those of them that optimizers leave alone."""
        return tuple([v for v in self.variables if not v.trainable])

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules and layers in it, and in these."""
        return tuple([m for m in _modules_of(self) if m is not self])


def _held(module: Any) -> list[Any]:
    """What its attributes hold, in the order of their names."""
    return [x for _, value in sorted(vars(module).items()) for x in nest.flatten(value)]


def _modules_of(module: Any) -> list[Any]:
    """The module, those that it holds, and those in these, each once."""
    found = {id(module): module}
    pending = [module]
    for one in pending:
        new = [x for x in _held(one) if isinstance(x, Module | Layer) and id(x) not in found]
        found.update({id(x): x for x in new})
        pending.extend(found[i] for i in dict.fromkeys(map(id, new)))
    return list(found.values())


def _variables_of(module: Any) -> Iterator[Any]:
    for one in _modules_of(module):
        if isinstance(one, Layer):
            yield from one.variables
        else:
            yield from [x for x in _held(one) if isinstance(x, pb.Variable)]
