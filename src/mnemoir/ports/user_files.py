"""Files of the user's that a workflow may read and write."""

from typing import Protocol


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
