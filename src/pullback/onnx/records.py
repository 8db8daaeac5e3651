"""ONNX intermediate representation: values, nodes, graphs inside nodes of a model that is being written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import NodeProto, defs, helper

from ..autodiff.choices import Around
from ..autodiff.masked_zeros import Guard
from ..core.dtypes import INTEGER
from ..core.operation import Operation
from ..core.shape import TensorShape, with_symbols
from ..core.types import TensorType

_MERGED_BYTES = 4096
_LONGEST = 64
"""Vectors of integers of more elements hold no lengths."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the model that is written: its name there, for now a number, and its type."""

    name: str
    type: TensorType


@dataclass(frozen=True, slots=True)
class SequenceOf:
    """What stands for the dtype of a sequence of tensors."""

    element: Any
    name = "sequence"
    kind = "-"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that a loop has written, as a sequence of tensors: they may differ in shape. The type is that of a stack."""

    name: str
    type: TensorType


@dataclass(eq=False, slots=True)
class Record:
    """A node that will be written."""

    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    name: str = ""
    proto: NodeProto | None = None
    """The node of a loaded model that is written again as it was."""
    captured: Mapping[str, str] | None = None
    """For each name outside that the subgraphs of `proto` read the value that stands for it."""
    provenance: str = ""
    """What is said of the operation of ours that it is the last node of; empty where it is the only one."""


@dataclass(eq=False, slots=True)
class Body:
    """A graph inside a node."""

    records: list[Record]
    inputs: list[Value]
    outputs: list[Value]
    name: str


class Model:
    """What all writers of one model share."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.types: dict[str, TensorType] = {}
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        """The constants."""
        self.uniform: dict[str, Any] = {}
        """For constants that were asked the number that all elements are, or None."""
        self.normalised: dict[Any, Record] = {}
        """Nodes of LayerNormalization by what they normalise: the value, from which axis, and the epsilon."""
        self.inverses: dict[str, Value] = {}
        """For a variance one over the root of it and epsilon, where a node gives that."""
        self.wanted: dict[str, str] = {}
        """The name that a value should have."""
        self.producers: dict[str, Record] = {}
        self.elements: dict[str, np.ndarray[Any, Any]] = {}
        """For short arrays of integers that are lengths these, as objects; None for what only a run knows."""
        self.states: dict[Operation, Value] = {}
        """The present value of each variable that has been read or written, by its handle's operation."""
        self.initial: dict[Operation, Value] = {}
        """Their values before the run, which are inputs or constants."""
        self.known = Guard(Around(zeros=True, poles=True))
        """Which numbers the elements of tensors may be, whatever reaches a function."""
        self.session: Any = None
        self.tells = False
        """Whether it says which operations of ours its nodes stand for."""
        self.strict = False
        """Whether an error in a writer is raised at once: for finding its cause."""
        self.failures: list[tuple[Operation, str]] = []
        """Operations that could not be written, and why."""
        self._constants: dict[Any, Value] = {}
        self._unranked: dict[int, TensorShape] = {}
        """The shapes of unknown rank that values have, by their ids."""

    def new(self, type: TensorType, name: str = "") -> Value:
        """A value that is yet to be made."""
        key = str(len(self.types))
        if not type.shape.is_fully_defined():
            shape = self._own(type.shape) if type.shape.lengths is None else with_symbols(type.shape)
            type = TensorType(type.dtype, shape)
        self.types[key] = type
        if name:
            self.wanted[key] = name
        return Value(key, type)

    def _own(self, shape: TensorShape) -> TensorShape:
        """A shape of unknown rank for values that are all of it: `shape`, if it is one of the model's, or a new one."""
        known = self._unranked.get(id(shape))
        if known is None:
            known = TensorShape(None)
            self._unranked[id(known)] = known
        return known

    def forget(self) -> None:
        """Give back what only the making of nodes needs."""
        for table in (self.producers, self.elements, self.uniform, self.normalised, self.inverses, self._constants):
            table.clear()

    def elements_of(self, x: Value) -> np.ndarray[Any, Any] | None:
        """The elements of a constant, or of a short vector of integers as far as they are known; None for others."""
        known = self.arrays.get(x.name)
        if known is None:
            known = self.elements.get(x.name)
        dims = x.type.shape.sizes
        if known is None and x.type.dtype in INTEGER and dims is not None and len(dims) < 2 and None not in dims:
            known = np.full(dims, None) if sum(n or 0 for n in dims) <= _LONGEST else None
        return known

    def constant(self, array: np.ndarray[Any, Any], name: str = "") -> Value:
        """The value of a constant; small equal ones are one."""
        key: Any = id(array) if array.nbytes > _MERGED_BYTES else (array.dtype, array.shape, array.tobytes())
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = self.new(TensorType(array.dtype, TensorShape(array.shape)), name)
            self.arrays[known.name] = array
        return known

    def state(self, handle: Operation, type: TensorType) -> Value:
        """The present value of a variable."""
        known = self.states.get(handle)
        if known is None:
            known = self.states[handle] = self.initial[handle] = self.new(type)
        return known

    def changed_states(self) -> dict[Operation, Value]:
        """The variables that were assigned to, with their new values."""
        return {op: value for op, value in self.states.items() if self.initial.get(op) is not value}

    def state_value(self, handle: Operation) -> np.ndarray[Any, Any] | None:
        """The value that a variable has in the session that was given."""
        if self.session is None or not self.session.has_variable(handle):
            return None
        value: np.ndarray[Any, Any] = self.session.read_variable(handle)
        return value


def node_key(op_type: str, inputs: tuple[str, ...], attributes: Mapping[str, Any], opset: int) -> Any:
    """What equal nodes of an operator have in common: attributes that say what holds without them are left out."""
    if not attributes:
        return inputs
    default = _defaults(op_type, opset)
    told = {key: value for key, value in attributes.items() if not _says_nothing(op_type, key, value, default)}
    return (inputs, frozen(told)) if told else inputs


@cache
def _defaults(op_type: str, opset: int) -> Mapping[str, Any]:
    if not defs.has(op_type, opset, ""):
        return {}
    attributes = defs.get_schema(op_type, opset, "").attributes
    return {key: helper.get_attribute_value(a.default_value) for key, a in attributes.items() if a.default_value.name}


def _says_nothing(op_type: str, key: str, value: Any, default: Mapping[str, Any]) -> Any:
    if key in ("strides", "dilations"):
        return all(n == 1 for n in value)
    if key in ("pads", "output_padding"):
        return not any(value)
    if key == "kernel_shape":
        return op_type in ("Conv", "ConvTranspose")
    if key not in default or isinstance(value, np.ndarray | Body):
        return False
    known = default[key]
    return value == (known.decode() if isinstance(known, bytes) else known)


def frozen(attributes: Mapping[str, Any]) -> Any:
    """Attributes as something that can be compared."""
    if not attributes:
        return ()
    return tuple([(key, _frozen_value(attributes[key])) for key in sorted(attributes)])


def _frozen_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return tuple(value) if isinstance(value, list) else value
