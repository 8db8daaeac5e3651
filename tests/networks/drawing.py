"""Drawing of random networks: layer after layer, of lengths on either side of where XLA's lowerings change."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import Any

import pullback as pb

from .layers import ACTIVATIONS, FACTORS, REDUCTIONS
from .network import BATCH, Layer, Network, Source, inferred
from .windows import CHANNELS, back, convolved, depthwise, dilated, image, pooled

COLUMNS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 17, 20, 24, 30, 31, 32, 33, 40, 48, 63, 64, 65, 100, 128, 200, 256)
BATCHES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 96, 100, 128, 200, 255, 256, 257, 300, 512, 1000, 1024, 2000)
MANY = (4096, 5000, 16384, 16385, 20000, 50000)
SIDES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 28, 32)
MOST_ELEMENTS = 1 << 16
REFUSALS = (ValueError, TypeError, NotImplementedError, IndexError)
"""What a layer raises that is given what it cannot take."""
KINDS = tuple(ACTIVATIONS)


def drawn(seed: object) -> Network | None:
    """A network, the same for the same seed; None where nothing fitted."""
    return Drawing(random.Random(f"{seed}")).network()


class Drawing:
    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.one_of = random.choice
        self.nodes: list[Source | Layer] = []
        self.values: list[pb.Tensor] = []
        self.graph = pb.Graph()
        self.dtype = self.weighted(
            {"float32": 75, "float64": 8, "bfloat16": 7, "float16": 5, "int32": 3, "int8": 2, "complex64": 4}
        )
        self.wild = self.chance(0.12)
        self.most = MOST_ELEMENTS << self.random.choices([0, 2, 4], [90, 7, 3])[0]
        self.batch = self.one_of(MANY) if self.chance(0.05) else self.one_of(BATCHES)
        self.batches = (self.batch,)
        if self.chance(0.25):
            others = (self.batch + 1, max(self.batch // 3, 1), self.one_of(BATCHES), 1, self.batch)
            self.batches += tuple(self.random.sample(others, 1))

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def weighted(self, shares: dict[str, int]) -> str:
        return self.random.choices(list(shares), list(shares.values()))[0]

    def network(self) -> Network | None:
        with self.graph.as_default():
            self.start()
            for _ in range(self.one_of((1, 1, 2, 2, 2, 3, 3, 4, 5))):
                self.add_layer()
        return self.finished()

    def finished(self) -> Network | None:
        made = [i for i, node in enumerate(self.nodes) if isinstance(node, Layer)]
        read = {i for node in self.nodes if isinstance(node, Layer) for i in node.inputs}
        ends = [i for i in made if i not in read]
        if not ends:
            return None
        results = [*ends[-3:], *([self.one_of(made)] if self.chance(0.3) else [])]
        orders = self.random.choices([0, 1, 2], [25, 60, 15])[0]
        if not all(map(self.fits_batch, [None, *self.batches[1:]])):
            self.batches = self.batches[:1]
        return Network(
            tuple(self.nodes),
            tuple(dict.fromkeys(results)),
            self.dtype,
            orders if self.dtype not in ("int32", "int8") else 0,
            self.one_of(["eighths", "eighths", "ones", "mean", "square"]),
            ("values",) if not orders else self.one_of([("values", "gradients"), ("gradients",), ("values",)]),
            self.batches,
            self.one_of(["run", "run", "callable", "device"]),
            self.one_of([{}, {}, {}, {}, {}, {}, {"compile_effort": "fast"}, {"optimize": "fast"}]),
            3 if self.chance(0.2) else 0,
        )

    def fits_batch(self, batch: int | None) -> bool:
        """Whether the layers fit each other for another batch, or one that is not known."""
        try:
            inferred(self.nodes, batch, self.dtype)
        except REFUSALS:
            return False
        return True

    # Inputs.

    def add(self, node: Source | Layer, value: pb.Tensor) -> int:
        self.nodes.append(node)
        self.values.append(value)
        return len(self.nodes) - 1

    def source(self, shape: Sequence[int], scale: float = 1.0, most: int = 0, likely: str | None = None) -> int:
        """A new input."""
        kinds = {"placeholder": 50, "variable": 35, "constant": 15} if likely is None else {likely: 1}
        if BATCH in shape and len(self.batches) > 1:
            kinds = {"placeholder": 1}
        wild = self.wild and not self.nodes
        numbers = self.weighted(
            {"normal": 80, "same": 3, "zeros": 2, "ones": 3, "equal rows": 2, "equal columns": 2, "in order": 3}
            | {"whole": 3, "sparse": 2}
            | ({"nan": 50, "infinite": 50} if wild else {})
        )
        wider = 4.0 if self.dtype.startswith("int") else 1.0
        made = Source(
            tuple(shape), self.weighted(kinds), numbers, round(scale * wider, 3), self.random.randint(0, 999), most
        )
        lengths = [self.batch if n == BATCH else n for n in shape]
        if prod(lengths) > self.most << 3:
            raise ValueError(f"weights of {lengths} would take long")
        return self.add(made, pb.placeholder(pb.int32 if most else self.dtype, lengths))

    def weights(self, shape: Sequence[int]) -> int:
        fan = prod(shape[:-1])
        return self.source(shape, max(fan, 1) ** -0.5)

    def known(self, i: int) -> tuple[int, ...]:
        return tuple(self.values[i].shape.as_list())

    def shape(self, i: int) -> tuple[int, ...]:
        """The shape of a value, with BATCH where its first axis is the batch."""
        known = self.known(i)
        return (BATCH, *known[1:]) if known and known[0] == self.batch else known

    def start(self) -> None:
        rank = self.random.choices([2, 3, 4, 5], [40, 18, 34, 8])[0]
        c = self.one_of(COLUMNS if rank < 4 else CHANNELS)
        if rank == 2 and self.chance(0.08):
            c, self.batch = self.one_of(MANY), self.one_of(COLUMNS)
            self.batches = (self.batch,)
        sides = [self.one_of(SIDES) for _ in range(rank - 2)]
        if rank == 3 and self.chance(0.3):
            sides = [self.one_of((50, 56, 100, 128, 300))]
        while self.batch * c * prod(sides) > self.most:
            longest = max([*sides, c, self.batch])
            if longest == self.batch:
                self.batch = max(self.batch // 3, 1)
                self.batches = (self.batch, *self.batches[1:])
            elif longest == c:
                c = max(c // 3, 1)
            else:
                sides[sides.index(longest)] //= 2
        limit = max(self.most // (c * prod(sides)), 1)
        self.batches = tuple([min(n, limit) for n in self.batches])
        self.source((BATCH, *sides, c), likely="placeholder" if self.chance(0.7) else None)

    # Layers.

    def add_layer(self) -> None:
        """One more layer, where one of a few tries fits."""
        for _ in range(4):
            x = self.some_value()
            before = len(self.nodes)
            with suppress(*REFUSALS):
                shares = LAYERS.get(len(self.known(x)), {}) | OF_ANY_RANK
                kind = self.random.choices(list(shares), list(shares.values()))[0]
                made = kind(self, x, self.shape(x))
                if made is not None and self.fits(made):
                    return
            del self.nodes[before:], self.values[before:]

    def some_value(self) -> int:
        """A value that is no weights: rather a late one."""
        found = [
            i
            for i, node in enumerate(self.nodes)
            if (isinstance(node, Layer) or i == 0) and self.values[i].dtype == pb.as_dtype(self.dtype) and self.known(i)
        ]
        return found[-1] if self.chance(0.7) else self.one_of(found)

    def fits(self, layer: Layer) -> bool:
        try:
            y = layer.build([self.values[i] for i in layer.inputs])
        except REFUSALS:
            return False
        lengths = y.shape.as_list()
        if None in lengths or 0 in lengths or prod(lengths) > self.most or len(lengths) > 6:
            return False
        self.add(layer, y)
        return True

    def activation(self, x: int, shape: tuple[int, ...]) -> Layer:
        return Layer("activation", (x,), {"kind": self.one_of(KINDS)})

    def kind(self) -> str:
        return self.one_of(KINDS) if self.chance(0.6) else "identity"

    def axis(self, rank: int) -> Any:
        return self.one_of([None, -1, 0, 1, [*range(rank - 1)], [*range(1, rank)], [*range(1, rank - 1)] or [0]])

    def reduced(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = {"kind": self.one_of(list(REDUCTIONS)), "axis": self.axis(len(shape)), "keepdims": self.chance(0.3)}
        return Layer("reduced", (x,), how)

    def against(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = self.one_of(["minus", "times", "over", "at", "maximum"])
        axis = self.axis(len(shape))
        return Layer("against_reduced", (x,), {"kind": self.one_of(list(REDUCTIONS)), "axis": axis, "how": how})

    def other(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        alike = [i for i in range(len(self.nodes)) if self.known(i) == self.known(x) and not self.is_whole(i)]
        shapes = [shape, shape[-1:], (1, *shape[1:]), (*shape[:-1], 1), ()]
        y = self.one_of(alike) if self.chance(0.6) else self.source(self.one_of(shapes))
        how = ["plus", "minus", "times", "over", "maximum", "minimum", "difference", "where", "atan2"]
        pair = (x, y) if self.chance(0.7) or len(self.known(y)) < len(shape) else (y, x)
        return Layer("with_other", pair, {"how": self.one_of(how)})

    def is_whole(self, i: int) -> bool:
        return self.values[i].dtype != pb.as_dtype(self.dtype)

    def normalised(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        kinds = ["batch", "softmax", "log softmax", "softmax along 1", "layer", "l2", "l2 of all"]
        return Layer("normalised", (x,), {"kind": self.one_of(kinds)})

    def cumulative(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        axis = self.random.randrange(len(shape))
        kind = self.one_of(["sum", "sum", "product", "logsumexp"])
        return Layer(
            "cumulative",
            (x,),
            {"kind": kind, "axis": axis, "exclusive": self.chance(0.3), "reverse": self.chance(0.3)},
        )

    def moved(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = ["reversed", "rows reversed", "every other", "rows every other", "head", "padded", "mirrored", "rolled"]
        how += ["doubled", "tiled", "repeated", "turned", "transposed", "flat", "flat", "added up", "stacked"]
        return Layer("moved", (x,), {"how": self.one_of(how)})

    def dense(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        return self.dense_to(x, shape, shape[-1] if self.chance(0.4) else self.one_of(COLUMNS))

    def dense_to(self, x: int, shape: tuple[int, ...], units: int) -> Layer:
        transposed = self.chance(0.25)
        inputs = [x, self.weights((units, shape[-1]) if transposed else (shape[-1], units))]
        if self.chance(0.6):
            inputs.append(self.source((units,)))
        return Layer("dense", tuple(inputs), {"transposed": transposed, "kind": self.kind()})

    def perceptron(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        """Several dense layers of one width; the last one is given back."""
        units, count = self.one_of(COLUMNS[:20]), self.random.randint(2, 4)
        for _ in range(count - 1):
            layer = self.dense_to(x, self.shape(x), units)
            if not self.fits(layer):
                return None
            x = len(self.nodes) - 1
        return self.dense_to(x, self.shape(x), self.one_of((units, 1, 3)))

    def gram(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        rows, columns = self.known(x)
        inner = self.chance(0.6)
        alike = [i for i in range(len(self.nodes)) if self.shape(i)[:1] == shape[:1] and len(self.known(i)) == 2]
        y = self.one_of([x, x, *[i for i in alike if not self.is_whole(i)]])
        if not inner and self.known(y)[1] != columns:
            y = x
        scale = round((rows if inner else columns) ** -0.5, 4)
        how = {"transpose_a": inner, "transpose_b": not inner, "scale": scale}
        return Layer("product", (x, y), how)

    def product(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        """With each factor transposed or not."""
        *lead, rows, columns = shape
        lead = lead if self.chance(0.7) else []
        a, b = self.chance(0.5), self.chance(0.5)
        inner = rows if a else columns
        if inner == BATCH and len(self.batches) == 1 and self.chance(0.5):
            inner = self.batch
        n = self.one_of(COLUMNS)
        y = self.source((*lead, n, inner) if b else (*lead, inner, n))
        swapped = self.chance(0.3)
        scale = round(self.known(x)[-2 if a else -1] ** -0.5, 4)
        if swapped:
            return Layer("product", (y, x), {"transpose_a": not b, "transpose_b": not a, "scale": scale})
        return Layer("product", (x, y), {"transpose_a": a, "transpose_b": b, "scale": scale})

    def stacks(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        """The product of stacks with themselves."""
        a = self.chance(0.5)
        scale = round(self.known(x)[-2 if a else -1] ** -0.5, 4)
        return Layer("product", (x, x), {"transpose_a": a, "transpose_b": not a, "scale": scale})

    def made(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = {"of": self.one_of(list(FACTORS)), "columns": self.one_of(COLUMNS)}
        return Layer("times_made", (x,), {**how, "transposed": self.chance(0.4), "first": self.chance(0.3)})

    def masked(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        return Layer("masked", (x,), {"how": self.one_of(["sum", "largest", "gram", "scaled", "softmax"])})

    def collected(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = {"count": self.random.randint(1, 9), "how": self.one_of(["sum", "gram", "largest", "squares", "softmax"])}
        return Layer("collected", (x, self.weights((shape[1], shape[1]))), how)

    def embedded(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        """Rows of a table, or of what is there."""
        count = self.one_of(COLUMNS)
        if self.chance(0.5):
            rows = self.known(x)[0]
            least = min(self.batches) if shape[0] == BATCH else rows
            return Layer("picked", (x, self.source((count,), most=least)))
        table = self.source((count, self.one_of(COLUMNS)))
        return Layer("picked", (table, self.source((BATCH, self.one_of((1, 3, 20))), most=count)))

    def segments(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        count = self.one_of(COLUMNS)
        kind = self.one_of(["sum", "mean", "max", "min"])
        return Layer("segments", (x, self.source(shape[:1], most=count)), {"kind": kind, "count": count})

    def sorted(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = {"kind": self.one_of(["sort", "top", "argmax"]), "axis": self.one_of([-1, 0])}
        return Layer("sorted_along", (x,), how)

    def cross_entropy(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        return Layer("cross_entropy", (x, self.source(shape[:1], most=shape[1])))

    def solved(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        if shape[1] > 40:
            return None
        return Layer("solved", (x,), {"kind": self.one_of(["solve", "cholesky", "inverse", "logdet"])})

    def contracted(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        c, n = shape[-1], self.one_of(COLUMNS)
        if len(shape) == 2:
            forms: list[tuple[str, tuple[int, ...]]] = [
                ("bi,ij->bj", (c, n)),
                ("bi,ji->bj", (n, c)),
                ("bi,ij->jb", (c, n)),
            ]
            forms += [
                ("bi,bj->ij", (shape[0], n)),
                ("bi,bi->b", shape),
                ("bi,bj->bij", (shape[0], self.one_of(COLUMNS[:9]))),
            ]
            forms += [("bi,i->bi", (c,)), ("bi,b->i", shape[:1]), ("bi,ijk->bjk", (c, 3, 5))]
        else:
            t = shape[1]
            forms = [("bti,ij->btj", (c, n)), ("bti,ij->bjt", (c, n)), ("bti,bsi->bts", shape), ("bti,btj->bij", shape)]
            forms += [
                ("bti,btj->ij", shape),
                ("bti,tij->bj", (t, c, n)),
                ("bti,ti->b", (t, c)),
                ("bti,tj->bij", (t, 3)),
            ]
        text, other = self.one_of(forms)
        inner = [k for k in text[: text.index(",")] if k not in text[text.index(">") :]]
        lengths = dict(zip(text[: text.index(",")], self.known(x), strict=True))
        y = self.source(other)
        return Layer("equation", (x, y), {"text": text, "scale": round(prod([lengths[k] for k in inner]) ** -0.5, 4)})

    def split(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        c = shape[-1]
        first = self.one_of([n for n in range(1, c + 1) if c % n == 0])
        rest = c // first
        second = self.one_of([n for n in range(1, rest + 1) if rest % n == 0])
        lengths = [first, rest] if self.chance(0.5) else [first, second, rest // second]
        return Layer("split", (x,), {"lengths": lengths})

    def repeated(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        how = self.one_of(["loop", "loop", "until", "branch", "map", "rows", "function", "recompute"])
        if how == "rows" and max(self.batches) > 300:
            return None
        windows = [self.one_of((1, 2, 3, 5)) for _ in shape[1:-1]]
        w = self.weights((*windows, shape[-1], shape[-1]))
        return Layer("repeatedly", (x, w), {"kind": self.kind(), "count": self.random.randint(1, 4), "how": how})

    def attention(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        c = shape[2]
        heads = self.one_of([n for n in (1, 2, 4, 8) if c % n == 0])
        return Layer(
            "attention", (x, *[self.weights((c, c)) for _ in range(3)]), {"heads": heads, "causal": self.chance(0.4)}
        )

    def recurrent(self, x: int, shape: tuple[int, ...]) -> Layer | None:
        units = self.one_of(COLUMNS)
        how = "unrolled" if shape[1] <= 6 and self.chance(0.4) else "scan"
        weights = self.weights((shape[2], units)), self.weights((units, units))
        return Layer("recurrent", (x, *weights), {"how": how, "reverse": how == "scan" and self.chance(0.3)})


Kind = Callable[[Drawing, int, tuple[int, ...]], Layer | None]
D = Drawing
OF_ANY_RANK: dict[Kind, int] = dict.fromkeys([D.activation, D.reduced, D.against, D.other, D.moved], 1)
LAYERS: dict[int, dict[Kind, int]] = {
    2: {
        D.dense: 4,
        D.perceptron: 3,
        D.made: 2,
        D.repeated: 2,
        D.normalised: 1,
        D.cumulative: 1,
        D.gram: 1,
        D.product: 1,
    }
    | dict.fromkeys([D.masked, D.collected, D.embedded, D.segments, D.sorted, D.split, D.cross_entropy, D.solved], 1)
    | {D.contracted: 1},
    3: {
        convolved: 4,
        pooled: 2,
        D.dense: 2,
        D.attention: 2,
        D.repeated: 1,
        D.recurrent: 1,
        D.contracted: 1,
        D.product: 1,
    }
    | {D.stacks: 1, D.normalised: 1, D.cumulative: 1},
    4: {convolved: 6, pooled: 3, depthwise: 2, back: 1, image: 1, dilated: 1, D.repeated: 1, D.dense: 1, D.stacks: 1}
    | {D.normalised: 1, D.cumulative: 1},
    5: {convolved: 3, pooled: 2, back: 1, D.repeated: 1, D.normalised: 1, D.cumulative: 1},
}
"""The layers that are drawn, by the rank of what they are given, with how often."""
