"""Hyperparameters and training helpers: `tf.contrib.training`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..train.monitored_session import MonitoredTrainingSession
from .evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from .evaluation import SummaryAtEndHook as SummaryAtEndHook
from .evaluation import checkpoints_iterator as checkpoints_iterator
from .evaluation import evaluate_once as evaluate_once
from .evaluation import evaluate_repeatedly as evaluate_repeatedly
from .evaluation import get_or_create_eval_step as get_or_create_eval_step
from .evaluation import wait_for_new_checkpoint as wait_for_new_checkpoint
from .optimizing import clip_gradient_norms as clip_gradient_norms
from .optimizing import create_train_op as create_train_op
from .optimizing import multiply_gradients as multiply_gradients


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: object = None,
    max_wait_secs: float = 7200,
    run_metadata: object = None,
) -> Any:
    """The last value of `train_op`, run in a monitored training session until one of the hooks stops it.

    Raises:
        ValueError: something is to be saved, and there is no `logdir`.

    >>> import pullback.compat.v1 as tf
    >>> step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    >>> hooks = [tf.train.StopAtStepHook(num_steps=5)]
    >>> tf.contrib.training.train(step, None, hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None)
    np.int64(5)
    """
    for name, value in (("save_summaries_steps", save_summaries_steps), ("save_checkpoint_secs", save_checkpoint_secs)):
        if logdir is None and is_chief and value:
            raise ValueError(f"logdir cannot be None when {name} is not None")
    loss = None
    with MonitoredTrainingSession(
        master,
        is_chief,
        logdir,
        scaffold,
        hooks,
        chief_only_hooks,
        save_checkpoint_secs,
        save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss


_PAIR = re.compile(r"\s*(\w+)\s*(?:\[(\d+)\])?\s*=\s*(\[[^\]]*\]|[^,]*)\s*(?:,|$)")


class HParams:
    """Named values of a model, which keep their types: attributes, and texts that set them.

    >>> import pullback.compat.v1 as tf
    >>> hparams = tf.contrib.training.HParams(rate=0.1, sizes=[8, 4], name="net")
    >>> hparams.parse("rate=0.5,sizes=[2, 3]").rate, hparams.sizes, hparams.values()["name"]
    (0.5, [2, 3], 'net')
    """

    def __init__(self, hparam_def: object = None, model_structure: object = None, **kwargs: Any) -> None:
        del hparam_def
        self._model_structure = model_structure
        self._names: list[str] = []
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """A value more.

        Raises:
            ValueError: there is one of that name, or a method.
        """
        if hasattr(self, name):
            raise ValueError(f"HParams: the name '{name}' is taken")
        self._names.append(name)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value, of the type that it had.

        Raises:
            ValueError: there is none of that name, or the value is of another type.
        """
        setattr(self, name, _as(self.__dict__, name, value))

    def del_hparam(self, name: str) -> None:
        """Forget a value."""
        self._names.remove(name)
        delattr(self, name)

    def parse(self, values: str) -> HParams:
        """Set values as a text says: `rate=0.1,sizes=[2,3],sizes[0]=5`.

        Raises:
            ValueError: the text is none such, or names what is not there.
        """
        place = 0
        while place < len(values):
            found = _PAIR.match(values, place)
            if found is None or found.end() == place:
                raise ValueError(f"HParams.parse: '{values[place:]}' is not of the form name=value,name=[value,value]")
            name, index, text = found.groups()
            self._parse_one(name, index, text.strip())
            place = found.end()
        return self

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Set values by name."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> HParams:
        """Set values as a JSON object says."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent: int | None = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as a JSON object."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {name: getattr(self, name) for name in self._names}

    def get(self, key: str, default: Any = None) -> Any:
        """A value, or `default` where there is none."""
        return getattr(self, key) if key in self._names else default

    def __contains__(self, key: str) -> bool:
        return key in self._names

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"HParams({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"

    def _parse_one(self, name: str, index: str | None, text: str) -> None:
        if name not in self._names:
            raise ValueError(f"HParams.parse: there is no '{name}'; there are {', '.join(self._names)}")
        value: Any = [part.strip() for part in text[1:-1].split(",") if part.strip()] if text[:1] == "[" else text
        if index is not None:
            changed = list(getattr(self, name))
            changed[int(index)] = type(changed[0])(value)
            value = changed
        self.set_hparam(name, value)


def _as(values: Mapping[str, Any], name: str, value: Any) -> Any:
    """`value` of the type that the one of that name has."""
    if name not in values:
        raise ValueError(f"HParams: there is no '{name}'")
    now = values[name]
    if isinstance(now, list | tuple):
        kind = type(now[0]) if now else str
        many = value if isinstance(value, list | tuple) else [value]
        return [_one(name, kind, v) for v in many]
    return value if now is None or value is None else _one(name, type(now), value)


def _one(name: str, kind: type, value: Any) -> Any:
    if kind is bool and isinstance(value, str):
        if value.lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"HParams: '{name}' must be true or false, and not {value!r}")
        return value.lower() in ("true", "1")
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"HParams: '{name}' must be a {kind.__name__}, and not {value!r}") from error
