"""One file per model. A new file is found by being here; it states a list `WORKLOADS`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..workload import Workload


def all_workloads() -> dict[str, Workload]:
    """Every workload by name, in the order of the files' names."""
    found = {}
    for file in sorted(module.name for module in iter_modules(__path__)):
        for workload in import_module(f"{__name__}.{file}").WORKLOADS:
            if workload.name in found:
                raise ValueError(f"two workloads are named '{workload.name}'")
            found[workload.name] = workload
    return found
