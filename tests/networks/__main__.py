"""Fuzzing: `python -m tests.networks 1000 --seed 7` draws that many networks and prints those that fail."""

from __future__ import annotations

import argparse
import sys

from .agreement import check
from .drawing import drawn


def main() -> None:
    """Draw, try, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.networks")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    arguments = parser.parse_args()
    tried = failed = 0
    for number in range(arguments.start, arguments.start + arguments.count):
        network = drawn(f"{arguments.seed} {number}")
        if network is None:
            continue
        tried += 1
        try:
            check(network)
        except AssertionError as error:
            failed += 1
            print(f"{'-' * 120}\nnetwork {number}: {error}\n", flush=True)
    print(f"{tried} networks: {failed} failures")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
