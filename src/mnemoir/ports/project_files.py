"""The files of projects that are stored as files, for showing them to people."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """The part of a project's file that belongs to its reader; `name` is the path within the project's folder."""

    name: str
    content: bytes
    mime_type: str
    modified_at: datetime


class ProjectFiles(Protocol):
    """A fixed set of files, outside which no name leads. Both methods raise StorageUnavailable."""

    async def all(self, scope: Scope) -> list[ProjectFile]:
        """The existing files, ordered by name, without the data of other users of the project."""

    async def get(self, scope: Scope, name: str) -> ProjectFile | None:
        """The file of that name; None for any other name."""
