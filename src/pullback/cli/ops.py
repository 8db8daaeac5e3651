"""`pullback ops`: how many of the capabilities of a complete peer are there, family by family."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import pullback

from .capabilities import CAPABILITIES


def run(args: argparse.Namespace) -> int:
    """Prints a line for each family and the sum; the names that are missing where asked. 0 where none is."""
    absent = missing()
    width = max(map(len, CAPABILITIES))
    for family, names in CAPABILITIES.items():
        there = len(names) - len(absent.get(family, {}))
        print(f"{family:<{width}}  {there:3} of {len(names)}")
        for capability, name in absent.get(family, {}).items() if args.missing else ():
            print(f"{'':<{width}}  {capability}: pb.{name}")
    total = sum(map(len, CAPABILITIES.values()))
    lacking = sum(map(len, absent.values()))
    print(f"{'in all':<{width}}  {total - lacking:3} of {total}")
    return 1 if absent else 0


def missing(capabilities: Mapping[str, Mapping[str, str]] = CAPABILITIES) -> dict[str, dict[str, str]]:
    """The capabilities whose names pullback does not have, by family."""
    found = {
        family: {capability: name for capability, name in names.items() if not _is_there(name)}
        for family, names in capabilities.items()
    }
    return {family: names for family, names in found.items() if names}


def _is_there(name: str) -> bool:
    value: Any = pullback
    for part in name.split("."):
        value = getattr(value, part, None)
    return value is not None
