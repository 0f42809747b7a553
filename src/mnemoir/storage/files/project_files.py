"""Read access to Mnemoir's files in a project's `.etienne` folder.

Files of other programs in that folder are not shown. The memories of all users of a project are in one file, of which
each user sees only their own.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mnemoir.core.atomic_file import Stamp
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectFile, ProjectFiles
from mnemoir.storage.files.project_file import FILE_NAME, encode
from mnemoir.storage.files.project_file import ProjectFile as MemoriesFile
from mnemoir.storage.files.project_settings import FILE_NAMES, INNER
from mnemoir.storage.files.stored_file import StoredFile
from mnemoir.storage.files.workspace import project_folder, project_of

_Found = tuple[bytes, Stamp] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    mime_type: str
    read: Callable[[Path, Project, str], _Found]  # below that root, for that user


class FileProjectFiles:
    """The files below `workspace_root`; no symbolic link there is followed."""

    def __init__(self, workspace_root: Path) -> None:
        self._root = workspace_root

    async def all(self, scope: Scope) -> list[ProjectFile]:
        """The existing files."""
        found = [await self.get(scope, name) for name in sorted(_FILES)]
        return [file for file in found if file is not None]

    async def get(self, scope: Scope, name: str) -> ProjectFile | None:
        """The file of that name; None without one."""
        kind = _FILES.get(name)
        if kind is None:
            return None
        found = await asyncio.to_thread(kind.read, self._root, project_of(scope), scope.user)
        if found is None:
            return None
        modified = datetime.fromtimestamp(found[1].mtime_ns / 1e9, UTC)
        return ProjectFile(name=name, content=found[0], mime_type=kind.mime_type, modified_at=modified)


def _memories(root: Path, project: Project, user: str) -> _Found:
    """The records of that user alone; None without one, so that no user learns of others."""
    content = MemoriesFile(root, project).read()
    own = [record for record in content.records if record.get("user_id") == user]
    return (encode(own), content.stamp) if own and content.stamp is not None else None


def _setting(name: str) -> Callable[[Path, Project, str], _Found]:
    def read(root: Path, project: Project, user: str) -> _Found:
        return StoredFile(folder=project_folder(root, project, INNER), file=name).read()

    return read


_TYPES = {".json": "application/json", ".md": "text/markdown"}
_FILES: Mapping[str, _Kind] = {
    FILE_NAME: _Kind(mime_type=_TYPES[".json"], read=_memories),
    **{
        f"{INNER}/{name}": _Kind(mime_type=_TYPES[os.path.splitext(name)[1]], read=_setting(name))
        for name in FILE_NAMES
    },
}

_: type[ProjectFiles] = FileProjectFiles  # checked, never run
