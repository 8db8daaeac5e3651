"""Run-time checks and assertions: `pb.debugging`, under TensorFlow's names of `tf.debugging`."""

from .primitives.debugging.assertions import assert_ as _Assert
from .primitives.debugging.assertions import assert_equal as assert_equal
from .primitives.debugging.assertions import assert_greater as assert_greater
from .primitives.debugging.assertions import assert_greater_equal as assert_greater_equal
from .primitives.debugging.assertions import assert_integer as assert_integer
from .primitives.debugging.assertions import assert_less as assert_less
from .primitives.debugging.assertions import assert_less_equal as assert_less_equal
from .primitives.debugging.assertions import assert_near as assert_near
from .primitives.debugging.assertions import assert_negative as assert_negative
from .primitives.debugging.assertions import assert_non_negative as assert_non_negative
from .primitives.debugging.assertions import assert_non_positive as assert_non_positive
from .primitives.debugging.assertions import assert_none_equal as assert_none_equal
from .primitives.debugging.assertions import assert_positive as assert_positive
from .primitives.debugging.assertions import assert_rank as assert_rank
from .primitives.debugging.assertions import assert_rank_at_least as assert_rank_at_least
from .primitives.debugging.assertions import assert_rank_in as assert_rank_in
from .primitives.debugging.assertions import assert_same_float_dtype as assert_same_float_dtype
from .primitives.debugging.assertions import assert_scalar as assert_scalar
from .primitives.debugging.assertions import assert_type as assert_type
from .primitives.debugging.guards import assert_all_finite as assert_all_finite
from .primitives.debugging.guards import check_numerics as check_numerics
from .primitives.debugging.inspection import is_numeric_tensor as is_numeric_tensor
from .primitives.debugging.monotone import is_non_decreasing as is_non_decreasing
from .primitives.debugging.monotone import is_strictly_increasing as is_strictly_increasing
from .primitives.debugging.shapes import assert_shapes as assert_shapes
from .primitives.logic.comparison import is_finite as is_finite
from .primitives.logic.comparison import is_inf as is_inf
from .primitives.logic.comparison import is_nan as is_nan

Assert = _Assert
