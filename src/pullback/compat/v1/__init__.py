"""TensorFlow 1 names: all of pullback's, so that only an import changes: `import pullback.compat.v1 as tf`.

Functions take the parameters of TensorFlow 1, in its order, with its old names and its defaults: here, and in the
namespaces that stand beside this file. All else is pullback itself: what is here stands on its public names, as a
user's program does.
"""

from importlib import import_module
from typing import Any

import pullback

from ...layers.variables.creators import variable_creator_scope as variable_creator_scope
from ..modes import disable_resource_variables as disable_resource_variables
from . import functions, io, messages, strings
from .accumulators import ConditionalAccumulator as ConditionalAccumulator
from .accumulators import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from .accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from .arguments import older
from .assignments import batch_scatter_update as batch_scatter_update
from .assignments import count_up_to as count_up_to
from .callbacks import numpy_function as numpy_function
from .callbacks import py_func as py_func
from .composites import on_composites_too
from .conversions import assert_proper_iterable as assert_proper_iterable
from .conversions import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from .conversions import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from .conversions import dimension_at_index as dimension_at_index
from .conversions import dimension_value as dimension_value
from .conversions import register_tensor_conversion_function as register_tensor_conversion_function
from .counts import bincount as bincount
from .dtypes import DType as DType
from .dtypes import with_methods
from .edit_distances import edit_distance as edit_distance
from .errors import OpError as OpError
from .initialization import VariableAggregation as VariableAggregation
from .initialization import VariableSynchronization as VariableSynchronization
from .initialization import add_check_numerics_ops as add_check_numerics_ops
from .initialization import assert_variables_initialized as assert_variables_initialized
from .initialization import container as container
from .initialization import enable_tensor_equality as enable_tensor_equality
from .initialization import fixed_size_partitioner as fixed_size_partitioner
from .initialization import init_scope as init_scope
from .initialization import initialize_all_tables as initialize_all_tables
from .initialization import min_max_variable_partitioner as min_max_variable_partitioner
from .initialization import op_scope as op_scope
from .initialization import report_uninitialized_variables as report_uninitialized_variables
from .initialization import tables_initializer as tables_initializer
from .initialization import variable_axis_size_partitioner as variable_axis_size_partitioner
from .initialization import variable_op_scope as variable_op_scope
from .module import Module as Module
from .partitioned_variables import create_partitioned_variables as create_partitioned_variables
from .placement import CriticalSection as CriticalSection
from .placement import DeviceSpec as DeviceSpec
from .queues import FIFOQueue as FIFOQueue
from .queues import PaddingFIFOQueue as PaddingFIFOQueue
from .queues import PriorityQueue as PriorityQueue
from .queues import QueueBase as QueueBase
from .queues import RandomShuffleQueue as RandomShuffleQueue
from .sparse import placeholder as sparse_placeholder  # noqa: F401  (of version 1)
from .sparse import sparse_merge as sparse_merge
from .sparse import sparse_to_dense as sparse_to_dense
from .sparse import sparse_to_indicator as sparse_to_indicator
from .times import get_logger as get_logger
from .times import timestamp as timestamp
from .type_specs import IndexedSlicesSpec as IndexedSlicesSpec
from .type_specs import RaggedTensorSpec as RaggedTensorSpec
from .type_specs import SparseTensorSpec as SparseTensorSpec
from .type_specs import TypeSpec as TypeSpec
from .type_specs import type_spec_from_value as type_spec_from_value
from .variable import Variable as Variable
from .variable import Variable as VariableV1  # noqa: F401  (a name of 1.15)
from .version import COMPILER_VERSION as COMPILER_VERSION
from .version import GIT_VERSION as GIT_VERSION
from .version import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from .version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from .version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from .version import VERSION as VERSION
from .wrapped_functions import wrap_function as wrap_function

__version__ = VERSION
"""What programs compare to find out which names there are: these are those of TensorFlow 1.15."""

__all__ = list(vars(pullback)["__all__"])
NAMESPACES = (
    "app",
    "audio",
    "autograph",
    "bitwise",
    "compat",
    "config",
    "contrib",
    "data",
    "debugging",
    "distributions",
    "dtypes",
    "errors",
    "estimator",
    "feature_column",
    "flags",
    "gfile",
    "graph_util",
    "image",
    "initializers",
    "io",
    "keras",
    "layers",
    "linalg",
    "logging",
    "lookup",
    "losses",
    "manip",
    "math",
    "metrics",
    "mixed_precision",
    "nest",
    "nn",
    "profiler",
    "python_io",
    "queue",
    "ragged",
    "random",
    "resource_loader",
    "saved_model",
    "sets",
    "sparse",
    "strings",
    "summary",
    "test",
    "train",
    "version",
)
"""The namespaces that are others in version 1."""
SAME = {
    "guarantee_const": "identity",
    "parallel_stack": "stack",
    "sparse_matmul": "matmul",
    "spectral": "signal",
}
"""What version 1 has by another name too."""


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return import_module(f"{__name__}.{name}")
    if name in io.OF_TENSORFLOW:
        return getattr(io, name)
    if name in strings.OF_TENSORFLOW:
        return getattr(strings, strings.OF_TENSORFLOW[name])
    if name == "constant_initializer":
        return import_module(f"{__name__}.initializers").Constant
    if name == "assert_rank_in":
        return import_module(f"{__name__}.debugging").assert_rank_in
    if name in functions.OTHER:
        return on_composites_too(name, functions.OTHER[name], None)
    if name in SAME:
        return older(getattr(pullback, SAME[name]), functions.PARAMETERS.get(name))
    if name in messages.FILES:
        return messages.message(name)
    made = older(getattr(pullback, name), functions.PARAMETERS.get(name))
    return on_composites_too(name, with_methods(made), functions.PARAMETERS.get(name))


def __dir__() -> list[str]:
    return list(__all__)
