"""Differential testing of random networks: XLA's numbers are those of NumPy, but for rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

import pullback as pb

from .network import Array, Built, Layer, Network, Source, build
from .overflow import sound_results
from .shrinking import shrunk

WIDE = {"float32": "float64", "bfloat16": "float64", "float16": "float64", "complex64": "complex128"}
ROUNDINGS = 30
"""How many times as far apart as NumPy's are XLA's numbers from exact ones, at most."""
FEW, FEW_OF_WIDEST = 64, 1e6
"""Roundings of the largest number of an array that are always allowed; of float64, for which there are none wider."""


WINDOWS = "convolved", "convolved_back", "depthwise", "pooled", "dilated"


def check(network: Network) -> None:
    """AssertionError, with a smaller network of which it holds too, where XLA computes something else."""
    if fails(network):
        small = shrunk(network, fails)
        raise AssertionError(f"{fault_of(small)}\n\n{small}\n\nfound in {network}")


def fails(network: Network) -> bool:
    """Whether XLA computes something else, or raises.

    What is rounded otherwise may choose another largest element, or another side of zero: then networks of other
    numbers agree, of which two are tried.
    """
    return all(fault_of(_of_other_numbers(network, n)) is not None for n in range(3))


def fault_of(network: Network) -> str | None:
    """What XLA computes otherwise, or raises; None where it does not."""
    try:
        return found_fault(network)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _of_other_numbers(network: Network, n: int) -> Network:
    nodes = [replace(x, seed=x.seed + 1000 * n) if isinstance(x, Source) else x for x in network.nodes]
    return replace(network, nodes=tuple(nodes))


def found_fault(network: Network) -> str | None:
    """What XLA computes otherwise; None where it does not, but for what is computed of numbers that overflow."""
    fault = _fault_of_results(network)
    if fault is None:
        return None
    sound = sound_results(network, values(network, network.dtype), values(network, _wider(network)))
    if sound == network.results:
        return fault
    return _fault_of_results(replace(network, results=sound)) if sound else None


def values(network: Network, dtype: Any) -> list[Array]:
    """Those of all nodes, batch after batch."""
    built = build(network, dtype)
    runs = len(network.batches) * (2 if network.call != "run" else 1)
    return run(network, replace(built, fetches=built.values), "numpy", dtype)[: runs * len(built.values)]


def _wider(network: Network) -> str:
    return WIDE.get(network.dtype, network.dtype)


def _fault_of_results(network: Network) -> str | None:
    built = build(network, network.dtype)
    found = run(network, built, "xla", network.dtype)
    narrow = run(network, built, "numpy", network.dtype)
    wide = run(network, build(network, _wider(network)), "numpy", _wider(network))
    moved, is_open = None, _is_open(network)
    for i, (a, b, c) in enumerate(zip(found, narrow, wide, strict=True)):
        if _excess(a, b, c, is_open) <= 0:
            continue
        moved = moved or run(network, built, "numpy", network.dtype, nudged=True)
        excess = _excess(a, b, c, is_open, moved[i])
        if excess > 0:
            return f"number {i} of what is run: {_difference(a, b, c)}; {excess:.1e} more than {network.dtype} rounds"
    return None


def _is_open(network: Network) -> bool:
    """Whether NaN meets the zeros around an array that windows see, or of a unit matrix, by which not all multiply."""
    wild = any(isinstance(node, Source) and node.numbers in ("nan", "infinite") for node in network.nodes)
    layers = [node for node in network.nodes if isinstance(node, Layer)]
    return wild and any(x.function in WINDOWS or x.options.get("of") == "unit" for x in layers)


def _excess(found: Array, narrow: Array, wide: Array, is_open: bool, moved: Array | None = None) -> float:
    """How much further apart than rounding explains; 0 where it does."""
    if found.shape != narrow.shape or found.dtype != narrow.dtype:
        return np.inf
    if found.dtype.kind in "biu":
        return 0.0 if np.array_equal(found, narrow) else np.inf
    a, b, c = map(_parts, (found, narrow, wide))
    with np.errstate(all="ignore"):
        finite = np.isfinite(b) & np.isfinite(c)
        if is_open:
            finite &= np.isfinite(a)
        elif not np.all(finite | (np.isnan(b) & np.isnan(c)) | (b == c)):
            return 0.0  # It overflows.
        elif not np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (finite & np.isfinite(a))):
            return np.inf
        apart = np.abs(a - c)[finite].max(initial=0.0)
        few = float(ml_dtypes.finfo(found.dtype).eps) * (FEW_OF_WIDEST if found.dtype == np.float64 else FEW)
        rounding = np.abs(b - c)[finite].max(initial=0.0)
        if moved is not None:
            rounding += np.abs(_parts(moved) - b)[finite].max(initial=0.0)
        allowed = ROUNDINGS * rounding + few * np.abs(c)[finite].max(initial=0.0) + few * 0.1
        return 0.0 if apart <= allowed else float(apart / (allowed + 1e-300))


def _parts(x: Array) -> Array:
    """The real and the imaginary parts, in float64."""
    return np.stack([x.real, x.imag]).astype(np.float64) if x.dtype.kind == "c" else x.astype(np.float64)


def _difference(found: Array, narrow: Array, wide: Array) -> str:
    if found.shape != narrow.shape or found.dtype != narrow.dtype:
        return f"{found.dtype}{list(found.shape)}, and {narrow.dtype}{list(narrow.shape)} on NumPy"
    with np.errstate(all="ignore"):
        apart = np.abs(found.astype(wide.dtype) - wide)
    apart = np.where(np.isnan(apart), np.inf, apart)
    at = np.unravel_index(np.argmax(apart), apart.shape)
    many = np.mean(apart > 0.01 * np.nanmax(np.where(np.isfinite(wide), np.abs(wide), 0), initial=0))
    return (
        f"{list(found.shape)} at {tuple(map(int, at))} is {found[at]}, "
        f"{narrow[at]} on NumPy and {wide[at]} by wider numbers; {many:.2%} of the elements differ by a hundredth"
    )


def run(network: Network, built: Built, engine: str, dtype: Any, nudged: bool = False) -> list[Array]:
    """All that is fetched, batch after batch in one session, and the variables behind the training."""
    found: list[Array] = []
    options: Any = network.session if engine == "xla" else {}
    with pb.Session(graph=built.graph, engine=engine, **options) as session:
        for i, x in built.xs.items():
            if isinstance(x, pb.Variable):
                session.write_variable(x.handle.op, _numbers(network, i, network.batches[0], dtype, nudged))
        fed = [i for i, x in built.xs.items() if _node(network, i).kind == "placeholder"]
        feeds = [built.xs[i] for i in fed]
        call = _callable(network, session, built.fetches, feeds)
        for batch in network.batches:
            given = [_numbers(network, i, batch, dtype, nudged) for i in fed]
            if built.training is not None:
                for _ in range(network.steps):
                    session.run(built.training, dict(zip(feeds, given, strict=True)))
            for _ in range(2 if network.call != "run" else 1):
                found += map(np.asarray, _overwritten(call, given))
        found += [session.run(x) for x in built.xs.values() if isinstance(x, pb.Variable) and built.training]
    return found


def _overwritten(call: Any, given: Sequence[Array]) -> Any:
    """The results of a call whose feeds are written to behind it."""
    fed = [np.array(x) for x in given]
    found = call(fed)
    for x in fed:
        x[...] = 7
    return found


def _callable(network: Network, session: pb.Session, fetches: Sequence[Any], feeds: Sequence[Any]) -> Any:
    if network.call == "callable":
        function = session.make_callable(fetches, feeds)
        return lambda given: function(*given)
    to_host = network.call != "device"
    return lambda given: session.run(fetches, dict(zip(feeds, given, strict=True)), to_host=to_host)


def _node(network: Network, i: int) -> Source:
    node = network.nodes[i]
    assert isinstance(node, Source)
    return node


def _numbers(network: Network, i: int, batch: int, dtype: Any, nudged: bool) -> Array:
    """The numbers of an input as the network's dtype rounds them; `nudged`: a few roundings away."""
    source = _node(network, i)
    numbers = source.array(batch, pb.as_dtype(network.dtype))
    if source.most:
        return numbers
    if nudged and numbers.dtype.kind in "fVc":
        signs = np.random.default_rng(i).choice([-1, 1], numbers.shape)
        numbers = numbers * (1 + 4 * float(ml_dtypes.finfo(numbers.dtype).eps) * signs)
    return numbers.astype(pb.as_dtype(network.dtype)).astype(pb.as_dtype(dtype))
