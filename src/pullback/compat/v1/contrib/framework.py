"""Argument scopes, variables and small helpers: `tf.contrib.framework`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import pullback as pb

from ....primitives.debugging.assertions import assert_scalar as assert_scalar
from ....primitives.debugging.inspection import is_tensor as is_tensor
from ....primitives.shape.broadcast import broadcast_to as broadcast_to
from ....primitives.sorting.permutation import invert_permutation as invert_permutation
from ....primitives.sorting.sort import argsort as argsort
from ....primitives.sorting.sort import sort as sort
from ....train import assert_global_step as assert_global_step
from ....train import create_global_step as create_global_step
from ....train import get_global_step as get_global_step
from ....train import get_or_create_global_step as get_or_create_global_step
from .. import nest as nest
from ..arguments import older
from ..audio import decode_wav as decode_wav
from ..audio import encode_wav as encode_wav
from ..audio_features import audio_spectrogram as audio_spectrogram
from ..audio_features import mfcc as mfcc
from ..python_util import constant_value as _constant_value
from ..python_util import deprecated as deprecated
from ..python_util import deprecated_args as deprecated_args
from ..python_util import smart_cond as smart_cond
from .arguments import add_arg_scope as add_arg_scope
from .arguments import arg_scope as arg_scope
from .arguments import current_arg_scope as current_arg_scope
from .arguments import has_arg_scope as has_arg_scope

Scope = str | pb.VariableScope | None
smart_constant_value = _constant_value


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, **options: Any) -> pb.Variable:
    """As `get_variable`; `device` changes nothing."""
    options.pop("device", None)
    return pb.get_variable(name, shape, dtype, initializer, **options)


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Sequence[str] | None = None,
    **options: Any,
) -> pb.Variable:
    """As `variable`, in the collection `MODEL_VARIABLES` too."""
    places = [*(collections or [pb.GraphKeys.GLOBAL_VARIABLES]), pb.GraphKeys.MODEL_VARIABLES]
    return variable(
        name, shape, dtype, initializer, regularizer=regularizer, trainable=trainable, collections=places, **options
    )


def global_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> pb.Variable:
    """A variable that is not trained."""
    del use_resource
    return pb.Variable(initial_value, trainable=False, validate_shape=validate_shape, name=name)


def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> pb.Variable:
    """A variable of the collection `LOCAL_VARIABLES`."""
    del use_resource
    places = [pb.GraphKeys.LOCAL_VARIABLES]
    return pb.Variable(initial_value, trainable=False, collections=places, validate_shape=validate_shape, name=name)


def add_model_variable(var: pb.Variable) -> None:
    """Put a variable into the collection `MODEL_VARIABLES`, unless it is there."""
    if not any(var is noted for noted in pb.get_collection(pb.GraphKeys.MODEL_VARIABLES)):
        var.graph.add_to_collection(pb.GraphKeys.MODEL_VARIABLES, var)


def get_variables(
    scope: Scope = None, suffix: str | None = None, collection: str = pb.GraphKeys.GLOBAL_VARIABLES
) -> list[pb.Variable]:
    """The variables of a collection whose names begin with `scope` and end with `suffix`.

    >>> import pullback.compat.v1 as tf
    >>> with tf.variable_scope("a"):
    ...     w = tf.get_variable("w", [])
    >>> tf.contrib.framework.get_variables("a", "w")
    [<Variable 'a/w:0' float32[]>]
    """
    begin = scope.name if isinstance(scope, pb.VariableScope) else scope
    if suffix is not None:
        begin = f"{begin or '.*'}.*{suffix if ':' in suffix else suffix + ':'}"
    return pb.get_collection(collection, begin)


def get_model_variables(scope: Scope = None, suffix: str | None = None) -> list[pb.Variable]:
    """Those of the model's layers."""
    return get_variables(scope, suffix, pb.GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Scope = None, suffix: str | None = None) -> list[pb.Variable]:
    """Those of the collection `LOCAL_VARIABLES`."""
    return get_variables(scope, suffix, pb.GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Scope = None, suffix: str | None = None) -> list[pb.Variable]:
    """Those that optimizers change."""
    return get_variables(scope, suffix, pb.GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_name(given_name: str, scope: Scope = None) -> list[pb.Variable]:
    """Those whose last name is `given_name`."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_variables_by_suffix(suffix: str, scope: Scope = None) -> list[pb.Variable]:
    """Those whose names end with `suffix`."""
    return get_variables(scope, suffix)


def get_unique_variable(var_op_name: str) -> pb.Variable:
    """The variable of that name.

    Raises:
        ValueError: there is none.
    """
    found: list[pb.Variable] = [v for v in pb.get_collection(pb.GraphKeys.GLOBAL_VARIABLES) if v.op.name == var_op_name]
    if not found:
        raise ValueError(f"get_unique_variable: there is no variable '{var_op_name}'")
    return found[0]


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[pb.Variable]:
    """The variables whose names begin with one of `include`, all unless given, and with none of `exclude`."""
    wanted = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    unwanted = {v.op.name for scope in exclude or () for v in get_variables(scope)}
    return [v for v in wanted if v.op.name not in unwanted]


def filter_variables(
    var_list: Sequence[pb.Variable],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[pb.Variable]:
    """The variables whose names fit one of the patterns, all unless given, and none of the others."""
    fits = re.search if reg_search else re.match
    kept = [v for v in var_list if not include_patterns or any(fits(p, v.op.name) for p in include_patterns)]
    return [v for v in kept if not any(fits(p, v.op.name) for p in exclude_patterns or ())]


def get_variable_full_name(var: pb.Variable) -> str:
    """The name of the variable in checkpoints."""
    return var.op.name


def get_name_scope() -> str:
    """The name scope in force, without the slash at its end."""
    return pb.get_default_graph().scope.prefix.rstrip("/")


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that gives variables these values, and what it must be fed with."""
    from ....primitives.creation.placeholders import placeholder
    from ....primitives.identity.identity import group_operations

    feeds, steps = {}, []
    for name, value in var_names_to_values.items():
        array = np.asarray(value)
        found = get_unique_variable(name)
        fed = placeholder(found.dtype, array.shape)
        feeds[fed] = array.reshape(array.shape)
        steps.append(found.assign(fed).op)
    return group_operations(*steps), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that gives variables these values in it."""
    step, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(step, feeds)


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An operation that gives variables what a checkpoint has, and what it must be fed with.

    Raises:
        ValueError: the checkpoint has none of a name, unless `ignore_missing_vars`, or one of another shape.
    """
    from ....train import load_checkpoint

    reader = load_checkpoint(model_path)
    pairs = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
    there = {name: v for name, v in pairs.items() if reader.has_tensor(name) or not ignore_missing_vars}
    for name, v in there.items():
        if not reader.has_tensor(name):
            raise ValueError(f'Checkpoint is missing variable "{name}"')
        if not v.shape.is_compatible_with(reader.get_variable_to_shape_map()[name]):
            raise ValueError(
                f"Total size of new array must be unchanged for {name} lh_shape: "
                f"[{reader.get_variable_to_shape_map()[name]}], rh_shape: [{v.shape.as_list()}]"
            )
    return assign_from_values({v.op.name: reader.get_tensor(name) for name, v in there.items()})


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], Any]:
    """A function of a session that restores variables from a checkpoint in it; None where there are none to restore."""
    from ....checkpoints.saver import Saver
    from ....train import list_variables

    pairs = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
    if ignore_missing_vars:
        there = {name for name, _ in list_variables(model_path)}
        pairs = {name: v for name, v in pairs.items() if name in there}
    saver = Saver(pairs, reshape=reshape_variables, allow_empty=True)
    return lambda session: saver.restore(session, model_path)


def zero_initializer(ref: pb.Variable, use_locking: bool = True, name: str = "zero_initializer") -> pb.Tensor:
    """An operation that sets a variable to zeros."""
    del use_locking
    assigned: pb.Tensor = ref.assign(np.zeros(ref.shape.known), name=name)
    return assigned


_OLDER = {"init_from_checkpoint": "checkpoint_dir:ckpt_dir_or_file, assignment_map"}


def __getattr__(name: str) -> Any:
    if name in ("list_variables", "load_variable", "load_checkpoint", "checkpoints_iterator", "init_from_checkpoint"):
        from .. import train

        return older(getattr(train, name), _OLDER.get(name))
    raise AttributeError(f"module 'tensorflow.contrib.framework' has no attribute '{name}'")
