"""GraphDef import of conversion between dtypes."""

from __future__ import annotations

from ...primitives.casting.bitcast import Bitcast
from ...primitives.casting.cast import Cast
from ..nodes import REQUIRED, making, reader

reader("Cast")(making(Cast, DstT=REQUIRED))
reader("Bitcast")(making(Bitcast, type=REQUIRED))
