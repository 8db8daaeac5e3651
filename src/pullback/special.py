"""Special functions, under TensorFlow's names of `tf.math.special`, and two more."""

from .primitives.special.bessel import bessel_i0 as bessel_i0
from .primitives.special.bessel import bessel_i0e as bessel_i0e
from .primitives.special.bessel import bessel_i1 as bessel_i1
from .primitives.special.bessel import bessel_i1e as bessel_i1e
from .primitives.special.bessel import bessel_j0 as bessel_j0
from .primitives.special.bessel import bessel_j1 as bessel_j1
from .primitives.special.bessel import bessel_k0 as bessel_k0
from .primitives.special.bessel import bessel_k0e as bessel_k0e
from .primitives.special.bessel import bessel_k1 as bessel_k1
from .primitives.special.bessel import bessel_k1e as bessel_k1e
from .primitives.special.bessel import bessel_y0 as bessel_y0
from .primitives.special.bessel import bessel_y1 as bessel_y1
from .primitives.special.integrals import dawsn as dawsn
from .primitives.special.integrals import erfcx as erfcx
from .primitives.special.integrals import expint as expint
from .primitives.special.integrals import fresnel_cos as fresnel_cos
from .primitives.special.integrals import fresnel_sin as fresnel_sin
from .primitives.special.integrals import ndtr as ndtr
from .primitives.special.integrals import spence as spence
