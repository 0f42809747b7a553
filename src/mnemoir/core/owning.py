"""How parts are handed over for closing: the last one opened is closed first."""

from typing import Protocol, TypeVar


class Closable(Protocol):
    """What has to be closed."""

    async def aclose(self) -> None:
        """Close it."""


Owned = TypeVar("Owned", bound=Closable)


class Own(Protocol):
    """Takes a part for closing at the end, and returns it."""

    def __call__(self, part: Owned, /) -> Owned:
        """The same part."""
        ...
