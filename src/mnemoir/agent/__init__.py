"""The public names of the agent: a model that reasons, calls tools and remembers. All other names may change.

They are listed in `__init__.pyi`, and each is imported at its first use: a server looks for past messages by modules
of this room, and runs no agent.
"""

from importlib import import_module
from typing import Any

from mnemoir.core.first_use import homes_of

_HOMES = homes_of(__file__)
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:  # each name has a type of its own
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return __all__
