"""Files of users that workflow nodes read and write."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The cause why workflows may not use a path, and how to fix it: two whole sentences."""

    cause: str
    fix: str


class UserFiles(Protocol):
    """Files below the allowed directories.

    A path may be absolute, begin with `~`, or be relative to the public root. Symbolic links are resolved before the
    check; for a path outside the allowed directories every method raises SettingsError naming the setting to change.
    Other failures are OSErrors of the operating system.
    """

    async def read(self, path: str) -> str | None:
        """The text of a UTF-8 file, with or without a byte order mark; None for a missing file.

        The file name is matched ignoring case.
        """

    async def write(self, path: str, text: str) -> str:
        """Replace the file atomically, creating its directories; the path of the file written."""

    async def append(self, path: str, text: str) -> str:
        """Append to the file durably; the path of the file written."""

    def refusal(self, path: str) -> Refusal | None:
        """The reason why the other methods raise SettingsError for this path; None for an allowed path.

        The file need not exist.
        """
