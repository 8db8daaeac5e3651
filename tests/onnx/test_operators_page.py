"""The page of ONNX operators is what its program makes."""

from __future__ import annotations

import pytest
from tools import onnx_operators


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_page_is_what_its_program_makes() -> None:
    assert onnx_operators.PAGE.read_text(encoding="utf-8") == onnx_operators.made(), (
        "run `python -m tools.onnx_operators`"
    )
