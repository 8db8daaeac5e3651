"""Every row of the case table at hard points: read again from a GraphDef it has the values and derivatives that it had.

What is other there says so in the row, `other_at_hard_points`.
"""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import UnimplementedError
from tests.cases.case import Case
from tests.cases.table import building
from tests.hard_points import assert_same, cotangents, hard_rows, keeps_state, with_derivatives


def check(case: Case) -> None:
    with building(case, dtype=np.float64) as built:
        ys = [pb.identity(y) for y in built.ys]
        xs = [built.xs[i] for i in case.differentiated()]
        if keeps_state(built):
            return
        try:
            data = pb.graphdef.export(built.graph, [*ys, *built.xs]).SerializeToString()
        except UnimplementedError:
            return
        seeds = cotangents(case, np.float64)
        expected = with_derivatives(ys, xs, seeds)
        with pb.Graph().as_default() as graph:
            pb.import_graph_def(data, name="")
        found = {x: graph.get_tensor_by_name(x.name) for x in (*ys, *built.xs)}
        again = with_derivatives([found[y] for y in ys], [found[x] for x in xs], seeds)
        with pb.Session(graph=graph, engine="numpy") as session:
            feeds = [found[x] for x in built.xs]
            assert_same(built, expected, lambda arrays: session.run(again, dict(zip(feeds, arrays, strict=True))), 1e-9)


@pytest.mark.parametrize("cases", hard_rows("graphdef", every=4))
def test_what_is_read_again_has_the_derivatives_that_were_there(cases: list[Case]) -> None:
    for case in cases:
        try:
            check(case)
        except BaseException as error:
            error.add_note(f"in the row {case}")
            raise
