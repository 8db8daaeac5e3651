"""Variable sharing (`make_template`): functions that share their variables from call to call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...core.contexts import in_graph_of_inputs
from .scope import Getter, VariableScope, trainable_variables, variable_scope


class Template:
    """A function all of whose calls share the variables that `get_variable` makes in it. Made by `make_template`."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        unique_name: str | None,
        create_scope: bool,
        custom_getter: Getter | None,
    ) -> None:
        self.name = name
        self._func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = self._made() if create_scope else None
        self._variables_created = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        where, getter = (self._unique_name, self._custom_getter) if self._scope is None else (self._scope, None)
        known = len(trainable_variables())
        with variable_scope(where, self.name, reuse=self._variables_created or None, custom_getter=getter) as scope:
            self._scope = self._scope or scope
            result = self._func(*args, **kwargs)
        made = trainable_variables()[known:] if self._variables_created else []
        self._variables_created = True
        if made:
            raise ValueError(f"make_template: a later call of '{self.name}' made {made[0]!r}; use pb.get_variable")
        return result

    @property
    def scope(self) -> VariableScope:
        """The scope of its variables; made where it is first asked for."""
        if self._scope is None:
            self._scope = self._made()
        return self._scope

    def _made(self) -> VariableScope:
        with variable_scope(
            self._unique_name, self.name, custom_getter=self._custom_getter, auxiliary_name_scope=False
        ) as scope:
            return scope

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of its variables; None before it is made, which the first call does."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the scope of its variables."""
        return None if self._scope is None else self._scope.name

    @property
    def variables(self) -> list[Any]:
        """Its variables, local ones too, as they were made."""
        return [*self.global_variables, *self.local_variables]

    @property
    def global_variables(self) -> list[Any]:
        """Those of its variables that are no local ones."""
        return self.scope.global_variables()

    @property
    def local_variables(self) -> list[Any]:
        """Those of its variables that no checkpoint keeps."""
        return self.scope.local_variables()

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of its variables that optimizers change."""
        return self.scope.trainable_variables()

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Those of its variables that no optimizer changes."""
        trainable = set(self.trainable_variables)
        return [v for v in self.variables if v not in trainable]


@in_graph_of_inputs
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Getter | None = None,
    **kwargs: Any,
) -> Template:
    """`func_` with the arguments `kwargs` given, all of whose calls share the variables of the first one.

    They are named `name_/...`, made unique, or `unique_name_/...`; unless `create_scope_now_`, at the first call.
    `custom_getter_` is that of their scope, see `variable_scope`.

    Raises:
        ValueError: there is no name; a later call asks for a variable that the first has not made, or makes one.

    >>> import pullback as pb
    >>> scaled = pb.make_template("scale", lambda x: x * pb.get_variable("w", []))
    >>> y = scaled(scaled(1.0))
    >>> scaled.variables
    [<Variable 'scale/w:0' float32[]>]
    """
    if name_ is None:
        raise ValueError("make_template: name cannot be None.")
    func = partial(func_, **kwargs) if kwargs else func_
    return Template(name_, func, unique_name_, create_scope_now_, custom_getter_)
