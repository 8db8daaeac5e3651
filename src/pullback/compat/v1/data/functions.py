"""Functions of elements: what a program gives `map` or `filter`, traced once and run by NumPy for each element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pullback as pb

from ....core.function import trace
from .structure import Array, leaves
from .windows import as_arguments

Values = Mapping[pb.Tensor, Array]


class ElementFunction:
    """A function of the leaves of elements of the types `spec`; `structure` is what it returned, with tensors.

    `inputs` are the tensors around it that it reads, whose values a call needs.

    Raises:
        NotImplementedError: it reads a variable.
    """

    def __init__(self, what: str, function: Callable[..., Any], spec: Any, tensors_of: Callable[[Any], Any]) -> None:
        returned: list[Any] = []

        from .dataset import Dataset

        def build(*given: pb.Tensor) -> Sequence[pb.Tensor]:
            element = as_arguments(spec, given, Dataset)
            arguments = element if type(element) is tuple else (element,)
            returned.append(tensors_of(function(*arguments)))
            return [leaf for leaf in leaves(returned[0]) if isinstance(leaf, pb.Tensor)]

        traced = trace(build, [pb.TensorType(*kind) for kind in leaves(spec)], what)
        if any(x.dtype == pb.resource for x in traced.captured):
            raise NotImplementedError(
                f"Dataset.{what}: the function reads a variable; apply that to what get_next gives"
            )
        self.structure = returned[0]
        self.inputs = traced.captured
        self._function = traced.function
        self._session = pb.Session(graph=traced.function.graph, engine="numpy")

    def __call__(self, element: Sequence[Array], values: Values) -> list[Array]:
        """The leaves that it returns for those of an element."""
        given = [*element, *[values[x] for x in self.inputs]]
        return self._session.run_function(self._function, self.inputs, given)
