"""Writes docs/reference/operations.md from the docstrings of the operations and the rows of the case table.

Run `python -m tools.reference` in the root of the repository; a test says when it is due.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np
from tests.cases.case import Case
from tests.cases.table import building, families

import pullback as pb
from pullback.core.contexts import in_graph_of_inputs
from pullback.primitives.families import FAMILIES

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "operations.md"
CASES = str(Path(__file__).parents[1] / "tests" / "cases")
NAMESPACES = [
    *("", "math", "math.special", "nn", "linalg", "signal", "image", "random", "ragged", "sparse", "losses", "bitwise"),
    *("quantization", "strings", "debugging"),
]
ALIASES = """
all_variables assert_equal assert_greater assert_integer assert_less assert_rank assert_same_float_dtype
assert_type cholesky cholesky_solve count_nonzero cross cumprod diag diag_part eig eigvals
fake_quant_with_min_max_args fake_quant_with_min_max_vars fake_quant_with_min_max_vars_per_channel fft fft2d
fft3d floor_div get_seed ifft ifft2d ifft3d initialize_all_variables initialize_local_variables
initialize_variables is_non_decreasing is_numeric_tensor is_strictly_increasing lin_space linalg.transpose
math.log_softmax math.softmax matrix_band_part matrix_determinant matrix_diag matrix_diag_part matrix_inverse
matrix_set_diag matrix_solve matrix_solve_ls matrix_square_root matrix_transpose matrix_triangular_solve
nn.avg_pool_v2 nn.depthwise_conv2d_native nn.depthwise_conv2d_native_backprop_filter
nn.depthwise_conv2d_native_backprop_input nn.max_pool_v2 nn.softmax_cross_entropy_with_logits_v2 py_func qr
random_crop realdiv reverse_v2 segment_max segment_mean segment_min segment_prod segment_sum self_adjoint_eig
self_adjoint_eigvals sparse_add sparse_fill_empty_rows sparse_placeholder sparse_reduce_max sparse_reduce_sum
sparse_reorder sparse_retain sparse_slice sparse_softmax sparse_tensor_dense_matmul sparse_tensor_to_dense
sparse_transpose string_join svd tensor_scatter_add tensor_scatter_sub tensor_scatter_update trace unsorted_segment_max
unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
where_v2
"""
"""Names by which programs written for TensorFlow 1 find a function; the page shows them last."""
HEAD = """\
# Operations

Made by `python -m tools.reference` from the docstrings and from the rows of the tests; do not edit.

`x` is the first input, `y` the result, `dy` the cotangent of the result; where an input is called `y`, the result is
`z` and its cotangent `dz`. `dx` is what `gradients` gives for `x`. For complex numbers each factor that multiplies `dy`
is conjugated, `^T` is the adjoint, and `|z|` has the derivative `z / |z|`. What broadcasting repeats is summed over.
Conventions at kinks, poles and ties: [hard points](../guide/hard-points.md); at edges:
[edges](../guide/edge-semantics.md).

