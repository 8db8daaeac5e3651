"""Signs of the parts of complex functions that have cuts, which say on which side of one a value is.

They are those of C (ISO/IEC 9899, annex G), and so NumPy's: of a part that is zero, too.
"""

from __future__ import annotations

from typing import Any

CUT = {
    "sqrt": (0, 1),
    "arcsin": (1, 1),
    "arccos": (0, -1),
    "arctan": (1, 1),
    "arcsinh": (1, 1),
    "arccosh": (0, 1),
    "arctanh": (1, 1),
}
"""By NumPy's names: signs of the real and the imaginary part, times those of the argument's; 0 where one is fixed."""


def parts_on_side(xp: Any, name: str, y: tuple[Any, Any], x: tuple[Any, Any]) -> list[Any]:
    """The two parts of `y`, a function in `CUT` of `x`, with the signs that they have by those of the parts of `x`."""
    signs = zip(y, x, CUT[name], strict=True)
    return [xp.copysign(of_y, of_x if sign > 0 else -of_x) if sign else of_y for of_y, of_x, sign in signs]
