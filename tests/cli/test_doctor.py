"""`pullback doctor`: what is there, what is set, how fast it is."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.cli import doctor
from pullback.cli.main import main

pytest.importorskip("jax")


def sections(text: str) -> dict[str, list[str]]:
    """The lines below each title."""
    first, *rest = text.strip().split("\n\n")
    found = {lines.split("\n")[0]: lines.split("\n")[1:] for lines in rest}
    return {"": [first], **found}


def test_engines_devices_and_settings_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    assert main(["doctor", "--quick"]) == 0
    found = sections(capsys.readouterr().out)
    assert found[""][0].startswith(f"pullback {pb.__version__}, Python ")
    assert [line.split()[0] for line in found["engines"]] == ["numpy", "xla", "onnxruntime"]
    assert any("/device:CPU:0" in line for line in found["devices"])
    assert any(line.split() == ["MALLOC_ARENA_MAX", "2"] for line in found["settings"])
    assert not any(title.startswith("speed") for title in found)


def test_what_is_not_installed_is_said_with_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name in ("jax", "scipy") else known(name))
    assert main(["doctor", "--quick"]) == 0
    found = sections(capsys.readouterr().out)
    assert found["engines"][0].endswith("scipy not installed")
    assert found["engines"][1].split(maxsplit=1)[1] == ("not there: jax not installed. pip install 'pullback[all]'")
    assert "devices" not in found or found["devices"] == []


def test_each_kind_of_device_is_measured_once_accelerators_for_each_precision(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def measured(*args: Any) -> doctor.Speed:
        asked.append(args)
        return doctor.Speed(1e9, 1e9, 1e9, 1e-6, 1e-6)

    monkeypatch.setattr(doctor, "_measured", measured)
    gpus = [(f"/device:GPU:{i}", "gpu", "NVIDIA") for i in range(2)]
    monkeypatch.setattr(doctor, "_devices", lambda: [*gpus, ("/device:CPU:0", "cpu", "cpu")])
    assert main(["doctor"]) == 0
    first = "/device:GPU:0"
    assert asked == [
        ("numpy", "", 1024),
        *[("xla", first, 4096, precision) for precision in ("highest", "high", "default")],
        ("xla", "/device:CPU:0", 1024, "highest"),
    ]
    lines = capsys.readouterr().out.strip().split("\n")[-5:]
    assert [line.split()[-5:] for line in lines] == [["1.0"] * 5] * 5


@pytest.mark.parametrize("engine", ["numpy", "xla"])
def test_speeds_are_measured(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(doctor, "CALLS", 1)
    assert all(number > 0.0 for number in doctor._measured(engine, "/cpu:0", 8))
