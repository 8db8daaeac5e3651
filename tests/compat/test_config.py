"""`tf.config`: devices, and settings that are kept."""

from __future__ import annotations

from typing import Any

import pytest

import pullback.compat.v1 as tf
from pullback.compat.v1 import config as of_version_1

config = tf.config


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_version_1, "_settings", {})


def accelerators(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(of_version_1, "_count", lambda kind: {"CPU": 1, "GPU": count}.get(kind, 0))


def test_devices_are_listed_and_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    accelerators(monkeypatch, 2)
    gpus = config.experimental.list_physical_devices("GPU")
    assert [tuple(gpu) for gpu in gpus] == [("/physical_device:GPU:0", "GPU"), ("/physical_device:GPU:1", "GPU")]
    assert len(config.list_physical_devices()) == 3
    config.experimental.set_visible_devices(gpus[1], "GPU")
    assert config.get_visible_devices("GPU") == gpus[1:]
    assert [d.name for d in config.list_logical_devices()] == ["/device:CPU:0", "/device:GPU:1"]
    config.set_visible_devices([], "GPU")
    assert config.list_logical_devices("GPU") == []
    with pytest.raises(ValueError, match=r"^config\.set_visible_devices: PhysicalDevice.* is not of the type CPU$"):
        config.set_visible_devices(gpus, "CPU")


def test_settings_of_devices_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    accelerators(monkeypatch, 1)
    (gpu,) = config.list_physical_devices("GPU")
    assert not config.experimental.get_memory_growth(gpu)
    config.experimental.set_memory_growth(gpu, True)
    assert config.experimental.get_memory_growth(gpu)
    limits = [config.experimental.VirtualDeviceConfiguration(memory_limit=1024)]
    config.experimental.set_virtual_device_configuration(gpu, limits)
    assert config.get_logical_device_configuration(gpu) == limits
    with pytest.raises(
        ValueError, match=r"^Unrecognized device: PhysicalDevice\(name='x', device_type='GPU'\); there "
    ):
        config.experimental.set_memory_growth(config.PhysicalDevice("x", "GPU"), True)


def test_settings_of_the_process_are_kept() -> None:
    assert (config.get_soft_device_placement(), config.optimizer.get_jit()) == (True, "")
    config.set_soft_device_placement(False)
    config.optimizer.set_jit("autoclustering")
    config.optimizer.set_experimental_options({"constant_folding": True})
    config.threading.set_intra_op_parallelism_threads(3)
    config.threading.set_inter_op_parallelism_threads(2)
    found: Any = [config.get_soft_device_placement(), config.optimizer.get_jit()]
    found += [config.threading.get_intra_op_parallelism_threads(), config.threading.get_inter_op_parallelism_threads()]
    assert found == [False, "autoclustering", 3, 2]
    assert config.optimizer.get_experimental_options() == {"constant_folding": True}
    assert config.Limits is tf.config.Limits
