"""Declared traits are what the kernels do, on the operations of the case table; what the kernels do is declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pullback.core.primitive import Primitive, primitive_class
from pullback.core.traits import (
    ADDS,
    COMMUTES,
    COMPARES,
    CONSTANT,
    CONVERTS,
    ELEMENTWISE,
    FEWER,
    IGNORES_ZEROS,
    JOINS,
    MOVES,
    SHAPES,
    VIEWS,
    Link,
    Links,
    all_axes_but,
    is_of_stacks,
    linear,
    shaped_by,
)
from pullback.core.types import type_of_array
from pullback.primitives.debugging.guards import AbstractGuard

from .programs.differences import distance
from .traits_probe import Sample, contradictions, samples, undeclared, unread

NOT_DECLARED = {
    "Unbiased": "it is elementwise, but in an input that is smaller than the other",
    "MaskUnseen": "which elements it moves depends on numbers",
}
NOT_READ = {
    "Excess": "where it is not the smaller one",
    "MaskUnseen": "where it is NaN",
    "RowsLike": "it has any number of inputs",
    "Unbiased": "where it is NaN",
    "QuantizeAndDequantize": "bounds that are not given",
}
Samples = dict[type[Primitive], list[Sample]]


@pytest.fixture(scope="module")
def operations() -> Samples:
    return samples()


def test_kernels_do_what_traits_and_links_say(operations: Samples) -> None:
    assert [text for some in operations.values() for sample in some for text in contradictions(sample)] == []


def test_what_kernels_do_is_declared(operations: Samples) -> None:
    classes = {cls: some for cls, some in operations.items() if cls.__name__ not in NOT_DECLARED}
    assert [text for some in classes.values() for text in undeclared(some)] == []


def test_what_reads_only_the_shape_of_an_input_says_so(operations: Samples) -> None:
    found = {cls.__name__: unread(some) for cls, some in operations.items() if cls.__name__ not in NOT_READ}
    assert {name: inputs for name, inputs in found.items() if inputs} == {}


class _Doubled(Primitive):
    type = "DoubledForTraits"
    traits = (ELEMENTWISE, MOVES, ADDS)

    def kernel(self, xp: Any, x: Any) -> Any:
        return 2.0 * x + xp.sum(x * x)


class _RowSums(Primitive):
    type = "RowSumsForTraits"
    traits = (linear(0),)
    reads_values = False

    def links(self, i: int, x: Any) -> Links | None:
        return all_axes_but(x.shape.rank, 0)

    def kernel(self, xp: Any, x: Any) -> Any:
        return xp.cumsum(x, axis=1) + 1.0


class _Plain(Primitive):
    type = "PlainForTraits"

    def kernel(self, xp: Any, x: Any, y: Any) -> Any:
        del y
        return x[::-1] + 0.0


def _sample(primitive: Primitive, *arrays: Any) -> Sample:
    return Sample("a row", primitive, [np.asarray(x) for x in arrays])


def test_wrong_traits_are_found() -> None:
    assert contradictions(_sample(_Doubled(), np.arange(1.0, 4.0))) == [
        "_Doubled of a row: output 0 depends on more of input 0 than axes or places that go along",
        "_Doubled of a row: it does not move the elements of input 0",
        "_Doubled of a row: it does not add each element of input 0 to one element",
        "_Doubled of a row: it moves several elements to one",
    ]
    assert contradictions(_sample(_RowSums(), np.arange(1.0, 7.0).reshape(2, 3))) == [
        "_RowSums of a row: output 0 depends on more of input 0 than axes or places that go along",
        "_RowSums of a row: it is not linear in [0]",
        "_RowSums of a row: it reads values",
    ]


def test_missing_traits_are_found() -> None:
    assert undeclared([_sample(_Plain(), np.arange(1.0, 4.0), np.ones(3))]) == ["_Plain declares not that it is moves"]


def test_shapes_of_inputs_do_not_depend_on_values(operations: Samples) -> None:
    for cls, some in operations.items():
        for sample in some if SHAPES in cls.traits else []:
            assert [y.tolist() for y in sample.run()] == [list(x.shape) for x in sample.arrays]


def test_results_have_the_shapes_that_inputs_hold(operations: Samples) -> None:
    for cls, some in operations.items():
        for sample in some:
            for i, x in enumerate(sample.arrays):
                if shaped_by(i) in cls.traits:
                    assert sample.run()[0].shape == tuple(x)


def test_what_views_the_memory_of_its_input_is_declared(operations: Samples) -> None:
    for cls, some in operations.items():
        found = [s.views_its_input() for s in some if s.arrays and s.arrays[0].size]
        known = [shares for shares in found if shares is not None]
        if VIEWS in cls.traits:
            assert all(known), cls
        elif MOVES in cls.traits and len(known) > 1 and all(len(s.arrays) == 1 for s in some):
            assert not all(known), cls


def test_constants_are_their_values(operations: Samples) -> None:
    found = [s for cls, some in operations.items() if CONSTANT in cls.traits for s in some]
    assert found
    for sample in found:
        np.testing.assert_array_equal(sample.run()[0], sample.primitive.attributes["value"])


@pytest.mark.parametrize("name", ["Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"])
def test_comparisons_depend_on_which_number_is_larger(name: str) -> None:
    cls = primitive_class(name)
    assert cls is not None
    assert COMPARES in cls.traits
    for pairs in ([(0, 1), (-7, 3)], [(1, 0), (9, -2)], [(0, 0), (5, 5)]):
        assert len({bool(cls().kernel(np, *pair)) for pair in pairs}) == 1


def test_what_commutes_gives_the_same_for_inputs_in_the_other_order(operations: Samples) -> None:
    found = [s for cls, some in operations.items() if COMMUTES in cls.traits for s in some]
    assert found
    for sample in found:
        np.testing.assert_array_equal(sample.run(sample.arrays[::-1])[0], sample.run()[0])


def test_numbers_are_converted_as_they_are(operations: Samples) -> None:
    found = [s for cls, some in operations.items() if CONVERTS in cls.traits for s in some]
    assert found
    for sample in found:
        np.testing.assert_array_equal(np.asarray(sample.run([np.arange(5)])[0]).astype(int)[1:], np.arange(5)[1:])


def test_what_moves_elements_moves_any_objects(operations: Samples) -> None:
    """Shapes are folded with None for what is not known. Guards look at numbers."""
    for cls, some in operations.items():
        for sample in some if MOVES in cls.traits and not issubclass(cls, AbstractGuard) else []:
            moved = range(len(sample.arrays)) if JOINS in cls.traits else [0]
            arrays = [x.astype(object) if i in moved else x for i, x in enumerate(sample.arrays)]
            for found, expected in zip(sample.run(arrays), sample.run(), strict=True):
                assert distance(found.astype(expected.dtype), expected) == 0, sample


def test_of_a_stack_each_is_treated_by_itself_wherever_it_stands(operations: Samples) -> None:
    turned = 0
    for cls, some in operations.items():
        for sample in some if is_of_stacks(cls.links) else []:
            along = [Link(0, 0) in (sample.links(i) or ()) for i in range(len(sample.arrays))]
            if any(along):
                turned += 1
                given = [x[::-1] if apart else x for x, apart in zip(sample.arrays, along, strict=True)]
                for found, expected in zip(sample.run(given), sample.run(), strict=True):
                    np.testing.assert_allclose(found, expected[::-1], 1e-9, 1e-12, err_msg=sample.row)
    assert turned > 100


def test_zeros_behind_what_is_brought_together_change_nothing(operations: Samples) -> None:
    for cls, some in operations.items():
        for sample in some if IGNORES_ZEROS in cls.traits and len(some[0].arrays) == 1 else []:
            x = sample.arrays[0]
            links = sample.links(0) or ()
            axis = next((a for a in range(x.ndim) if all(link.input != a for link in links)), None)
            if axis is None or cls.type in ("Rank", "Einsum"):
                continue
            zeros = np.zeros([2 if a == axis else n for a, n in enumerate(x.shape)], x.dtype)
            longer = sample.run([np.concatenate([x, zeros], axis)])
            np.testing.assert_allclose(longer[0], sample.run()[0], rtol=1e-12)


def test_lengths_that_a_run_decides_are_no_longer_than_is_said(operations: Samples) -> None:
    looked_at = set()
    for cls, some in operations.items():
        for sample in some if FEWER in cls.traits else []:
            types = sample.primitive.infer(*[type_of_array(x) for x in sample.arrays])
            for y, of in zip(sample.run(), types, strict=True):
                decided = [n for n, known in zip(y.shape, of.shape.as_list(), strict=True) if known is None]
                assert all(n <= np.asarray(sample.arrays[0]).size for n in decided), sample.row
                looked_at.update([cls.type] if decided else [])
    assert {"SumEqualRows", "TrueIndices", "UniqueIndices", "UniqueAlong", "Where"} <= looked_at


def test_links_that_count_the_positions_that_meet_count_all(operations: Samples) -> None:
    counted = 0
    for sample in [sample for some in operations.values() for sample in some]:
        links = [link for i in range(len(sample.arrays)) for link in sample.links(i) or ()]
        for pairs, number in [(link.pairs, link.number) for link in links if link.pairs and link.number]:
            assert number() == len(pairs(0, 0)[0])
            counted += 1
    assert counted > 100
