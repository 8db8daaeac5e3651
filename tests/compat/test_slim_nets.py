"""Networks of slim: names and numbers of their variables are those of published checkpoints."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

import pullback.compat.v1 as tf

slim = tf.contrib.slim
nets = slim.nets


def parameters() -> int:
    return sum(prod(v.shape.as_list()) for v in tf.trainable_variables())


@pytest.mark.parametrize(
    ("build", "scope", "count", "some"),
    [
        (nets.vgg.vgg_16, nets.vgg.vgg_arg_scope, 138_357_544, "vgg_16/conv5/conv5_3/biases"),
        (nets.vgg.vgg_19, nets.vgg.vgg_arg_scope, 143_667_240, "vgg_19/fc6/weights"),
        (
            *(nets.resnet_v1.resnet_v1_50, nets.resnet_v1.resnet_arg_scope, 25_557_032),
            "resnet_v1_50/block1/unit_1/bottleneck_v1/shortcut/BatchNorm/gamma",
        ),
        (
            *(nets.resnet_v1.resnet_v1_101, nets.resnet_v1.resnet_arg_scope, 44_549_160),
            "resnet_v1_101/block3/unit_23/bottleneck_v1/conv2/weights",
        ),
        (
            *(nets.resnet_v2.resnet_v2_50, nets.resnet_v2.resnet_arg_scope, 25_568_360),
            "resnet_v2_50/block4/unit_3/bottleneck_v2/preact/beta",
        ),
    ],
)
def test_a_network_has_the_variables_of_its_checkpoint(build: Any, scope: Any, count: int, some: str) -> None:
    with slim.arg_scope(scope()):
        logits, points = build(tf.placeholder(tf.float32, [None, 224, 224, 3]), 1000)
    assert (parameters(), logits.shape.as_list()[-1], build.default_image_size) == (count, 1000, 224)
    assert some in [v.op.name for v in slim.get_model_variables()]
    assert f"{build.__name__}/{'fc7' if 'vgg' in some else 'block4'}" in points


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_strides_become_rates_where_the_image_is_small_enough(version: str) -> None:
    """Dense features: those of every fourth place are those of the network that strides."""
    module = getattr(nets, f"resnet_{version}")
    blocks = [
        nets.resnet_utils.Block("block1", module.bottleneck, [{"depth": 8, "depth_bottleneck": 2, "stride": 2}]),
        nets.resnet_utils.Block("block2", module.bottleneck, [{"depth": 8, "depth_bottleneck": 2, "stride": 2}] * 2),
    ]
    x = tf.constant(np.random.default_rng(0).normal(size=[1, 33, 33, 3]), tf.float32)

    def built(output_stride: int | None, reuse: bool | None) -> Any:
        options = {"is_training": False, "global_pool": False, "include_root_block": False}
        return getattr(module, f"resnet_{version}")(
            x, blocks, output_stride=output_stride, reuse=reuse, scope="net", **options
        )[0]

    with slim.arg_scope(module.resnet_arg_scope()):
        strided, dense = built(None, None), built(2, True)
        with pytest.raises(ValueError, match=r"^the target output_stride 16 cannot be reached$"):
            built(16, True)
    with tf.Session(engine="numpy") as session:
        session.run(tf.global_variables_initializer())
        found, all_places = session.run([strided, dense])
    assert (found.shape, all_places.shape) == ((1, 5, 5, 8), (1, 17, 17, 8))
    np.testing.assert_allclose(all_places[:, ::4, ::4], found, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("installed")
def test_networks_are_found_where_programs_import_them() -> None:
    from tensorflow.contrib.slim.nets import vgg  # type: ignore[import-not-found]
    from tensorflow.contrib.slim.python.slim.nets import resnet_v1  # type: ignore[import-not-found]

    assert (vgg.vgg_16, resnet_v1.resnet_v1_50) == (nets.vgg.vgg_16, nets.resnet_v1.resnet_v1_50)
