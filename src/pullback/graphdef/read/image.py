"""GraphDef import of images: resizing, sampling, patches, boxes, colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtypes import float32
from ...core.operation import Tensor
from ...layers.image import colors, files
from ...primitives.creation.constant import constant_value, convert_to_tensor
from ...primitives.image import boxes, patches, resizing, sampling
from ...primitives.image.resize_weights import Method
from ...primitives.shape.size import shape
from ..nodes import Node, calling, reader

_RESIZERS: dict[str, Any] = {
    "ResizeBilinear": resizing.resize_bilinear,
    "ResizeBicubic": resizing.resize_bicubic,
    "ResizeNearestNeighbor": resizing.resize_nearest_neighbor,
}


_METHODS = {
    "ResizeBilinearGrad": "bilinear",
    "ResizeBicubicGrad": "bicubic",
    "ResizeNearestNeighborGrad": "nearest",
}

reader("DecodeJpeg")(
    calling(
        files.decode_jpeg,
        1,
        channels=0,
        ratio=1,
        fancy_upscaling=True,
        try_recover_truncated=False,
        acceptable_fraction=1.0,
        dct_method="",
    )
)
reader("DecodePng")(calling(files.decode_png, 1, channels=0, dtype="uint8"))
reader("DecodeBmp")(calling(files.decode_bmp, 1, channels=0))
reader("DecodeGif")(calling(files.decode_gif, 1))
reader("EncodePng")(calling(files.encode_png, 1, compression=-1))
reader("ExtractJpegShape")(calling(files.extract_jpeg_shape, 1, output_type="int32"))
reader("ResizeArea")(calling(resizing.resize_area, 2, align_corners=False))
reader("RGBToHSV")(calling(colors.rgb_to_hsv, 1))
reader("HSVToRGB")(calling(colors.hsv_to_rgb, 1))
reader("AdjustHue")(calling(colors.adjust_hue, 2))
reader("AdjustSaturation")(calling(colors.adjust_saturation, 2))
reader("ScaleAndTranslate")(calling(resizing.scale_and_translate, 4, kernel_type="lanczos3", antialias=True))
reader("CropAndResize")(calling(sampling.crop_and_resize, 4, method="bilinear", extrapolation_value=0.0))


@reader(*_RESIZERS)
def resize(node: Node, x: Tensor, size: Tensor) -> Any:
    corners, centers = node.attribute("align_corners", False), node.attribute("half_pixel_centers", False)
    return _RESIZERS[node.op_type](x, size, corners, node.exactly, centers)


@reader("ResizeBilinearGrad", "ResizeBicubicGrad")
def resize_grad(node: Node, dy: Tensor, x: Tensor) -> Any:
    return _transposed(node, dy, shape(x)[1:3] if None in _sides(x) else list(_sides(x)))


@reader("ResizeNearestNeighborGrad")
def resize_nearest_grad(node: Node, dy: Tensor, size: Tensor) -> Any:
    return _transposed(node, dy, size)


def _sides(x: Tensor) -> Any:
    return (None,) if x.shape.sizes is None else x.shape.sizes[1:3]


def _transposed(node: Node, dy: Tensor, size: Any) -> Any:
    """The transpose of a change of size, of images that had `size`."""
    name = _METHODS[node.op_type]
    method = Method(name, node.attribute("align_corners", False), node.attribute("half_pixel_centers", False))
    lengths = convert_to_tensor(size)
    known = constant_value(lengths)
    if known is not None:
        return node.make(resizing.ResizeGrad(tuple(method), tuple(known.tolist())), dy)
    return node.make(resizing.ResizeGrad(tuple(method), (None, None)), dy, lengths)


@reader("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def projective(node: Node, x: Tensor, transforms: Tensor, shape: Tensor, *fill: Tensor) -> Any:
    value = node.static(fill[0]) if fill else np.zeros((), float32)
    if value is None:
        node.refuse("the value outside of the images must be known")
    how, mode = node.text("interpolation"), node.text("fill_mode", "CONSTANT")
    return sampling.projective_transform(x, transforms, shape, float(value), how, mode, name=node.exactly)


@reader("ExtractImagePatches")
def image_patches(node: Node, x: Tensor) -> Any:
    sizes, strides, rates = [list(node.attribute(key)) for key in ("ksizes", "strides", "rates")]
    return patches.extract_patches(x, sizes, strides, rates, node.text("padding"), name=node.exactly)


@reader("ExtractVolumePatches")
def volume_patches(node: Node, x: Tensor) -> Any:
    sizes, strides = list(node.attribute("ksizes")), list(node.attribute("strides"))
    return patches.extract_volume_patches(x, sizes, strides, node.text("padding"), name=node.exactly)


@reader("NonMaxSuppressionV3", "NonMaxSuppressionV2", "NonMaxSuppression")
def suppressed(node: Node, rectangles: Tensor, scores: Tensor, most: Tensor, *thresholds: Tensor) -> Any:
    known = [node.static(x) for x in thresholds]
    if any(x is None for x in known):
        node.refuse("its thresholds must be known")
    overlap = float(known[0]) if known and known[0] is not None else node.attribute("iou_threshold", 0.5)
    least = float(known[1]) if len(known) > 1 and known[1] is not None else float("-inf")
    return boxes.non_max_suppression(rectangles, scores, most, overlap, least, name=node.exactly)


@reader("AdjustContrastv2")
def adjust_contrast(node: Node, x: Tensor, factor: Tensor) -> Any:
    del node
    return colors.adjust_contrast(x, factor)


@reader("DecodeImage")
def decoded(node: Node, contents: Tensor) -> Any:
    channels, dtype, animated = node.all_of({"channels": 0, "dtype": "uint8", "expand_animations": True})
    return files.decode_image(contents, channels, dtype, node.exactly, animated)
