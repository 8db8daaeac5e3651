"""How tests run programs on several devices: what fails there fails here, in its words."""

from __future__ import annotations

import pytest

from .on_devices import run_on_devices

pytest.importorskip("jax")


def test_each_program_has_its_devices() -> None:
    for count in (2, 3):
        run_on_devices(count, f"assert [d.platform for d in jax.devices()] == ['cpu'] * {count}")


def test_what_a_program_prints_and_raises_is_shown() -> None:
    with pytest.raises(AssertionError, match=r"(?s)so far.*Traceback.*ValueError: no further"):
        run_on_devices(2, "print('so far')\nraise ValueError('no further')")


def test_programs_know_nothing_of_each_other() -> None:
    run_on_devices(2, "pb.left_behind = 1")
    run_on_devices(2, "assert not hasattr(pb, 'left_behind')")


def test_a_program_may_end_the_process() -> None:
    with pytest.raises(AssertionError):
        run_on_devices(2, "import sys; sys.exit(3)")
