"""Rows: checks and printing where all is well; what fails is in tests/primitives/test_debugging.py."""

from __future__ import annotations

from typing import Any

import pullback as pb

from .case import Case, cubed, normal, positive


def _after(guard: Any, x: Any) -> Any:
    with pb.control_dependencies([guard]):
        return x * 2.0


CASES = [
    Case("check_numerics", lambda x: pb.debugging.check_numerics(x, "x") * 2.0, [normal(2, 3)], lambda x: x * 2),
    Case("check_numerics_empty", lambda x: pb.debugging.check_numerics(x, "x"), [normal(0, 3)], lambda x: x),
    Case("all_finite", lambda x: pb.verify_tensor_all_finite(x, "x"), [normal()], lambda x: x),
    Case("assert_positive", lambda x: _after(pb.debugging.assert_positive(x), x), [positive(3)], lambda x: x * 2),
    Case("assert_rank", lambda x: _after(pb.debugging.assert_rank(x, 1), x), [positive(3)], lambda x: x * 2),
    Case("print", lambda x: _after(pb.print("x", x), x), [normal(2, 3)], lambda x: x * 2),
    Case("print_v1", lambda x: pb.Print(x, [x], "x", first_n=0) * 2.0, [normal(2, 3)], lambda x: x * 2),
    Case("cube_of_check_numerics", cubed(lambda x: pb.debugging.check_numerics(x, "x")), [normal(3)], third_order=True),
    Case("assert_all_finite", lambda x: pb.debugging.assert_all_finite(x, "x") * 2.0, [normal(2, 3)], lambda x: x * 2),
]
