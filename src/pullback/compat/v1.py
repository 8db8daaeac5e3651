"""All names of pullback once more, so that only the import of a program changes: `import pullback.compat.v1 as tf`."""

from typing import Any

import pullback

__all__ = list(vars(pullback)["__all__"])


def __getattr__(name: str) -> Any:
    return getattr(pullback, name)


def __dir__() -> list[str]:
    return list(__all__)
