"""Writes docs/reference/accuracy.md: how much functions and linear algebra miss the exact values, on both engines.

Run `python -m tools.accuracy` in the root of the repository; it takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import mpmath
import numpy as np
import scipy
from tests.accuracy.complexes import COMPLEX
from tests.accuracy.complexes import missed as missed_complex
from tests.accuracy.linalg import PROBLEMS, missed
from tests.accuracy.linalg_derivatives import CONDITIONS as DISTINCT
from tests.accuracy.linalg_derivatives import DERIVATIVES
from tests.accuracy.linalg_derivatives import missed as missed_derivatives
from tests.accuracy.measuring import Missed, measured
from tests.accuracy.test_functions import FUNCTIONS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "accuracy.md"
ENGINES = ["numpy", "xla"]
SIZES = (1, 7, 40, 200)
CONDITIONS = (1.0, 1e4, 1e8, 1e12)
DTYPES = ("float32", "float64", "complex64", "complex128")
NARROW = ("float16", "bfloat16")
DERIVED_SIZES = (7, 20)
HEAD = """\
# Accuracy

Made by `python -m tools.accuracy` with numpy {numpy}, scipy {scipy}, jax {jax} on a processor, and mpmath {mpmath}; do
not edit.
`tests/accuracy` holds the bounds: some points in `make test`, all of these in `make test-all`.

## Functions

The largest errors of values, and of first and second derivatives, at points of each region, in **units**: the last
place of the exact result, or what the last place of the input changes in it, whichever is more. Behind it, in
parentheses, the error in last places of the result alone, where that is over 10: near zeros of a function, and where
it is steep, no argument that is rounded once determines more. Exact values are computed with 60 digits.

| function | dtype | region | NumPy: value | derivative | second | XLA: value | derivative | second |
|---|---|---|---|---|---|---|---|---|
"""
REMARKS = """
- XLA takes denormal numbers for zeros, on processors too, arguments and results.
- The derivative of `tanh` is `1 - y^2`, as everywhere: from the value, which is cheap. Where it is nearly 0 its last
  places are those of 1. So it is with the second derivatives of `sigmoid`, `softplus`, `log_sigmoid` and
  `reduce_logsumexp`, and with both of `elu` far left.
- Of values that are beyond the largest number infinity is right.

## 16-bit floats

The largest error in units over all regions, of values and of derivatives, on NumPy; XLA has the same bounds in
`make test-all`. Functions are computed in float32 and rounded once; what a derivative is made of is rounded each time.

| function | {narrow} |
|---|{narrow_rule}|
{narrows}
## Complex numbers

The same for functions of complex numbers, near their branch cuts too: errors of values, and of derivatives, by the
size of the exact result. Close to the real axis the derivative of `tanh` is `1 - y^2` again.

| function | dtype | region | NumPy: value | derivative | XLA: value | derivative |
|---|---|---|---|---|---|---|
{complexes}
## Linear algebra

The largest **backward error**, in roundings: by how much results miss what defines them (`a @ x = b`, `q @ r = a`,
`adjoint(q) @ q = 1`, ...), beside the sizes of what is added up. It is that of matrices of {sizes} rows, each
of condition numbers 1, 1e4, 1e8 and 1e12 (in float32 and complex64 up to 8e4: from 1e7 on they are singular). The
error of the result is at most as many roundings times the condition number of the problem. `lstsq` leaves out singular
values below `10 n` roundings, as `pinv` does.

| | {dtypes} |
|---|{rule}|
{problems}
### Their derivatives

The largest error of a derivative along a direction, beside the product of the norms of both, in roundings **times the
condition number** of the matrix: {distinct} (in float32 up to 8e3), of {derived_sizes} rows. The exact derivatives are
differences with 60 digits.

| | {derived} |
|---|{derived_rule}|
"""


def main() -> int:
    """Writes the page."""
    versions = {m.__name__: m.__version__ for m in (np, scipy, jax, mpmath)}
    head = HEAD.format(**versions)
    dtypes = " | ".join(f"{engine}: {dtype}" for engine in ("NumPy", "XLA") for dtype in DTYPES)
    sizes = ", ".join(map(str, SIZES[:-1])) + f" and {SIZES[-1]}"
    cells = [f"{engine}: {dtype}" for engine in ("NumPy", "XLA") for dtype in DTYPES[:2]]
    narrow = [f"{dtype}{what}" for dtype in NARROW for what in ("", ", derivative")]
    remarks = REMARKS.format(
        narrow=" | ".join(narrow),
        narrow_rule="|".join("---" for _ in narrow),
        narrows="".join(narrow_rows()),
        complexes="".join(_complexes()),
        sizes=sizes,
        dtypes=dtypes,
        rule="---|" * (2 * len(DTYPES) - 1) + "---",
        problems="".join(_problems()),
        distinct=", ".join(f"{c:g}" for c in DISTINCT),
        derived_sizes=" and ".join(map(str, DERIVED_SIZES)),
        derived=" | ".join(cells),
        derived_rule="|".join("---" for _ in cells),
    )
    PAGE.write_text(head + "".join(_functions()) + remarks + "".join(derivative_rows()), encoding="utf-8")
    return 0


def _functions() -> Iterator[str]:
    for name, function in FUNCTIONS.items():
        for dtype in ("float32", "float64"):
            found = measured(function, dtype, ENGINES)
            for region in found["numpy"]:
                cells = [_shown(error) for engine in ENGINES for error in found[engine][region]]
                yield f"| {name} | {dtype} | {region} | {' | '.join(cells)} |\n"


def _complexes() -> Iterator[str]:
    for name, function in COMPLEX.items():
        for dtype in ("complex64", "complex128"):
            found = {engine: missed_complex(function, dtype, engine) for engine in ENGINES}
            for region in found["numpy"]:
                cells = [f"{error:.1f}" for engine in ENGINES for error in found[engine][region]]
                yield f"| {name} | {dtype} | {region} | {' | '.join(cells)} |\n"


def _shown(error: Missed) -> str:
    return f"{error.units:.1f}" + (f" ({error.places:.2g})" if error.places > 10 else "")


def _problems() -> Iterator[str]:
    worst: dict[str, dict[tuple[str, str], float]] = {name: {} for name in PROBLEMS}
    for engine in ENGINES:
        for dtype in DTYPES:
            for n in SIZES:
                for name, errors in missed(n, dtype, engine, CONDITIONS).items():
                    worst[name][engine, dtype] = max(worst[name].get((engine, dtype), 0.0), *errors.values())
    for name, found in worst.items():
        yield f"| {name} | {' | '.join(f'{error:.1f}' for error in found.values())} |\n"


def narrow_rows() -> Iterator[str]:
    """A row for each function: the worst of 16-bit floats."""
    for name, function in FUNCTIONS.items():
        regions = [measured(function, dtype, ["numpy"], orders=2)["numpy"].values() for dtype in NARROW]
        cells = [f"{max([errors[order].units for errors in each]):.1f}" for each in regions for order in (0, 1)]
        yield f"| {name} | {' | '.join(cells)} |\n"


def derivative_rows() -> Iterator[str]:
    """A row for each function of matrices: the worst of its derivatives."""
    found = [[missed_derivatives(n, dtype, ENGINES, DISTINCT) for n in DERIVED_SIZES] for dtype in DTYPES[:2]]
    for name in DERIVATIVES:
        worst = [max(error for f in of for error in f[engine][name]) for engine in ENGINES for of in found]
        cells = [f"{error:.2g}" for error in worst]
        yield f"| {name} | {' | '.join(cells)} |\n"


if __name__ == "__main__":
    sys.exit(main())