**Tested** says on which engines (N: NumPy, X: XLA) rows of the case table run the operation, and to which order they
compare its derivatives with differences. Derivatives are made of operations with derivatives, so that there is no last
order; a test walks through them all.
"""


COLUMNS = "| operation | result | shapes | dtypes | derivative | tested |\n|---|---|---|---|---|---|"


class Tested(NamedTuple):
    """What the rows say of an operation."""

    engines: str
    order: int


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def page() -> str:
    """The text of the page."""
    names, tested = public_names(), tested_by_rows()
    parts = [HEAD]
    for family, functions in listed(names).items():
        lines = [_line(f, names[f], tested.get(code_of(f))) for f in functions]
        parts += [f"\n## {family}\n\n{FAMILIES[family]}.\n", COLUMNS, *lines]
    return "\n".join(parts) + "\n"


def listed(names: Mapping[FunctionType, Sequence[str]]) -> dict[str, list[FunctionType]]:
    """The functions of each family, by name."""
    found: dict[str, list[FunctionType]] = {family: [] for family in FAMILIES}
    for function in sorted(names, key=lambda f: names[f][0].lower()):
        family = family_of(function.__module__)
        if family:
            found[family].append(function)
    return {family: functions for family, functions in found.items() if functions}


def family_of(module: str) -> str | None:
    """The family whose folder a module stands in."""
    _, room, *rest = module.split(".")
    if room == "control_flow":
        return room
    return rest[0] if room in ("primitives", "layers") and rest[0] in FAMILIES else None


def public_names() -> dict[FunctionType, list[str]]:
    """The public functions, and what they are called, shortest first."""
    found: dict[FunctionType, list[str]] = {}
    for namespace in NAMESPACES:
        module: Any = pb
        for part in namespace.split(".") if namespace else ():
            module = getattr(module, part)
        for name in (n for n in dir(module) if not n.startswith("_")):
            value = getattr(module, name)
            if isinstance(value, FunctionType) and value.__module__.startswith("pullback."):
                found.setdefault(value, []).append(f"{namespace}.{name}".lstrip("."))
    return {f: sorted(set(own), key=lambda n: _rank(n, f)) for f, own in found.items()}


def _rank(name: str, function: FunctionType) -> tuple[Any, ...]:
    return name in ALIASES.split(), name.count("."), name != function.__name__, name


def tested_by_rows() -> dict[CodeType, Tested]:
    """For the functions that rows call: the engines that run them, and the highest order that is checked."""
    found: dict[CodeType, Tested] = {}
    for cases in families().values():
        for case in cases:
            order, engines = _order(case), "N" * (not case.not_on_numpy) + "X"
            for code in called_by(case):
                before = found.get(code, Tested("", 0))
                found[code] = Tested("".join(sorted({*before.engines, *engines})), max(before.order, order))
    return found


def _order(case: Case) -> int:
    floats = any(np.asarray(x).dtype.kind in "fc" for x in case.inputs)
    if case.not_differentiable or case.not_on_numpy or not floats or not case.differentiated():
        return 0
    return 3 if case.third_order else 1 if case.not_second_order else 2


def code_of(function: Callable[..., Any]) -> CodeType:
    """The code of a function, behind what `in_graph_of_inputs` wraps round it."""
    code = function.__code__
    return inspect.unwrap(function).__code__ if code is _WRAPPER else code


_WRAPPER = in_graph_of_inputs(main).__code__
"""The code of all functions that are wrapped so."""


def called_by(case: Case) -> set[CodeType]:
    """What a row calls itself, not what that calls in its turn."""
    called: set[CodeType] = set()

    def look(frame: FrameType, event: str, argument: Any) -> None:
        del argument
        caller = frame.f_back
        if event == "call" and caller is not None and caller.f_code.co_filename.startswith(CASES):
            wrapped = frame.f_locals["function"] if frame.f_code is _WRAPPER else None
            called.add(frame.f_code if wrapped is None else code_of(wrapped))

    with _profiling(look), contextlib.redirect_stderr(io.StringIO()), building(case):
        pass
    return called


@contextlib.contextmanager
def _profiling(look: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


def _line(function: FunctionType, names: list[str], tested: Tested | None) -> str:
    doc = inspect.getdoc(function) or ""
    paragraphs = [" ".join(p.split()) for p in doc.split("\n\n")]
    shapes, dtypes = _shapes_and_dtypes(paragraphs)
    derivative = derivative_of(function)
    order = "" if tested is None or not tested.order or not derivative else f" {tested.order}"
    cells = [
        f"`{names[0]}{_signature(function)}`" + "".join(f", `{n}`" for n in names[1:]),
        paragraphs[0],
        shapes,
        dtypes,
        derivative or "none",
        "" if tested is None else tested.engines + order,
    ]
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def derivative_of(function: FunctionType) -> str:
    """The formula of a docstring; empty where there is none, or where it says that there is none."""
    found = re.search(r"^Derivative: (.*?)\.$", _joined(function), re.MULTILINE)
    text = found[1] if found else ""
    return "" if text.startswith("none") else text


def _joined(function: FunctionType) -> str:
    return "\n".join(" ".join(p.split()) for p in (inspect.getdoc(function) or "").split("\n\n"))


def _shapes_and_dtypes(paragraphs: list[str]) -> tuple[str, str]:
    text = next((p for p in paragraphs if p.startswith(("Shapes:", "Shapes and dtypes:"))), "")
    shapes, _, dtypes = text.partition(" Dtypes: ")
    return shapes.partition(": ")[2].rstrip("."), dtypes.partition(". ")[0].rstrip(".")


def _signature(function: FunctionType) -> str:
    parameters = [
        p.name if p.default is p.empty else f"{p.name}={_default(p.default)}"
        for p in inspect.signature(function).parameters.values()
        if p.name != "name"
    ]
    return f"({', '.join(parameters)})"


def _default(value: Any) -> str:
    if isinstance(value, FunctionType):
        return value.__name__
    return str(value) if isinstance(value, np.dtype) else repr(value)


if __name__ == "__main__":
    sys.exit(main())
