"""One virtual environment per peer under `benchmarks/.envs`, with the versions that the tables were made with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / "benchmarks" / ".envs"

# What pip is given. pullback, NumPy and onnxruntime are in the Python of the runner: pullback[xla,onnxruntime].
PINS = {
    "jax": ["jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"],
    "equinox": ["equinox==0.13.8", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"],
    "tensorflow": ["tensorflow==2.21.0", "numpy==2.4.6"],
    "onnx-ad": ["onnx-ad==0.3.0", "onnx==1.23.2", "onnxruntime==1.31.1", "numpy==2.4.6"],
    "torch": ["torch==2.13.0", "numpy==2.4.6", "--extra-index-url", "https://download.pytorch.org/whl/cpu"],
}


def find_python(environment: str, overrides: Mapping[str, str]) -> str | None:
    """The Python that runs the peers of `environment`, or None where it was not set up."""
    if environment in overrides:
        return overrides[environment]
    if environment not in PINS:
        return sys.executable
    own = _python_in(ENVIRONMENTS / environment)
    return str(own) if own.exists() else None


def set_up(names: Sequence[str]) -> None:
    """Make the environments `names` anew, or all of them.

    Raises:
        ValueError: there is no such environment.
        RuntimeError: an environment could not be made; the log says why.
    """
    for name in names:
        if name not in PINS:
            raise ValueError(f"setup: there is no environment '{name}'; there are {', '.join(PINS)}")
    ENVIRONMENTS.mkdir(exist_ok=True)
    for name in names or PINS:
        folder = ENVIRONMENTS / name
        log = ENVIRONMENTS / f"{name}.log"
        print(f"setup: making {folder.relative_to(ROOT)} (log in {log.relative_to(ROOT)})", flush=True)
        with log.open("w") as output:
            _call([sys.executable, "-m", "venv", "--clear", str(folder)], name, output)
            install = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", *PINS[name]]
            _call([str(_python_in(folder)), *install], name, output)


def _python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _call(command: list[str], name: str, output: IO[str]) -> None:
    if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode:
        raise RuntimeError(f"setup: could not make the environment '{name}'; see benchmarks/.envs/{name}.log")
