"""Files of the user's that a workflow may read and write."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why no workflow may read or write a path, and what to do about it: two whole sentences."""

    cause: str
    fix: str


class UserFiles(Protocol):
    """Files below the allowed directories, and nowhere else.

    A path may be absolute, begin with `~`, or be relative to the public root. The resolved path is checked after
    symbolic links; outside the allowed directories every method raises SettingsError naming the setting to change.
    Other failures are OSError, as the operating system words them.
    """

    async def read(self, path: str) -> str | None:
        """The text, UTF-8 with or without a mark; None for no such file. Case in the file name does not matter."""

    async def write(self, path: str, text: str) -> str:
        """Replace the file in one step, with its directories; the path written."""

    async def append(self, path: str, text: str) -> str:
        """Add to its end, durably; the path written."""

    def refusal(self, path: str) -> Refusal | None:
        """Why the other methods would raise SettingsError for this path; None for one that they would not refuse.

        The file need not exist.
        """
