"""A fresh Python that imports the library and ends: what a command line tool or a test waits for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

from ..workload import Step, Workload


def importing(package: str) -> Callable[[None], Step]:
    """What takes the time of a Python process that imports `package`."""

    def make(data: None) -> Step:
        del data
        # Without it Python would compile every source file anew, which no installed package is made to do.
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

        def step() -> None:
            subprocess.run([sys.executable, "-c", f"import {package}"], env=variables, check=True)

        return step

    return make


WORKLOADS = [
    Workload(
        name="import",
        title="a Python process that only imports the library",
        data=lambda: None,
        peers={name: importing(name) for name in ("pullback", "jax", "tensorflow", "torch", "numpy")},
        of="process",
    )
]
