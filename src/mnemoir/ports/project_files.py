"""The files that a project is kept in, where people may look at them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemoir.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """A file of a project, as far as it is its reader's; `name` is its path within the project's folder."""

    name: str
    content: bytes
    mime_type: str
    modified_at: datetime


class ProjectFiles(Protocol):
    """A closed set of files: no name leads to any other. Raises StorageUnavailable."""

    async def all(self, scope: Scope) -> list[ProjectFile]:
        """Those that are there, by name. What belongs to other users of the project is not in them."""

    async def get(self, scope: Scope, name: str) -> ProjectFile | None:
        """The one of that name."""
