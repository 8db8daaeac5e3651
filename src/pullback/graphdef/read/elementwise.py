"""GraphDef import of elementwise arithmetic, powers, exponentials, trigonometry, rounding, maxima, clips."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import INTEGER
from ...core.operation import Tensor
from ...core.primitive import primitive_class
from ...primitives.complex.complex import conj
from ...primitives.elementwise.add_n import AddN
from ...primitives.elementwise.arithmetic import Add
from ...primitives.elementwise.division import RealDiv, TruncateDiv, TruncateMod
from ...primitives.elementwise.masking import multiply_no_nan
from ...primitives.elementwise.powers import Reciprocal
from ..nodes import Node, calling, making, reader, same

reader("Abs", "Neg", "Sign", "Square", "Sqrt", "Rsqrt", "Reciprocal", "Exp", "Expm1", "Log", "Log1p")(same)
reader("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh")(same)
reader("Floor", "Ceil", "Round", "Rint", "ClipByValue")(same)
reader("AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod")(same)
reader("SquaredDifference", "Maximum", "Minimum", "Pow", "Atan2", "NextAfter", "Xdivy", "Xlogy", "Xlog1py")(same)
reader("TanhGrad")(same)
reader("Add")(making(Add))
reader("Mod")(making(TruncateMod))
reader("MulNoNan")(calling(multiply_no_nan, 2))
reader("Inv")(making(Reciprocal))
reader("AddN", "AccumulateNV2")(making(AddN))


@reader("Div")
def div(node: Node, x: Tensor, y: Tensor) -> Any:
    return node.make(TruncateDiv() if x.dtype in INTEGER else RealDiv(), x, y)


@reader("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
def grad_by_conjugate(node: Node, y: Tensor, dy: Tensor) -> Any:
    """TensorFlow's take the result and conjugate it themselves; the others of this kind are given the conjugate."""
    primitive: Any = primitive_class("ReciprocalGrad" if node.op_type == "InvGrad" else node.op_type)
    return node.make(primitive(), conj(y), dy)
