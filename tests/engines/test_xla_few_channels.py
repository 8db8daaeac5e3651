"""Convolutions on XLA whose results have few channels: one product for all places of a window."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytest.importorskip("jax")

from pullback.engines.xla.convolution import convolution
from pullback.primitives.convolution import formulations
from pullback.primitives.convolution.formulations import has_few_channels, has_strides

FORMS = [
    # Lengths, windows, strides, dilations, padding.
    ((9, 8), (3, 3), (1, 1), (1, 1), "SAME"),
    ((9, 8), (3, 3), (1, 1), (1, 1), "VALID"),
    ((9, 8), (2, 4), (1, 1), (3, 2), "SAME"),
    ((9, 8), (1, 5), (1, 1), (1, 1), [[0, 0], [2, 0], [0, 7], [0, 0]]),
    ((9, 8), (3, 3), (2, 3), (1, 1), "SAME"),
    ((9, 8), (4, 2), (3, 3), (1, 1), "VALID"),
    ((9, 8), (3, 5), (2, 2), (1, 1), [[0, 0], [1, 3], [0, 2], [0, 0]]),
    ((3, 2), (2, 2), (4, 4), (1, 1), "SAME"),
    ((4, 5), (5, 7), (1, 1), (1, 1), "SAME"),
]


def normals(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the lowerings for few channels that are called from now on."""
    calls = []

    def noted(name: str, own: Any, *args: Any) -> Any:
        calls.append(name)
        return own(*args)

    for name in ("convolve_to_few", "few_by_input", "few_by_filter"):
        monkeypatch.setattr(convolution, name, partial(noted, name, getattr(convolution, name)))
    return calls


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_the_values_and_derivatives_are_those_of_numpy(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, windows, strides, dilations, padding = form
    wide, narrow = pb.constant(normals(0, 2, *lengths, 40)), pb.constant(normals(1, 2, *lengths, 2))
    f, g = pb.constant(normals(2, *windows, 40, 2)), pb.constant(normals(3, *windows, 2, 40))
    few = pb.nn.conv2d(wide, f, strides, padding, dilations=dilations)
    many = pb.nn.conv2d(narrow, g, strides, padding, dilations=dilations)
    (dx,) = pb.gradients(pb.reduce_sum(many * many), narrow)
    results = [few, dx, *pb.gradients([pb.reduce_sum(few * few), pb.reduce_sum(dx * dx)], [wide, f, narrow, g])]
    expected = pb.Session(engine="numpy").run(results)
    calls = counted(monkeypatch)
    found = pb.Session(engine="xla").run(results)
    assert ("convolve_to_few" in calls) == ("few_by_filter" in calls) == (max(strides) == 1)
    assert "few_by_input" in calls
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-5 * max(1.0, np.abs(y).max()))


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_of_either_layout_with_channels_in_groups_apart(data_format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (2, 32, 6, 5) if data_format == "NCHW" else (2, 6, 5, 32)
    x = pb.constant(normals(0, *shape))
    results = [pb.nn.conv2d(x, pb.constant(normals(1, 3, 3, n, 2)), 1, "SAME", data_format) for n in (32, 16)]
    expected = pb.Session(engine="numpy").run(results)
    calls = counted(monkeypatch)
    found = pb.Session(engine="xla").run(results)
    assert calls == ["convolve_to_few"]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_of_volumes_and_of_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    x, f = pb.constant(normals(0, 1, 4, 3, 5, 32)), pb.constant(normals(1, 2, 3, 2, 32, 1))
    z, g = pb.constant(normals(2, 3, 17, 2)), pb.constant(normals(3, 4, 2, 16))
    dz = pb.gradients(pb.nn.conv1d(z, g, 3, "SAME") ** 2, z)
    results = [pb.nn.conv3d(x, f, [1] * 5, "SAME"), *dz]
    found = pb.Session(engine="xla").run(results)
    assert sorted(calls) == ["convolve_to_few", "few_by_input"]
    for a, b in zip(found, pb.Session(engine="numpy").run(results), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [pb.float64, pb.float16, pb.bfloat16])
def test_of_other_floats(dtype: Any) -> None:
    x, f = pb.cast(pb.constant(normals(0, 2, 5, 6, 16)), dtype), pb.cast(pb.constant(normals(1, 3, 3, 16, 2)), dtype)
    y = pb.nn.conv2d(x, f, 1, "SAME")
    found, expected = pb.Session(engine="xla").run(y), pb.Session(engine="numpy").run(y)
    assert found.dtype == expected.dtype
    tolerance = {pb.float64: 1e-12, pb.float16: 2e-3, pb.bfloat16: 2e-2}[dtype]
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=tolerance, atol=10 * tolerance)


def test_for_few_channels_of_many_only() -> None:
    assert has_few_channels((3, 3), 64, 3)
    assert has_few_channels((7, 7), 64, 3)
    assert not has_few_channels((1, 1), 64, 3)
    assert not has_few_channels((3, 3), 256, 9)
    assert not has_few_channels((3, 3), 3, 3)
    assert not has_few_channels((8, 8), 256, 1)
    assert not has_few_channels((3, 3), 0, 0)


@pytest.mark.parametrize(("count", "by_places"), [(1, []), (2, ["few_by_input"])])
def test_by_inputs_in_strides_on_several_threads(
    count: int, by_places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formulations, "threads", lambda: count)
    x, f = pb.constant(normals(0, 2, 15, 14, 12)), pb.constant(normals(1, 3, 4, 12, 20))
    (dx,) = pb.gradients(pb.nn.conv2d(x, f, [2, 3], "SAME") ** 2, x)
    results = [dx, *pb.gradients(dx**2, [x, f])]
    expected = pb.Session(engine="numpy").run(results)
    calls = counted(monkeypatch)
    found = pb.Session(engine="xla").run(results)
    assert sorted({*calls}) == by_places
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * np.abs(b).max())


def test_strides_of_windows_along_one_or_two_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulations, "threads", lambda: 4)
    assert has_strides((3, 3), (2, 1))
    assert has_strides((4,), (2,))
    assert not has_strides((3, 3), (1, 1))
    assert not has_strides((1, 1), (2, 2))
    assert not has_strides((8, 8), (2, 2))
    assert not has_strides((3, 3, 3), (2, 2, 2))
