"""Placement in TensorFlow 1: device specifications, critical sections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb


class CriticalSection:
    """Functions whose operations nobody else comes between: none does here, for a run acts in the order of making.

    >>> import pullback.compat.v1 as tf
    >>> v = tf.Variable(1.0)
    >>> y = tf.CriticalSection().execute(lambda: v.assign_add(1.0))
    >>> session = tf.Session()
    >>> session.run(v.initializer)
    >>> session.run(y)
    np.float32(2.0)
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: object = None,
        import_scope: object = None,
    ) -> None:
        del shared_name, critical_section_def, import_scope
        self.name = name or "critical_section"

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What `fn()` returns."""
        del exclusive_resource_access
        with pb.get_default_graph().name_scope(name or self.name):
            return fn()


class DeviceSpec:
    """The parts of a device string.

    >>> import pullback.compat.v1 as tf
    >>> spec = tf.DeviceSpec(job="worker", task=1, device_type="gpu", device_index=0)
    >>> spec.to_string(), tf.DeviceSpec.from_string("/job:ps/task:3").task
    ('/job:worker/task:1/device:GPU:0', 3)
    """

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self.job, self.replica, self.task = job, replica, task
        self.device_type = None if device_type is None else device_type.upper()
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The parts of `spec`.

        Raises:
            ValueError: a part is not known.
        """
        made = cls()
        for part in filter(None, spec.split("/")):
            key, *values = part.split(":")
            if key == "job":
                made.job = values[0]
            elif key in ("replica", "task"):
                setattr(made, key, int(values[0]))
            elif key == "device" or key.upper() in ("CPU", "GPU"):
                kind, *index = values if key == "device" else [key, *values]
                made.device_type = kind.upper()
                made.device_index = int(index[0]) if index and index[0] != "*" else None
            else:
                raise ValueError(f"DeviceSpec: {spec!r} has the part {part!r}, which is not known")
        return made

    def to_string(self) -> str:
        """The device string."""
        parts = [("job", self.job), ("replica", self.replica), ("task", self.task)]
        text = "".join(f"/{key}:{value}" for key, value in parts if value is not None)
        if self.device_type is None:
            return text
        return f"{text}/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"
