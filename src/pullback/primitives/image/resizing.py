"""Image resizing by every method that TensorFlow has, and the transposes of these linear maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...core.contexts import in_graph_of_inputs
from ...core.dtypes import COMPLEX, float32, float64
from ...core.operation import Operation, Tensor
from ...core.primitive import Primitive, no_gradient
from ...core.shape import TensorShape
from ...core.traits import ZEROS, Link, Links, Positions, all_axes_but, linear, of_stacks
from ...core.types import TensorType
from ...core.typing import TensorLike
from ..base.precision import widened
from ..casting.cast import cast
from ..creation.constant import convert_to_tensor
from ..elementwise.maximum import minimum
from ..elementwise.rounding import round as round_
from ..linalg.einsum import einsum
from ..shape.reshape import shape_to_use, split_shape
from ..shape.size import shape
from .resize_weights import KERNELS, Method, bands, nearest, span_weights, weights

Size = tuple[int | None, ...]


class ResizeMethod:
    """The names of the methods of `resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_OF_OLD = {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}
_ANTIALIASED = {"bilinear": "triangle", "bicubic": "keyscubic"}
_BY_DISTANCE = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")


@in_graph_of_inputs
def resize(
    images: TensorLike,
    size: TensorLike,
    method: str | int = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """`images` in another size.

    `method` is one of `ResizeMethod`. With `antialias` the weights reach further where the size shrinks, so that every
    pixel counts; "nearest" and "area" know none. With `preserve_aspect_ratio` the result is as large as fits into
    `size`.

    Shapes: `images` [..., h, w, c]; `size` two integers, rows and columns, or a vector of them. Dtypes: any real
    number; the result is float32, or float64 for float64; with "nearest" that of the images.

    Derivative: dx = W^T dy along both axes, for the constant matrices of weights W.

    Raises:
        ValueError: another method, or the shapes are others.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.resize([[[0.0], [4.0]]], [1, 4]))[0, :, 0]
    array([0., 1., 3., 4.], dtype=float32)
    """
    x = convert_to_tensor(images)
    kind = _OF_OLD.get(method, method) if isinstance(method, int) else str(method)
    if kind in _BY_DISTANCE or (antialias and kind in _ANTIALIASED):
        how = Method(_ANTIALIASED.get(kind, kind), antialias=bool(antialias))
    elif kind in ("bilinear", "nearest", "bicubic"):
        how = Method(kind, half_pixel_centers=True)
    elif kind == "area":
        how = Method(kind)
    else:
        raise ValueError(f"resize: method must be one of ResizeMethod, not {method!r}")
    if preserve_aspect_ratio:
        size = fitting_size(x, size)
    return _resized("resize", x, size, how, name)


def fitting_size(x: Tensor, size: Any) -> Any:
    """The largest size inside `size` with the ratio of the images' rows and columns."""
    dims, lengths = split_shape(size)
    known: Any = None if x.shape.sizes is None else x.shape.sizes[-3:-1]
    if lengths is None and dims is not None and known is not None and None not in known:
        wanted: Any = dims
        factor = min(m / n for m, n in zip(wanted, known, strict=True))
        return [max(round(factor * n), 1) for n in known]
    now = cast(shape(x)[-3:-1], float64)
    factors = cast(convert_to_tensor(size), float64) / now
    return cast(round_(now * minimum(factors[0], factors[1])), np.int32)


@in_graph_of_inputs
def resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """`images` in another size, each pixel between its four neighbours, as TensorFlow 1 places them.

    With `align_corners` the centres of the corner pixels stay where they are; with `half_pixel_centers` the edges of
    the image do; with neither, its upper left corner.

    Shapes: `images` [..., h, w, c]; `size` two integers or a vector of them. Dtypes: any real number; the result is
    float32, or float64 for float64.

    Derivative: dx = W^T dy along both axes, for the constant matrices of weights W.

    Raises:
        ValueError: the shapes are others, or both places are asked for.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.resize_bilinear([[[[0.0], [4.0]]]], [1, 3], align_corners=True))[0, 0, :, 0]
    array([0., 2., 4.], dtype=float32)
    """
    return _of_old("bilinear", images, size, align_corners, half_pixel_centers, name)


@in_graph_of_inputs
def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """`images` in another size, by the cubic convolution of 16 neighbours; see `resize_bilinear` for the arguments.

    Shapes: `images` [..., h, w, c]; `size` two integers or a vector of them. Dtypes: any real number; the result is
    float32, or float64 for float64.

    Derivative: dx = W^T dy along both axes, for the constant matrices of weights W.

    Raises:
        ValueError: the shapes are others, or both places are asked for.

    Source: Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981.

    >>> import pullback as pb
    >>> pb.image.resize_bicubic(pb.zeros([2, 4, 4, 3]), [8, 7]).shape
    TensorShape([2, 8, 7, 3])
    """
    return _of_old("bicubic", images, size, align_corners, half_pixel_centers, name)


@in_graph_of_inputs
def resize_nearest_neighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """`images` in another size, each pixel that of the nearest place; see `resize_bilinear` for the arguments.

    Shapes: `images` [..., h, w, c]; `size` two integers or a vector of them. Dtypes: any.

    Derivative: dx = sum of dy over the pixels that were taken from one.

    Raises:
        ValueError: the shapes are others, or both places are asked for.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.resize_nearest_neighbor([[[[1], [2]]]], [1, 4]))[0, 0, :, 0]
    array([1, 1, 2, 2], dtype=int32)
    """
    return _of_old("nearest", images, size, align_corners, half_pixel_centers, name)


@in_graph_of_inputs
def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """`images` in another size, each pixel the mean of the area that it covers.

    Shapes: `images` [..., h, w, c]; `size` two integers or a vector of them. Dtypes: any real number; the result is
    float32, or float64 for float64.

    Derivative: dx = W^T dy along both axes, for the constant matrices of weights W.

    Raises:
        ValueError: the shapes are others.

    >>> import pullback as pb
    >>> pb.Session().run(pb.image.resize_area([[[[1.0], [2.0], [6.0]]]], [1, 2]))[0, 0, :, 0]
    array([1.3333334, 4.6666665], dtype=float32)
    """
    return _of_old("area", images, size, align_corners, False, name)


def _of_old(kind: str, images: Any, size: Any, align: bool, half: bool, name: str | None) -> Tensor:
    what = f"resize_{'nearest_neighbor' if kind == 'nearest' else kind}"
    if align and half:
        raise ValueError(f"{what}: align_corners and half_pixel_centers contradict each other")
    return _resized(what, convert_to_tensor(images), size, Method(kind, bool(align), bool(half)), name)


def _resized(what: str, x: Tensor, size: Any, method: Method, name: str | None) -> Tensor:
    dims, lengths = split_shape(size)
    if dims is not None and len(dims) != 2:
        raise ValueError(f"{what}: size must be two integers, rows and columns, not {size!r}")
    rows, columns = dims or (None, None)
    y = x if method.name == "nearest" else as_float(what, x)
    inputs = (y,) if lengths is None else (y, lengths)
    return Resize(tuple(method), (rows, columns))(*inputs, name=name)


def as_float(what: str, x: Tensor) -> Tensor:
    """`x` in float32, or as it is in float64, for the function `what`.

    Raises:
        TypeError: it is complex.
    """
    if x.dtype in COMPLEX:
        raise TypeError(f"{what}: takes real numbers, not {x}; give it pb.real(x) and pb.imag(x) one by one")
    return x if x.dtype == float64 else cast(x, float32)


class AbstractResize(Primitive):
    """A change of the size of images, or its transpose."""

    type = "ChangeOfSize"
    shape_inputs = (1,)
    transposed: ClassVar[bool]

    method: tuple[Any, ...]
    size: Size

    def infer(self, x: TensorType, size: TensorType | None = None) -> tuple[TensorType, ...]:
        del size
        return (_with_size(x, self.size),)

    @of_stacks
    def links(self, i: int, x: TensorType, size: TensorType | None = None) -> Links | None:
        del i, size
        return _links(Method(*self.method), x, self.transposed)

    def gradient(self, op: Operation, dy: Tensor) -> Sequence[Any]:
        x, turned = op.inputs[0], Resize if self.transposed else ResizeGrad
        dims = None if x.shape.sizes is None else x.shape.sizes[-3:-1]
        if dims is None or None in dims:
            return (lambda: turned(self.method, (None, None))(dy, shape(x)[-3:-1]), None)[: len(op.inputs)]
        return (partial(turned(self.method, dims), dy), None)[: len(op.inputs)]


class Resize(AbstractResize):
    traits = (linear(0),)
    transposed = False

    def kernel(self, xp: Any, x: Any, size: Any = None) -> Any:
        rows, columns = shape_to_use(self.size, size)
        method = Method(*self.method)
        if method.name == "nearest":
            height, width = x.shape[-3:-1]
            y = xp.take(x, nearest(method, height, rows), axis=-3)
            return xp.take(y, nearest(method, width, columns), axis=-2)
        return change_size(xp, method, x, (rows, columns), transposed=False)


class ResizeGrad(AbstractResize):
    """The transpose of Resize: images of `size`, whose change of size gave what has the cotangent `dy`."""

    traits = (linear(0), ZEROS)
    transposed = True

    def kernel(self, xp: Any, dy: Any, size: Any = None) -> Any:
        lengths = shape_to_use(self.size, size)
        dx = change_size(xp, Method(*self.method), widened(dy), lengths, transposed=True)
        return dx.astype(dy.dtype, copy=False)


def _links(method: Method, x: TensorType, transposed: bool) -> Links | None:
    """Along rows and columns go the elements that have a weight."""

    def weighted(m: int, n: int) -> Positions:
        ours, theirs = np.nonzero(weights(method, m, n).T if transposed else weights(method, n, m))
        return ours, theirs

    rank = x.shape.rank
    others = all_axes_but(rank, -3, -2)
    if rank is None or others is None:
        return None
    return (*others, Link(rank - 3, rank - 3, weighted), Link(rank - 2, rank - 2, weighted))


def _with_size(x: TensorType, size: Size) -> TensorType:
    dims = x.shape.lengths
    if dims is None:
        return x
    if len(dims) < 3:
        raise ValueError(f"resize: images have three axes or more, but {x} has {len(dims)}")
    return TensorType(x.dtype, TensorShape([*dims[:-3], *size, dims[-1]]))


def change_size(
    xp: Any,
    method: Method,
    x: Any,
    size: Sequence[int],
    transposed: bool,
    between: Callable[[Any], Any] = lambda y: y,
    along: Callable[..., Any] | None = None,
) -> Any:
    """Images of `size`: by the matrices of `method`, or by the transposes of those that make the shape of `x` of it.

    `between` is applied to what has one of the two lengths; `along` changes one, `resized_along` unless given.
    """
    along = along or partial(resized_along, xp)
    *_, height, width, channels = x.shape
    y = x.reshape((int(np.prod(x.shape[:-3])), height, width, channels))
    axes = [(1, height, size[0]), (2, width, size[1])]
    # The order that leaves the fewer elements in between.
    if size[0] * width > height * size[1]:
        axes.reverse()
    for i, (axis, n, m) in enumerate(axes):
        y = along(method, y, axis, (m, n) if transposed else (n, m), transposed)
        y = y if i else between(y)
    return y.reshape((*x.shape[:-3], *size, channels))


def resized_along(xp: Any, method: Method, x: Any, axis: int, lengths: tuple[int, int], transposed: bool) -> Any:
    """The sum over the places in a band; the product with the matrix where it has none."""
    band = bands(method, *lengths, transposed)
    if band is None:
        matrix = weights(method, *lengths)
        return xp.moveaxis(xp.tensordot(x, (matrix if transposed else matrix.T).astype(x.dtype), (axis, 0)), -1, axis)
    total, along = None, (-1,) + (1,) * (x.ndim - 1 - axis)
    for i in range(band.columns.shape[1]):
        term = xp.take(x, band.columns[:, i], axis=axis) * band.numbers[:, i].astype(x.dtype).reshape(along)
        total = term if total is None else xp.add(total, term)
    return total


@in_graph_of_inputs
def scale_and_translate(
    images: TensorLike,
    size: TensorLike,
    scale: TensorLike,
    translation: TensorLike,
    kernel_type: str = "lanczos3",
    antialias: bool = True,
    name: str | None = None,
) -> Tensor:
    """`images` scaled, then moved: the pixel at p comes to `p * scale + translation`; zeros where there is none.

    `kernel_type` says how weights depend on distance: lanczos1, lanczos3, lanczos5, gaussian, box, triangle, keyscubic
    or mitchellcubic. No derivative goes to `scale` and `translation`.

    Shapes: `images` [n, h, w, c]; `size`, `scale` and `translation` two numbers, for rows and columns. Dtypes: any real
    number; the result is float32, or float64 for float64.

    Derivative: dimages = W^T dy along both axes, for the matrices of weights W; none by scale and translation.

    Raises:
        ValueError: another kernel, or the shapes are others.

    >>> import pullback as pb
    >>> x = [[[[1.0], [2.0], [3.0]]]]
    >>> pb.Session().run(pb.image.scale_and_translate(x, [1, 3], [1.0, 1.0], [0.0, 1.0], "triangle"))[0, 0, :, 0]
    array([0., 1., 2.], dtype=float32)
    """
    if kernel_type not in KERNELS:
        raise ValueError(f"scale_and_translate: kernel_type must be one of {', '.join(KERNELS)}, not {kernel_type!r}")
    x = as_float("scale_and_translate", convert_to_tensor(images))
    dims, lengths = split_shape(size)
    with x.graph.within(name or "ScaleAndTranslate"):
        factors, moves = [as_float("scale_and_translate", convert_to_tensor(v)) for v in (scale, translation)]
        more = () if lengths is None else (lengths,)
        matrices = [
            SpanWeights(i, None if dims is None else dims[i], kernel_type, bool(antialias))(
                x, cast(factors, x.dtype), cast(moves, x.dtype), *more
            )
            for i in range(2)
        ]
        return einsum("oh,pw,nhwc->nopc", *matrices, x)


class SpanWeights(Primitive):
    """The matrix that scales and moves rows (`axis` 0) or columns (1) of the first input."""

    shape_inputs = (3,)

    axis: int
    count: int | None
    kernel_type: str
    antialias: bool

    def infer(self, x: TensorType, *rest: TensorType) -> tuple[TensorType, ...]:
        del rest
        n = None if x.shape.lengths is None else x.shape.lengths[self.axis + 1]
        return (TensorType(x.dtype, TensorShape([self.count, n])),)

    def kernel(self, xp: Any, x: Any, scale: Any, translation: Any, size: Any = None) -> Any:
        count = self.count if size is None else int(np.asarray(size)[self.axis])
        n, axis = x.shape[self.axis + 1], self.axis
        assert count is not None
        factor, move = scale[axis].astype(float64), translation[axis].astype(float64)
        return span_weights(xp, n, count, factor, move, self.kernel_type, self.antialias).astype(x.dtype)

    gradient = no_gradient
