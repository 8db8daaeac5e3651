"""Special functions, under TensorFlow's names of `tf.math.special`, and two more."""

from .primitives.special.bessel import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
    bessel_j0,
    bessel_j1,
    bessel_k0,
    bessel_k0e,
    bessel_k1,
    bessel_k1e,
    bessel_y0,
    bessel_y1,
)
from .primitives.special.integrals import dawsn, erfcx, expint, fresnel_cos, fresnel_sin, ndtr, spence

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "dawsn",
    "erfcx",
    "expint",
    "fresnel_cos",
    "fresnel_sin",
    "ndtr",
    "spence",
]
