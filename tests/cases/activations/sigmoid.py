"""Rows: the logistic function and its kin; biases."""

from __future__ import annotations

import numpy as np
import scipy.special as special

import pullback as pb

from ..case import Case, normal
from ..elementwise.functions import real, unary

CASES: list[Case] = [
    *unary("sigmoid", pb.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    *real("log_sigmoid", pb.math.log_sigmoid, lambda x: -np.logaddexp(-x, 0)),
    Case("sigmoid_wide", pb.sigmoid, [np.array([-800.0, -40.0, 0.0, 40.0, 800.0])], lambda x: special.expit(x)),
    Case("log_sigmoid_third_order", pb.math.log_sigmoid, [normal(3)], third_order=True),
    Case("bias_add", pb.nn.bias_add, [normal(2, 3, 4), normal(4)], expected=np.add),
    Case("bias_add_matrix", pb.nn.bias_add, [normal(2, 3), normal(3)], expected=np.add),
    Case(
        "bias_add_channels_first",
        lambda x, b: pb.nn.bias_add(x, b, "NCHW"),
        [normal(2, 3, 2, 2), normal(3)],
        expected=lambda x, b: x + b[:, None, None],
    ),
    Case("bias_add_no_rows", pb.nn.bias_add, [normal(0, 3), normal(3)]),
    Case("bias_add_integers", pb.nn.bias_add, [np.array([[1, 2]]), np.array([3, 4])], expected=np.array([[4, 6]])),
]
