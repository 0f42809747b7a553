"""What nodes of workflows ask of the server: Python modules, files of users, times of messages, offline Wikipedia."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mnemoir.core.discussions import Discussion


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCall:
    """One call of `Invoke(*args, **kwargs)`; all arguments are texts.

    `config_root` and `user` are available to the module through the compatibility package; `timeout_s` limits the
    call, in seconds.
    """

    path: str  # as given by the node: absolute, with `~`, or relative to the public root
    args: Sequence[str]
    kwargs: Mapping[str, str]
    config_root: Path
    user: str
    timeout_s: float


class ModuleRunner(Protocol):
    """Runs modules from the allowed directories of the settings."""

    async def call(self, call: ModuleCall) -> Any:
        """The value `Invoke` returned, as JSON; the text of a value that is not JSON.

        An exception inside the module is returned as a text beginning with `Error`. Raises SettingsError for a module
        that may not run (outside the allowed directories, writable by everyone, switched off), is missing or has no
        `Invoke`; ModuleFailed when it exceeded its time or memory, or its process ended.
        """

    async def aclose(self) -> None:
        """End all running calls."""


class Timestamps(Protocol):
    """Times by message hash, one file per discussion: `{root}/{discussion}/timestamps.json`.

    A time is text in the form of section 8 of the format: `(Friday, 2026-11-20 16:58:30)`, local time. Both methods
    raise StorageUnavailable; a file that is not valid JSON is never overwritten.
    """

    async def load(self, discussion: Discussion) -> Mapping[str, str]:
        """The stored times; empty for a new discussion."""

    def changing(self, discussion: Discussion) -> "AbstractAsyncContextManager[dict[str, str]]":
        """Give the times for changing in place; changes are written atomically at the end. One caller at a time."""


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

    def full_path(self, path: str) -> str:
        """The path that is tried for this one: absolute, with all links as they are written."""

    def refusal(self, path: str) -> Refusal | None:
        """The reason why the other methods raise SettingsError for this path; None for an allowed path.

        The file need not exist.
        """


class OfflineWikipedia(Protocol):
    """A client for GET requests, shared by all users; each request names the address of the service."""

    async def get(self, base_url: str, path: str, query: Mapping[str, str]) -> Any:
        """The decoded JSON answer; None for 404. Raises ProviderError for any other failure."""
