"""Devices and settings of the process in TensorFlow 1.14 and later: `tf.config`, beside those of `pullback.config`.

Settings are kept, so that what asks for them finds them; how memory and threads are used, jax decides when it begins.

>>> import pullback.compat.v1 as tf
>>> tf.config.experimental.list_physical_devices("CPU")
[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
>>> for gpu in tf.config.experimental.list_physical_devices("GPU"):
...     tf.config.experimental.set_memory_growth(gpu, True)
>>> tf.config.optimizer.set_jit(True)
>>> tf.config.optimizer.get_jit()
'autoclustering'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from ... import config as today


class PhysicalDevice(NamedTuple):
    """A processor of this machine, or an accelerator that XLA sees."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """The same, by the name that `tf.device` takes."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How much memory a device is to take."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_settings: dict[Any, Any] = {}
"""What was set, by its name, and the device that it is for."""


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The processor, and the GPUs and TPUs that XLA sees; those of one type unless that is None."""
    kinds = ["CPU", "GPU", "TPU"] if device_type is None else [device_type]
    return [PhysicalDevice(f"/physical_device:{kind}:{i}", kind) for kind in kinds for i in range(_count(kind))]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that are visible, by the names that `tf.device` takes."""
    found = get_visible_devices(device_type)
    return [LogicalDevice(f"/device:{device.name.partition(':')[2]}", device.device_type) for device in found]


def set_visible_devices(devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None) -> None:
    """Say which devices `list_logical_devices` lists.

    Raises:
        ValueError: one of `devices` is not there, or of another type.
    """
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in wanted:
        if device_type not in (None, device.device_type):
            raise ValueError(f"config.set_visible_devices: {device} is not of the type {device_type}")
        _check(device)
    _settings["visible", device_type] = wanted


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """What `set_visible_devices` said, else all devices."""
    found = []
    for device in list_physical_devices(device_type):
        said = _settings.get(("visible", device.device_type), _settings.get(("visible", None)))
        if said is None or device in said:
            found.append(device)
    return found


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Keep how much memory a device is to take, for `get_logical_device_configuration`."""
    _check(device)
    _settings["logical", device] = list(logical_devices)


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """What `set_logical_device_configuration` said, else None."""
    _check(device)
    return _settings.get(("logical", device))


def set_soft_device_placement(enabled: bool) -> None:
    """Keep whether operations may run elsewhere than `tf.device` says; a session decides it by its `config`."""
    _settings["soft_device_placement"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """What `set_soft_device_placement` said, else True."""
    return bool(_settings.get("soft_device_placement", True))


class experimental:
    """The same by the names of 1.14, and how memory grows."""

    VirtualDeviceConfiguration = LogicalDeviceConfiguration
    list_physical_devices = staticmethod(list_physical_devices)
    list_logical_devices = staticmethod(list_logical_devices)
    set_visible_devices = staticmethod(set_visible_devices)
    get_visible_devices = staticmethod(get_visible_devices)
    set_virtual_device_configuration = staticmethod(set_logical_device_configuration)
    get_virtual_device_configuration = staticmethod(get_logical_device_configuration)

    @staticmethod
    def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
        """Keep whether a device is to take memory as it needs it: jax is told by XLA_PYTHON_CLIENT_PREALLOCATE.

        Raises:
            ValueError: there is no such device.
        """
        _check(device)
        _settings["growth", device] = bool(enable)

    @staticmethod
    def get_memory_growth(device: PhysicalDevice) -> bool:
        """What `set_memory_growth` said, else False."""
        _check(device)
        return bool(_settings.get(("growth", device), False))


class optimizer:
    """How graphs are compiled: always, on XLA."""

    @staticmethod
    def set_jit(enabled: bool | str) -> None:
        """Keep whether graphs are compiled; a session on XLA compiles them in any case."""
        _settings["jit"] = enabled

    @staticmethod
    def get_jit() -> str:
        """What `set_jit` said, else ""."""
        said = _settings.get("jit", "")
        return said if isinstance(said, str) else "autoclustering" if said else ""

    @staticmethod
    def set_experimental_options(options: Mapping[str, Any]) -> None:
        """Keep the options of TensorFlow's optimizer; see `pb.optimize` for that of pullback."""
        _settings["options"] = {**_settings.get("options", {}), **options}

    @staticmethod
    def get_experimental_options() -> dict[str, Any]:
        """What `set_experimental_options` said."""
        return dict(_settings.get("options", {}))


class threading:
    """How many threads there are to be: kept, 0 where nothing was said."""

    @staticmethod
    def set_inter_op_parallelism_threads(num_threads: int) -> None:
        """Keep how many operations are to run at a time."""
        _settings["inter"] = num_threads

    @staticmethod
    def get_inter_op_parallelism_threads() -> int:
        """What `set_inter_op_parallelism_threads` said."""
        return int(_settings.get("inter", 0))

    @staticmethod
    def set_intra_op_parallelism_threads(num_threads: int) -> None:
        """Keep how many threads one operation is to have."""
        _settings["intra"] = num_threads

    @staticmethod
    def get_intra_op_parallelism_threads() -> int:
        """What `set_intra_op_parallelism_threads` said."""
        return int(_settings.get("intra", 0))


def _count(kind: str) -> int:
    """How many devices of a kind there are."""
    if kind == "CPU":
        return 1
    if kind not in ("GPU", "TPU") or find_spec("jax") is None:
        return 0
    from ...engines.xla.devices import devices_of

    return len(devices_of(kind))


def _check(device: PhysicalDevice) -> None:
    if device not in list_physical_devices(device.device_type):
        raise ValueError(f"Unrecognized device: {device!r}; there are {list_physical_devices()}")


def __getattr__(name: str) -> Any:
    return getattr(today, name)


def __dir__() -> list[str]:
    return [*globals(), *dir(today)]
