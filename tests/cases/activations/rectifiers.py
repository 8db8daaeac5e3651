"""Rows: rectifiers and the other activations."""

from __future__ import annotations

import numpy as np
import scipy.special as special

import pullback as pb

from ..case import Case, cubed, distinct, normal

HALF = "differences of 16-bit numbers say little"
SHORT = np.array([-1.5, 0.25, 3.0], np.float16)
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


def _forms(name, build, expected):
    return [
        Case(name, build, [distinct(3, 4) * 3], expected),
        Case(f"{name}_scalar", build, [np.array(-0.7)], expected),
        Case(f"{name}_empty", build, [np.zeros((2, 0))], expected),
    ]


CASES = [
    *_forms("relu", pb.nn.relu, lambda x: np.maximum(x, 0)),
    *_forms("relu6", pb.nn.relu6, lambda x: np.clip(x, 0, 6)),
    Case("relu6_wide", pb.nn.relu6, [np.array([-8.0, 3.0, 8.0])], np.array([0.0, 3.0, 6.0])),
    Case("relu_int", pb.nn.relu, [np.array([-3, 4])], np.array([0, 4])),
    Case("relu_uint8", pb.nn.relu, [np.array([0, 200], np.uint8)], np.array([0, 200])),
    *_forms("leaky_relu", pb.nn.leaky_relu, lambda x: np.where(x > 0, x, 0.2 * x)),
    *_forms("leaky_relu_alpha", lambda x: pb.nn.leaky_relu(x, 0.3), lambda x: np.where(x > 0, x, 0.3 * x)),
    *_forms("elu", pb.nn.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
    *_forms("selu", pb.nn.selu, lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x))),
    *_forms("softsign", pb.nn.softsign, lambda x: x / (1 + np.abs(x))),
    *_forms("silu", pb.nn.silu, lambda x: x * special.expit(x)),
    Case(
        "silu_wide", pb.nn.silu, [np.array([-800.0, -40.0, 800.0])], np.array([0.0, -40 * special.expit(-40.0), 800.0])
    ),
    Case("crelu", pb.nn.crelu, [distinct(2, 3)], lambda x: np.maximum(np.concatenate([x, -x], -1), 0)),
    Case("swish_beta", pb.nn.swish, [normal(3), np.array(1.5)], lambda x, b: x * special.expit(b * x)),
    *_forms("gelu", pb.nn.gelu, lambda x: x * 0.5 * (1 + special.erf(x / np.sqrt(2)))),
    *_forms(
        "gelu_approximate",
        lambda x: pb.nn.gelu(x, approximate=True),
        lambda x: x * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    ),
    *[
        Case(
            f"half_{f.__name__}",
            f,
            [SHORT],
            not_differentiable=HALF,
            float32_tolerance=2e-3,
        )
        for f in (pb.nn.relu, pb.nn.elu, pb.nn.selu, pb.nn.gelu, pb.nn.softsign, pb.nn.leaky_relu, pb.math.softplus)
    ],
    Case("silu_third_order", pb.nn.silu, [normal(3)], third_order=True),
    Case("cube_of_elu", cubed(pb.nn.elu), [distinct(4)], third_order=True),
]
