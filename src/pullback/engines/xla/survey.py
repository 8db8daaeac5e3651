"""Devices and settings of jax in this process, for `pullback doctor`."""

from __future__ import annotations

from typing import Any

import jax

from .devices import KINDS, devices_of

_SETTINGS = (
    "jax_platforms",
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_compilation_cache_dir",
    "jax_disable_jit",
    "jax_debug_nans",
    "jax_cpu_collectives_implementation",
)


def devices() -> list[tuple[str, str, str]]:
    """For each device its device string, the platform that jax knows it by, and what it is; the default one first."""
    found = [
        (f"/device:{kind}:{i}", device.platform, device.device_kind)
        for kind in KINDS
        for i, device in enumerate(devices_of(kind))
    ]
    return sorted(found, key=lambda row: row[1] != jax.default_backend())


def settings() -> dict[str, Any]:
    """The settings of jax that change what programs do, or how fast."""
    known: dict[str, Any] = jax.config.values
    return {name: known[name] for name in _SETTINGS if name in known}
