"""`pb.xla`: what marks operations for a compiler, under the names that users of TensorFlow know."""

from __future__ import annotations

from types import SimpleNamespace

from .autodiff.compile_scopes import jit_scope

experimental = SimpleNamespace(jit_scope=jit_scope)
"""`pb.xla.experimental.jit_scope`."""
