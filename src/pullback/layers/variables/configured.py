"""Configurations of initializers: the arguments that make one again, as TensorFlow's `get_config` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ...core.dtypes import as_dtype, dtype_name


class Configured:
    """A dataclass whose fields are the arguments that make it again.

    >>> import pullback as pb
    >>> pb.initializers.RandomNormal(stddev=2.0).get_config()
    {'mean': 0.0, 'stddev': 2.0, 'seed': None, 'dtype': 'float32'}
    """

    def get_config(self) -> dict[str, Any]:
        """The arguments by name; dtypes by theirs."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {key: dtype_name(as_dtype(x)) if key == "dtype" else x for key, x in values.items()}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The object of those arguments."""
        return cls(**config)
