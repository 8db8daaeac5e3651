"""GraphDef import of complex numbers: their parts, conjugates, angles."""

from __future__ import annotations

from ..nodes import reader, same

reader("Complex", "Real", "Imag", "Conj", "Angle", "ComplexAbs")(same)
