"""Fuzzing: `python -m tests.programs 100000 --seed 7` draws that many programs and prints those that fail.

All of them are tried with the properties that NumPy alone decides, one of fifty with those of other engines. Each
number draws a program of each kind: of one dtype, of several, of 16 bits, of NaN, infinities and extremes; models of
float32.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from .drawing import drawn
from .holding import TRIED, hold

SHARE = 50


def main() -> None:
    """Draw, try, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    arguments = parser.parse_args()
    found: Counter[str] = Counter()
    for number in range(arguments.start, arguments.start + arguments.count):
        for kind, on_numpy, elsewhere in TRIED:
            program = drawn(random.Random(f"{arguments.seed} {number} {kind}").randint, kind)
            for holds in [*on_numpy, *([] if number % SHARE else elsewhere)] if program is not None else []:
                try:
                    hold(holds, program)
                except AssertionError as error:
                    found[holds.__name__] += 1
                    print(f"{'-' * 120}\nprogram {number} {kind}, {error}\n", flush=True)
    print(f"{arguments.count} programs: {sum(found.values())} failures {dict(found)}")


if __name__ == "__main__":
    main()
