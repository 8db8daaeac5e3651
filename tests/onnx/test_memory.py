"""Models of gradients within a budget of bytes: onnxruntime gives the same numbers, and takes less memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import pullback as pb
from pullback.core.graph import Tensor

ROWS, WIDTH, DEPTH = 2048, 128, 12
PEAK = """
import sys
import numpy as np
import onnxruntime

def bytes_of(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))

options = onnxruntime.SessionOptions()
options.enable_cpu_mem_arena, options.intra_op_num_threads = False, 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
x = np.full([int(n) for n in sys.argv[2:]], 0.1, np.float32)
open("/proc/self/clear_refs", "w").write("5")
before = bytes_of("VmRSS")
session.run(None, {"x": x})
print(bytes_of("VmHWM") - before)
"""
"""Prints how much more memory a run takes than there is before."""


def gradients(share: float | None, folder: Path) -> tuple[Path, list[Any]]:
    """A model of a net's loss and slopes, in a share of the memory, and what the graph gives."""
    with pb.Graph().as_default():
        y = x = pb.placeholder(pb.float32, [ROWS, WIDTH], name="x")
        parameters: list[Tensor] = []
        for i in range(DEPTH):
            random = np.random.default_rng(i)
            parameters.append(pb.Variable((random.normal(size=(WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)))
            y = pb.tanh(y @ parameters[-1])
        loss = pb.reduce_mean(pb.square(y))
        found = pb.gradients(loss, parameters)
        if share is not None:
            peak = pb.rematerialize([loss, *found], "1TB").report.plain_peak
            found = pb.gradients(loss, parameters, memory=pb.Memory(budget=round(peak * share)))
        session = pb.Session(engine="numpy")
        session.run(pb.global_variables_initializer())
        outputs = {"loss": loss, **{f"slope{i}": y for i, y in enumerate(found)}}
        path = folder / f"{share}.onnx"
        onnx.save(pb.onnx.export(outputs, session=session), path)
        return path, session.run(list(outputs.values()), {x: feed()})


def feed() -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).normal(size=(ROWS, WIDTH)).astype(np.float32)


@pytest.mark.parametrize(("share", "kind"), [(0.5, "If"), (0.15, "Scan")])
def test_the_numbers_are_those_of_the_plain_gradient(share: float, kind: str, tmp_path: Path) -> None:
    path, values = gradients(share, tmp_path)
    assert kind in {node.op_type for node in onnx.load(path).graph.node}
    found = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": feed()})
    for a, b in zip(found, values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * np.abs(b).max())


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="where the peak of memory can be set back")
@pytest.mark.parametrize("share", [0.5, 0.15])
def test_onnxruntime_takes_less_memory(share: float, tmp_path: Path) -> None:
    paths = [gradients(some, tmp_path)[0] for some in (None, share)]
    command = [sys.executable, "-c", PEAK]
    plain, less = [
        int(subprocess.run([*command, str(path), str(ROWS), str(WIDTH)], capture_output=True, check=True).stdout)
        for path in paths
    ]
    assert less < (share + 0.25) * plain
