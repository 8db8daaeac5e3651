"""The programs that a user would start from run, and reach what they promise."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[1] / "examples"


def example(name: str) -> ModuleType:
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_has_a_test() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in FOLDER.glob("*.py") if f'example("{path.stem}")' not in text] == []


def test_digits_are_learned(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    assert example("digits").main(steps=200) > 0.9
    assert "held-out digits read right" in capsys.readouterr().out


def test_second_derivatives_find_the_minimum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert example("second_derivatives").main(str(tmp_path)) == pytest.approx(2.25, abs=1e-9)
    assert (tmp_path / "second_derivatives.svg").exists()
    assert "minimum at x = 2.2500000000" in capsys.readouterr().out


def test_a_differential_equation_is_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("ode").main(steps=100) == pytest.approx((4.0, 0.3), abs=0.05)
    assert "stiffness 4.0" in capsys.readouterr().out


def test_rate_constants_are_found_through_generated_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("reactions").main(steps=80) == pytest.approx([1.2, 0.4, 0.8, 0.2], abs=0.03)
    assert "1,800 of 1,804 operations became 6 batches" in capsys.readouterr().out


def test_one_gradient_step_is_learned_from(capsys: pytest.CaptureFixture[str]) -> None:
    untrained, trained = example("maml").main(steps=400)
    assert trained < 0.3 < 1.0 < untrained
    assert "meta-trained: error" in capsys.readouterr().out


def test_forces_of_an_energy_model_keep_the_energy(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("onnx_forces").main(steps=100) < 0.05
    assert "the total energy of 8 atoms changed by" in capsys.readouterr().out


def test_a_classifier_looks_at_the_ink(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("onnx_saliency").main(steps=200) > 0.8
    assert "the hottest place is near ink" in capsys.readouterr().out


def test_onnxruntime_learns_the_digits(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("onnx_training").main(steps=300) > 0.93
    assert "trained by onnxruntime" in capsys.readouterr().out


def test_second_derivatives_of_a_model_minimize_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("onnx_second_order").main() < 1e-8
    assert "steps of Newton's method" in capsys.readouterr().out
