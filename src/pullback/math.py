"""Mathematics, under TensorFlow's names of `tf.math`."""

from . import special
from .primitives.activation import softsign
from .primitives.addn import add_n
from .primitives.arithmetic import add, multiply, negative, scalar_mul, squared_difference, subtract
from .primitives.bessel import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from .primitives.comparison import equal, greater, greater_equal, is_finite, is_inf, is_nan, less, less_equal, not_equal
from .primitives.complex import complex, conj, imag, real
from .primitives.counting import bincount, confusion_matrix
from .primitives.cumulative import cumprod, cumsum, reduce_prod
from .primitives.division import (
    divide,
    divide_no_nan,
    floordiv,
    floormod,
    mod,
    reciprocal_no_nan,
    truediv,
    truncatediv,
    truncatemod,
)
from .primitives.errorfunction import erf, erfc, erfcinv, erfinv, ndtri
from .primitives.exponential import (
    exp,
    expm1,
    log,
    log1p,
    log_sigmoid,
    sigmoid,
    softplus,
    xdivy,
    xlog1py,
    xlogy,
)
from .primitives.extremes import maximum, minimum
from .primitives.gamma import digamma, lbeta, lgamma, polygamma, zeta
from .primitives.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from .primitives.incomplete import betainc, igamma, igammac
from .primitives.logic import logical_and, logical_not, logical_or, logical_xor
from .primitives.logsumexp import cumulative_logsumexp
from .primitives.masking import multiply_no_nan
from .primitives.monotone import is_non_decreasing, is_strictly_increasing, polyval
from .primitives.neighbours import nextafter
from .primitives.normalisation import l2_normalize
from .primitives.norms import euclidean_norm as reduce_euclidean_norm
from .primitives.norms import reduce_logsumexp, reduce_std, reduce_variance
from .primitives.older_names import accumulate_n
from .primitives.order_statistics import approx_max_k, approx_min_k, nth_element
from .primitives.ordering import argmax, argmin, in_top_k, top_k
from .primitives.powers import pow, reciprocal, rsqrt, sqrt, square
from .primitives.reduction import (
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_sum,
    zero_fraction,
)
from .primitives.rounding import ceil, floor, rint, round
from .primitives.segment import unsorted_segment_sum
from .primitives.segment_reduction import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
)
from .primitives.sets import invert_permutation
from .primitives.sign import absolute as abs
from .primitives.sign import sign
from .primitives.softmax import log_softmax, softmax
from .primitives.trigonometric import acos, angle, asin, atan, atan2, cos, sin, tan

__all__ = [
    "abs",
    "accumulate_n",
    "acos",
    "acosh",
    "add",
    "add_n",
    "angle",
    "approx_max_k",
    "approx_min_k",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "betainc",
    "bincount",
    "ceil",
    "complex",
    "confusion_matrix",
    "conj",
    "cos",
    "cosh",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "digamma",
    "divide",
    "divide_no_nan",
    "equal",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "igamma",
    "igammac",
    "imag",
    "in_top_k",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "is_non_decreasing",
    "is_strictly_increasing",
    "l2_normalize",
    "lbeta",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "ndtri",
    "negative",
    "nextafter",
    "not_equal",
    "nth_element",
    "polygamma",
    "polyval",
    "pow",
    "real",
    "reciprocal",
    "reciprocal_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "rint",
    "round",
    "rsqrt",
    "scalar_mul",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "softsign",
    "special",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tan",
    "tanh",
    "top_k",
    "truediv",
    "truncatediv",
    "truncatemod",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zero_fraction",
    "zeta",
]
