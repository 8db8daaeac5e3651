"""Optimizers of Keras inside graphs: what all share, and what a program derives one of its own from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import pullback as pb

from .....autodiff.reverse import gradients
from .....core.typing import TensorLike
from .....optimizers.parts import Part
from .....primitives.sparse.unique_rows import sum_equal_rows
from ...clipping import clip_by_global_norm, clip_by_norm
from ...variable import Variable
from .. import backend, initializers
from .schedules import LearningRateSchedule

GradientAndVariable = tuple[Any, pb.Variable]
_CLIPPED = ("clipnorm", "clipvalue", "global_clipnorm")


class Optimizer:
    """A rule that changes variables so that a loss falls; its hyperparameters are variables of the graph.

    `get_updates(loss, params)` is a list of the operation that takes a step, `apply_gradients` that operation. A
    subclass sets hyperparameters by `_set_hyper`, makes slots in `_create_slots` by `add_slot`, and says in
    `_resource_apply_dense(grad, var)` and `_resource_apply_sparse(grad, var, indices)` what a step is.

    Raises:
        TypeError: an option is none of `clipnorm`, `clipvalue`, `global_clipnorm`, `lr` and `decay`. ValueError: one is
            negative, or there are both norms.
    """

    sums_equal_rows: ClassVar[bool] = True
    """Whether a step with some rows needs each row once."""

    def __init__(self, name: str, **kwargs: Any) -> None:
        for key, value in kwargs.items():
            if key not in (*_CLIPPED, "lr", "decay"):
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._hyper: dict[str, Any] = {}
        self._made = False
        self._slots: dict[str, dict[pb.Variable, pb.Variable]] = {}
        self._weights: list[pb.Variable] = []
        self._iterations: pb.Variable | None = None
        self._initial_decay = kwargs.get("decay") or 0.0
        self._set_hyper("decay", self._initial_decay)
        self._clips = {key: kwargs[key] for key in _CLIPPED if kwargs.get(key) is not None}
        if "clipnorm" in self._clips and "global_clipnorm" in self._clips:
            raise ValueError(f"Cannot accept both `clipnorm` and `global_clipnorm`, passed {self._clips}")

    # What a user calls

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: TensorLike | None = None, name: str | None = None
    ) -> pb.Operation:
        """The operation that takes a step; `loss`, and `var_list`, may be functions of no arguments that return it."""
        y = loss() if callable(loss) and not isinstance(loss, pb.Tensor) else loss
        variables = var_list() if callable(var_list) else var_list
        variables = [variables] if isinstance(variables, pb.Variable) else list(variables)
        dys = gradients(y, variables, None if grad_loss is None else [grad_loss])
        return self.apply_gradients(zip(dys, variables, strict=True), name)

    def get_gradients(self, loss: TensorLike, params: Sequence[pb.Variable]) -> list[Any]:
        """The gradients of `loss`; a step clips them as the optimizer was told.

        Raises:
            ValueError: the loss does not depend on one of `params`.
        """
        dys = gradients(loss, params)
        for dy, variable in zip(dys, params, strict=True):
            if dy is None:
                raise ValueError(
                    f"Variable {variable!r} has `None` for gradient: the loss {loss} does not depend on it by "
                    "operations that have derivatives. Common ops without gradient: K.argmax, K.round, K.eval."
                )
        return dys

    def get_updates(self, loss: TensorLike, params: Sequence[pb.Variable]) -> list[pb.Operation]:
        """A list of the operation that takes a step."""
        return [self.apply_gradients(zip(self.get_gradients(loss, params), params, strict=True))]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        name: str | None = None,
        experimental_aggregate_gradients: bool = True,
    ) -> pb.Operation:
        """The operation that takes a step with the gradients given, clipped, and counts it in `iterations`.

        Raises:
            ValueError: there is no gradient at all.
        """
        del experimental_aggregate_gradients
        pairs = list(grads_and_vars)
        given = [(dy, v) for dy, v in pairs if dy is not None]
        if pairs and not given:
            raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in pairs]}.")
        with pb.name_scope(self._name):
            if not given:
                return pb.no_op()
            with pb.control_dependencies(None):
                iterations = self.iterations
                self._create_hypers()
                self._create_slots([v for _, v in given])
            self._prepare([v for _, v in given])
            given = list(zip(self._clipped([dy for dy, _ in given]), [v for _, v in given], strict=True))
            with pb.name_scope(name or self._name):
                updates = [op for dy, v in given for op in self._update(dy, v)]
                with pb.control_dependencies(updates):
                    step: pb.Operation = iterations.assign_add(1, name="AssignAddVariableOp", read_value=False)
        return step

    @property
    def iterations(self) -> pb.Variable:
        """How many steps were taken: an int64 variable."""
        if self._iterations is None:
            self.iterations = self.add_weight("iter", [], pb.int64)
        assert self._iterations is not None
        return self._iterations

    @iterations.setter
    def iterations(self, variable: pb.Variable) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been created"
            )
        self._iterations = variable
        self._weights.append(variable)

    @property
    def weights(self) -> list[pb.Variable]:
        """The variables that the optimizer keeps, its hyperparameters left out."""
        return self._weights

    def variables(self) -> list[pb.Variable]:
        """The variables that the optimizer keeps, its hyperparameters left out."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """The values of `weights`, in the session of Keras."""
        return backend.batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign to `weights`, in the session of Keras."""
        backend.batch_set_value(list(zip(self.weights, weights, strict=True)))

    def get_slot(self, var: pb.Variable, slot_name: str) -> pb.Variable:
        """What is kept under a name for a variable."""
        return self._slots[slot_name][var]

    def get_slot_names(self) -> list[str]:
        """The names of what is kept for each variable."""
        return list(self._slots)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an optimizer."""
        return {"name": self._name, **self._clips}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Optimizer:
        """The optimizer of those arguments."""
        del custom_objects
        arguments = dict(config)
        if "lr" in arguments:
            arguments["learning_rate"] = arguments.pop("lr")
        return cls(**arguments)

    # What a subclass overrides

    def _create_slots(self, var_list: Sequence[pb.Variable]) -> None:
        """Make what is kept for each variable, by `add_slot`."""

    def _prepare(self, var_list: Sequence[pb.Variable]) -> None:
        """Make what a step needs once."""

    def _change(self, part: Part, var: pb.Variable) -> list[pb.Operation]:
        raise NotImplementedError(
            f"{type(self).__name__} does not say what a step is: define _resource_apply_dense(grad, var), and "
            "_resource_apply_sparse(grad, var, indices) for gradients of rows"
        )

    def _resource_apply_dense(self, grad: pb.Tensor, handle: pb.Variable, apply_state: Any = None) -> Any:
        del apply_state
        return pb.group(*self._change(Part(grad), handle))

    def _resource_apply_sparse(
        self, grad: pb.Tensor, handle: pb.Variable, indices: pb.Tensor, apply_state: Any = None
    ) -> Any:
        del apply_state
        return pb.group(*self._change(Part(grad, indices), handle))

    # What a subclass calls

    def add_slot(self, var: pb.Variable, slot_name: str, initializer: Any = "zeros", shape: Any = None) -> pb.Variable:
        """A variable that is kept for `var`, of its shape unless another is given; that which is there."""
        known = self._slots.setdefault(slot_name, {})
        if var not in known:
            begin = _meant(initializer)
            lengths = var.shape if shape is None else shape
            value: Any = (lambda: begin(lengths, dtype=var.dtype)) if callable(begin) else begin
            name = f"{var.op.name}/{slot_name}"
            known[var] = Variable(value, trainable=False, name=name, dtype=var.dtype, use_resource=True)
            self._weights.append(known[var])
        return known[var]

    def add_weight(
        self, name: str, shape: Any, dtype: Any = None, initializer: Any = "zeros", trainable: bool | None = None
    ) -> pb.Variable:
        """A variable of the optimizer, in none of its lists."""
        begin, kind = _meant(initializer), dtype or pb.float32
        value: Any = (lambda: begin(shape, dtype=kind)) if callable(begin) else begin
        return Variable(value, trainable=bool(trainable), name=name, dtype=kind, use_resource=True)

    def _set_hyper(self, name: str, value: Any) -> None:
        """Say what a hyperparameter is: before the first step any value, afterwards in the session of Keras."""
        held = self._hyper.get(name)
        if isinstance(held, pb.Variable):
            backend.set_value(held, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        """A hyperparameter, as a tensor of `dtype` unless that is None."""
        self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        value = value() if callable(value) and not isinstance(value, pb.Variable) else value
        return value if dtype is None else pb.cast(value, dtype)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        """The learning rate of this step, in that dtype."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = pb.cast(rate(pb.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay:
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * pb.cast(self.iterations, var_dtype))
        return rate

    def _step_number(self, dtype: Any) -> Any:
        """The number of this step, from 1 on, in that dtype."""
        return pb.cast(self.iterations + 1, dtype)

    def _create_hypers(self) -> None:
        """Make variables of the hyperparameters, in the order of their names."""
        if self._made:
            return
        self._made = True
        for name, value in sorted(self._hyper.items()):
            if not isinstance(value, pb.Tensor | pb.Variable) and not callable(value):
                self._hyper[name] = self.add_weight(name, [], initializer=value)

    def _serialize_hyperparameter(self, name: str) -> Any:
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return {"class_name": type(value).__name__, "config": value.get_config()}
        if isinstance(value, pb.Tensor | pb.Variable):
            return backend.get_value(value)
        return value() if callable(value) else value

    # Ours

    def __getattr__(self, name: str) -> Any:
        asked = "learning_rate" if name == "lr" else name
        if not name.startswith("_") and asked in self._hyper:
            return self._get_hyper(asked)
        if name in _CLIPPED:
            return self._clips.get(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        asked = "learning_rate" if name == "lr" else name
        if asked in vars(self).get("_hyper", {}):
            self._set_hyper(asked, value)
        elif asked in _CLIPPED and value is None:
            self._clips.pop(asked, None)
        elif asked in _CLIPPED:
            self._clips[asked] = value
        else:
            super().__setattr__(name, value)

    def _clipped(self, dys: Sequence[Any]) -> list[Any]:
        norm, value, whole = [self._clips.get(key) for key in _CLIPPED]
        found = list(dys)
        if value is not None:
            found = [pb.clip_by_value(dy, -value, value) for dy in found]
        if norm is not None:
            found = [clip_by_norm(dy, norm) for dy in found]
        return found if whole is None else list(clip_by_global_norm(found, whole)[0])

    def _update(self, dy: Any, variable: pb.Variable) -> list[Any]:
        with pb.name_scope(f"update_{variable.op.name.replace('/', '_')}"):
            if isinstance(dy, pb.IndexedSlices):
                rows = sum_equal_rows(dy) if self.sums_equal_rows else dy
                ops = [self._resource_apply_sparse(rows.values, variable, rows.indices)]
            else:
                ops = [self._resource_apply_dense(pb.convert_to_tensor(dy), variable)]
            if variable.constraint is not None:
                with pb.control_dependencies(ops):
                    ops.append(variable.assign(variable.constraint(variable), read_value=False))
        return ops


def _meant(initializer: Any) -> Any:
    """The initializer of a name; a number, a tensor or a function as it is."""
    return initializers.get(initializer) if isinstance(initializer, str) else initializer
