"""Which properties are tried with which kinds of programs, and what is said of a program for which one fails."""

from __future__ import annotations

from collections.abc import Callable

from .drawing import Kind
from .interior import interior_tensors_are_inputs
from .program import Program
from .properties import (
    a_dict_makes_the_same_graph,
    a_model_computes_the_same,
    derivatives_are_differences,
    failing_calls_change_nothing,
    jax_differentiates_to_the_same,
    lengths_that_only_a_run_knows_change_nothing,
    onnxruntime_agrees,
    optimised_programs_give_the_same,
    results_are_those_of_the_steps,
    xla_agrees,
)
from .shrinking import shrunk
from .transforms import (
    a_model_has_the_same_derivatives,
    examples_are_mapped,
    forward_and_reverse_agree,
    hessians_are_made_of_products,
    jacobians_are_made_of_gradients,
    jets_are_nested_products,
    options_of_gradients_change_what_they_say,
    recomputed_and_rolled_programs_give_the_same,
)

Property = Callable[[Program], None]
PLAIN, NARROW, HALF = Kind("float64"), Kind("float32"), Kind("float16")
MIXED, WILD = Kind("float64", mixed=True), Kind("float64", mixed=True, wild=True)
ON_NUMPY: list[Property] = [
    results_are_those_of_the_steps,
    derivatives_are_differences,
    lengths_that_only_a_run_knows_change_nothing,
    optimised_programs_give_the_same,
    a_dict_makes_the_same_graph,
    failing_calls_change_nothing,
    forward_and_reverse_agree,
    jets_are_nested_products,
    jacobians_are_made_of_gradients,
    hessians_are_made_of_products,
    options_of_gradients_change_what_they_say,
    interior_tensors_are_inputs,
    recomputed_and_rolled_programs_give_the_same,
    examples_are_mapped,
]
ELSEWHERE: list[Property] = [xla_agrees, jax_differentiates_to_the_same]
OF_MODELS: list[Property] = [onnxruntime_agrees, a_model_computes_the_same, a_model_has_the_same_derivatives]
OF_WILD: list[Property] = [
    results_are_those_of_the_steps,
    lengths_that_only_a_run_knows_change_nothing,
    a_dict_makes_the_same_graph,
    failing_calls_change_nothing,
]
OF_HALF: list[Property] = [holds for holds in ON_NUMPY if holds is not derivatives_are_differences]
"""What is rounded to three digits has no differences."""
TRIED: list[tuple[Kind, list[Property], list[Property]]] = [
    (PLAIN, ON_NUMPY, ELSEWHERE),
    (MIXED, ON_NUMPY, ELSEWHERE),
    (HALF, OF_HALF, [xla_agrees]),
    (WILD, OF_WILD, [xla_agrees]),
    (NARROW, [], OF_MODELS),
]
"""For each kind the properties that NumPy alone decides, and those of other engines."""


def hold(holds: Property, program: Program) -> None:
    """AssertionError, with the smallest program that fails in that way, where a property does not hold."""
    error = failure(holds, program)
    if error is not None:
        small = shrunk(program, lambda p: type(failure(holds, p)) is type(error))
        raise AssertionError(f"{holds.__name__}: {failure(holds, small)}\n\n{small}") from error


def failure(holds: Property, program: Program) -> Exception | None:
    """What a property raises, unless a program is refused for a reason that is not its."""
    try:
        holds(program)
    except Exception as error:
        return None if any(text in str(error) for text in REFUSED) else error
    return None


REFUSED = (
    *("Singular matrix", "has no square root", "not positive definite", "did not converge"),
    "after one iteration",
    "is not part of the saved graph",
    *("is out of bounds", "is not in [", "is not known when XLA compiles"),
    *("Not a number (NaN) or infinity", "gradients are only implemented if `unique_indices=True`"),
    "must be known; use pb.ensure_shape",
)
"""What is said of matrices without an inverse, a root or singular values, of loops whose shapes change, of graphs with
Python functions, of numbers of elements that are not there, of arrays whose lengths depend on values, of checked
numbers, by jax of products that it does not differentiate, and of ranks that have to be known.
"""
