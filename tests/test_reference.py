"""The reference page: made from what is there, true, and every operation on it tested."""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import scipy.special as special
from tools import reference

import pullback as pb

NAMES = reference.public_names()

UNTESTED = {
    "prevent_gradient": "it refuses to be differentiated",
    "py_function": "its derivative is a Python function, which has none",
    "random.stateless_gamma": "draws jump where their derivatives do not: compared with quadrature instead",
    "quantization.fake_quant_with_min_max_args": "its derivative looks through the rounding",
    "quantization.fake_quant_with_min_max_vars": "its derivative looks through the rounding",
    "quantization.fake_quant_with_min_max_vars_per_channel": "its derivative looks through the rounding",
    "quantization.quantize_and_dequantize": "its derivative looks through the rounding",
    "quantization.quantize_and_dequantize_v2": "its derivative looks through the rounding",
}


def test_the_page_is_what_its_program_makes() -> None:
    made = reference.page()
    assert reference.PAGE.read_text(encoding="utf-8") == made, "run `python -m tools.reference`"


def test_every_derivative_on_the_page_is_compared_with_differences_to_second_order() -> None:
    tested = reference.tested_by_rows()
    listed = [f for functions in reference.listed(NAMES).values() for f in functions]
    nothing, code_of = reference.Tested("", 0), reference.code_of
    below = {NAMES[f][0] for f in listed if reference.derivative_of(f) and tested.get(code_of(f), nothing).order < 2}
    assert below == UNTESTED.keys()


CONSTANT = {
    *("constant", "convert_to_tensor", "eye", "ones_like", "placeholder", "shape", "zeros", "zeros_like", "print"),
    *("equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less", "less_equal", "not_equal"),
    *("linalg.matrix_rank", "random.categorical", "random.stateless_categorical"),
    *("debugging.assert_positive", "debugging.assert_rank", "history", "recompute_grad", "variable_scope"),
    *("signal.inverse_stft_window_fn", "signal.linear_to_mel_weight_matrix"),
}
"""What rows with derivatives call, and what has none itself."""


def test_every_operation_that_is_differentiated_has_a_formula() -> None:
    tested = reference.tested_by_rows()
    listed = [f for functions in reference.listed(NAMES).values() for f in functions]
    differentiated = [f for f in listed if (found := tested.get(reference.code_of(f))) and found.order]
    without = {NAMES[f][0] for f in differentiated if "Derivative: " not in (f.__doc__ or "")}
    assert without == CONSTANT


POINTS = {"x": 0.3, "y": 0.6, "a": 1.7, "b": 0.8, "q": 1.4, "real": 0.2, "imag": 0.4, "scalar": 1.2, "features": 0.3}
"""Where formulas are evaluated: inside the domains of almost all functions."""
ELSEWHERE = {"acosh": {"x": 1.5}, "zeta": {"x": 2.5}}
WORDS = {
    **{name: getattr(np, name) for name in ["exp", "log", "sin", "cos", "sinh", "cosh", "sqrt", "pi", "log1p", "sign"]},
    **{"digamma": special.digamma, "sigmoid": special.expit, "erfc": special.erfc},
    **{"abs": np.abs, "floor": np.floor, "trunc": np.trunc, "zeta": special.zeta},
    **{name: getattr(special, name.lower()) for name in ["I0", "I1", "J0", "J1", "K0", "K1", "Y0", "Y1", "i0e", "i1e"]},
    **{"k0e": special.k0e, "k1e": special.k1e, "B": special.beta},
}
FORMULAS = ["elementwise", "special", "activations"]


def formulas(function: FunctionType) -> dict[str, str]:
    """Those parts of a derivative that Python can compute, by the argument."""
    text = re.sub(r"[,;]? (both )?0 where .*", "", reference.derivative_of(function))
    text = re.sub(r"\|(\w+)\|", r"abs(\1)", text).replace("^", "**")
    parts = re.findall(r"d(\w+) = (.*?)(?=, d\w+ = |; |, each |$)", text)
    return {name: formula for name, formula in parts if not set(re.findall(r"[A-Za-z]\w*", formula)) - _known(function)}


def _known(function: FunctionType) -> set[str]:
    return {*WORDS, *inspect.signature(function).parameters, "x", "y", "z", "dy", "dz"}


LISTED = [f for family in FORMULAS for f in reference.listed(NAMES)[family]]
EVALUATED = {
    NAMES[f][0]: f for f in LISTED if formulas(f) and NAMES[f][0] not in ("add_n", "clip_by_value", "nn.bias_add")
}


def test_many_formulas_are_evaluated() -> None:
    assert len(EVALUATED) >= 69


@pytest.mark.parametrize("name", EVALUATED)
def test_the_formula_is_the_derivative(name: str) -> None:
    function = EVALUATED[name]
    arguments = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    points = {n: POINTS.get(n, 0.3) for n in arguments} | ELSEWHERE.get(function.__name__, {})
    xs = [pb.constant(points[n], pb.float64) for n in arguments]
    result = function(*xs)
    slopes = pb.gradients(result, xs, unconnected_gradients="zero")
    value, *found = pb.Session(engine="numpy").run([result, *slopes])
    words: dict[str, Any] = {**WORDS, "y": value, "z": value, "dy": 1.0, "dz": 1.0, "x": points[arguments[0]], **points}
    for argument, formula in formulas(function).items():
        i = arguments.index(argument) if argument in arguments else 0
        assert found[i] == pytest.approx(eval(formula, {}, words), rel=1e-9), f"d{argument} = {formula}"
