"""Fuzzing: `python -m tests.programs 100000 --seed 7` draws that many programs and prints those that fail.

All of them are tried with the properties that NumPy alone decides, one of fifty with those of other engines.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from .drawing import drawn
from .properties import ELSEWHERE, ON_NUMPY, dtype_of, hold

SHARE = 50


def main() -> None:
    """Draw, try, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found: Counter[str] = Counter()
    for number in range(arguments.count):
        for dtype in ("float64", "float32"):
            tried = [*ON_NUMPY, *([] if number % SHARE else ELSEWHERE)]
            program = drawn(random.Random(f"{arguments.seed} {number} {dtype}").randint, dtype)
            for holds in tried if program is not None else []:
                if program is not None and dtype_of(holds) == dtype:
                    try:
                        hold(holds, program)
                    except AssertionError as error:
                        found[holds.__name__] += 1
                        print(f"{'-' * 120}\nprogram {number}, {error}\n", flush=True)
    print(f"{arguments.count} programs: {sum(found.values())} failures {dict(found)}")


if __name__ == "__main__":
    main()
