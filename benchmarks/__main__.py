"""The command line: `python -m benchmarks [workload ...]` and `python -m benchmarks setup [peer ...]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .environments import PINS, set_up
from .machine import last_core
from .peers import PEERS
from .process import LOGS, PeerFailedError
from .report import markdown, write
from .runner import DisagreementError, run_workload
from .settings import Settings
from .workloads import all_workloads


def main(arguments: list[str]) -> int:
    """Do what the command line says; the exit status."""
    if arguments[:1] == ["setup"]:
        return _set_up(arguments[1:])
    workloads = all_workloads()
    options = _parser(list(workloads)).parse_args(arguments)
    chosen = _chosen(options.workloads, list(workloads))
    settings = Settings(
        peers=options.peers,
        pythons=dict(options.python),
        rounds=options.rounds,
        seconds=options.seconds,
        threads=options.threads,
        core=last_core() if options.threads == 1 else None,
        keep_memory=options.keep_memory,
    )
    results, failed = [], False
    for name in chosen:
        _tell(f"{name}: {workloads[name].title}")
        try:
            results += run_workload(workloads[name], settings, _tell)
        except (DisagreementError, PeerFailedError) as error:
            _tell(f"error: {error}")
            failed = True
    text = markdown(workloads, results, settings)
    beside = write(options.out, text, results, settings)
    print(f"\n{text}\nwritten: {options.out} and {beside}")
    return int(failed)


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="pullback beside its peers. `python -m benchmarks setup` installs those.",
        epilog=f"workloads: {', '.join(names)}; peers: {', '.join(PEERS)}",
    )
    parser.add_argument("workloads", nargs="*", metavar="workload", help="name, or how names begin; default all")
    parser.add_argument("--peers", type=_peers, default=list(PEERS), metavar="NAME,...", help="default all")
    parser.add_argument("--rounds", type=int, default=12, help="batches per peer (default 12)")
    parser.add_argument("--seconds", type=float, default=60, help="of a workload, for beginning rounds (default 60)")
    parser.add_argument("--threads", type=int, default=1, help="for each peer; with 1, all on one core (default 1)")
    parser.add_argument("--keep-memory", action="store_true", help="give all peers pullback's settings of malloc")
    parser.add_argument("--out", type=Path, default=LOGS / "results.json", help="the JSON; Markdown is put beside it")
    parser.add_argument(
        "--python",
        type=_python,
        action="append",
        default=[],
        metavar="ENVIRONMENT=PATH",
        help=f"a Python to use for pullback, {', '.join(PINS)} instead of the one of `setup`",
    )
    return parser


def _chosen(wanted: list[str], names: list[str]) -> list[str]:
    chosen = []
    for start in wanted:
        found = [start] if start in names else [name for name in names if name.startswith(start)]
        if not found:
            sys.exit(f"benchmarks: there is no workload '{start}'; there are {', '.join(names)}")
        chosen += found
    return list(dict.fromkeys(chosen)) or names


def _peers(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"there is no peer '{name}'; there are {', '.join(PEERS)}")
    return names


def _python(text: str) -> tuple[str, str]:
    environment, separator, path = text.partition("=")
    if not separator or environment not in {"pullback", *PINS}:
        raise argparse.ArgumentTypeError(
            f"expected one of pullback, {', '.join(PINS)}, then = and a path, not '{text}'"
        )
    return environment, path


def _set_up(names: list[str]) -> int:
    if {"-h", "--help"} & set(names):
        print(f"python -m benchmarks setup [name ...]: the environments {', '.join(PINS)}, or those named")
        return 0
    try:
        set_up(names)
    except (ValueError, RuntimeError) as error:
        _tell(str(error))
        return 1
    return 0


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
