"""Mathematics, under TensorFlow's names of `tf.math`."""

from . import special
from .compat.older_names import accumulate_n
from .primitives.activations.rectifiers import softsign
from .primitives.activations.sigmoid import log_sigmoid, sigmoid, softplus
from .primitives.activations.softmax import log_softmax, softmax
from .primitives.complex.angle import angle
from .primitives.complex.complex import complex, conj, imag, real
from .primitives.counting import bincount, confusion_matrix
from .primitives.cumulative.cumsum import cumprod, cumsum
from .primitives.cumulative.logsumexp import cumulative_logsumexp
from .primitives.elementwise.add_n import add_n
from .primitives.elementwise.arithmetic import add, multiply, negative, scalar_mul, squared_difference, subtract
from .primitives.elementwise.division import (
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
from .primitives.elementwise.exponential import exp, expm1, log, log1p, xdivy, xlog1py, xlogy
from .primitives.elementwise.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from .primitives.elementwise.masking import multiply_no_nan
from .primitives.elementwise.maximum import maximum, minimum
from .primitives.elementwise.nextafter import nextafter
from .primitives.elementwise.polynomial import polyval
from .primitives.elementwise.powers import pow, reciprocal, rsqrt, sqrt, square
from .primitives.elementwise.rounding import ceil, floor, rint, round
from .primitives.elementwise.sign import absolute as abs
from .primitives.elementwise.sign import sign
from .primitives.elementwise.trigonometric import acos, asin, atan, atan2, cos, sin, tan
from .primitives.logic.comparison import (
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    not_equal,
)
from .primitives.logic.logical import logical_and, logical_not, logical_or, logical_xor
from .primitives.logic.monotone import is_non_decreasing, is_strictly_increasing
from .primitives.normalization.normalization import l2_normalize
from .primitives.reduction.argmax import argmax, argmin
from .primitives.reduction.logsumexp import euclidean_norm as reduce_euclidean_norm
from .primitives.reduction.logsumexp import reduce_logsumexp, reduce_std, reduce_variance
from .primitives.reduction.product import reduce_prod
from .primitives.reduction.reduce import (
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_sum,
    zero_fraction,
)
from .primitives.segment.reductions import (
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
from .primitives.segment.sums import unsorted_segment_sum
from .primitives.sorting.order_statistics import approx_max_k, approx_min_k, nth_element
from .primitives.sorting.permutation import invert_permutation
from .primitives.sorting.sort import in_top_k, top_k
from .primitives.special.bessel import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from .primitives.special.error_function import erf, erfc, erfcinv, erfinv, ndtri
from .primitives.special.gamma import digamma, lbeta, lgamma, polygamma, zeta
from .primitives.special.incomplete import betainc, igamma, igammac

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
